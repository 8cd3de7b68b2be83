import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {setImmediate as nextTick} from 'node:timers/promises';
import {problemsOf, type WireRequestBody} from './wire-rules.ts';

/** One step of an answer: bytes to send, or something that happens to the line. */
export type Piece =
	| string
	| Buffer
	/** Nothing more is said, and the line stays open. */
	| {line: 'stall'}
	/** Comments and nothing else, for ever. */
	| {line: 'comments'}
	/** Chunks that say nothing, for ever. */
	| {line: 'heartbeat'}
	/** A TCP reset. */
	| {line: 'reset'}
	/** The connection ends without the end of the body. */
	| {line: 'fin'};

export type Reply = {
	/** Undefined: nothing is answered, not even headers, before the first `line` piece takes effect. */
	status: number | undefined;
	headers: Record<string, string>;
	pieces: Piece[];
};

export type WireServer = {
	/** `http://127.0.0.1:1234/v1` */
	url: string;
	/** The requests so far, in order. */
	requests: {body: WireRequestBody; headers: IncomingMessage['headers']; path: string}[];
	/** What a strict provider would have refused, a sentence each. Empty at the end of every good test. */
	problems: string[];
	/** How many answers are being given. */
	open(): number;
	close(): Promise<void>;
};

export const stall: Piece = {line: 'stall'};
export const comments: Piece = {line: 'comments'};
export const heartbeat: Piece = {line: 'heartbeat'};
export const reset: Piece = {line: 'reset'};
export const fin: Piece = {line: 'fin'};
export const done = 'data: [DONE]\n\n';

/** `data:` lines, one a value. */
export function events(...values: unknown[]): string {
	return values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
}

/** An answer of events that is given piece by piece. */
export function stream(...pieces: Piece[]): Reply {
	return {status: 200, headers: {'content-type': 'text/event-stream'}, pieces};
}

/** The usual answer: every value an event, then `[DONE]`. */
export function sse(...values: unknown[]): Reply {
	return stream(events(...values), done);
}

/** Any other answer: an object is sent as JSON, text as it is. */
export function answer(status: number, body: unknown = '', headers: Record<string, string> = {}): Reply {
	const isText = typeof body === 'string';
	const type: Record<string, string> = isText ? {} : {'content-type': 'application/json'};
	return {status, headers: {...type, ...headers}, pieces: [isText ? body : JSON.stringify(body)]};
}

/** What happens to the line before there are headers. */
export function beforeHeaders(piece: Piece): Reply {
	return {status: undefined, headers: {}, pieces: [piece]};
}

/** The same bytes, one at a time. */
export function bytewise(text: string): Piece[] {
	return [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
}

/** Chunks as they are on the wire, for scenarios that read like the dialogue they are. */
export const chunk = {
	text: (content: unknown) => ({choices: [{index: 0, delta: {content}}]}),
	delta: (delta: unknown) => ({choices: [{index: 0, delta}]}),
	calls: (...tool_calls: unknown[]) => ({choices: [{index: 0, delta: {tool_calls}}]}),
	finish: (finish_reason: string) => ({choices: [{index: 0, delta: {}, finish_reason}]}),
	usage: (prompt_tokens: number, completion_tokens: number) => ({
		choices: [],
		usage: {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens},
	}),
};

/**
A server on 127.0.0.1 that plays replies: the first request gets the first, and so on; the last one is repeated. Every request
is checked as the strictest provider would check it.
*/
export async function wireServer(...replies: [Reply, ...Reply[]]): Promise<WireServer> {
	const requests: WireServer['requests'] = [];
	const problems: string[] = [];
	let open = 0;
	const server = createServer(async (request, response) => {
		open++;
		response.once('close', () => open--);
		const parts: Buffer[] = [];
		for await (const part of request) parts.push(part);
		const raw = Buffer.concat(parts).toString();
		try {
			const body = JSON.parse(raw) as WireRequestBody;
			problems.push(...problemsOf(body));
			requests.push({body, headers: request.headers, path: request.url ?? ''});
		} catch (error) {
			problems.push(`${request.method} ${request.url} has a body that is not JSON: ${error}`);
		}
		const at = Math.max(0, Math.min(requests.length, replies.length) - 1);
		await play(replies[at] as Reply, response);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		requests,
		problems,
		open: () => open,
		async close() {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};
}

async function play({status, headers, pieces}: Reply, response: ServerResponse): Promise<void> {
	// A client that has heard enough hangs up; what is still written is lost, and that is all right.
	response.on('error', () => {});
	if (status !== undefined) {
		response.writeHead(status, headers);
		// Otherwise the headers wait for the first byte of the body, which may never come.
		response.flushHeaders();
	}
	for (const piece of pieces) {
		if (response.destroyed) return;
		if (typeof piece === 'string' || Buffer.isBuffer(piece)) {
			response.write(piece);
			// A turn of the loop between two pieces makes them arrive as two.
			await nextTick();
			continue;
		}
		if (piece.line === 'comments' || piece.line === 'heartbeat') {
			const beat = piece.line === 'comments' ? ': still here\n\n' : events({choices: []});
			const timer = setInterval(() => response.write(beat), 10);
			response.once('close', () => clearInterval(timer));
		}
		if (piece.line === 'reset') response.socket?.resetAndDestroy();
		if (piece.line === 'fin') response.socket?.end();
		return;
	}
	response.end();
}
