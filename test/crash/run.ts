// npm run crash -- [--rounds N] [--seed S] [--mutants]
//
// The long form of the crash tests: N kills over one lineage of sessions, then every other test of this folder, with N cases
// where cases are drawn. --mutants proves instead that the tests would notice: it breaks mca in one way after the other.
import {spawn} from 'node:child_process';
import {randomInt} from 'node:crypto';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {bundle, makeFolder} from '../helpers/processes.ts';
import {killLineage} from './kill-lineage.ts';
import {runMutants} from './mutants.ts';

const usage = 'npm run crash -- [--rounds N] [--seed S] [--mutants]';

/** The exit status: 0 where everything held. */
async function main(): Promise<number> {
	const {rounds, seed, mutants} = readArguments();
	if (mutants) return runMutants();
	return (await kill(rounds, seed)) || (await others(rounds));
}

function readArguments(): {rounds: number; seed: number; mutants: boolean} {
	const {values} = parseArgs({
		options: {rounds: {type: 'string'}, seed: {type: 'string'}, mutants: {type: 'boolean'}},
	});
	const number = (name: 'rounds' | 'seed', otherwise: number) => {
		const text = values[name] ?? String(otherwise);
		if (!/^\d+$/.test(text)) throw new Error(`--${name} takes a number, not ${text}.`);
		return Number(text);
	};
	return {
		rounds: number('rounds', 200),
		seed: number('seed', randomInt(2 ** 32)),
		mutants: values.mutants ?? false,
	};
}

async function kill(rounds: number, seed: number): Promise<number> {
	const folder = makeFolder('kill');
	const begun = performance.now();
	const print = (text: string) => process.stdout.write(`${text}\n`);
	const seconds = () => `${Math.round((performance.now() - begun) / 1000)} s`;
	print(`${rounds} kills, seed ${seed}`);
	try {
		const tally = await killLineage(bundle('test/crash/kill-worker.ts', folder.path), folder.path, {
			rounds,
			seed,
			onRound: ({kills, torn, acknowledged}) => {
				if (kills % 100 !== 0) return;
				print(`${kills} kills, ${torn} torn lines, ${acknowledged} acknowledged events, ${seconds()}`);
			},
		});
		print(`Everything acknowledged was found, and everything found was issued: ${seconds()}`);
		print(JSON.stringify(tally));
		folder.remove();
		return 0;
	} catch (error) {
		print(
			`${(error as Error).stack}\nThe files are in ${folder.path}. Again: npm run crash -- --rounds ${rounds} --seed ${seed}`,
		);
		return 1;
	}
}

function others(rounds: number): Promise<number> {
	const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
	const child = spawn(
		process.execPath,
		[vitest, 'run', '--dir', import.meta.dirname, '--testTimeout=3600000', '--exclude', '**/kill.test.ts'],
		{stdio: 'inherit', env: {...process.env, CRASH_RUNS: String(rounds)}},
	);
	return new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (status) => resolve(status ?? 1));
	});
}

try {
	process.exitCode = await main();
} catch (error) {
	process.stderr.write(`${(error as Error).message}\n${usage}\n`);
	process.exitCode = 2;
}
