import type {Message} from '../session/events.ts';
import type {Tool} from '../tools/tool.ts';

/** One thing that the model said. Slots and fragments are joined by `accumulate.ts`, whoever the gateway is. */
export type StreamDelta =
	| {type: 'text'; text: string}
	| {type: 'reasoning'; text: string}
	/** A piece of a tool call: which call it belongs to is decided from `index`, `id` and `name` together. */
	| {
			type: 'call';
			index?: number;
			id?: string;
			name?: string;
			/** The next piece of the arguments' JSON text. */
			args?: string;
			/** Fields that mca does not know, to be sent back with the call. */
			extra?: Record<string, unknown>;
	  }
	/** Opaque fields of the message that have to be sent back (reasoning_details and the like). */
	| {type: 'extra'; extra: Record<string, unknown>}
	| {type: 'usage'; usage: Usage}
	/** Why the model stopped, in the server's own word. Without one the answer was cut off. */
	| {type: 'finish'; reason: string};

export type Usage = {
	inputTokens: number;
	outputTokens: number;
	cachedTokens?: number;
	reasoningTokens?: number;
};

export type Request = {
	model: string;
	/** As replayed from the log, system message first. */
	messages: readonly Message[];
	tools: readonly Tool[];
};

/**
The model's side of the conversation.

`stream` yields until the model stops. It throws a GatewayError for anything that went wrong, and nothing else; after an abort
of the signal it ends, by returning or by throwing, at once.
*/
export type Gateway = {
	/** For people: `scripted`, or the host that is asked. */
	name: string;
	/** The address that serves the models; prices depend on it. Absent where nothing is paid for. */
	baseURL?: string;
	stream(request: Request, signal: AbortSignal): AsyncIterable<StreamDelta>;
};

/**
What went wrong on the wire, sorted by what can be done about it.

`retry`: the same request may succeed later (429, 5xx, a reset, silence, an answer cut off). `config`: a person has to change
something first (401, 402, 403, 404, quota, a model that is not there). `request`: this request will never be accepted (400,
413, 422). `protocol`: the server does not speak this protocol (HTML, an empty body).
*/
export class GatewayError extends Error {
	readonly kind: 'retry' | 'config' | 'request' | 'protocol';
	/** HTTP status, where there was an answer. */
	readonly status?: number;
	/** What the server asked to wait, ms. */
	readonly retryAfterMs?: number;
	/** The conversation is longer than the model's context. */
	readonly isTooLong?: boolean;

	/** `message` is a sentence for the person at the keyboard, without keys or tokens in it. */
	constructor(
		kind: GatewayError['kind'],
		message: string,
		more: {status?: number; retryAfterMs?: number; isTooLong?: boolean; cause?: unknown} = {},
	) {
		super(message, {cause: more.cause});
		this.name = 'GatewayError';
		this.kind = kind;
		if (more.status !== undefined) this.status = more.status;
		if (more.retryAfterMs !== undefined) this.retryAfterMs = more.retryAfterMs;
		if (more.isTooLong) this.isTooLong = true;
	}
}
