import {once} from 'node:events';
import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import {expect, test, vi} from 'vitest';
import type {StreamDelta} from '../../src/agent/gateway.ts';
import {openaiGateway} from '../../src/agent/openai.ts';
import {ask, question, withServer} from '../helpers/wire-play.ts';
import {beforeHeaders, chunk, comments, events, sse, stall, stream} from '../helpers/wire-server.ts';

const hello = chunk.text('hello');
const stop = chunk.finish('stop');
const apiKey = 'test-key-1234';

test('what is sent is the model, the messages and the key, and nothing about the machine', async () => {
	await withServer(sse(hello, stop), async (wire) => {
		await ask(openaiGateway({baseURL: wire.url, apiKey, organization: 'org-1', project: 'proj-1'}), question);
		const [sent] = wire.requests;
		expect(sent?.path).toBe('/v1/chat/completions');
		expect(sent?.body).toEqual({
			model: 'test-model',
			messages: [
				{role: 'system', content: 'You are a test.'},
				{role: 'user', content: 'hello'},
			],
			stream: true,
			stream_options: {include_usage: true},
		});
		const {
			authorization,
			'openai-organization': organization,
			'openai-project': project,
		} = sent?.headers ?? {};
		expect({authorization, organization, project}).toEqual({
			authorization: 'Bearer test-key-1234',
			organization: 'org-1',
			project: 'proj-1',
		});
		expect(Object.keys(sent?.headers ?? {}).filter((name) => name.startsWith('x-stainless'))).toEqual([]);
	});
});

test('the environment is not read', async () => {
	vi.stubEnv('OPENAI_API_KEY', 'key-of-the-environment');
	vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/other');
	vi.stubEnv('OPENAI_ORG_ID', 'org-of-the-environment');
	vi.stubEnv('OPENAI_PROJECT_ID', 'proj-of-the-environment');
	vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'X-Of: the-environment');
	// Of this nothing is meant for a server on the same machine.
	vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9');
	vi.stubEnv('http_proxy', 'http://127.0.0.1:9');
	try {
		await withServer(sse(hello, stop), async (wire) => {
			expect(await ask(openaiGateway({baseURL: wire.url, apiKey: ''}), question)).toEqual({
				text: 'hello',
				finish: 'stop',
			});
			expect(JSON.stringify(wire.requests[0])).not.toContain('environment');
		});
	} finally {
		vi.unstubAllEnvs();
	}
});

test('a proxy that the environment names is asked for a host elsewhere', async () => {
	const proxy = createServer();
	const asked = once(proxy, 'connect') as Promise<[IncomingMessage, Socket]>;
	proxy.listen(0, '127.0.0.1');
	await once(proxy, 'listening');
	const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, url);
	for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '');
	try {
		const outcome = ask(openaiGateway({baseURL: 'https://models.invalid/v1', apiKey}), question);
		const [request, socket] = await asked;
		expect(request.url).toBe('models.invalid:443');
		socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
		expect((await outcome).error?.kind).toBe('retry');
	} finally {
		vi.unstubAllEnvs();
		proxy.close();
	}
});

test('a base URL may end in a slash', async () => {
	await withServer(sse(hello, stop), async (wire) => {
		await ask(openaiGateway({baseURL: `${wire.url}/`, apiKey}), question);
		expect(wire.requests[0]?.path).toBe('/v1/chat/completions');
	});
});

test('the gateway is named after its host', () => {
	expect(openaiGateway({baseURL: 'https://api.example.com/v1', apiKey}).name).toBe('api.example.com');
	expect(openaiGateway({baseURL: 'nowhere', apiKey}).name).toBe('nowhere');
});

test.each([
	['before the headers', beforeHeaders(stall), false],
	['before the first chunk', stream(comments), false],
	['in the middle of an answer', stream(events(hello), stall), true],
	['in the middle of an answer with comments', stream(events(hello), comments), true],
])('an abort %s ends the stream at once, without an error', async (_name, reply, waits) => {
	await withServer(reply, async (wire) => {
		const control = new AbortController();
		const deltas: StreamDelta[] = [];
		const reading = (async () => {
			for await (const delta of openaiGateway({baseURL: wire.url, apiKey}).stream(question, control.signal))
				deltas.push(delta);
		})();
		await vi.waitFor(() => expect(waits ? deltas.length : wire.requests.length).toBe(1), {
			timeout: 20_000,
			interval: 5,
		});
		const begun = performance.now();
		control.abort();
		await reading;
		expect(performance.now() - begun).toBeLessThan(1000);
		expect(deltas).toHaveLength(waits ? 1 : 0);
	});
});

test('after an abort nothing is asked at all', async () => {
	await withServer(sse(hello, stop), async (wire) => {
		expect(await ask(openaiGateway({baseURL: wire.url, apiKey}), question, AbortSignal.abort())).toEqual({});
		expect(wire.requests).toEqual([]);
	});
});

test('an answer that nobody reads to its end is hung up on', async () => {
	await withServer(stream(events(hello), comments), async (wire) => {
		for await (const delta of openaiGateway({baseURL: wire.url, apiKey}).stream(
			question,
			new AbortController().signal,
		)) {
			expect(delta).toEqual({type: 'text', text: 'hello'});
			break;
		}
		await vi.waitFor(() => expect(wire.open()).toBe(0), {timeout: 20_000, interval: 5});
	});
});

test('a reader may take longer than the server may be silent', async () => {
	await withServer(sse(hello, hello, hello, stop), async (wire) => {
		let text = '';
		const gateway = openaiGateway({baseURL: wire.url, apiKey, idleMs: 150});
		for await (const delta of gateway.stream(question, new AbortController().signal)) {
			// The person is asked something, or the disk is slow: no fault of the server.
			if (text === 'hello') await new Promise((resolve) => setTimeout(resolve, 250));
			if (delta.type === 'text') text += delta.text;
		}
		expect(text).toBe('hellohellohello');
	});
});

test('two answers at the same time do not mix', async () => {
	await withServer(sse(hello, stop), async (wire) => {
		const gateway = openaiGateway({baseURL: wire.url, apiKey});
		const both = await Promise.all([ask(gateway, question), ask(gateway, question)]);
		expect(both).toEqual([
			{text: 'hello', finish: 'stop'},
			{text: 'hello', finish: 'stop'},
		]);
	});
});

test('a key in an error is not shown', async () => {
	const secret = 'my-own-server-key';
	const error = {message: `Key ${secret} is not known; sk-proj-abcdefghijklmnop neither`, type: 'auth'};
	const refusal = {
		status: 401,
		headers: {'content-type': 'application/json'},
		pieces: [JSON.stringify({error})],
	};
	await withServer(refusal, async (wire) => {
		const {error} = await ask(openaiGateway({baseURL: wire.url, apiKey: secret}), question);
		expect(error?.message).toContain('Key [key removed] is not known; [key removed] neither');
	});
});

test('a long answer arrives whole', async () => {
	const pieces = Array.from({length: 20_000}, (_, at) => chunk.text(`${at} `));
	await withServer(sse(...pieces, stop), async (wire) => {
		const {text} = await ask(openaiGateway({baseURL: wire.url, apiKey}), question);
		expect(text).toBe(pieces.map((_, at) => `${at} `).join(''));
	});
});
