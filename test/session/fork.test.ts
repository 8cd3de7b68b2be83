import {readdirSync, readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {fork, forkPoints, ownerOf, recover} from '../../src/session/fork.ts';
import {SessionLog} from '../../src/session/log.ts';
import {readEvents} from '../../src/session/read.ts';
import {
	answer,
	call,
	events,
	line,
	logFile,
	result,
	splitLines,
	system,
	toolEnd,
	turnOne,
	turnTwo,
	usage,
	user,
} from '../helpers/log-file.ts';

const whole = events([...turnOne, ...turnTwo]);

async function openLog(path: string) {
	const opened = await SessionLog.reopen(path);
	if (opened.at !== 'open') throw new Error(opened.at);
	return opened.log;
}

async function forked(path: string, at?: {seq: number; before?: boolean}) {
	const made = await fork(path, at);
	if (!made.ok) throw new Error(made.reason);
	await made.log.close();
	return made;
}

test('fork points of the scripted session are exactly 2, 8, 9 and 19', () => {
	expect(forkPoints(whole).map((point) => point.seq)).toEqual([2, 8, 9, 19]);
});

test('a user message that was typed while a tool ran is not a clean boundary', () => {
	const log = events([
		system,
		user('go'),
		call('a'),
		user('hurry'),
		toolEnd('a'),
		result('a'),
		answer('done'),
	]);
	expect(forkPoints(log).map((point) => point.seq)).toEqual([2, 7]);
});

test.each([2, 8, 9, 19])(
	'a fork at %i holds the lines up to it byte for byte, then its lineage, and the parent does not change',
	async (seq) => {
		const file = logFile(...whole);
		const before = file.hash();
		const {log} = await forked(file.path, {seq});
		const lines = splitLines(readFileSync(log.path));
		expect(Buffer.concat(lines.slice(0, -1))).toEqual(Buffer.concat(splitLines(file.bytes()).slice(0, seq)));
		const lineage = JSON.parse(lines.at(-1)?.toString() ?? '');
		expect(lineage).toEqual({
			seq: seq + 1,
			ts: expect.any(String),
			type: 'fork',
			from: file.id,
			atSeq: seq,
			origin: file.id,
			kind: 'fork',
		});
		expect(file.hash()).toBe(before);
		expect(log.id).not.toBe(file.id);
	},
);

test('a fork without a point is made at the last one', async () => {
	const file = logFile(...whole, ...events([usage()], 20));
	expect((await forked(file.path)).atSeq).toBe(19);
});

test.each([
	[4, 'its tool calls have no results at that point'],
	[5, 'it is a tool_end event, which is not part of the conversation'],
	[6, 'it is the result of a tool call, which the model has not answered yet'],
	[1, 'it is the system message, before anything was asked'],
	[99, 'there is no such event'],
])(
	'a fork at %i is refused with the reason and the points there are, and nothing is written',
	async (seq, reason) => {
		const file = logFile(...whole);
		expect(await fork(file.path, {seq})).toEqual({
			ok: false,
			reason: `Event ${seq} is not a fork point: ${reason}. Fork points are 2, 8, 9 and 19.`,
		});
		expect(readdirSync(file.folder)).toEqual([`${file.id}.jsonl`]);
	},
);

test('a fork before a user message leaves that message out', async () => {
	const file = logFile(...whole);
	const {log, atSeq} = await forked(file.path, {seq: 9, before: true});
	expect(atSeq).toBe(8);
	expect((await readEvents(log.path)).events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('unknown types and unknown fields survive a fork byte for byte', async () => {
	const odd = `{"type":"weather", "ts":"2026-09-07T10:00:02.500Z","seq":3 ,"sky":"\\u00e9"}\n`;
	const file = logFile(...events([system, user('go')]))
		.append(odd)
		.append(line({...events([answer('hi')], 4)[0], later: 1}));
	const {log} = await forked(file.path);
	expect(readFileSync(log.path).subarray(0, file.bytes().length)).toEqual(file.bytes());
});

test('a fork of a cut log takes whole lines only', async () => {
	const file = logFile(...whole).cutLastLine();
	const {log} = await forked(file.path);
	const read = await readEvents(log.path);
	expect([read.end, read.events.length]).toEqual([{at: 'whole'}, 10]);
});

test('a chain of forks names who wrote each stretch', async () => {
	const file = logFile(...whole);
	const first = await forked(file.path, {seq: 8});
	const going = await openLog(first.log.path);
	await going.append(user('another way'), answer('as you like'));
	await going.close();
	const second = await forked(first.log.path);
	const third = await forked(second.log.path, {seq: 8});
	const lineages = async (path: string) =>
		(await readEvents(path)).events.flatMap((event) =>
			event.type === 'fork' ? [[event.from, event.atSeq, event.origin]] : [],
		);
	expect(await lineages(second.log.path)).toEqual([
		[file.id, 8, file.id],
		[first.log.id, 11, first.log.id],
	]);
	// Line 8 was written by the root, however many files it went through.
	expect(await lineages(third.log.path)).toEqual([[second.log.id, 8, file.id]]);
	const {events: read} = await readEvents(second.log.path);
	const owners = [8, 9, 11, 12, 13].map((seq) => ownerOf(read, second.log.id, seq));
	expect(owners).toEqual([file.id, first.log.id, first.log.id, second.log.id, second.log.id]);
});

test('a recovery holds the whole lines, a lineage that names the cut, and what comes next', async () => {
	const file = logFile(...whole).cutLastLine();
	const before = file.hash();
	const {events: read, end, bytes} = await readEvents(file.path);
	if (end.at !== 'cut') throw new Error('expected a cut log');
	const {at, ...cut} = end;
	const {log} = await recover(file.path, {events: read, bytes, cut}, [user('go on')]);
	await log.close();
	const recovered = await readEvents(log.path);
	expect(recovered.events.slice(0, 18)).toEqual(read);
	expect(recovered.events.slice(18)).toMatchObject([
		{seq: 19, type: 'fork', kind: 'recovery', from: file.id, atSeq: 18, cut},
		{seq: 20, type: 'message', message: {role: 'user', content: 'go on'}},
	]);
	expect(file.hash()).toBe(before);
});
