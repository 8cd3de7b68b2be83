import {expect} from 'vitest';
import {type Answer, accumulator} from '../../src/agent/accumulate.ts';
import {GatewayError, type Request} from '../../src/agent/gateway.ts';
import {type OpenaiOptions, openaiGateway} from '../../src/agent/openai.ts';
import {type Reply, type WireServer, wireServer} from './wire-server.ts';

/** How a try ended, flat, so that a table can say it in one line. */
export type Outcome = {
	/** What was said until then. */
	text?: string;
	reasoning?: string;
	/** `name args`, a call each. */
	calls?: string[];
	extra?: Record<string, unknown>;
	usage?: Answer['usage'];
	finish?: string;
	error?: {kind: GatewayError['kind']; status?: number; retryAfterMs?: number; message: string};
};

export const question: Request = {
	model: 'test-model',
	messages: [
		{role: 'system', content: 'You are a test.'},
		{role: 'user', content: 'hello'},
	],
	tools: [],
};

/** Ask a server that plays these replies once, and check that it found nothing to refuse in what it was sent. */
export async function play(
	replies: Reply | [Reply, ...Reply[]],
	{request = question, ...options}: Partial<OpenaiOptions> & {request?: Request} = {},
): Promise<Outcome> {
	return withServer(replies, async (wire) => {
		const gateway = openaiGateway({baseURL: wire.url, apiKey: 'test-key-1234', ...options});
		return ask(gateway, request);
	});
}

/** Run with a server that plays these replies. Fails with what the server had to object to, once `work` is done. */
export async function withServer<T>(
	replies: Reply | [Reply, ...Reply[]],
	work: (wire: WireServer) => Promise<T>,
): Promise<T> {
	const wire = await wireServer(...(Array.isArray(replies) ? replies : ([replies] as [Reply])));
	try {
		return await work(wire);
	} finally {
		await wire.close();
		expect(wire.problems).toEqual([]);
	}
}

export async function ask(
	gateway: ReturnType<typeof openaiGateway>,
	request: Request,
	signal = new AbortController().signal,
): Promise<Outcome> {
	const answer = accumulator();
	const outcome: Outcome = {};
	try {
		for await (const delta of gateway.stream(request, signal)) answer.add(delta);
	} catch (error) {
		// Anything else breaks the gateway's promise, and the test.
		if (!(error instanceof GatewayError)) throw error;
		const {kind, status, retryAfterMs, message} = error;
		outcome.error = {kind, message};
		if (status !== undefined) outcome.error.status = status;
		if (retryAfterMs !== undefined) outcome.error.retryAfterMs = retryAfterMs;
	}
	const {message, usage, finish} = answer.end();
	if (message.content !== '') outcome.text = message.content;
	if (message.reasoning !== undefined) outcome.reasoning = message.reasoning;
	if (message.toolCalls) outcome.calls = message.toolCalls.map(({name, args}) => `${name} ${args}`);
	if (message.extra) outcome.extra = message.extra;
	if (usage) outcome.usage = usage;
	if (finish !== undefined) outcome.finish = finish;
	return outcome;
}
