import {describe, expect, test} from 'vitest';
import {accumulator} from '../../src/agent/accumulate.ts';
import {openaiGateway} from '../../src/agent/openai.ts';
import type {Message} from '../../src/session/events.ts';
import {ask, type Outcome, play, question, withServer} from '../helpers/wire-play.ts';
import {answer, chunk, comments, done, events, type Reply, sse, stream} from '../helpers/wire-server.ts';

const {text, delta, calls, finish, usage} = chunk;
const hello = text('hello');
const stop = finish('stop');
const said: Outcome = {text: 'hello', finish: 'stop'};

function call(fields: object, name?: string, args?: unknown) {
	return {...fields, function: {name, arguments: args}};
}

describe('each server in its own way', () => {
	test.each<[string, Reply, Outcome]>([
		[
			'old Ollama counts no calls',
			sse(calls(call({id: 'a'}, 'read', '{"p":1}')), calls(call({id: 'b'}, 'list', '{}')), stop),
			{calls: ['read {"p":1}', 'list {}'], finish: 'stop'},
		],
		[
			'Ollama counts every call as 0',
			sse(
				calls(call({index: 0, id: 'a'}, 'read', '{"p":1}')),
				calls(call({index: 0, id: 'b'}, 'list', '{}')),
				stop,
			),
			{calls: ['read {"p":1}', 'list {}'], finish: 'stop'},
		],
		[
			'Ollama sends the arguments whole and late',
			sse(hello, calls(call({index: 0, id: 'a'}, 'read', '{"p":1}')), finish('tool_calls')),
			{text: 'hello', calls: ['read {"p":1}'], finish: 'tool_calls'},
		],
		[
			'Gemini says stop although there are calls, and counts none',
			sse(calls(call({id: ''}, 'read', '{}'), call({id: ''}, 'list', '{}')), stop),
			{calls: ['read {}', 'list {}'], finish: 'stop'},
		],
		[
			'a relay glues the second call to the first one, which is passed on and not repaired',
			sse(
				calls(call({index: 0, id: 'a'}, 'read', '{"p":1}')),
				calls(call({index: 0}, undefined, '{"p":2}')),
				stop,
			),
			{calls: ['read {"p":1}{"p":2}'], finish: 'stop'},
		],
		[
			'vLLM says tool_calls although the arguments were cut',
			sse(calls(call({index: 0, id: 'a'}, 'read', '{"p":')), finish('tool_calls')),
			{calls: ['read {"p":'], finish: 'tool_calls'},
		],
		[
			'DashScope says stop although the arguments were cut',
			sse(calls(call({index: 0, id: 'a'}, 'read', '{"p":')), stop),
			{calls: ['read {"p":'], finish: 'stop'},
		],
		[
			'LM Studio repeats the name as an empty one',
			sse(
				calls(call({index: 0, id: 'a'}, 'read', '')),
				calls(call({index: 0, id: 'a'}, '', '{}')),
				finish('tool_calls'),
			),
			{calls: ['read {}'], finish: 'tool_calls'},
		],
		[
			'LM Studio leaves the id empty',
			sse(calls(call({index: 0, id: ''}, 'read', '{}')), finish('tool_calls')),
			{calls: ['read {}'], finish: 'tool_calls'},
		],
		[
			'LM Studio sends an empty list of calls with every piece of text',
			sse(delta({content: 'hello', tool_calls: []}), stop),
			said,
		],
		[
			'LM Studio writes calls as text, which stays text',
			sse(text('<tool_call>{"name":"read"}</tool_call>'), stop),
			{text: '<tool_call>{"name":"read"}</tool_call>', finish: 'stop'},
		],
		[
			'OpenRouter sends comments while it works',
			stream(': OPENROUTER PROCESSING\n\n', ': OPENROUTER PROCESSING\n\n', events(hello, stop), done),
			said,
		],
		[
			'a gateway sends a preview of the usage first',
			sse(usage(5, 0), hello, stop, usage(5, 2)),
			{...said, usage: {inputTokens: 5, outputTokens: 2}},
		],
		[
			'Azure sends filter results, and a choice without a delta',
			sse(
				{choices: [], prompt_filter_results: []},
				hello,
				{choices: [{index: 0, content_filter_offsets: {}}]},
				{
					choices: [{index: 0, finish_reason: 'stop', content_filter_results: {}}],
				},
			),
			said,
		],
		[
			'Together puts the usage into the last chunk of text',
			sse({...hello, usage: {prompt_tokens: 5, completion_tokens: 2}}, stop),
			{...said, usage: {inputTokens: 5, outputTokens: 2}},
		],
		[
			'Moonshot puts the usage into the choice',
			sse(hello, {
				choices: [{delta: {}, finish_reason: 'stop', usage: {prompt_tokens: 5, completion_tokens: 2}}],
			}),
			{...said, usage: {inputTokens: 5, outputTokens: 2}},
		],
		[
			'OpenAI counts what was cached and what was thought',
			sse(hello, stop, {
				choices: [],
				usage: {
					prompt_tokens: 50,
					completion_tokens: 20,
					prompt_tokens_details: {cached_tokens: 40},
					completion_tokens_details: {reasoning_tokens: 15},
				},
			}),
			{...said, usage: {inputTokens: 50, outputTokens: 20, cachedTokens: 40, reasoningTokens: 15}},
		],
		['a usage without numbers is none', sse(hello, stop, {usage: {prompt_tokens: null}}, {usage: {}}), said],
		[
			'OpenRouter sends signed reasoning in pieces, which go back as one',
			sse(
				delta({reasoning_details: [{type: 'reasoning.text', text: 'let me ', index: 0}]}),
				delta({reasoning_details: [{type: 'reasoning.text', text: 'think', index: 0, signature: null}]}),
				delta({reasoning_details: [{type: 'reasoning.text', text: '', index: 0, signature: 'sig'}]}),
				delta({reasoning_details: [{type: 'reasoning.encrypted', data: 'xx', index: 1}]}),
				hello,
				stop,
			),
			{
				...said,
				extra: {
					reasoning_details: [
						{type: 'reasoning.text', text: 'let me think', index: 0, signature: 'sig'},
						{type: 'reasoning.encrypted', data: 'xx', index: 1},
					],
				},
			},
		],
	])('%s', async (_name, reply, outcome) => {
		expect(await play(reply)).toEqual(outcome);
	});

	test('llama.cpp cannot parse a call and says so inside the stream', async () => {
		const message = 'Failed to parse input at pos 12';
		const {error} = await play(stream(events(hello, {error: {code: 500, message, type: 'server_error'}})));
		expect(error).toMatchObject({kind: 'retry', status: 500, message: expect.stringContaining(message)});
	});

	test('OpenRouter fails after it began: an error at the top, and a finish reason that says error', async () => {
		const failed = {...finish('error'), error: {code: 502, message: 'Provider disconnected'}};
		const {error} = await play(stream(events(hello, failed), done));
		expect(error).toMatchObject({
			kind: 'retry',
			status: 502,
			message: expect.stringContaining('Provider disconnected'),
		});
	});

	test('a gateway fails after it began with no choices', async () => {
		const {error} = await play(
			stream(events(hello, {choices: [], error: {message: 'upstream', code: 'overloaded'}})),
		);
		expect(error).toMatchObject({kind: 'retry', message: expect.stringContaining('upstream')});
	});

	test('OpenRouter puts the error of a provider into the choice', async () => {
		const failed = {choices: [{delta: {}, finish_reason: 'error', error: {code: 429, message: 'busy'}}]};
		expect((await play(sse(failed))).error).toMatchObject({
			kind: 'retry',
			status: 429,
			message: expect.stringContaining('busy'),
		});
	});

	test('MiniMax keeps a stream open that never says anything', async () => {
		const {error} = await play(stream(comments), {firstTokenMs: 150});
		expect(error).toMatchObject({kind: 'retry', message: expect.stringContaining('has not begun to answer')});
	});

	test('Gemini puts errors into a list', async () => {
		const body = [{error: {code: 400, message: 'API key not valid', status: 'INVALID_ARGUMENT'}}];
		expect((await play(answer(400, body))).error).toMatchObject({
			kind: 'request',
			status: 400,
			message: expect.stringMatching(/400\): API key not valid\./),
		});
	});

	test('Gemini says inside the error how long to wait', async () => {
		const details = [{'@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s'}];
		const body = [
			{error: {code: 429, message: 'You exceeded your current quota', status: 'RESOURCE_EXHAUSTED', details}},
		];
		expect((await play(answer(429, body))).error).toMatchObject({kind: 'retry', retryAfterMs: 34_500});
	});

	test('Groq refuses a call that its model got wrong, and asking again may help', async () => {
		const error = {
			message: 'Failed to call a function',
			code: 'tool_use_failed',
			failed_generation: '<function=read>',
		};
		expect((await play(answer(400, {error}))).error).toMatchObject({
			kind: 'retry',
			status: 400,
			message: expect.stringContaining('<function=read>'),
		});
	});
});

