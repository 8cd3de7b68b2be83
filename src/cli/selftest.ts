import {spawn} from 'node:child_process';
import {cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import type {Event} from '../session/events.ts';
import {forkPoints} from '../session/fork.ts';
import {type LogRead, readEvents} from '../session/read.ts';
import {replay} from '../session/replay.ts';
import {nextId, sessionFiles, sessionFolder} from '../session/sessions.ts';
import {packageFolder} from './package-folder.ts';

/** One thing that must hold: what is expected, and what was seen when the program was really run. */
export type Check = {name: string; run(world: World): Promise<{expected: unknown; seen: unknown}>};

const ask = 'run the tests and see which case fails';
const fix = 'then fix it';
const which = 'which case failed?';

/** The eleven. They run in this order in one temporary folder, each on what the ones before it left. */
export const checks: readonly Check[] = [
	{
		name: 'seq runs from 1 without a gap, and turn one is 8 events',
		async run(world) {
			await world.mca(['run', '--yes', ask]);
			const {events} = await world.newest();
			world.keep('first', await world.newestPath());
			return {expected: [1, 2, 3, 4, 5, 6, 7, 8], seen: events.map((event) => event.seq)};
		},
	},
	{
		name: 'tool_end sits between the call and its result',
		async run(world) {
			const {events} = await world.read('first');
			return {expected: ['assistant', 'tool_end', 'tool'], seen: events.slice(3, 6).map(what)};
		},
	},
	{
		name: 'replay gives 5 messages, leaves 3 events out, and counts tokens',
		async run(world) {
			const {replayed, leftOut, tokens} = replay((await world.read('first')).events);
			return {expected: [5, 3, true], seen: [replayed, leftOut, tokens > 0]};
		},
	},
	{
		name: 'another process with --resume cites what the last turn found',
		async run(world) {
			const {stdout, stderr} = await world.mca(['run', '--resume', which]);
			const line = /^5 messages replayed, 3 events left out, [1-9]\d* tokens so far$/m.test(stderr);
			return {expected: [true, true], seen: [line, stdout.includes('divide by zero')]};
		},
	},
	{
		name: 'its seq goes on where the log ended',
		async run(world) {
			const {events} = await world.read('first');
			return {expected: [9, 10, 11], seen: events.slice(8).map((event) => event.seq)};
		},
	},
	{
		name: 'ids sort by time, and --resume without an id takes the newest',
		async run(world) {
			await world.mca(['run', '--yes', ask]);
			await world.mca(['run', '--yes', '--resume', fix]);
			const [second, first] = await world.files();
			world.keep('second', second ?? '');
			const noon = new Date('2026-01-01T12:00:00Z');
			const ids = Array.from({length: 5}).reduce<string[]>(
				(names) => [...names, `${nextId(noon, names)}.jsonl`],
				[],
			);
			const turns = (await world.read('second')).events.filter((event) => what(event) === 'user').length;
			return {expected: [ids.toSorted(), world.path('first'), 2], seen: [ids, first, turns]};
		},
	},
	{
		name: 'fork points are exactly the clean boundaries',
		async run(world) {
			const {events} = await world.read('second');
			return {expected: [2, 8, 9, 19], seen: forkPoints(events).map((point) => point.seq)};
		},
	},
	{
		name: 'a fork keeps seq, appends its lineage, and leaves the parent as it was',
		async run(world) {
			const before = readFileSync(world.path('second'));
			const parent = basename(world.path('second'), '.jsonl');
			const {stdout} = await world.mca(['fork', parent, '--at', '8']);
			const child = await readEvents(join(dirname(world.path('second')), `${stdout.trim()}.jsonl`));
			const last = child.events.at(-1);
			const lineage = last?.type === 'fork' ? [last.from, last.atSeq, last.origin, last.kind] : undefined;
			return {
				expected: [[1, 2, 3, 4, 5, 6, 7, 8, 9], [parent, 8, parent, 'fork'], true],
				seen: [
					child.events.map((event) => event.seq),
					lineage,
					before.equals(readFileSync(world.path('second'))),
				],
			};
		},
	},
	{
		name: 'lines are on disk while the turn is still running',
		async run(world) {
			const script = join(world.folder, 'endless.json');
			const forever = {name: 'run_command', args: {command: 'sleep 600'}};
			writeFileSync(
				script,
				JSON.stringify({name: 'endless', turns: [{prompt: 'wait', steps: [{say: '', calls: [forever]}]}]}),
			);
			const known = await world.files();
			const running = world.start(['run', '--yes', '--json', 'wait'], {MCA_SCRIPT: script});
			await running.until('"type":"tool_start"');
			await running.kill();
			const [newest, ...others] = await world.files();
			const left = newest ? await readEvents(newest) : undefined;
			return {
				expected: [known, ['system', 'user', 'usage', 'assistant'], {at: 'whole'}],
				seen: [others, left?.events.map(what), left?.end],
			};
		},
	},
	{
		name: 'a last line cut in half recovers to the event before it and names the line',
		async run(world) {
			const bytes = readFileSync(world.path('second'));
			const id = nextId(
				new Date(),
				(await world.files()).map((path) => basename(path)),
			);
			const damaged = join(dirname(world.path('second')), `${id}.jsonl`);
			writeFileSync(damaged, bytes);
			const lastLine = bytes.length - 1 - bytes.lastIndexOf(0x0a, bytes.length - 2);
			const half = bytes.length - Math.ceil(lastLine / 2);
			truncateSync(damaged, half);
			const verified = await world.mca(['verify', id]);
			await world.mca(['run', '--resume', id, which]);
			const recovered = await world.newest();
			const lineage = recovered.events.find((event) => event.type === 'fork');
			return {
				expected: [3, true, ['recovery', 18, 19], 'assistant', half],
				seen: [
					verified.status,
					verified.stdout.includes('stops at line 19: the line does not end'),
					lineage?.type === 'fork' && [lineage.kind, lineage.atSeq, lineage.cut?.line],
					recovered.events.map(what).at(-1),
					readFileSync(damaged).length,
				],
			};
		},
	},
	{
		name: 'an unknown type is passed over, and a seq that does not increase stops the reading',
		async run(world) {
			const path = join(world.folder, 'odd.jsonl');
			const line = (seq: number, type: string) =>
				`${JSON.stringify({seq, ts: '2026-01-01T00:00:00.000Z', type})}\n`;
			writeFileSync(path, line(1, 'of-the-future') + line(3, 'of-the-future') + line(3, 'of-the-future'));
			const {events, end} = await readEvents(path);
			const stop = {
				at: 'cut',
				line: 3,
				reason: 'seq 3 is not larger than 3',
				ignoredBytes: line(3, 'of-the-future').length,
			};
			return {expected: [2, 0, stop], seen: [events.length, replay(events).replayed, end]};
		},
	},
];

/** `SELFTEST=1`: the eleven checks against the program itself, in a temporary folder. */
export async function selfTest(entry: string): Promise<number> {
	const world = makeWorld(entry);
	let passed = 0;
	try {
		for (const check of checks) {
			const {expected, seen} = await check
				.run(world)
				.catch((error) => ({expected: 'no error', seen: String(error)}));
			const ok = isDeepStrictEqual(seen, expected);
			if (ok) passed++;
			process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${check.name}\n`);
			if (!ok)
				process.stdout.write(
					`       expected ${JSON.stringify(expected)}\n       seen     ${JSON.stringify(seen)}\n`,
				);
		}
	} finally {
		world.remove();
	}
	process.stdout.write(`${passed}/${checks.length} passed\n`);
	return passed === checks.length ? 0 : 1;
}

type Ended = {status: number | null; stdout: string; stderr: string};

/** A temporary home and workspace, and mca as other processes in it. */
export type World = {
	folder: string;
	mca(args: string[], env?: Record<string, string>): Promise<Ended>;
	start(
		args: string[],
		env?: Record<string, string>,
	): {until(text: string): Promise<void>; kill(): Promise<void>};
	/** Newest first. */
	files(): Promise<string[]>;
	newestPath(): Promise<string>;
	newest(): Promise<LogRead>;
	keep(name: string, path: string): void;
	path(name: string): string;
	read(name: string): Promise<LogRead>;
	remove(): void;
};

/** `entry` is the main.js to run. */
export function makeWorld(entry: string): World {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mca-selftest-')));
	const workspace = join(folder, 'repo');
	cpSync(join(packageFolder(), 'fixtures', 'repo'), workspace, {recursive: true});
	const kept = new Map<string, string>();
	const sessions = join(folder, 'home');
	const launch = (args: string[], more: Record<string, string> = {}) => {
		const {SELFTEST, NODE_TEST_CONTEXT, OPENAI_API_KEY, OPENAI_BASE_URL, MCA_MODEL, ...inherited} =
			process.env;
		const env = {...inherited, MOCK: '1', MCA_HOME: sessions, ...more};
		const child = spawn(process.execPath, [entry, ...args], {
			cwd: workspace,
			env,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		const ended: Ended = {status: null, stdout: '', stderr: ''};
		child.stdout.setEncoding('utf8').on('data', (text) => {
			ended.stdout += text;
		});
		child.stderr.setEncoding('utf8').on('data', (text) => {
			ended.stderr += text;
		});
		const closed = new Promise<Ended>((resolve, reject) => {
			child.once('error', reject).once('close', (status) => resolve({...ended, status}));
		});
		return {child, ended, closed};
	};
	const files = () => sessionFiles(sessionFolder(sessions, workspace));
	const world: World = {
		folder,
		mca: (args, env) => launch(args, env).closed,
		start(args, env) {
			const {child, ended, closed} = launch(args, env);
			return {
				until: (text) =>
					new Promise((resolve, reject) => {
						const look = () => ended.stdout.includes(text) && resolve();
						child.stdout.on('data', look);
						closed.then((end) => reject(new Error(`mca ended without "${text}": ${end.stderr}`)), reject);
						look();
					}),
				async kill() {
					child.kill('SIGKILL');
					await closed;
				},
			};
		},
		files,
		async newestPath() {
			const [newest] = await files();
			if (!newest) throw new Error('there is no session');
			return newest;
		},
		newest: async () => readEvents(await world.newestPath()),
		keep: (name, path) => kept.set(name, path),
		path: (name) => kept.get(name) ?? '',
		read: (name) => readEvents(world.path(name)),
		remove: () => rmSync(folder, {recursive: true, force: true}),
	};
	return world;
}

/** The role of a message, the type of anything else. */
function what(event: Event): string {
	return event.type === 'message' ? event.message.role : event.type;
}
