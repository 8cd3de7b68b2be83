import {describe, expect, test} from 'vitest';
import {type Outcome, play} from '../helpers/wire-play.ts';
import {
	answer,
	bytewise,
	chunk,
	comments,
	done,
	events,
	fin,
	heartbeat,
	type Reply,
	reset,
	sse,
	stall,
	stream,
} from '../helpers/wire-server.ts';

const {text, delta, calls, finish, usage} = chunk;
const hello = [text('hel'), text('lo')];
const stop = finish('stop');
const said: Outcome = {text: 'hello', finish: 'stop'};
const readA = {index: 0, id: 'a', type: 'function', function: {name: 'read', arguments: '{"p":1}'}};
const readB = {index: 1, id: 'b', type: 'function', function: {name: 'list', arguments: '{}'}};
const calledA: Outcome = {calls: ['read {"p":1}'], finish: 'tool_calls'};
const calledBoth: Outcome = {calls: ['read {"p":1}', 'list {}'], finish: 'tool_calls'};
const called = finish('tool_calls');

type Row = [name: string, reply: Reply, outcome: Outcome];

const understood: Row[] = [
	[
		'text, a stop and a last chunk with the usage and no choice',
		sse(delta({role: 'assistant', content: ''}), ...hello, stop, usage(12, 3)),
		{...said, usage: {inputTokens: 12, outputTokens: 3}},
	],
	[
		'of a usage on every chunk the last one counts',
		sse(
			{...text('hel'), usage: usage(12, 1).usage},
			{...text('lo'), usage: usage(12, 2).usage},
			{...stop, usage: usage(12, 3).usage},
		),
		{...said, usage: {inputTokens: 12, outputTokens: 3}},
	],
	['a role is not needed', sse(...hello, stop), said],
	['a stream may end without [DONE] if the model said that it is done', stream(events(...hello, stop)), said],
	[
		'a line that is held open after [DONE] is not waited for',
		stream(events(...hello, stop), done, stall),
		said,
	],
	[
		'a line that breaks after the model is done has lost nothing',
		stream(events(...hello, stop), reset),
		said,
	],
	['a chunk that is null is nothing', sse(null, ...hello, null, stop), said],
	[
		'chunks without choices are nothing',
		sse({}, {choices: null}, ...hello, {choices: []}, 7, 'x', stop),
		said,
	],
	[
		'a choice needs no index',
		sse({choices: [{delta: {content: 'hello'}}]}, {choices: [{delta: {}, finish_reason: 'stop'}]}),
		said,
	],
	[
		'a first chunk of filter results is nothing',
		sse({choices: [], prompt_filter_results: [{prompt_index: 0}]}, ...hello, stop),
		said,
	],
	[
		'a choice without a delta is nothing',
		sse(...hello, {choices: [{index: 0}]}, {choices: [{index: 0, delta: null, finish_reason: 'stop'}]}),
		said,
	],
	['null content is nothing', sse(text(null), ...hello, stop), said],
	[
		'calls without an index are told apart by their names',
		sse(calls({...readA, index: undefined}), calls({...readB, index: undefined}), called),
		calledBoth,
	],
	['a call with an empty id gets one', sse(calls({...readA, id: ''}), called), calledA],
	['a call with a null id gets one', sse(calls({...readA, id: null}), called), calledA],
	[
		'later fragments may have an empty id and an empty or null name',
		sse(
			calls({...readA, function: {name: 'read', arguments: ''}}),
			calls({index: 0, id: '', function: {name: '', arguments: '{"p"'}}),
			calls({index: 0, id: '', function: {name: null, arguments: ':1}'}}),
			called,
		),
		calledA,
	],
	[
		'a name in two pieces is joined',
		sse(
			calls({index: 0, id: 'a', function: {name: 're'}}),
			calls({index: 0, function: {name: 'ad', arguments: '{"p":1}'}}),
			called,
		),
		calledA,
	],
	[
		'a name on every chunk is said once',
		sse(
			calls({index: 0, id: 'a', function: {name: 'read', arguments: ''}}),
			calls({index: 0, id: 'a', function: {name: 'read', arguments: '{"p"'}}),
			calls({index: 0, id: 'a', function: {name: 'read', arguments: ':1}'}}),
			called,
		),
		calledA,
	],
	[
		'two calls that both claim index 0 stay two',
		sse(calls(readA), calls({...readB, index: 0}), called),
		calledBoth,
	],
	['two calls at index 0 in one chunk stay two', sse(calls(readA, {...readB, index: 0}), called), calledBoth],
	['the first index may be 1', sse(calls({...readA, index: 1}), called), calledA],
	['a call needs no type', sse(calls({...readA, type: undefined}), called), calledA],
	[
		'arguments may come as an object',
		sse(calls({...readA, function: {name: 'read', arguments: {p: 1}}}), called),
		calledA,
	],
	[
		'content may come as a list of parts',
		sse(
			text([
				{type: 'text', text: 'hel'},
				{type: 'text', text: 'lo'},
			]),
			stop,
		),
		said,
	],
	[
		'a part can be thinking',
		sse(text([{type: 'thinking', thinking: [{type: 'text', text: 'hm'}]}]), ...hello, stop),
		{...said, reasoning: 'hm'},
	],
	[
		'parallel calls may be interleaved',
		sse(
			calls(
				{index: 0, id: 'a', function: {name: 'read', arguments: ''}},
				{index: 1, id: 'b', function: {name: 'list', arguments: ''}},
			),
			calls({index: 1, function: {arguments: '{'}}),
			calls({index: 0, function: {arguments: '{"p"'}}),
			calls({index: 1, function: {arguments: '}'}}, {index: 0, function: {arguments: ':1}'}}),
			called,
		),
		calledBoth,
	],
	['whole calls may come in one chunk', sse(calls(readA, readB), called), calledBoth],
	[
		'arguments that are not JSON are kept as they are',
		sse(calls({...readA, function: {name: 'read', arguments: '{"p":'}}), called),
		{calls: ['read {"p":'], finish: 'tool_calls'},
	],
	[
		'empty arguments are kept as they are',
		sse(calls({...readA, function: {name: 'read', arguments: ''}}), called),
		{calls: ['read '], finish: 'tool_calls'},
	],
	...['length', 'content_filter', 'something_new'].map(
		(reason): Row => [
			`the reason ${reason} is passed on`,
			sse(...hello, finish(reason)),
			{text: 'hello', finish: reason},
		],
	),
	[
		'reasoning under its first name is joined',
		sse(delta({reasoning_content: 'let me '}), delta({reasoning_content: 'think'}), ...hello, stop),
		{...said, reasoning: 'let me think'},
	],
	[
		'reasoning under its second name is joined',
		sse(delta({reasoning: 'let me '}), delta({reasoning: 'think'}), ...hello, stop),
		{...said, reasoning: 'let me think'},
	],
	[
		'reasoning under both names at once is said once',
		sse(delta({reasoning: 'hm', reasoning_content: 'hm'}), ...hello, stop),
		{...said, reasoning: 'hm'},
	],
	[
		'lines may end in CR LF, without a space after data:, behind a byte order mark, between comments',
		stream(
			'\uFEFF: hi\r\n\r\n',
			events(...hello, stop)
				.replaceAll('data: ', 'data:')
				.replaceAll('\n', '\r\n'),
			': bye\n\n',
		),
		said,
	],
	[
		'characters may arrive byte by byte',
		stream(...bytewise(events(text('héllo 🙂 世界'), stop))),
		{text: 'héllo 🙂 世界', finish: 'stop'},
	],
	[
		'half a character in one chunk is completed by the next',
		sse(text('a\ud83d'), text('\ude42b'), stop),
		{text: 'a🙂b', finish: 'stop'},
	],
	[
		'half a character that is never completed is replaced',
		sse(text('a\ud83d'), text('b'), stop),
		{text: 'a\ufffdb', finish: 'stop'},
	],
	[
		'a model that says it is done with every piece is heard to the end',
		sse(
			{...text('hel'), choices: [{delta: {content: 'hel'}, finish_reason: 'stop'}]},
			...hello.slice(1),
			stop,
		),
		said,
	],
	['a refusal is what the model said', sse(delta({refusal: 'hello'}), stop), said],
	[
		'a whole completion instead of a stream is understood',
		answer(200, {
			choices: [{message: {role: 'assistant', content: 'hello', tool_calls: []}, finish_reason: 'stop'}],
			usage: {prompt_tokens: 12, completion_tokens: 3},
		}),
		{...said, usage: {inputTokens: 12, outputTokens: 3}},
	],
];

