import {describe, expect, test} from 'vitest';
import * as z from 'zod';
import {adapt, buildBody, plainProfile} from '../../src/agent/request.ts';
import type {Message, ToolCall} from '../../src/session/events.ts';
import {defineTool} from '../../src/tools/tool.ts';
import {problemsOf, type WireRequestBody} from '../helpers/wire-rules.ts';

const system: Message = {role: 'system', content: 'You are a test.'};
const user = (content: string): Message => ({role: 'user', content});
const says = (content: string): Message => ({role: 'assistant', content});
const asks = (...toolCalls: ToolCall[]): Message => ({role: 'assistant', content: '', toolCalls});
const call = (id: string, args = '{}', name = 'read'): ToolCall => ({id, name, args});
const result = (toolCallId: string, content = `result of ${toolCallId}`): Message => ({
	role: 'tool',
	toolCallId,
	content,
});

/** The messages as they are sent, a word each, checked as a strict provider would. */
function sent(...messages: Message[]): string[] {
	const body = buildBody({model: 'm', messages, tools: []});
	expect(problemsOf(body as unknown as WireRequestBody)).toEqual([]);
	return body.messages.map((message) => {
		if (message.role === 'tool') return `${message.tool_call_id}: ${message.content}`;
		if (message.role !== 'assistant') return `${message.role}: ${message.content}`;
		return `assistant: ${message.content ?? ''}${(message.tool_calls ?? []).map(({id}) => `[${id}]`).join('')}`;
	});
}

const unknown = 'outcome unknown: this call has no recorded result; check before repeating';

test('a whole request', () => {
	const tool = defineTool({
		name: 'read',
		description: 'Read a file.',
		readOnly: true,
		schema: z.object({path: z.string()}),
		label: ({path}) => path,
		paths: ({path}) => [path],
		run: async () => ({ok: true, content: '', summary: ''}),
	});
	const asked: Message = {
		role: 'assistant',
		content: 'Let me see.',
		reasoning: 'hm',
		extra: {reasoning_details: [1]},
		toolCalls: [
			{...call('a', '{ "path": "x" }'), extra: {extra_content: {google: {thought_signature: 's'}}}},
		],
	};
	expect(buildBody({model: 'm', messages: [system, user('hi'), asked, result('a')], tools: [tool]})).toEqual({
		model: 'm',
		stream: true,
		stream_options: {include_usage: true},
		messages: [
			{role: 'system', content: 'You are a test.'},
			{role: 'user', content: 'hi'},
			{
				role: 'assistant',
				content: 'Let me see.',
				reasoning_details: [1],
				tool_calls: [
					{
						id: 'a',
						type: 'function',
						function: {name: 'read', arguments: '{ "path": "x" }'},
						extra_content: {google: {thought_signature: 's'}},
					},
				],
			},
			{role: 'tool', tool_call_id: 'a', content: 'result of a'},
		],
		tools: [
			{
				type: 'function',
				function: {
					name: 'read',
					description: 'Read a file.',
					parameters: {type: 'object', properties: {path: {type: 'string'}}, required: ['path']},
				},
			},
		],
	});
});

describe('the order that every provider takes', () => {
	test.each<[string, Message[], string[]]>([
		['the system message is first', [user('hi'), system], ['system: You are a test.', 'user: hi']],
		[
			'user messages that follow each other are one',
			[user('a'), user('b'), user('c')],
			['user: a\n\nb\n\nc'],
		],
		[
			'an empty assistant message is left out, and those around it meet',
			[user('a'), says(''), says(' \n'), user('b')],
			['user: a\n\nb'],
		],
		[
			'an answer without a call is left out, and those around it meet',
			[user('a'), result('x'), user('b')],
			['user: a\n\nb'],
		],
		[
			'answers come in the order of the calls',
			[user('q'), asks(call('a'), call('b')), result('b'), result('a')],
			['user: q', 'assistant: [a][b]', 'a: result of a', 'b: result of b'],
		],
		[
			'what was typed while a tool ran follows the answer',
			[user('q'), asks(call('a')), user('wait'), result('a'), user('now')],
			['user: q', 'assistant: [a]', 'a: result of a', 'user: wait\n\nnow'],
		],
		[
			'a missing answer is said to be unknown',
			[user('q'), asks(call('a'), call('b')), result('a'), user('go on')],
			['user: q', 'assistant: [a][b]', 'a: result of a', `b: ${unknown}`, 'user: go on'],
		],
		[
			'a missing answer at the end too',
			[user('q'), asks(call('a'))],
			['user: q', 'assistant: [a]', `a: ${unknown}`],
		],
		[
			'of two answers the first counts',
			[user('q'), asks(call('a')), result('a', 'one'), result('a', 'two')],
			['user: q', 'assistant: [a]', 'a: one'],
		],
		[
			'an answer before its call is none',
			[user('q'), result('a'), asks(call('a'))],
			['user: q', 'assistant: [a]', `a: ${unknown}`],
		],
		[
			'an id that comes again in a later message has its own answer',
			[user('q'), asks(call('a')), result('a', 'one'), asks(call('a')), result('a', 'two')],
			['user: q', 'assistant: [a]', 'a: one', 'assistant: [a]', 'a: two'],
		],
		[
			'an answer belongs to the latest message that uses its id',
			[user('q'), asks(call('a')), asks(call('a')), result('a')],
			['user: q', 'assistant: [a]', `a: ${unknown}`, 'assistant: [a]', 'a: result of a'],
		],
		[
			'an id that is used twice in one message becomes two',
			[
				user('q'),
				asks(call('a'), call('a'), call('a_2')),
				result('a', 'one'),
				result('a', 'two'),
				result('a_2', 'three'),
			],
			['user: q', 'assistant: [a][a_2][a_2_2]', 'a: one', 'a_2: two', 'a_2_2: three'],
		],
		[
			'an empty list of calls is none',
			[user('q'), {role: 'assistant', content: 'hi', toolCalls: []}],
			['user: q', 'assistant: hi'],
		],
	])('%s', (_name, messages, expected) => {
		expect(sent(...messages)).toEqual(expected);
	});

	test('the messages that are given stay as they are', () => {
		const messages = [system, user('a'), user('b'), asks(call('a', 'oops')), result('a')];
		const before = structuredClone(messages);
		buildBody({model: 'm', messages, tools: []});
		expect(messages).toEqual(before);
	});

	test('a call without text has null as its content, and the list of tools is left out where it is empty', () => {
		const body = buildBody({model: 'm', messages: [user('q'), asks(call('a')), result('a')], tools: []});
		expect(body.messages[1]).toMatchObject({content: null});
		expect(body).not.toHaveProperty('tools');
	});
});

