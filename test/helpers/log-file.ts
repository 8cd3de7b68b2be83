import {createHash} from 'node:crypto';
import {
	appendFileSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {Body, Event} from '../../src/session/events.ts';

/** A folder that is gone when the test is. */
export function temporaryFolder(): string {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mca-test-')));
	onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
	return folder;
}

/** Bodies with an envelope, as a writer would have made them: seq from `first`, one second apart. */
export function events(bodies: readonly Body[], first = 1): Event[] {
	return bodies.map((body, index) => ({seq: first + index, ts: time(first + index), ...body}));
}

function time(second: number): string {
	return new Date(Date.UTC(2026, 8, 7, 10, 0, second)).toISOString();
}

/** A session file that can be written, cut and damaged; each step returns it. */
export function logFile(...content: readonly Event[]) {
	const folder = join(temporaryFolder(), 'sessions', 'calculator-00000000');
	mkdirSync(folder, {recursive: true});
	const path = join(folder, 's-20260907-100000-ab12.jsonl');
	writeFileSync(path, content.map(line).join(''));
	const file = {
		path,
		folder,
		id: basename(path, '.jsonl'),
		bytes: () => readFileSync(path),
		hash: () => createHash('sha256').update(readFileSync(path)).digest('hex'),
		/** Raw bytes at the end, as they are. */
		append(data: string | Buffer) {
			appendFileSync(path, data);
			return file;
		},
		/** Only the first `bytes` bytes stay. */
		cutAt(bytes: number) {
			truncateSync(path, bytes);
			return file;
		},
		/** The second half of the last line is missing, and with it its newline. */
		cutLastLine() {
			const all = readFileSync(path);
			const start = all.lastIndexOf(0x0a, all.length - 2) + 1;
			return file.cutAt(start + Math.floor((all.length - start) / 2));
		},
		/** Line `number` (from 1) becomes `data`, which brings its own newline or none. */
		setLine(number: number, data: string | Buffer) {
			const lines = splitLines(readFileSync(path));
			lines[number - 1] = Buffer.from(data);
			writeFileSync(path, Buffer.concat(lines));
			return file;
		},
	};
	return file;
}

export function line(event: object): string {
	return `${JSON.stringify(event)}\n`;
}

/** The lines of a file, each with its newline. */
export function splitLines(data: Buffer): Buffer[] {
	const lines: Buffer[] = [];
	for (let start = 0; start < data.length; ) {
		const at = data.indexOf(0x0a, start);
		const end = at === -1 ? data.length : at + 1;
		lines.push(data.subarray(start, end));
		start = end;
	}
	return lines;
}

export const system: Body = {
	type: 'message',
	message: {role: 'system', content: 'You are mca.'},
	session: {
		id: 's-20260907-100000-ab12',
		workspace: '/home/me/calculator',
		model: 'scripted',
		version: '0.1.0',
		format: 1,
	},
};

export const user = (content: string): Body => ({type: 'message', message: {role: 'user', content}});
export const answer = (content: string): Body => ({type: 'message', message: {role: 'assistant', content}});
/** An assistant message with calls: `call('c1', 'c2')`. */
export const call = (...ids: string[]): Body => ({
	type: 'message',
	message: {
		role: 'assistant',
		content: '',
		toolCalls: ids.map((id) => ({id, name: 'run_command', args: '{"command":"node --test"}'})),
	},
});
export const toolEnd = (id: string, content = 'exit 0'): Body => ({
	type: 'tool_end',
	id,
	name: 'run_command',
	result: {ok: true, content},
	ms: 65,
	chars: 11,
	truncated: false,
	verdict: {state: 'allow', by: 'person', why: 'allowed when asked'},
});
export const result = (toolCallId: string, content = 'exit code 0'): Body => ({
	type: 'message',
	message: {role: 'tool', toolCallId, content},
});
export const usage = (inputTokens = 812, outputTokens = 41, costUsd: number | null = null): Body => ({
	type: 'usage',
	model: 'scripted',
	inputTokens,
	outputTokens,
	estimated: false,
	ms: 1180,
	finish: 'stop',
	costUsd,
});

/** Turn one of the scripted session: 8 events. */
export const turnOne: readonly Body[] = [
	system,
	user('run the tests'),
	usage(),
	call('c1'),
	toolEnd('c1', 'exit 1'),
	result('c1', '✖ divide by zero'),
	usage(1204, 60),
	answer('The failing case is “divide by zero”.'),
];

/** Turn two: events 9 to 19. */
export const turnTwo: readonly Body[] = [
	user('then fix it'),
	usage(),
	call('c2'),
	toolEnd('c2'),
	result('c2'),
	usage(),
	call('c3'),
	toolEnd('c3'),
	result('c3'),
	usage(),
	answer('All 4 cases pass.'),
];
