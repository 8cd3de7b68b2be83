import {describe, expect, test} from 'vitest';
import {openaiGateway} from '../../src/agent/openai.ts';
import {retryAfter} from '../../src/agent/openai-errors.ts';
import {ask, play, question, withServer} from '../helpers/wire-play.ts';
import {answer, beforeHeaders, chunk, reset, sse, stall, stream} from '../helpers/wire-server.ts';

function refused(status: number, error: object | string = 'no', headers: Record<string, string> = {}) {
	return answer(status, {error}, headers);
}

describe('a refusal says what can be done about it', () => {
	test.each<[string, number, object | string, string, RegExp]>([
		[
			'a wrong key',
			401,
			{message: 'Incorrect key', code: 'invalid_api_key'},
			'config',
			/does not accept the API key \(401\): Incorrect key\. Check the key/,
		],
		['no credit', 402, {message: 'Insufficient Balance'}, 'config', /no credit left .*\(402\)/],
		['no right', 403, {message: 'Country not supported'}, 'config', /does not allow this \(403\)/],
		[
			'no such model',
			404,
			{message: 'The model does not exist', code: 'model_not_found'},
			'config',
			/has no model test-model \(404\)/,
		],
		['no such address', 404, 'Not Found', 'config', /no such address or no model test-model \(404\).*\/v1/],
		['an address that takes no POST', 405, 'Method Not Allowed', 'config', /no such address/],
		[
			'a used up quota',
			429,
			{message: 'You exceeded your current quota', code: 'insufficient_quota'},
			'config',
			/no credit left .*Waiting does not help/,
		],
		[
			'too many requests',
			429,
			{message: 'Rate limit reached'},
			'retry',
			/allows no more requests at the moment \(429\): Rate limit reached\.$/,
		],
		[
			'a tokens-per-minute limit',
			429,
			{message: 'Too many tokens, please wait'},
			'retry',
			/allows no more requests/,
		],
		[
			'a request that no minute is long enough for',
			429,
			{message: 'Request too large for test-model'},
			'request',
			/too long/,
		],
		['a request that timed out', 408, 'Timeout', 'retry', /failed \(408\)/],
		['a lock', 409, 'Conflict', 'retry', /failed \(409\)/],
		['an error of the server', 500, 'Internal', 'retry', /failed \(500\): Internal/],
		['a gateway without a server', 502, 'Bad Gateway', 'retry', /failed \(502\)/],
		['a busy server', 503, 'Busy', 'retry', /failed \(503\)/],
		[
			'an overloaded server',
			529,
			{type: 'overloaded_error', message: 'Overloaded'},
			'retry',
			/failed \(529\)/,
		],
		[
			'a request that is wrong',
			400,
			{message: 'Invalid schema'},
			'request',
			/does not accept the request .*\(400\): Invalid schema\. Sending it again/,
		],
		['a body that is too large', 413, 'Payload Too Large', 'request', /\(413\)/],
		['a request that makes no sense', 422, 'Unprocessable', 'request', /\(422\)/],
		[
			'a full context at OpenAI',
			400,
			{message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded'},
			'request',
			/too long for the context of test-model \(400\).*fork/,
		],
		[
			'a full context at llama.cpp',
			400,
			{
				code: 400,
				message: 'the request exceeds the available context size',
				type: 'exceed_context_size_error',
			},
			'request',
			/too long/,
		],
		[
			'a full context at Anthropic',
			400,
			{message: 'prompt is too long: 210000 tokens > 200000 maximum'},
			'request',
			/too long/,
		],
		['a full context, said with 500', 500, {message: 'context window exceeded'}, 'request', /too long/],
	])('%s', async (_name, status, error, kind, says) => {
		const outcome = await play(refused(status, error));
		expect(outcome).toEqual({error: {kind, status, message: expect.stringMatching(says)}});
	});

	test.each<[string, unknown, RegExp]>([
		['a string', {error: 'plain words'}, /: plain words\./],
		['a message at the top', {message: 'plain words'}, /: plain words\./],
		['detail as text', {detail: 'plain words'}, /: plain words\./],
		[
			'detail as a list',
			{detail: [{loc: ['body', 'tools'], msg: 'plain words'}]},
			/: body\.tools: plain words\./,
		],
		['a list of one', [{error: {message: 'plain words'}}], /: plain words\./],
		['words and no JSON', 'plain words', /: plain words\./],
		[
			'a page',
			'<!doctype html><html><head><title>plain words</title></head><body>…</body></html>',
			/: plain words\./,
		],
		['nothing', '', /\(400\)\. Sending/],
		['something else', {code: 3, reasons: ['x']}, /"reasons":\["x"\]/],
		['several lines and an escape sequence', 'plain\n\u001b[31mwords', /: plain \[31mwords\./],
	])('the reason is found in %s', async (_name, body, says) => {
		const {error} = await play(answer(400, body));
		expect(error?.message).toMatch(says);
	});

	test('a reason without end is cut', async () => {
		const {error} = await play(refused(400, {message: '🙂'.repeat(100_000)}));
		expect(error?.message.length).toBeLessThan(1000);
		expect(error?.message.isWellFormed()).toBe(true);
	});

	test('a key at the place of the cut is not half shown', async () => {
		const {error} = await play(
			refused(400, {message: `${'x'.repeat(293)} sk-abcdefghijklmnopqrstuvwxyz0123456789`}),
		);
		expect(error?.message).not.toContain('sk-');
	});

	test('a redirect is not followed: a POST would arrive as a GET, and the key at another host', async () => {
		await withServer(
			answer(302, '', {location: 'https://elsewhere.example/v1?key=secret-word'}),
			async (wire) => {
				const {error} = await ask(openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'}), question);
				expect(error).toMatchObject({kind: 'config', status: 302});
				expect(error?.message).toContain('redirects to https://elsewhere.example/v1?key=[key removed] (302)');
				expect(wire.requests).toHaveLength(1);
			},
		);
	});

	test('a refusal whose body never ends is still that refusal', async () => {
		const reply = {...stream('{"error"', stall), status: 401};
		expect((await play(reply, {idleMs: 150})).error).toMatchObject({kind: 'config', status: 401});
	});

	test('a refusal whose body breaks off is still that refusal', async () => {
		const reply = {...stream('overl', reset), status: 503};
		expect((await play(reply)).error).toMatchObject({kind: 'retry', status: 503});
	});
});

describe('how long to wait is what the server asks', () => {
	test.each<[string, Record<string, string>, number | undefined]>([
		['seconds', {'retry-after': '1'}, 1000],
		['parts of a second', {'retry-after': '0.25'}, 250],
		['at once', {'retry-after': '0'}, 0],
		['an hour is an hour', {'retry-after': '3600'}, 3_600_000],
		['milliseconds', {'retry-after-ms': '300'}, 300],
		['milliseconds before seconds', {'retry-after-ms': '300', 'retry-after': '1'}, 300],
		['not said', {}, undefined],
		['nonsense', {'retry-after': 'soon'}, undefined],
		['less than nothing', {'retry-after': '-5'}, undefined],
	])('%s', async (_name, headers, ms) => {
		const {error} = await play(refused(429, 'slow down', headers));
		expect(error?.retryAfterMs).toBe(ms);
		expect(error?.kind).toBe('retry');
	});

	test('an HTTP date', () => {
		const now = Date.parse('2026-09-07T10:00:00.500Z');
		const at = (date: string) => retryAfter(new Headers({'retry-after': date}), now);
		expect(at('Mon, 07 Sep 2026 10:00:03 GMT')).toBe(2500);
		expect(at('Mon, 07 Sep 2026 09:00:00 GMT')).toBe(0);
	});

	test('x-should-retry: false is obeyed', async () => {
		expect((await play(refused(503, 'no', {'x-should-retry': 'false'}))).error?.kind).toBe('request');
	});

	test('x-should-retry: true is obeyed', async () => {
		expect((await play(refused(400, 'no', {'x-should-retry': 'true'}))).error?.kind).toBe('retry');
	});

	test('x-should-retry: true does not make a wrong key right', async () => {
		expect((await play(refused(401, 'no', {'x-should-retry': 'true'}))).error?.kind).toBe('config');
	});
});

describe('one stream is one try', () => {
	test.each([
		['429', refused(429)],
		['500', refused(500)],
		['a reset', beforeHeaders(reset)],
	])('%s is not tried again', async (_name, first) => {
		await withServer([first, sse(chunk.finish('stop'))], async (wire) => {
			expect(
				(await ask(openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234'}), question)).error?.kind,
			).toBe('retry');
			expect(wire.requests).toHaveLength(1);
		});
	});
});

describe('a connection that does not come about', () => {
	test('a reset before the headers', async () => {
		expect(await play(beforeHeaders(reset))).toEqual({
			error: {
				kind: 'retry',
				message: expect.stringMatching(/^The connection to http:\/\/127\.0\.0\.1:\d+\/v1 broke \(/),
			},
		});
	});

	test('headers that never come', async () => {
		expect(await play(beforeHeaders(stall), {firstTokenMs: 150})).toEqual({
			error: {kind: 'retry', message: expect.stringMatching(/has not begun to answer for 150 ms\.$/)},
		});
	});

	test('nothing listens', async () => {
		const url = await withServer(sse(), async (wire) => wire.url);
		expect((await ask(openaiGateway({baseURL: url, apiKey: 'test-key-1234'}), question)).error).toEqual({
			kind: 'retry',
			message: `Nothing listens at ${url}. Check that the server runs and that the base URL is right.`,
		});
	});

	test('https where http is spoken', async () => {
		await withServer(sse(), async (wire) => {
			const gateway = openaiGateway({baseURL: wire.url.replace('http:', 'https:'), apiKey: 'test-key-1234'});
			expect((await ask(gateway, question)).error).toMatchObject({
				kind: 'config',
				message: expect.stringContaining('does not speak TLS'),
			});
		});
	});

	test.each([
		['localhost:11434/v1', /no web address/],
		['', /no web address/],
		['http://me:secret-word@127.0.0.1:9/v1', /user name or a password/],
	])('the base URL %j is refused before anything is sent', async (baseURL, says) => {
		const {error} = await ask(openaiGateway({baseURL, apiKey: 'test-key-1234'}), question);
		expect(error).toEqual({kind: 'config', message: expect.stringMatching(says)});
		expect(error?.message).not.toContain('secret-word');
	});

	test('a key that cannot be a header is refused, and not shown', async () => {
		const {error} = await ask(
			openaiGateway({baseURL: 'http://127.0.0.1:9/v1', apiKey: '“long-secret”'}),
			question,
		);
		expect(error).toEqual({kind: 'config', message: expect.stringContaining('a character that no key has')});
		expect(error?.message).not.toContain('long-secret');
	});
});
