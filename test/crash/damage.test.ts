import {readFileSync, rmSync} from 'node:fs';
import {dirname} from 'node:path';
import {gzipSync} from 'node:zlib';
import {expect, test, vi} from 'vitest';
import {buildBody} from '../../src/agent/request.ts';
import {forkPoints} from '../../src/session/fork.ts';
import {readEvents} from '../../src/session/read.ts';
import {replay} from '../../src/session/replay.ts';
import {inspect} from '../../src/session/sessions.ts';
import {answer, events, line, system, user} from '../helpers/log-file.ts';
import {
	type Ending,
	outcomeOf,
	polyglot,
	polyglotLines,
	type RecoveryWorld,
	recoveryWorld,
	refusals,
	seen,
	sketch,
} from '../helpers/recover.ts';

// Thousands of sessions are made here. Whether they are synced is another test's question.
vi.hoisted(() => {
	process.env.MCA_FSYNC = '0';
});

const lines = polyglotLines();
const log = events(polyglot());
const all = lines.length;
const newline = Buffer.from('\n');

/** Where a damage in line `at` stops the reading: how many lines stay, and why no more. */
type Stop = {lines: number; reason: string};
type Damage = (body: Buffer, at: number) => Buffer;

const bodyOf = (each: Buffer) => each.subarray(0, -1);
const ended = (body: Buffer | string) => Buffer.concat([Buffer.from(body), newline]);
const half = (body: Buffer) => body.subarray(0, Math.floor(body.length / 2));
const joined = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));
/** A line's event with other fields. */
const withFields = (fields: object) => (_: Buffer, at: number) =>
	Buffer.from(line({...log[at - 1], ...fields}));
const without = (field: string) => withFields({[field]: undefined});

/** The bytes with line `at` (from 1) in another form. */
function damaged(at: number, damage: Damage): Buffer {
	return joined(...lines.map((each, index) => (index === at - 1 ? damage(bodyOf(each), at) : each)));
}

async function check(world: RecoveryWorld, name: string, bytes: Buffer, stop: Partial<Stop> = {}) {
	const count = stop.lines ?? all;
	const kept = joined(...lines.slice(0, count)).length;
	const ending: Ending = {
		lines: count,
		bytes: kept,
		size: bytes.length,
		...(stop.reason === undefined ? {} : {reason: stop.reason}),
	};
	const path = world.place(bytes);
	const listed = await inspect(path);
	const gone = await world.goOn(path);
	const expected = outcomeOf(ending);
	expect({name, listed: listed?.end, ...seen(path, bytes, gone, ending)}).toEqual({
		name,
		listed: expected.end,
		...expected,
	});
	rmSync(dirname(path), {recursive: true});
}

const nul = 'the line is not JSON (it holds NUL bytes)';
const notJson = 'the line is not JSON';
const notUtf8 = 'the line is not valid UTF-8';
const notObject = 'the line is not a JSON object';
const notInteger = 'seq is not an integer';
const unended = 'the line does not end';

const text = 'Invalid input: expected string, received undefined';
/** Types without their fields, and what the format misses first. */
const misfits = [
	['message', "message.role: Invalid discriminator value. Expected 'system' | 'user' | 'assistant' | 'tool'"],
	['tool_end', `id: ${text}`],
	['usage', `model: ${text}`],
	['draft', `text: ${text}`],
	['error', 'message: Invalid input: expected string, received object'],
	['fork', `from: ${text}`],
	['name', `title: ${text}`],
] as const;

