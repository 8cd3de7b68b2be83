import {describe, expect, test} from 'vitest';
import {accumulator} from '../../src/agent/accumulate.ts';
import type {StreamDelta} from '../../src/agent/gateway.ts';

function joined(...deltas: StreamDelta[]) {
	let made = 0;
	const answer = accumulator(() => `made${++made}`);
	for (const delta of deltas) answer.add(delta);
	return answer.end();
}

function call(fields: Omit<Extract<StreamDelta, {type: 'call'}>, 'type'>): StreamDelta {
	return {type: 'call', ...fields};
}

function calls(...deltas: StreamDelta[]) {
	return joined(...deltas).message.toolCalls;
}

const read = {id: 'a', name: 'read', args: '{"p":1}'};
const list = {id: 'b', name: 'list', args: '{}'};

test('a whole answer', () => {
	const answer = joined(
		{type: 'reasoning', text: 'let me '},
		{type: 'reasoning', text: 'think'},
		{type: 'text', text: 'hel'},
		{type: 'text', text: 'lo'},
		call({index: 0, id: 'a', name: 'read', args: '{"p"'}),
		call({index: 0, args: ':1}'}),
		{type: 'extra', extra: {opaque: 1}},
		{type: 'usage', usage: {inputTokens: 1, outputTokens: 1}},
		{type: 'usage', usage: {inputTokens: 1, outputTokens: 2}},
		{type: 'finish', reason: 'tool_calls'},
	);
	expect(answer).toEqual({
		message: {
			role: 'assistant',
			content: 'hello',
			reasoning: 'let me think',
			toolCalls: [read],
			extra: {opaque: 1},
		},
		usage: {inputTokens: 1, outputTokens: 2},
		finish: 'tool_calls',
	});
});

test('what was not said is not there', () => {
	expect(Object.keys(joined().message)).toEqual(['role', 'content']);
	expect(joined()).toEqual({message: {role: 'assistant', content: ''}});
});

describe('which call a fragment belongs to', () => {
	test.each<[string, StreamDelta[]]>([
		['an index each', [call({index: 0, ...read}), call({index: 1, ...list})]],
		['indexes that begin at 1 and leave one out', [call({index: 1, ...read}), call({index: 3, ...list})]],
		['the same index, another id and a name', [call({index: 0, ...read}), call({index: 0, ...list})]],
		['no index, an id each', [call(read), call(list)]],
		[
			'no index, the id says which',
			[
				call({id: 'a', name: 'read'}),
				call({id: 'b', name: 'list'}),
				call({id: 'a', args: '{"p":1}'}),
				call({id: 'b', args: '{}'}),
			],
		],
		[
			'no index and no id: what follows belongs to the last',
			[
				call({id: 'a', name: 'read'}),
				call({args: '{"p"'}),
				call({args: ':1}'}),
				call({id: 'b', name: 'list'}),
				call({args: '{}'}),
			],
		],
		[
			'an index on the later fragments only',
			[
				call({id: 'a', name: 'read'}),
				call({index: 0, args: '{"p":1}'}),
				call({id: 'b', name: 'list', args: '{}'}),
			],
		],
		['the id comes after the name', [call({name: 'read'}), call({id: 'a', args: '{"p":1}'}), call(list)]],
		['the name comes after the id', [call({id: 'a'}), call({name: 'read', args: '{"p":1}'}), call(list)]],
		[
			'after a second call at the same index, fragments belong to that one',
			[call({index: 0, ...read}), call({index: 0, id: 'b', name: 'list'}), call({index: 0, args: '{}'})],
		],
	])('%s', (_name, deltas) => {
		expect(calls(...deltas)).toEqual([read, list]);
	});

	test('no index and no id: a name begins another call', () => {
		expect(calls(call({name: 'read', args: '{"p":1}'}), call({name: 'list', args: '{}'}))).toEqual([
			{...read, id: 'made1'},
			{...list, id: 'made2'},
		]);
	});

	test('a fragment that says nothing is no call', () => {
		expect(
			calls(
				call({}),
				call({index: 0}),
				call({index: 4, args: ''}),
				call({id: 'x'}),
				call({extra: {sign: 1}}),
			),
		).toBeUndefined();
	});

	test('a new id on every fragment is not a new call', () => {
		expect(
			calls(call({index: 0, id: 'a', name: 'read', args: '{"p"'}), call({index: 0, id: 'x', args: ':1}'})),
		).toEqual([read]);
	});
});