describe('what a server wants back it gets back', () => {
	/** Two turns with one server: what it said in the first, and the assistant message as it got it back in the second. */
	async function echo(first: Reply) {
		return withServer([first, sse(hello, stop)], async (wire) => {
			const gateway = openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'});
			const {signal} = new AbortController();
			const parts = accumulator();
			for await (const each of gateway.stream(question, signal)) parts.add(each);
			const {message} = parts.end();
			const results = (message.toolCalls ?? []).map(
				({id}): Message => ({role: 'tool', toolCallId: id, content: 'ok'}),
			);
			const next: Message[] = [{role: 'user', content: 'go on'}];
			await ask(gateway, {...question, messages: [...question.messages, message, ...results, ...next]});
			return wire.requests[1]?.body.messages?.[2];
		});
	}

	const signature = {google: {thought_signature: 'abc'}};

	test('Gemini signs its calls', async () => {
		const back = await echo(
			sse(calls({...call({id: 'a'}, 'read', '{}'), type: 'function', extra_content: signature}), stop),
		);
		expect(back?.tool_calls).toEqual([
			{id: 'a', type: 'function', function: {name: 'read', arguments: '{}'}, extra_content: signature},
		]);
	});

	test('Gemini sends the signature behind the call', async () => {
		const back = await echo(
			sse(calls(call({id: 'a'}, 'read', '{}')), calls({extra_content: signature}), stop),
		);
		expect(back?.tool_calls).toMatchObject([{id: 'a', extra_content: signature}]);
	});

	test('Gemini sends the signature before the call', async () => {
		const back = await echo(
			sse(calls({extra_content: signature}), calls(call({id: 'a'}, 'read', '{}')), stop),
		);
		expect(back?.tool_calls).toMatchObject([{id: 'a', extra_content: signature}]);
	});

	test('OpenRouter wants the details of the reasoning', async () => {
		const details = [{type: 'reasoning.encrypted', data: 'xx'}];
		expect(await echo(sse(delta({reasoning_details: details}), hello, stop))).toEqual({
			role: 'assistant',
			content: 'hello',
			reasoning_details: details,
		});
	});

	test('reasoning as text is not sent back, since many refuse it', async () => {
		expect(await echo(sse(delta({reasoning_content: 'hm'}), hello, stop))).toEqual({
			role: 'assistant',
			content: 'hello',
		});
	});
});