/** The damaged line is there to its newline: the reading stops at it. */
const inLine: [name: string, damage: Damage, reason: string | ((at: number) => string)][] = [
	['NUL bytes', (body) => ended(Buffer.alloc(body.length)), nul],
	['NUL bytes from its middle on', (body) => ended(joined(half(body), Buffer.alloc(body.length))), nul],
	['a NUL-padded front', (body) => ended(joined(Buffer.alloc(300), body)), nul],
	['one NUL byte behind it', (body) => ended(joined(body, '\0')), nul],
	['a torn line that was given a newline', (body) => ended(half(body)), notJson],
	['a BOM', (body) => ended(joined('\uFEFF', body)), notJson],
	['text', () => ended('not json'), notJson],
	['a conflict marker', () => ended('<<<<<<< HEAD'), notJson],
	['spaces', () => ended('   '), notJson],
	['a carriage return alone', () => ended('\r'), notJson],
	['nothing', () => ended(''), 'the line is empty'],
	['null', () => ended('null'), notObject],
	['true', () => ended('true'), notObject],
	['a number', () => ended('7'), notObject],
	['a string', (body) => ended(JSON.stringify(body.toString())), notObject],
	['an array', (body) => ended(joined('[', body, ']')), notObject],
	['a comma behind it', (body) => ended(joined(body, ',')), notJson],
	['a byte that is never UTF-8', (body) => ended(joined(body, Buffer.of(0xff))), notUtf8],
	['a character of two bytes cut in half', (body) => ended(joined(half(body), Buffer.of(0xc3))), notUtf8],
	[
		'a character of three bytes cut short',
		(body) => ended(joined(half(body), Buffer.of(0xe4, 0xbd))),
		notUtf8,
	],
	[
		'a character of four bytes cut short',
		(body) => ended(joined(half(body), Buffer.of(0xf0, 0x9d, 0x84))),
		notUtf8,
	],
	['a surrogate as bytes', (body) => ended(joined(body, Buffer.of(0xed, 0xa0, 0xbd))), notUtf8],
	['a newline in two bytes', (body) => ended(joined(body, Buffer.of(0xc0, 0x8a))), notUtf8],
	['a seq of 0', withFields({seq: 0}), (at) => `seq 0 is not larger than ${at - 1}`],
	['a seq below 0', withFields({seq: -3}), (at) => `seq -3 is not larger than ${at - 1}`],
	['a seq that is a string', withFields({seq: '7'}), notInteger],
	['a seq with a fraction', withFields({seq: 100.5}), notInteger],
	['a seq that no double holds', withFields({seq: 2 ** 53}), notInteger],
	['a seq of null', withFields({seq: null}), notInteger],
	['no seq', without('seq'), notInteger],
	['a ts that is a number', withFields({ts: 4}), 'ts is not a string'],
	['no ts', without('ts'), 'ts is not a string'],
	['a type that is a number', withFields({type: 4}), 'type is not a string'],
	['no type', without('type'), 'type is not a string'],
	[
		'the line before it again',
		(body, at) => joined(lines[at - 2] ?? ended(''), ended(body)),
		(at) => (at === 1 ? 'the line is empty' : `seq ${at - 1} is not larger than ${at - 1}`),
	],
	[
		'the first line of the session',
		(body, at) => (at === 1 ? ended('') : joined(lines[0] ?? '', ended(body))),
		(at) => (at === 1 ? 'the line is empty' : `seq 1 is not larger than ${at - 1}`),
	],
	...misfits.map(([type, why]): (typeof inLine)[number] => [
		`a ${type} that does not fit`,
		(_, at) => Buffer.from(line({seq: at, ts: '', type, message: {}})),
		`this ${type} event does not fit: ${why}`,
	]),
];

test.each(inLine)(
	'%s in any line: reading stops there, and what is before it goes on',
	async (name, damage, reason) => {
		const world = recoveryWorld();
		for (let at = 1; at <= all; at++) {
			const why = typeof reason === 'string' ? reason : reason(at);
			await check(world, `${name} in line ${at}`, damaged(at, damage), {lines: at - 1, reason: why});
		}
	},
);

/** The newline is gone, so the line is one with the next; at the end of the log it is one that was being written. */
const glued: [name: string, damage: Damage, reason: string][] = [
	['no newline', (body) => body, notJson],
	['half of it and no newline', (body) => half(body), notJson],
	['a carriage return for its newline', (body) => joined(body, '\r'), notJson],
	['a line separator for its newline', (body) => joined(body, '\u2028'), notJson],
	['NUL bytes up to and with its newline', (body) => Buffer.alloc(body.length + 1), nul],
	['NUL bytes for its newline', (body) => joined(body, '\0\0'), nul],
	['half a character for its newline', (body) => joined(body, Buffer.of(0xe4, 0xbd)), notUtf8],
];

test.each(glued)(
	'%s at any line: it is lost with the next one, and both are left alone',
	async (name, damage, reason) => {
		const world = recoveryWorld();
		for (let at = 1; at <= all; at++) {
			const why = at === all ? unended : reason;
			await check(world, `${name} at line ${at}`, damaged(at, damage), {lines: at - 1, reason: why});
		}
	},
);

