import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {buildSync} from 'esbuild';

/** What a process says of itself: one JSON object a line, `told` names the kind. */
export type Told = {told: string} & Record<string, unknown>;

export type Ending = {status: number | null; signal: NodeJS.Signals | null; stderr: string};

export type Process = {
	pid: number;
	/** The next thing it says; with a kind, the next of that kind. Rejects with what it wrote to stderr where it ends first. */
	next(kind?: string): Promise<Told>;
	/** Everything it has said so far. */
	said: readonly Told[];
	/** Called with each thing as it comes, at once. */
	onTold(listener: (told: Told) => void): void;
	send(order: object): void;
	/** No more orders come: its stdin ends. */
	sendNothing(): void;
	signal(signal: NodeJS.Signals): void;
	/** Resolves once it is gone and everything that it wrote has been read. Its locks are free from then on at the latest. */
	ended: Promise<Ending>;
};

const running = new Set<ChildProcess>();

/** Start a program. Whatever still runs when this process ends is killed with it. */
export function startProcess(
	[file = '', ...args]: readonly string[],
	options: {cwd?: string; env?: NodeJS.ProcessEnv} = {},
): Process {
	const child = spawn(file, args, options);
	running.add(child);
	const said: Told[] = [];
	const listeners = new Set<(told: Told) => void>();
	const waiting = new Set<() => void>();
	let read = 0;
	let over = false;
	let rest = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		const lines = (rest + text).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			const told = parseTold(line);
			said.push(told);
			for (const listener of listeners) listener(told);
		}
		for (const look of waiting) look();
	});
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		stderr += text;
	});
	// A process that was killed reads no more orders.
	child.stdin.on('error', () => {});
	const ended = new Promise<Ending>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (status, signal) => {
			running.delete(child);
			over = true;
			for (const look of waiting) look();
			resolve({status, signal, stderr});
		});
	});
	ended.catch(() => {});
	return {
		pid: child.pid ?? 0,
		said,
		ended,
		onTold: (listener) => listeners.add(listener),
		send: (order) => child.stdin.write(`${JSON.stringify(order)}\n`),
		sendNothing: () => child.stdin.end(),
		signal: (signal) => child.kill(signal),
		next: (kind) =>
			new Promise((resolve, reject) => {
				const look = () => {
					while (read < said.length) {
						const told = said[read++];
						if (told && (kind === undefined || told.told === kind)) {
							waiting.delete(look);
							return resolve(told);
						}
					}
					if (!over) return;
					waiting.delete(look);
					reject(
						new Error(`${basename(args.at(-1) ?? file)} ended before it told ${kind ?? 'more'}: ${stderr}`),
					);
				};
				waiting.add(look);
				look();
			}),
	};
}

/** Other output (a runtime's warning) is kept too, so that a test that fails can show it. */
function parseTold(line: string): Told {
	try {
		return JSON.parse(line);
	} catch {
		return {told: 'text', line};
	}
}

export function killAll(): void {
	for (const child of running) child.kill('SIGKILL');
}
process.once('exit', killAll);

const root = join(import.meta.dirname, '../..');

/** One file of JavaScript from a program of this repository, which starts in half the time. */
export function bundle(program: string, folder: string): string {
	const outfile = join(folder, `${basename(program, '.ts')}.mjs`);
	buildSync({
		entryPoints: [join(root, program)],
		outfile,
		bundle: true,
		platform: 'node',
		format: 'esm',
		target: 'node22',
		external: ['@vscode/ripgrep'],
		banner: {js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);"},
		logLevel: 'warning',
	});
	return outfile;
}

/** A folder for a whole run, which removes it. */
export function makeFolder(name: string, where = tmpdir()): {path: string; remove(): void} {
	const path = realpathSync(mkdtempSync(join(where, `mca-${name}-`)));
	return {path, remove: () => rmSync(path, {recursive: true, force: true, maxRetries: 5})};
}

/** Numbers from 0 up to 1 that only the seed decides (mulberry32). */
export function randomFrom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = state;
		t = Math.imul(t ^ (t >>> 15), t | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	};
}