describe('an answer that is right in spirit is understood', () => {
	test.each(understood)('%s', async (_name, reply, outcome) => {
		expect(await play(reply)).toEqual(outcome);
	});
});

type Failure = [
	name: string,
	reply: Reply,
	expected: {kind: string; says: RegExp; text?: string; status?: number},
];

const failing: Failure[] = [
	[
		'a whole completion that breaks off',
		{status: 200, headers: {'content-type': 'application/json'}, pieces: ['{"choices":[', reset]},
		{kind: 'retry', says: /connection to .* broke/},
	],
	[
		'a stream that ends before the model is done was cut off',
		stream(events(...hello)),
		{kind: 'retry', says: /was cut off/, text: 'hello'},
	],
	[
		'[DONE] does not mean that the model is done',
		sse(...hello),
		{kind: 'retry', says: /was cut off/, text: 'hello'},
	],
	['calls that were cut off have no finish', sse(calls(readA)), {kind: 'retry', says: /was cut off/}],
	[
		'a web page is no answer',
		answer(200, '<html><title>Sign in</title></html>', {'content-type': 'text/html'}),
		{kind: 'protocol', says: /a web page instead of a stream/, status: 200},
	],
	[
		'JSON that is no completion is no answer',
		answer(200, {ok: true}),
		{kind: 'protocol', says: /application\/json instead of a stream/, status: 200},
	],
	[
		'an error with status 200 is an error',
		answer(200, {error: {message: 'no such thing'}}),
		{kind: 'retry', says: /no such thing/},
	],
	['204 is an empty answer', answer(204), {kind: 'protocol', says: /an empty answer/, status: 204}],
	['a stream without a chunk is empty', stream(), {kind: 'protocol', says: /an empty stream/}],
	['[DONE] alone is empty', stream(done), {kind: 'protocol', says: /an empty stream/}],
	[
		'a reset inside the answer',
		stream(events(...hello), reset),
		{kind: 'retry', says: /connection to .* broke/, text: 'hello'},
	],
	[
		'a connection closed inside the answer',
		stream(events(...hello), fin),
		{kind: 'retry', says: /connection to .* broke/, text: 'hello'},
	],
	[
		'a stream cut inside a line',
		stream(events(...hello), 'data: {"choices":[{"del'),
		{kind: 'retry', says: /cannot be read/, text: 'hello'},
	],
	[
		'a chunk that is not JSON',
		stream(events(...hello), 'data: {oops}\n\n', events(stop)),
		{kind: 'retry', says: /cannot be read/, text: 'hello'},
	],
	[
		'an empty data line',
		stream(events(...hello), 'data:\n\n', events(stop)),
		{kind: 'retry', says: /cannot be read/, text: 'hello'},
	],
	[
		'events that are not kept apart',
		stream(events(...hello, stop).replaceAll('\n\n', '\n')),
		{kind: 'protocol', says: /cannot be read/},
	],
	[
		'a choice that is null',
		stream(events(...hello, {choices: [null]})),
		{kind: 'retry', says: /cannot be read/, text: 'hello'},
	],
	[
		'an error chunk',
		stream(events(...hello, {error: {message: 'upstream died', code: 502}})),
		{kind: 'retry', says: /upstream died/, text: 'hello', status: 502},
	],
	[
		'an error event',
		stream(events(...hello), 'event: error\ndata: {"message":"upstream died"}\n\n'),
		{kind: 'retry', says: /upstream died/, text: 'hello'},
	],
	[
		'an error beside choices',
		stream(events({...text('hello'), error: {message: 'upstream died', code: '503'}})),
		{kind: 'retry', says: /upstream died/, status: 503},
	],
	[
		'an error that is only text',
		stream(events({error: 'boom'})),
		{kind: 'retry', says: /broke off the answer: boom\.$/},
	],
	[
		'an error chunk of the older vLLM',
		stream(events({object: 'error', message: 'boom', code: 400, type: 'BadRequestError'})),
		{kind: 'request', says: /boom/, status: 400},
	],
	[
		'an error chunk as a list',
		stream(events([{error: {code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED'}}])),
		{kind: 'retry', says: /slow down/, status: 429},
	],
	[
		'an error chunk about the quota',
		stream(events({error: {message: 'pay', code: 'insufficient_quota'}})),
		{kind: 'config', says: /no credit left/},
	],
	[
		'an error chunk about the key',
		stream(events({error: {message: 'who?', type: 'authentication_error'}})),
		{kind: 'config', says: /does not accept the API key/},
	],
	[
		'an error chunk about the context',
		stream(events({error: {message: 'too much', code: 'context_length_exceeded'}})),
		{kind: 'request', says: /conversation is too long/},
	],
	[
		'a finish reason that says error',
		sse(...hello, finish('error')),
		{kind: 'retry', says: /the model stopped with an error/, text: 'hello'},
	],
];

describe('an answer that is broken is an error of a kind', () => {
	test.each(failing)('%s', async (_name, reply, {kind, says, text, status}) => {
		const outcome = await play(reply);
		expect(outcome.error?.message).toMatch(says);
		expect(outcome.error?.kind).toBe(kind);
		expect(outcome.error?.status).toBe(status);
		expect(outcome.text).toBe(text);
		expect(outcome.finish).toBeUndefined();
	});
});

describe('silence ends, whatever keeps the line open', () => {
	test.each<[string, Reply, {firstTokenMs?: number; idleMs?: number}, RegExp]>([
		[
			'nothing after a piece of the answer',
			stream(events(...hello), stall),
			{idleMs: 150},
			/in the middle .* silent for 150 ms/,
		],
		[
			'only comments after a piece of the answer',
			stream(events(...hello), comments),
			{idleMs: 150},
			/in the middle .* silent for 150 ms/,
		],
		[
			'only comments from the start',
			stream(comments),
			{firstTokenMs: 150},
			/has not begun to answer for 150 ms/,
		],
		['headers and nothing else', stream(stall), {firstTokenMs: 150}, /has not begun to answer for 150 ms/],
		[
			'a role and nothing else',
			stream(events(delta({role: 'assistant', content: ''})), stall),
			{firstTokenMs: 150},
			/has not begun/,
		],
		[
			'a usage first and nothing else',
			stream(events(usage(5, 0)), stall),
			{firstTokenMs: 150},
			/has not begun/,
		],
	])('%s', async (_name, reply, limits, says) => {
		const {error} = await play(reply, limits);
		expect(error).toEqual({kind: 'retry', message: expect.stringMatching(says)});
	});
});

test('a model that says it is done with every piece can still be cut off', async () => {
	const piece = {choices: [{delta: {content: 'hel'}, finish_reason: 'stop'}]};
	const {error, text} = await play(stream(events(piece, ...hello.slice(1)), reset));
	expect({kind: error?.kind, text}).toEqual({kind: 'retry', text: 'hello'});
});

test.each([
	['nothing', stall],
	['comments', comments],
	['chunks that say nothing', heartbeat],
])('a line that is held open with %s after the model is done is not waited for', async (_name, piece) => {
	expect(await play(stream(events(...hello, stop, usage(1, 2)), piece), {idleMs: 150})).toEqual({
		...said,
		usage: {inputTokens: 1, outputTokens: 2},
	});
});

describe('an event without an end is given up after 8 MiB', () => {
	const MiB = 1024 ** 2;
	const filling = 'a'.repeat(MiB);
	test.each<[string, string]>([
		['one line', filling],
		['line after line without a blank one', `${filling}\ndata: `],
	])('%s', async (_name, piece) => {
		const endless = stream(events(...hello), 'data: {"a":"', ...Array(24).fill(piece), stall);
		const {text, error} = await play(endless, {idleMs: 20_000});
		expect({text, error}).toEqual({
			text: 'hello',
			error: {
				kind: 'protocol',
				message: expect.stringMatching(
					/ sent more than 8 MiB without the end of an event.* Check the server/,
				),
			},
		});
	});

	test('many events may be more than that together, wherever the bytes are cut', async () => {
		const piece = 'a'.repeat(3 * MiB);
		const event = events(text(piece)).trimEnd();
		const whole = stream(
			...Array(4)
				.fill([`${event}\r\n`, '\r', '\n'])
				.flat(),
			events(stop),
			done,
		);
		const outcome = await play(whole);
		expect([outcome.text?.length, outcome.finish, outcome.error]).toEqual([12 * MiB, 'stop', undefined]);
	});
});
