import {execFileSync} from 'node:child_process';
import {copyFileSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {type IPty, spawn} from '@lydell/node-pty';
import {sessionFolder} from '../../src/session/sessions.ts';
import {writeChat} from './logs.ts';
import {mb, median, ms, type Row} from './table.ts';

const root = join(import.meta.dirname, '../..');
const entry = join(root, 'dist', 'main.js');
const frameEnd = '\x1b[?2026l';

type Size = {columns: number; rows: number};

/** A program in a pty, with the times of what it writes. */
class Program {
	readonly pty: IPty;
	readonly begun = performance.now();
	bytes = '';
	#look: () => void = () => {};

	constructor(args: readonly string[], env: Record<string, string>, {columns, rows}: Size) {
		const {CI, ...inherited} = process.env as Record<string, string>;
		this.pty = spawn(process.execPath, [...args], {
			cols: columns,
			rows,
			cwd: root,
			env: {...inherited, TERM: 'xterm-256color', NODE_ENV: 'production', LANG: 'C.UTF-8', ...env},
		});
		this.pty.onData((data) => {
			this.bytes += data;
			this.#look();
		});
	}

	/** ms until `isThere`; rejects after half a minute with what was written last. */
	until(isThere: () => boolean, what: string): Promise<number> {
		return new Promise((resolve, reject) => {
			const timer = setTimeout(
				() => reject(new Error(`${what} did not come: ${JSON.stringify(this.bytes.slice(-400))}`)),
				30_000,
			);
			this.#look = () => {
				if (!isThere()) return;
				clearTimeout(timer);
				resolve(performance.now() - this.begun);
			};
			this.#look();
		});
	}

	/** One key: ms to the end of the frame that shows it, and the bytes of that frame. */
	async key(key: string): Promise<{ms: number; bytes: number}> {
		const from = this.bytes.length;
		const begun = performance.now();
		this.pty.write(key);
		await this.until(() => this.bytes.indexOf(frameEnd, from) !== -1, 'the frame of a key');
		return {ms: performance.now() - begun, bytes: this.bytes.length - from};
	}

	rss(): number {
		return (
			Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pty.pid}/status`, 'utf8'))?.[1]) * 1024
		);
	}

	/** Seconds of processor that it has used, in all threads. */
	cpu(): number {
		const fields = readFileSync(`/proc/${this.pty.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
		return (Number(fields[11]) + Number(fields[12])) / 100;
	}

	end(): void {
		this.pty.kill('SIGKILL');
	}
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What section 9 of the design says of the screen. */
export async function screen(folder: string, size: Size): Promise<Row[]> {
	mkdirSync(folder, {recursive: true});
	const baseline = bundleBaseline(folder);
	const workspace = join(folder, 'work');
	mkdirSync(workspace, {recursive: true});
	const home = (name: string) => {
		const path = join(folder, name);
		mkdirSync(path, {recursive: true});
		writeFileSync(join(path, 'config.json'), '{"sandbox":"off"}');
		return path;
	};
	const none = home('none');
	const short = home('short');
	const long = home('long');
	const few = home('few');
	const many = home('many');
	session(short, workspace, 10);
	session(long, workspace, 10_000);
	sessions(few, workspace, 10);
	sessions(many, workspace, 10_000);

	const mca =
		(where: string, ...args: string[]) =>
		() =>
			new Program([entry, '-C', workspace, ...args], {MOCK: '1', MCA_HOME: where}, size);
	const pick = (where: string) => () =>
		new Program([entry, 'resume', '-C', workspace], {MOCK: '1', MCA_HOME: where}, size);
	const least = () => new Program([baseline], {}, size);
	const composer = (program: Program) =>
		program.until(
			() => program.bytes.includes('Enter send') && program.bytes.includes('idle'),
			'the composer',
		);
	const ready = (program: Program) => program.until(() => program.bytes.includes('ready>'), 'the field');
	const picker = (program: Program) =>
		program.until(() => program.bytes.includes('look at file'), 'a title in the picker');

	const rows: Row[] = [];
	const compare = async (
		what: string,
		ours: [() => Program, (program: Program) => Promise<number>],
		against: typeof ours,
		reach?: number,
	) => {
		const times = {ours: [] as number[], against: [] as number[]};
		for (let round = 0; round < 9; round++) {
			for (const [name, [start, shown]] of [
				['ours', ours],
				['against', against],
			] as const) {
				const program = start();
				times[name].push(await shown(program));
				program.end();
			}
		}
		rows.push({
			what,
			ours: ms(median(times.ours)),
			against: ms(median(times.against)),
			ratio: median(times.ours) / median(times.against),
			...(reach ? {reach} : {}),
		});
	};
	await compare(
		'start to a composer that takes keys; against a bundled ink program with one text field',
		[mca(none), composer],
		[least, ready],
		1.3,
	);
	await compare(
		'resume 10,000 messages to a composer that takes keys; against an empty start',
		[mca(long, '--resume'), composer],
		[mca(none), composer],
		2,
	);
	await compare(
		'resume picker of 10,000 sessions, first titles; against 10',
		[pick(many), picker],
		[pick(few), picker],
		1.2,
	);

	const longRun = mca(long, '--resume')();
	const shortRun = mca(short, '--resume')();
	const leastRun = least();
	const fullRun = new Program([baseline, 'full'], {}, size);
	await Promise.all([composer(longRun), composer(shortRun), ready(leastRun), ready(fullRun)]);
	const keys = {
		long: [] as number[],
		short: [] as number[],
		least: [] as number[],
		full: [] as number[],
		bytes: [] as number[],
	};
	for (let n = 0; n < 80; n++) {
		const key = 'abcdefghij'[n % 10] ?? 'a';
		const here = await longRun.key(key);
		keys.long.push(here.ms);
		keys.bytes.push(here.bytes);
		keys.short.push((await shortRun.key(key)).ms);
		keys.least.push((await leastRun.key(key)).ms);
		keys.full.push((await fullRun.key(key)).ms);
	}
	const row = (
		what: string,
		ours: number,
		against: number,
		reach: number,
		print: (value: number) => string,
	) => rows.push({what, ours: print(ours), against: print(against), ratio: ours / against, reach});
	row('keystroke to screen at 10,000 messages; against 10', median(keys.long), median(keys.short), 1.2, ms);
	row(
		'the same; against an ink program with one text field on an empty screen',
		median(keys.long),
		median(keys.least),
		1.5,
		ms,
	);
	row('the same; against one on a screen full of plain text', median(keys.long), median(keys.full), 1.5, ms);
	row('bytes of a keystroke; against 400', median(keys.bytes), 400, 1, (value) => `${value} B`);
	const idle = mca(none)();
	await composer(idle);
	for (const key of 'abc') await idle.key(key);
	row('memory while showing 10,000 messages; against an empty session', longRun.rss(), idle.rss(), 1.3, mb);

	await pause(1500);
	const before = {bytes: idle.bytes.length, cpu: idle.cpu()};
	await pause(3000);
	const frames = idle.bytes.slice(before.bytes).split(frameEnd).length - 1;
	row(
		'idle for 3 s: frames, and processor time in ms; against none',
		frames + (idle.cpu() - before.cpu) * 1000 + 1,
		1,
		1,
		(value) => String(Math.round(value - 1)),
	);
	for (const program of [longRun, shortRun, leastRun, fullRun, idle]) program.end();
	rows.push(await streaming(folder, home('stream'), workspace, size));
	return rows;
}

/** 200 words a second for some seconds: how much of a core it takes. */
async function streaming(folder: string, home: string, workspace: string, size: Size): Promise<Row> {
	const script = join(folder, 'long.json');
	const say = Array.from({length: 1600}, (_, n) => (n % 90 === 89 ? 'word.\n\n' : 'word ')).join('');
	writeFileSync(script, JSON.stringify({name: 'long', turns: [{prompt: 'go', steps: [{say}]}]}));
	const env = {MOCK: '1', MCA_HOME: home, MCA_SCRIPT: script, MCA_SCRIPT_PACE_MS: '5'};
	const program = new Program([entry, '-C', workspace, 'go'], env, size);
	await program.until(() => program.bytes.includes('Enter send'), 'the composer');
	program.pty.write('\r');
	const from = program.bytes.length;
	await program.until(() => program.bytes.indexOf('word', from + 200) !== -1, 'the first words');
	await pause(500);
	const begun = {at: performance.now(), cpu: program.cpu()};
	await pause(4000);
	const seconds = (performance.now() - begun.at) / 1000;
	const share = (program.cpu() - begun.cpu) / seconds;
	program.end();
	return {
		what: 'streaming 200 words a second: part of one core; against a quarter',
		ours: `${(share * 100).toFixed(0)} %`,
		against: '25 %',
		ratio: share / 0.25,
		reach: 1,
	};
}

function session(home: string, workspace: string, messages: number): void {
	const folder = sessionFolder(home, workspace);
	mkdirSync(folder, {recursive: true});
	writeChat(join(folder, 's-20260907-100000-ab12.jsonl'), messages);
}

function sessions(home: string, workspace: string, count: number): void {
	const folder = sessionFolder(home, workspace);
	mkdirSync(folder, {recursive: true});
	const first = join(folder, 's-20260907-000000-ab12.jsonl');
	writeChat(first, 5);
	for (let n = 1; n < count; n++)
		copyFileSync(first, join(folder, `s-20260907-${String(n).padStart(6, '0')}-ab12.jsonl`));
}

function bundleBaseline(folder: string): string {
	const out = join(folder, 'baseline.js');
	const banner = "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);";
	execFileSync(join(root, 'node_modules/.bin/esbuild'), [
		join(import.meta.dirname, 'baseline.tsx'),
		'--bundle',
		'--platform=node',
		'--format=esm',
		'--target=node22',
		'--minify',
		'--log-level=error',
		`--outfile=${out}`,
		`--alias:react-devtools-core=${join(import.meta.dirname, 'no-devtools.ts')}`,
		'--define:process.env.NODE_ENV=\'"production"\'',
		`--banner:js=${banner}`,
	]);
	return out;
}