test('a line that is there twice stops the reading at its second', async () => {
	const world = recoveryWorld();
	for (let at = 1; at <= all; at++) {
		const bytes = damaged(at, (body) => joined(ended(body), ended(body)));
		await check(world, `line ${at} twice`, bytes, {lines: at, reason: `seq ${at} is not larger than ${at}`});
	}
});

test('another log joined behind any line stops the reading where it begins', async () => {
	const world = recoveryWorld();
	const other = joined(...events([system, user('elsewhere'), answer('there')]).map(line));
	for (let at = 1; at <= all; at++) {
		const bytes = damaged(at, (body) => joined(ended(body), other));
		await check(world, `joined behind line ${at}`, bytes, {
			lines: at,
			reason: `seq 1 is not larger than ${at}`,
		});
	}
});

/** Behind the last line. */
const tails: [name: string, tail: Buffer | string, reason: string][] = [
	['9,000 NUL bytes', Buffer.alloc(9000), unended],
	['9,000 NUL bytes and a newline', ended(Buffer.alloc(9000)), nul],
	['NUL bytes and a sound line', joined(Buffer.alloc(300), line({...log[2], seq: all + 1})), nul],
	['half a line', half(lines[1] as Buffer), unended],
	[
		'half a line, a newline and a sound line',
		joined(ended(half(lines[1] as Buffer)), line({...log[2], seq: all + 1})),
		notJson,
	],
	[
		'half a line and a sound line',
		joined(half(lines[1] as Buffer), line({...log[2], seq: all + 1})),
		notJson,
	],
	['a sound line without its newline', bodyOf(Buffer.from(line({...log[2], seq: all + 1}))), unended],
	['a carriage return', '\r', unended],
	['a space', ' ', unended],
	['an empty line', '\n', 'the line is empty'],
	['the log once more', joined(...lines), `seq 1 is not larger than ${all}`],
	['10 MB without an end', Buffer.alloc(10 << 20, 'x'), unended],
	['10 MB that are not JSON', ended(Buffer.alloc(10 << 20, 'x')), notJson],
	['10 MB of NUL bytes', ended(Buffer.alloc(10 << 20)), nul],
	['10 MB of the character é cut in half', ended(Buffer.alloc(10 << 20, 'é').subarray(1)), notUtf8],
];

test.each(tails)('%s at the end: every line before it is kept', async (name, tail, reason) => {
	await check(recoveryWorld(), name, joined(...lines, tail), {lines: all, reason});
});

/** A file without one whole line: the next prompt begins a new session, and the file stays. */
const hopeless: [name: string, bytes: Buffer | string, reason: string][] = [
	['a torn line', half(lines[0] as Buffer), unended],
	['9,000 NUL bytes', Buffer.alloc(9000), unended],
	['a newline', '\n', 'the line is empty'],
	['a BOM', '\uFEFF', unended],
	['a BOM before a sound log', joined('\uFEFF', ...lines), notJson],
	['UTF-16', Buffer.from(`\uFEFF${joined(...lines)}`, 'utf16le'), notUtf8],
	['a compressed log', gzipSync(joined(...lines, '\n')), notUtf8],
	['a JSON array of its lines', ended(`[${lines.map((each) => bodyOf(each)).join(',')}]`), notObject],
	[
		'old Mac line ends',
		joined(...lines)
			.toString()
			.replaceAll('\n', '\r'),
		unended,
	],
	['all its lines on one', ended(joined(...lines.map(bodyOf))), notJson],
];

test.each(hopeless)('a file that is only %s holds nothing to go on with', async (name, bytes, reason) => {
	await check(recoveryWorld(), name, Buffer.from(bytes), {lines: 0, reason});
});

test('an empty file is an empty session: whole, listed as such, and the next prompt begins a new one', async () => {
	await check(recoveryWorld(), 'empty', Buffer.alloc(0), {lines: 0});
});

/** What looks like damage and is none: every event is there, and the session goes on in its file. */
const harmless: [name: string, damage: Damage][] = [
	['a line end of Windows', (body) => joined(body, '\r\n')],
	['white space around it', (body) => joined(' \t', body, ' \t\n')],
	[
		'fields of a later version',
		(body, at) => Buffer.from(line({...JSON.parse(body.toString()), at, later: {a: [1]}})),
	],
	['every character escaped', (body) => ended(escaped(body.toString()))],
	['its fields in another order', withReversedFields],
	[
		'line separators in a field',
		(body) => ended(joined(body.subarray(0, -1), ',"x":"a\u2028b\u2029c\u0085d"}')),
	],
];