describe('arguments', () => {
	function args(text: string) {
		const [, message] = buildBody({
			model: 'm',
			messages: [user('q'), asks(call('a', text))],
			tools: [],
		}).messages;
		return message?.role === 'assistant' ? message.tool_calls?.[0]?.function.arguments : undefined;
	}

	test.each([
		'{}',
		'{ "a" : 1.0 }',
		'{"a":{"b":[1]}}',
		'{"a":"\\ud83d\\ude42"}',
		'{"n":12345678901234567890}',
	])('%s is sent as it was said', (text) => {
		expect(args(text)).toBe(text);
	});

	test.each(['', '{"a":', '{"a":1}{"b":2}', '[1]', 'null', '"x"', '7'])(
		'%j would be refused for ever, and is sent as {}',
		(text) => {
			expect(args(text)).toBe('{}');
		},
	);

	test('half a character behind an escape is replaced', () => {
		expect(args('{"a":"x\\uD83Dy"}')).toBe('{"a":"x\ufffdy"}');
	});
});

test.each([
	['read file', 'read_file'],
	['', 'unknown'],
	['läs', 'l_s'],
	['a'.repeat(70), 'a'.repeat(64)],
	['mcp__x-y.z', 'mcp__x-y_z'],
])('the name %j is sent as %j', (name, expected) => {
	const [, message] = buildBody({
		model: 'm',
		messages: [user('q'), asks(call('a', '{}', name))],
		tools: [],
	}).messages;
	expect(message).toMatchObject({tool_calls: [{function: {name: expected}}]});
});

test('no string that is sent has half a character', () => {
	const half = '\ud83d';
	const messages: Message[] = [
		{role: 'system', content: half},
		user(half),
		{role: 'assistant', content: half, extra: {deep: [half]}, toolCalls: [call(`a${half}`)]},
		result(`a${half}`, half),
	];
	expect(sent(...messages)).toEqual([
		'system: \ufffd',
		'user: \ufffd',
		'assistant: \ufffd[a\ufffd]',
		'a\ufffd: \ufffd',
	]);
});

describe('what a refusal teaches', () => {
	const request = {
		model: 'm',
		tools: [],
		messages: [
			user('q'),
			{...asks({...call('a'), extra: {extra_content: 1}}), extra: {reasoning_details: 1}} as Message,
		],
	};

	test.each<[string, string[], boolean]>([
		['Unrecognized request argument supplied: stream_options', ['stream_options'], false],
		['body.messages.1.assistant.tool_calls.0.extra_content: Extra inputs', ['extra_content'], false],
		[
			'"reasoning_details" and "stream_options" are not permitted',
			['stream_options', 'reasoning_details'],
			false,
		],
		['The `reasoning_content` in the thinking mode must be passed back', [], true],
	])('%s', (text, without, reasoning) => {
		expect(adapt(plainProfile, request, text)).toEqual({without: new Set(without), reasoning});
	});

	test.each(['stream is required', 'my_stream_options_x', 'Invalid schema', ''])(
		'%j teaches nothing',
		(text) => {
			expect(adapt(plainProfile, request, text)).toBeUndefined();
		},
	);

	test('nothing is learned twice', () => {
		const once = adapt(plainProfile, request, 'stream_options') ?? plainProfile;
		expect(adapt(once, request, 'stream_options')).toBeUndefined();
		expect(buildBody(request, once)).not.toHaveProperty('stream_options');
	});
});
