import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {Body, Event} from '../../src/session/events.ts';
import {sessionFolder} from '../../src/session/sessions.ts';
import {events, line, result, system, usage, user} from '../helpers/log-file.ts';
import {makeWorld} from '../helpers/mca.ts';
import {cleanEnvironment, entry} from '../helpers/terminal.ts';

export const a = 's-20260907-100000-aaaa';
export const b = 's-20260907-110000-bbbb';
export const c = 's-20260907-120000-cccc';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A world whose sessions are written by hand, in UTC. */
export function makeScene() {
	const world = makeWorld({env: {TZ: 'UTC'}});

	/** Line 1, as a session of that workspace has it. */
	const head = (workspace = world.workspace): Body => ({
		...(system as Extract<Body, {type: 'message'}>),
		session: {id: a, workspace, model: 'gpt-5-mini', version: '0.1.0', format: 1},
	});
	/** Put a session where mca keeps those of a workspace that is there; its path. */
	const put = (id: string, lines: readonly Event[], workspace = world.workspace): string => {
		const path = join(sessionFolder(world.home, workspace), `${id}.jsonl`);
		mkdirSync(dirname(path), {recursive: true});
		writeFileSync(path, lines.map(line).join(''));
		return path;
	};
	/** A session that begins with `head`. */
	const session = (id: string, ...bodies: Body[]): string => put(id, events([head(), ...bodies]));
	/** A fork of `from`, whose lines up to `atSeq` are `copied`. */
	const forked = (id: string, from: string, copied: readonly Body[], ...own: Body[]): string =>
		put(id, events([head(), ...copied, lineage(from, copied.length + 1), ...own]));

	/** What `--json` prints: one value a line. */
	const json = async (...args: string[]): Promise<unknown[]> => {
		const {stdout, status, stderr} = await world.run(args);
		if (status !== 0) throw new Error(`mca ${args.join(' ')} ended with ${status}: ${stderr}`);
		return lines(stdout).map((text) => JSON.parse(text));
	};

	/** mca that goes on until it is stopped: what it has printed, line by line. */
	const follow = (...args: string[]) => {
		const child = spawn(process.execPath, [entry, ...args], {
			cwd: world.workspace,
			env: cleanEnvironment({HOME: world.root, MCA_HOME: world.home, TZ: 'UTC'}),
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		onTestFinished(() => {
			child.kill('SIGKILL');
		});
		let text = '';
		let look = () => {};
		child.stdout.setEncoding('utf8').on('data', (data) => {
			text += data;
			look();
		});
		let stderr = '';
		child.stderr.setEncoding('utf8').on('data', (data) => {
			stderr += data;
		});
		const ended = new Promise<{status: number | null; stderr: string}>((resolve) => {
			child.once('close', (status) => {
				resolve({status, stderr});
				look();
			});
		});
		return {
			/** Resolves with all lines once there are so many, or the program has ended. */
			until: (count: number): Promise<string[]> =>
				new Promise((resolve) => {
					look = () => {
						const whole = text.split('\n').slice(0, -1);
						if (whole.length >= count || child.exitCode !== null) resolve(whole);
					};
					look();
				}),
			interrupt: () => {
				child.kill('SIGINT');
				return ended;
			},
			ended,
		};
	};

	return {...world, head, put, session, forked, json, follow};
}

export function lines(text: string): string[] {
	return text.split('\n').filter((each) => each !== '');
}

export function lineage(from: string, atSeq: number): Body {
	return {type: 'fork', from, atSeq, origin: from, kind: 'fork'};
}

/** A turn: prompt, usage of 100 tokens in and 10 out, answer. */
export function turn(prompt: string, costUsd: number | null = 0.25): Body[] {
	return [
		user(prompt),
		{
			...(usage(100, 10, costUsd) as Extract<Body, {type: 'usage'}>),
			model: costUsd === null ? 'llama' : 'gpt-5-mini',
		},
		{type: 'message', message: {role: 'assistant', content: `About ${prompt}.`}},
	];
}

/** A call that writes a file, its tool_end and its message. */
export function writes(path: string, before: string | null, after: string): Body[] {
	const args = JSON.stringify({path, content: after});
	return [
		{
			type: 'message',
			message: {role: 'assistant', content: '', toolCalls: [{id: 'w1', name: 'write_file', args}]},
		},
		{
			type: 'tool_end',
			id: 'w1',
			name: 'write_file',
			result: {ok: true, content: '+1 −0'},
			ms: 3,
			files: [
				{path, before: before === null ? null : sha256(before), after: sha256(after), added: 1, removed: 0},
			],
			verdict: {state: 'allow', by: 'person', why: 'allowed when asked'},
		},
		result('w1', `Created ${path}.`),
	];
}