describe('names and ids', () => {
	test('a name in pieces is joined until arguments come', () => {
		expect(
			calls(
				call({index: 0, id: 'a', name: 're'}),
				call({index: 0, name: 'ad'}),
				call({index: 0, args: '{"p":1}'}),
			),
		).toEqual([read]);
	});

	test('a repeated name is one name', () => {
		expect(
			calls(call({index: 0, ...read, args: '{"p"'}), call({index: 0, name: 'read', args: ':1}'})),
		).toEqual([read]);
	});

	test('an id that a server uses twice is used once', () => {
		expect(calls(call({index: 0, ...read}), call({index: 1, ...list, id: 'a'}))).toEqual([
			read,
			{...list, id: 'made1'},
		]);
	});

	test('a generated id is none that the server used', () => {
		expect(calls(call({index: 0, ...read, id: 'made1'}), call({index: 1, ...list, id: ''}))).toEqual([
			{...read, id: 'made1'},
			{...list, id: 'made2'},
		]);
	});

	test('asking twice gives the same ids', () => {
		const answer = accumulator();
		answer.add(call({index: 0, name: 'read'}));
		const first = answer.end();
		expect(answer.end()).toEqual(first);
		expect(first.message.toolCalls?.[0]?.id).toMatch(/^[a-z0-9]{9}$/);
	});
});

describe('nothing is repaired', () => {
	test.each(['', '{"p":', '{"a":1}{"b":2}', 'not json'])('the arguments %j stay', (args) => {
		expect(calls(call({index: 0, id: 'a', name: 'read', args}))).toEqual([{...read, args}]);
	});
});

describe('strings are well-formed', () => {
	const [high, low] = ['\ud83d', '\ude42'];

	test('a pair in two pieces is whole', () => {
		const {message} = joined(
			{type: 'text', text: `a${high}`},
			{type: 'reasoning', text: `b${high}`},
			call({index: 0, id: 'a', name: 'read', args: `"${high}`}),
			{type: 'text', text: `${low}c`},
			{type: 'reasoning', text: low},
			call({index: 0, args: `${low}"`}),
		);
		expect(message).toEqual({
			role: 'assistant',
			content: 'a🙂c',
			reasoning: 'b🙂',
			toolCalls: [{...read, args: '"🙂"'}],
		});
	});

	test('a half is replaced, also in opaque fields', () => {
		const {message} = joined(
			{type: 'text', text: high},
			{type: 'extra', extra: {[`k${high}`]: [{deep: low}, 1, null]}},
			call({index: 0, id: `i${low}`, name: `n${low}`, args: low, extra: {sign: high}}),
		);
		expect(message).toEqual({
			role: 'assistant',
			content: '\ufffd',
			extra: {'k\ufffd': [{deep: '\ufffd'}, 1, null]},
			toolCalls: [{id: 'i\ufffd', name: 'n\ufffd', args: '\ufffd', extra: {sign: '\ufffd'}}],
		});
	});
});

describe('opaque fields', () => {
	function extra(...pieces: Record<string, unknown>[]) {
		return joined(...pieces.map((each): StreamDelta => ({type: 'extra', extra: each}))).message.extra;
	}

	test('lists go on, objects are joined, the later value counts, null is nothing', () => {
		expect(extra({a: [1], b: {c: 1}, d: 1, e: 'x'}, {a: [2], b: {f: 2}, d: 2, e: null})).toEqual({
			a: [1, 2],
			b: {c: 1, f: 2},
			d: 2,
			e: 'x',
		});
	});

	test('pieces of a signed block become one block', () => {
		const piece = (fields: object) => ({thinking_blocks: [{type: 'thinking', ...fields}]});
		expect(
			extra(piece({thinking: 'let '}), piece({thinking: 'me', signature: 's1'}), piece({thinking: 'next'})),
		).toEqual({
			thinking_blocks: [
				{type: 'thinking', thinking: 'let me', signature: 's1'},
				{type: 'thinking', thinking: 'next'},
			],
		});
	});

	test('a signature that comes behind its call belongs to it', () => {
		expect(calls(call(read), call({extra: {sign: 1}}), call(list))).toEqual([
			{...read, extra: {sign: 1}},
			list,
		]);
	});

	test('a signature that comes before its call belongs to it', () => {
		expect(calls(call({extra: {sign: 1}}), call(read), call(list))).toEqual([
			{...read, extra: {sign: 1}},
			list,
		]);
	});

	test('a field named __proto__ is a field', () => {
		const odd = JSON.parse('{"__proto__": {"x": 1}}') as Record<string, unknown>;
		expect(JSON.stringify(extra({a: 1}, odd))).toBe('{"a":1,"__proto__":{"x":1}}');
		expect(({} as {x?: number}).x).toBeUndefined();
	});
});

test('ten megabytes in pieces of four characters are joined in one go', () => {
	const answer = accumulator();
	for (let at = 0; at < 2_500_000; at++) answer.add({type: 'text', text: 'abcd'});
	expect(answer.end().message.content).toHaveLength(10_000_000);
});
