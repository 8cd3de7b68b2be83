import {spawn} from 'node:child_process';
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import type {Writable} from 'node:stream';
import {setTimeout} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {onTestFinished} from 'vitest';
import type {Script} from '../../src/agent/scripted.ts';
import type {Event} from '../../src/session/events.ts';
import {cleanEnvironment, entry, openTerminal, type Terminal, type TerminalOptions} from './terminal.ts';

export type Ended = {status: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string};

/**
A home and a workspace of mca's own, with the fixture repository in it; the script plays the model. All of it, and every
terminal that was opened in it, is gone when the test is.
*/
export function makeWorld({
	script,
	env: more = {},
	sandbox = 'off',
}: {
	script?: Script;
	env?: Record<string, string>;
	sandbox?: 'on' | 'off';
} = {}) {
	const root = realpathSync(mkdtempSync(join(tmpdir(), 'mca-e2e-')));
	const home = join(root, 'home');
	const workspace = join(root, 'repo');
	cpSync(fileURLToPath(new URL('../../fixtures/repo', import.meta.url)), workspace, {recursive: true});
	// Off, each command is asked, which is what most of these tests are about.
	mkdirSync(home);
	writeFileSync(join(home, 'config.json'), JSON.stringify({sandbox}));
	const env: Record<string, string> = {HOME: root, MCA_HOME: home, MOCK: '1', ...more};
	if (script) {
		env.MCA_SCRIPT = join(root, 'script.json');
		writeFileSync(env.MCA_SCRIPT, JSON.stringify(script));
	}
	const terminals: Terminal[] = [];
	onTestFinished(async () => {
		await Promise.all(terminals.map((terminal) => terminal.dispose()));
		rmSync(root, {recursive: true, force: true, maxRetries: 5});
	});

	/** Session files of every workspace and of the demo, newest id first. */
	const paths = (): string[] => {
		if (!existsSync(home)) return [];
		return readdirSync(home, {withFileTypes: true, recursive: true})
			.filter((found) => found.isFile() && /^s-.*\.jsonl$/.test(found.name))
			.map((found) => join(found.parentPath, found.name))
			.sort((a, b) => (basename(a) < basename(b) ? 1 : -1));
	};
	const ids = () => paths().map((path) => basename(path, '.jsonl'));
	const newest = (): string => {
		const [first] = ids();
		if (!first) throw new Error('there is no session');
		return first;
	};
	const pathOf = (id: string): string => {
		const path = paths().find((each) => basename(each) === `${id}.jsonl`);
		if (!path) throw new Error(`there is no session ${id}`);
		return path;
	};
	const bytes = (id: string) => readFileSync(pathOf(id), 'utf8');
	/** The whole lines of a log, parsed by nothing but JSON.parse. */
	const log = (id = newest()): Event[] =>
		bytes(id)
			.split('\n')
			.slice(0, -1)
			.map((line) => JSON.parse(line));
	/** Every session file and what is in it. */
	const files = (): Record<string, string> =>
		Object.fromEntries(paths().map((path) => [basename(path), readFileSync(path, 'utf8')]));

	/** mca without a terminal, to its end. */
	const run = (
		args: readonly string[],
		options: {env?: Record<string, string>; cwd?: string; input?: string; pipe?: Piped} = {},
	): Promise<Ended> =>
		runNode([entry, ...args], {
			cwd: options.cwd ?? workspace,
			env: {...env, ...options.env},
			pipe: options.pipe ?? [options.input ?? ''],
		});

	/** Play prompts without a screen, everything allowed; the id of their session. */
	const played = async (...asked: string[]): Promise<string> => {
		for (const [index, prompt] of asked.entries()) {
			const resume = index > 0 ? ['--resume'] : [];
			const {status, stderr} = await run(['run', '--yes', ...resume, prompt]);
			if (status !== 0) throw new Error(`mca run "${prompt}" ended with ${status}: ${stderr}`);
		}
		return newest();
	};

	/** mca on the screen. */
	const open = (options: TerminalOptions = {}): Terminal => {
		const terminal = openTerminal({cwd: workspace, ...options, env: {...env, ...options.env}});
		terminals.push(terminal);
		return terminal;
	};

	const source = () => readFileSync(join(workspace, 'src', 'calc.js'), 'utf8');

	return {root, home, workspace, ids, newest, pathOf, bytes, log, files, run, played, open, source};
}

export type World = ReturnType<typeof makeWorld>;

/** The role of a message, the type of anything else. */
export function kinds(events: readonly Event[]): string[] {
	return events.map((event) => (event.type === 'message' ? event.message.role : event.type));
}

/** What the last message of the model says. */
export function lastAnswer(events: readonly Event[]): string {
	const last = events.findLast((event) => event.type === 'message' && event.message.role === 'assistant');
	return last?.type === 'message' && last.message.role === 'assistant' ? last.message.content : '';
}

/** A script with one turn that calls one tool and then says something. */
export function scriptOf(prompt: string, call: {name: string; args: unknown}, say = 'Done.'): Script {
	return {name: 'test', turns: [{prompt, steps: [{say: 'Let me see.', calls: [call]}, {say}]}]};
}

/** What comes from standard input: texts, and the ms between them. It ends with its last text; an empty one stays open. */
export type Piped = readonly (string | number)[];

async function feed(stdin: Writable, pipe: Piped): Promise<void> {
	// mca may have ended before all was said.
	stdin.on('error', () => {});
	for (const part of pipe) {
		if (typeof part === 'number') await setTimeout(part);
		else stdin.write(part);
	}
	if (pipe.length > 0) stdin.end();
}

function runNode(
	args: string[],
	options: {cwd: string; env: Record<string, string>; pipe: Piped},
): Promise<Ended> {
	const child = spawn(process.execPath, args, {cwd: options.cwd, env: cleanEnvironment(options.env)});
	void feed(child.stdin, options.pipe);
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text) => {
		stdout += text;
	});
	child.stderr.setEncoding('utf8').on('data', (text) => {
		stderr += text;
	});
	return new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (status, signal) => resolve({status, signal, stdout, stderr}));
	});
}
