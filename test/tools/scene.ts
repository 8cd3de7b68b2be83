import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {onTestFinished} from 'vitest';
import {tools} from '../../src/tools/index.ts';
import type {PreparedCall, Preview, ToolContext, ToolResult} from '../../src/tools/tool.ts';

export type Files = Record<string, string | Buffer>;

/** A workspace with files, a folder outside of it, and mca's own folder; gone after the test. */
export function scene(files: Files = {}) {
	const root = mkdtempSync(join(realpathSync(tmpdir()), 'mca-tools-'));
	onTestFinished(() => rmSync(root, {recursive: true, force: true, maxRetries: 3}));
	const workspace = join(root, 'work');
	const outside = join(root, 'outside');
	const data = join(root, 'data');
	for (const folder of [workspace, outside, data]) mkdirSync(folder);

	const context = (more: Partial<ToolContext> = {}): ToolContext => ({
		workspace,
		forbidden: [data],
		spillFolder: join(data, 'spill', 's-1'),
		callId: 'call-1',
		signal: new AbortController().signal,
		...more,
	});
	const put = (path: string, content: string | Buffer) => {
		mkdirSync(dirname(join(workspace, path)), {recursive: true});
		writeFileSync(join(workspace, path), content);
	};
	for (const [path, content] of Object.entries(files)) put(path, content);

	return {
		root,
		workspace,
		outside,
		data,
		context,
		put,
		at: (path: string) => join(workspace, path),
		bytes: (path: string) => readFileSync(join(workspace, path)),
		text: (path: string) => readFileSync(join(workspace, path), 'utf8'),
		names: (path = '.') => readdirSync(join(workspace, path)).sort(),
		run: (name: string, args: object, more?: Partial<ToolContext>): Promise<ToolResult> =>
			prepared(name, args).run(context(more)),
		preview: (name: string, args: object): Promise<Preview> => prepared(name, args).preview(context()),
		read: (path: string, more: object = {}) => prepared('read_file', {path, ...more}).run(context()),
		write: (path: string, content: string) => prepared('write_file', {path, content}).run(context()),
		/** One replacement. */
		edit: (path: string, old_text: string, new_text: string) =>
			prepared('edit_file', {path, edits: [{old_text, new_text}]}).run(context()),
		command: (command: string, more?: Partial<ToolContext>) =>
			prepared('run_command', {command}).run(context(more)),
	};
}

export function prepared(name: string, args: object): PreparedCall {
	const tool = tools.find((each) => each.name === name);
	const call = tool?.prepare(JSON.stringify(args));
	if (!call?.ok) throw new Error(call?.reason ?? `there is no tool ${name}`);
	return call.call;
}

/** Wait for what is expected; after 20 s the expectation that follows will say what is not. */
export async function until(condition: () => boolean, ms = 20_000): Promise<void> {
	const deadline = Date.now() + ms;
	while (!condition()) {
		if (Date.now() > deadline) throw new Error(`This did not come to be within ${ms} ms: ${condition}`);
		await wait(20);
	}
}

let sleeps = 0;
/** A number of seconds that no other sleep on this machine has: it makes a process easy to find. */
export function longSleep(): string {
	sleeps++;
	return `sleep 9${process.pid}.${Date.now()}${sleeps}`;
}

/** Ids of running processes that have `part` in their command line, and `variable` in their environment. Zombies have ended. */
export function running(part: string, variable = ''): number[] {
	return readdirSync('/proc')
		.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
		.filter((name) => {
			try {
				const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
				const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
				if (variable !== '' && !readFileSync(`/proc/${name}/environ`, 'utf8').includes(variable))
					return false;
				return command.includes(part) && stat.slice(stat.lastIndexOf(')') + 2, -1)[0] !== 'Z';
			} catch {
				return false;
			}
		})
		.map(Number);
}