function withReversedFields(body: Buffer): Buffer {
	return Buffer.from(line(Object.fromEntries(Object.entries(JSON.parse(body.toString())).reverse())));
}

function escaped(text: string): string {
	return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

test.each(harmless)('%s at any line is no damage', async (name, damage) => {
	const world = recoveryWorld();
	for (let at = 1; at <= all; at++) await check(world, `${name} at line ${at}`, damaged(at, damage));
});

test('all of them at once are no damage', async () => {
	await check(
		recoveryWorld(),
		'all',
		joined(...lines.map((each) => joined(' ', escaped(bodyOf(each).toString()), '\r\n'))),
	);
});

test('an event of an unknown type behind any line is kept, counted as left out, and changes no conversation', async () => {
	const world = recoveryWorld();
	const bodies = polyglot();
	const strange = {type: 'weather', sky: '𝄞'} as unknown as (typeof bodies)[number];
	for (let at = 1; at <= all; at++) {
		const withIt = events([...bodies.slice(0, at), strange, ...bodies.slice(at)]);
		const path = world.place(joined(...withIt.map(line)));
		const gone = await world.goOn(path);
		expect(gone.opened.end).toEqual({at: 'whole'});
		expect(gone.request).toEqual(outcomeOf({lines: all, bytes: 0, size: 0}).request);
		expect(gone.read.events.slice(0, all + 1)).toEqual(withIt);
		expect(replay(withIt).leftOut).toBe(replay(log).leftOut + 1);
		expect(forkPoints(withIt).length).toBe(forkPoints(log).length);
		rmSync(dirname(path), {recursive: true});
	}
});

test('a line that is missing is not noticed, since seq still rises; what the model is sent is sound all the same', async () => {
	const world = recoveryWorld();
	for (let at = 1; at <= all; at++) {
		const path = world.place(damaged(at, () => Buffer.alloc(0)));
		const gone = await world.goOn(path);
		expect(gone.opened.end).toEqual({at: 'whole'});
		expect(gone.read.events.slice(0, all - 1)).toEqual(log.filter(({seq}) => seq !== at));
		expect(gone.refused.filter((why) => at > 1 || !why.includes('system'))).toEqual([]);
		rmSync(dirname(path), {recursive: true});
	}
});

test('two lines that changed places: the reading stops behind the later one', async () => {
	const world = recoveryWorld();
	for (let at = 1; at < all; at++) {
		const [here, next] = [lines[at - 1] as Buffer, lines[at] as Buffer];
		const bytes = joined(...lines.slice(0, at - 1), next, here, ...lines.slice(at + 1));
		const path = world.place(bytes);
		const gone = await world.goOn(path);
		expect(gone.opened.end).toEqual({
			at: 'cut',
			line: at + 1,
			reason: `seq ${at} is not larger than ${at + 1}`,
			ignoredBytes: bytes.length - joined(...lines.slice(0, at - 1), next).length,
		});
		expect(gone.read.events.slice(0, at)).toEqual([...log.slice(0, at - 1), log[at]]);
		expect(gone.refused.filter((why) => at > 1 || !why.includes('system'))).toEqual([]);
		expect(readFileSync(path).equals(bytes)).toBe(true);
		rmSync(dirname(path), {recursive: true});
	}
});

test('one sound line of 10 MB is read, sent and gone on with', async () => {
	const world = recoveryWorld();
	const long = '你é𝄞 '.repeat(1 << 20);
	const path = world.place(joined(...events([system, user(long), answer('long')]).map(line)));
	const gone = await world.goOn(path);
	expect(gone.opened.end).toEqual({at: 'whole'});
	expect(gone.request.map((each) => each.length)).toEqual([6, long.length + 5, 14, 10]);
	expect(gone.path).toBe(path);
});

test('a lone surrogate that another program left in a log is kept in it and never sent', async () => {
	const world = recoveryWorld();
	const path = world.place(joined(...events([system, user('cut \ud83d here'), answer('\udc00')]).map(line)));
	const {events: read, end} = await readEvents(path);
	expect(end).toEqual({at: 'whole'});
	expect(sketch(replay(read).messages)[1]).toBe('user cut \ud83d here');
	const {messages} = buildBody({model: 'm', messages: replay(read).messages, tools: []});
	expect(messages[1]?.content).toBe('cut \ufffd here');
	expect(refusals(messages)).toEqual([]);
	expect((await world.goOn(path)).refused).toEqual([]);
});
