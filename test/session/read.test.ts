import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readEvents} from '../../src/session/read.ts';
import {events, line, logFile, splitLines, turnOne, usage, user} from '../helpers/log-file.ts';

const one = events(turnOne);

test('a whole log gives every event as it was written', async () => {
	const file = logFile(...one);
	expect(await readEvents(file.path)).toEqual({events: one, end: {at: 'whole'}, bytes: file.bytes().length});
});

test('a line cut in half is left out, and everything before it is kept', async () => {
	const file = logFile(...one);
	const last = Buffer.byteLength(line(one[7] ?? {}));
	const whole = file.bytes().length - last;
	const {events: read, end, bytes} = await readEvents(file.cutLastLine().path);
	expect(read).toEqual(one.slice(0, 7));
	expect(bytes).toBe(whole);
	const ignoredBytes = file.bytes().length - whole;
	expect(end).toEqual({at: 'cut', line: 8, reason: 'the line does not end', ignoredBytes});
});

test('a last line without its newline is torn, even if it is JSON', async () => {
	const file = logFile(...one);
	file.cutAt(file.bytes().length - 1);
	expect((await readEvents(file.path)).end).toMatchObject({
		at: 'cut',
		line: 8,
		reason: 'the line does not end',
	});
});

test('an empty file is whole and has no events', async () => {
	expect(await readEvents(logFile().path)).toEqual({events: [], end: {at: 'whole'}, bytes: 0});
});

test('line separators of other alphabets inside a string are text', async () => {
	const odd = events([user('a\u2028b\u2029c\u0085d')]);
	expect((await readEvents(logFile(...odd).path)).events).toEqual(odd);
});

test('a line longer than the reading chunk is read, whatever characters stand at its seams', async () => {
	const long = events([user(`${'a'.repeat((1 << 20) - 100)}${'é𝄞你'.repeat(400_000)}`), usage()]);
	expect((await readEvents(logFile(...long).path)).events).toEqual(long);
});

test('an unknown type with a sound envelope is kept', async () => {
	const strange = {seq: 9, ts: '2026-09-07T10:00:09.000Z', type: 'weather', sky: 'clear'};
	const {events: read, end} = await readEvents(logFile(...one).append(line(strange)).path);
	expect(read.at(-1)).toEqual(strange);
	expect(end).toEqual({at: 'whole'});
});

test('fields that this version does not know stay on the event', async () => {
	const later = {...one[2], mood: 'bright'};
	expect((await readEvents(logFile().append(line(later)).path)).events).toEqual([later]);
});

const damages: [name: string, data: string | Buffer, reason: string][] = [
	['NUL bytes', `${'\0'.repeat(300)}\n`, 'the line is not JSON (it holds NUL bytes)'],
	['text', 'not json\n', 'the line is not JSON'],
	['an empty line', '\n', 'the line is empty'],
	['a number', '7\n', 'the line is not a JSON object'],
	['null', 'null\n', 'the line is not a JSON object'],
	['an array', '[]\n', 'the line is not a JSON object'],
	['two objects on one line', `${line(one[3] ?? {}).trim()}${line(one[4] ?? {})}`, 'the line is not JSON'],
	['a BOM', `\uFEFF${line({...one[3]})}`, 'the line is not JSON'],
	[
		'bytes that are not UTF-8',
		Buffer.concat([Buffer.from('{"seq":4,"ts":"'), Buffer.of(0xe9), Buffer.from('"}\n')]),
		'the line is not valid UTF-8',
	],
	['a seq that repeats', line({...one[3], seq: 3}), 'seq 3 is not larger than 3'],
	['a seq that goes back', line({...one[3], seq: 1}), 'seq 1 is not larger than 3'],
	['a seq that is a string', line({...one[3], seq: '4'}), 'seq is not an integer'],
	['a seq with a fraction', line({...one[3], seq: 4.5}), 'seq is not an integer'],
	['no seq', line({ts: '', type: 'usage'}), 'seq is not an integer'],
	['a ts that is a number', line({...one[3], ts: 4}), 'ts is not a string'],
	['no type', line({seq: 4, ts: ''}), 'type is not a string'],
	[
		'a known type without its fields',
		line({seq: 4, ts: '', type: 'usage'}),
		'this usage event does not fit: model: ',
	],
	[
		'a message without a role',
		line({seq: 4, ts: '', type: 'message', message: {content: 'x'}}),
		'this message event does not fit: message.role',
	],
	[
		'a type that is a name of Object',
		line({seq: 2, ts: '', type: 'constructor'}),
		'seq 2 is not larger than 3',
	],
];

test.each(damages)('%s at line 4 stops the reading there, and names it', async (_name, data, reason) => {
	const file = logFile(...one).setLine(4, data);
	const {events: read, end, bytes} = await readEvents(file.path);
	expect(read).toEqual(one.slice(0, 3));
	expect(end).toMatchObject({at: 'cut', line: 4, ignoredBytes: file.bytes().length - bytes});
	expect(end.at === 'cut' && end.reason.startsWith(reason), JSON.stringify(end)).toBe(true);
});

test('line ends of Windows are white space to JSON, so such a log is whole', async () => {
	const file = logFile();
	for (const event of one) file.append(`${JSON.stringify(event)}\r\n`);
	expect((await readEvents(file.path)).end).toEqual({at: 'whole'});
});

test('every log among the fixtures ends as its name says', async () => {
	const folder = join(import.meta.dirname, '../../fixtures/logs');
	const ends: Record<string, string> = {};
	for (const name of readdirSync(folder)) {
		const {events: read, end} = await readEvents(join(folder, name));
		ends[name] = end.at === 'whole' ? `${read.length} events` : `line ${end.line}: ${end.reason}`;
	}
	expect(ends).toEqual({
		'cut-last-line.jsonl': 'line 8: the line does not end',
		'empty.jsonl': '0 events',
		'ends-between-tool-end-and-result.jsonl': '5 events',
		'ends-mid-turn.jsonl': '4 events',
		'no-final-newline.jsonl': 'line 8: the line does not end',
		'nul-bytes.jsonl': 'line 5: the line is not JSON (it holds NUL bytes)',
		'recovery.jsonl': '9 events',
		'seq-goes-back.jsonl': 'line 7: seq 5 is not larger than 6',
		'unknown-type.jsonl': '9 events',
		'whole.jsonl': '19 events',
	});
});

test('the number of lines in a file is the number of events in it', async () => {
	const file = logFile(...one);
	expect((await readEvents(file.path)).events.length).toBe(splitLines(file.bytes()).length);
});