describe('a field that a server does not take', () => {
	const mistral = answer(422, {
		detail: [
			{type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted'},
		],
	});
	const azure = answer(400, {error: {message: 'Unrecognized request argument supplied: stream_options'}});

	test.each([
		['Mistral and vLLM', mistral],
		['older Azure', azure],
	])('%s: it is left out at once, and from then on', async (_name, refusal) => {
		await withServer([refusal, sse(hello, stop)], async (wire) => {
			const gateway = openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'});
			expect(await ask(gateway, question)).toEqual(said);
			expect(await ask(gateway, question)).toEqual(said);
			expect(wire.requests.map(({body}) => body.stream_options)).toEqual([
				{include_usage: true},
				undefined,
				undefined,
			]);
		});
	});

	test('what does not help is not remembered', async () => {
		await withServer([mistral, answer(400, {error: {message: 'no'}}), sse(hello, stop)], async (wire) => {
			const gateway = openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'});
			expect((await ask(gateway, question)).error).toMatchObject({kind: 'request', status: 400});
			expect(await ask(gateway, question)).toEqual(said);
			expect(wire.requests.map(({body}) => body.stream_options !== undefined)).toEqual([true, false, true]);
		});
	});

	test('a field that mca does not send is not left out twice', async () => {
		const refusal = answer(400, {error: {message: "Unsupported parameter: 'max_tokens' is not supported"}});
		await withServer(refusal, async (wire) => {
			const gateway = openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'});
			expect((await ask(gateway, question)).error).toMatchObject({kind: 'request', status: 400});
			expect(wire.requests).toHaveLength(1);
		});
	});

	test('neither max_tokens nor max_completion_tokens nor strict is ever sent', async () => {
		await withServer(sse(hello, stop), async (wire) => {
			await ask(openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'}), question);
			expect(Object.keys(wire.requests[0]?.body ?? {}).sort()).toEqual([
				'messages',
				'model',
				'stream',
				'stream_options',
			]);
		});
	});

	test('fields of another provider in the history are left out where they are refused', async () => {
		const refusal = answer(422, {
			detail: [{loc: ['body', 'messages', 2, 'assistant', 'reasoning_details'], msg: 'Extra inputs'}],
		});
		const messages: Message[] = [
			...question.messages,
			{role: 'assistant', content: 'hi', extra: {reasoning_details: [{type: 'reasoning.text'}]}},
			{role: 'user', content: 'go on'},
		];
		await withServer([refusal, sse(hello, stop)], async (wire) => {
			const gateway = openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'});
			expect(await ask(gateway, {...question, messages})).toEqual(said);
			expect(wire.requests[1]?.body.messages?.[2]).toEqual({role: 'assistant', content: 'hi'});
			expect(wire.requests[1]?.body.stream_options).toBeDefined();
		});
	});

	test('DeepSeek wants the reasoning back with the calls, which is learned from its refusal', async () => {
		const refusal = answer(400, {
			error: {message: 'Missing `reasoning_content` field in the assistant message at index 2'},
		});
		const messages: Message[] = [
			...question.messages,
			{role: 'assistant', content: '', reasoning: 'hm', toolCalls: [{id: 'a', name: 'read', args: '{}'}]},
			{role: 'tool', toolCallId: 'a', content: 'ok'},
		];
		await withServer([refusal, sse(hello, stop)], async (wire) => {
			const gateway = openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'});
			expect(await ask(gateway, {...question, messages})).toEqual(said);
			expect(await ask(gateway, {...question, messages})).toEqual(said);
			const sent = wire.requests.map(({body}) => body.messages?.[2]?.reasoning_content);
			expect(sent).toEqual([undefined, 'hm', 'hm']);
		});
	});
});
