import {performance} from 'node:perf_hooks';
import type {Gateway, GatewayError, Request, StreamDelta} from './gateway.ts';
import {Endless, forEver, toStream} from './openai-answer.ts';
import {readChunk} from './openai-chunk.ts';
import {type Asked, brokenOff, disconnection, failure, Refused, refusal} from './openai-errors.ts';
import {isLocal} from './providers.ts';
import {adapt, buildBody, plainProfile, type WireBody} from './request.ts';

export type OpenaiOptions = {
	/** With its path: `https://api.openai.com/v1`. */
	baseURL: string;
	apiKey: string;
	organization?: string;
	project?: string;
	/** Azure takes its key under a name of its own. */
	keyHeader?: 'api-key';
	/** How long the first piece of an answer may take, from the request on; a slow local model reads for minutes. */
	firstTokenMs?: number;
	/** How long the server may be silent inside an answer. */
	idleMs?: number;
};

/** Sends one body and resolves with the parsed chunks of the answer once its headers are here. */
type Send = (body: WireBody, signal: AbortSignal) => Promise<AsyncIterator<unknown>>;

/** The server went silent for longer than it may. */
class Silence extends Error {
	readonly ms: number;

	constructor(ms: number) {
		super(`silent for ${ms} ms`);
		this.ms = ms;
	}
}

/** What follows the last word (the usage) follows at once; a server that holds the line open is not waited for. */
const afterFinishMs = 5000;

const defaultIdleMs = 120_000;

/**
A server that speaks OpenAI's chat completions, and the many that nearly do.

One `stream` is one try: nothing is sent twice, but for a request that a server refused because of a field that mca can do
without. That is remembered as long as the gateway lives. The SDK carries the request and splits the stream; it reads no
environment, does not retry, and what an answer means is decided here.
*/
export function openaiGateway(options: OpenaiOptions): Gateway {
	const {baseURL, apiKey, firstTokenMs = 300_000, idleMs = defaultIdleMs} = options;
	const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
	const place = url ? `${url.origin}${url.pathname.replace(/\/$/, '')}` : baseURL;
	let profile = plainProfile;
	let transport: Promise<Send> | undefined;

	async function open(send: Send, request: Request, signal: AbortSignal): Promise<AsyncIterator<unknown>> {
		for (let tried = profile; ; ) {
			try {
				const chunks = await send(buildBody(request, tried), signal);
				profile = tried;
				return chunks;
			} catch (error) {
				const isRefused = error instanceof Refused && (error.status === 400 || error.status === 422);
				const next = isRefused ? adapt(tried, request, error.text) : undefined;
				if (!next) throw error;
				tried = next;
			}
		}
	}

	return {
		name: url?.host || baseURL,
		baseURL,
		async *stream(request, signal) {
			if (signal.aborted) return;
			checkOptions(options, url);
			transport ??= connect(options);
			const send = await transport;
			if (signal.aborted) return;

			const asked: Asked = {place, model: request.model, secrets: [apiKey]};
			const heard: Heard = {chunks: 0, hasSpoken: false, finish: undefined};
			const watch: Watch = {
				patience() {
					const {hasSpoken, finish} = heard;
					if (finish?.isLast)
						return Math.max(0, finish.at + Math.min(afterFinishMs, idleMs) - performance.now());
					return hasSpoken ? idleMs : firstTokenMs;
				},
				explain(error) {
					// The answer is whole; how the line was closed behind it does not matter.
					if (heard.finish?.isLast && announcement(error) === undefined) return undefined;
					return toGatewayError(asked, error, heard);
				},
			};
			for await (const value of receive((stop) => open(send, request, stop), signal, watch)) {
				heard.chunks++;
				const {deltas, error} = readChunk(value);
				for (const delta of deltas) {
					note(heard, delta);
					yield delta;
				}
				if (error !== undefined) throw brokenOff(asked, error);
			}
			if (signal.aborted || heard.finish) return;
			throw heard.chunks === 0
				? failure(asked, 'protocol', `${place} sent an empty stream. Check the base URL (most end in /v1).`)
				: failure(asked, 'retry', `The answer of ${place} was cut off before the model was done.`);
		},
	};
}

/** What was heard of one answer so far. */
type Heard = {
	chunks: number;
	hasSpoken: boolean;
	/** When the model said that it is done. `isLast` is false for a server that says so with every piece. */
	finish: {at: number; isLast: boolean} | undefined;
};

function note(heard: Heard, {type}: StreamDelta) {
	if (type === 'finish') {
		heard.finish ??= {at: performance.now(), isLast: true};
	} else if (type === 'text' || type === 'reasoning' || type === 'call') {
		heard.hasSpoken = true;
		if (heard.finish) heard.finish.isLast = false;
	}
}

type Watch = {
	/** How long the next chunk may take, ms. */
	patience(): number;
	/** What a failure of the line means: undefined where it means nothing. */
	explain(error: unknown): GatewayError | undefined;
};

/**
The chunks of one answer. Ends when they end or the signal aborts; throws what `watch` makes of a failure, and of silence. Only
time spent waiting counts, not what the reader does in between, and only chunks count, not comments.
*/
async function* receive(
	open: (signal: AbortSignal) => Promise<AsyncIterator<unknown>>,
	signal: AbortSignal,
	watch: Watch,
): AsyncGenerator<unknown> {
	const stop = new AbortController();
	const forward = () => stop.abort();
	signal.addEventListener('abort', forward, {once: true});
	let silentMs: number | undefined;
	let failed: GatewayError | undefined;
	const inTime = async <T>(work: () => Promise<T>): Promise<T> => {
		const ms = watch.patience();
		const timer = setTimeout(() => {
			silentMs = ms;
			stop.abort();
		}, ms);
		try {
			return await work();
		} finally {
			clearTimeout(timer);
		}
	};
	try {
		const {chunks, first} = await inTime(async () => {
			const chunks = await open(stop.signal);
			return {chunks, first: await chunks.next()};
		});
		for (let step = first; !step.done; step = await inTime(() => chunks.next())) yield step.value;
	} catch (error) {
		if (!stop.signal.aborted) failed = watch.explain(error);
	} finally {
		signal.removeEventListener('abort', forward);
		stop.abort();
	}
	if (silentMs !== undefined && !signal.aborted) failed = watch.explain(new Silence(silentMs));
	if (failed) throw failed;
}

function checkOptions({baseURL, apiKey}: OpenaiOptions, url: URL | undefined) {
	const wrong = (sentence: string) => failure({secrets: [apiKey]}, 'config', sentence);
	if (!url || !/^https?:$/.test(url.protocol)) {
		throw wrong(
			`The base URL ${baseURL} is no web address. It looks like https://api.openai.com/v1 or http://127.0.0.1:11434/v1.`,
		);
	}
	if (url.username || url.password) {
		throw wrong(
			`The base URL of ${url.host} holds a user name or a password, which is not supported. Give the key as API key.`,
		);
	}
	if (/[^\x20-\x7e]/.test(apiKey.trim())) {
		throw wrong(
			`The API key for ${url.host} holds a character that no key has (a line break, a typographic quote). Copy it again.`,
		);
	}
}

/** Who asks, in the way the server wants to be told. Local servers need no key, but the protocol has a place for one. */
export function requestHeaders(options: OpenaiOptions): Record<string, string> {
	const {apiKey, keyHeader, organization, project} = options;
	const key = apiKey.trim() || 'none';
	return {
		...(keyHeader ? {[keyHeader]: key} : {authorization: `Bearer ${key}`}),
		accept: 'text/event-stream, application/json',
		'user-agent': 'mca',
		...(organization ? {'openai-organization': organization} : {}),
		...(project ? {'openai-project': project} : {}),
	};
}

/** Load the SDK, which takes long enough that the start of the program must not wait for it. */
async function connect(options: OpenaiOptions): Promise<Send> {
	const {baseURL, idleMs = defaultIdleMs} = options;
	const [{default: OpenAI}, undici] = await Promise.all([import('openai'), import('undici')]);
	// undici is CommonJS, of which a bundle keeps the default export only.
	const {Agent, EnvHttpProxyAgent, fetch} = undici.default as unknown as typeof undici;
	// Node's own limits (300 s to the headers and between bytes) are too short for slow models and blind to comments.
	const limits = {headersTimeout: 0, bodyTimeout: 0};
	// HTTPS_PROXY and its kin count, as everywhere; but no proxy can reach a server on this machine.
	const dispatcher = isLocal(baseURL) ? new Agent(limits) : new EnvHttpProxyAgent(limits);
	const headers = {...requestHeaders(options), 'content-type': 'application/json'};
	const client = new OpenAI({
		baseURL,
		apiKey: 'none',
		organization: null,
		project: null,
		adminAPIKey: null,
		webhookSecret: null,
		logLevel: 'off',
		// The headers are ours alone: the SDK's tell about the machine, and hold what OPENAI_CUSTOM_HEADERS says.
		fetch: async (url, init) => {
			const body = String(init?.body);
			const signal = init?.signal ?? null;
			// A redirected POST arrives as a GET, and the key would go to a host that nobody named.
			const request = {method: 'POST', headers, body, signal, dispatcher, redirect: 'manual'} as const;
			return toStream(await fetch(String(url), request), Math.min(idleMs, 5000));
		},
	});
	return async (body, signal) => {
		try {
			// `receive` keeps the time.
			const how = {signal, maxRetries: 0, timeout: forEver};
			const stream = await client.chat.completions.create(body as never, how);
			return (stream as unknown as AsyncIterable<unknown>)[Symbol.asyncIterator]();
		} catch (error) {
			throw error instanceof Error && error.cause instanceof Refused ? error.cause : error;
		}
	};
}

/** The SDK throws an error chunk as an APIError without status that carries what the chunk said. */
function announcement(error: unknown): unknown {
	return error instanceof Error && 'error' in error ? (error.error ?? undefined) : undefined;
}

function toGatewayError(asked: Asked, error: unknown, {chunks, hasSpoken}: Heard): GatewayError {
	if (error instanceof Refused) return refusal(asked, error);
	if (error instanceof Silence) {
		const time = error.ms < 1000 ? `${error.ms} ms` : `${Math.round(error.ms / 1000)} s`;
		const when = hasSpoken ? 'stopped in the middle of its answer and was silent' : 'has not begun to answer';
		return failure(asked, 'retry', `${asked.place} ${when} for ${time}.`);
	}
	if (error instanceof Endless) {
		const sentence = `${asked.place} sent more than ${error.bytes / 1024 ** 2} MiB without the end of an event, which is the most that one piece of an answer may take. Check the server, or choose another model.`;
		return failure(asked, 'protocol', sentence);
	}
	const said = announcement(error);
	if (said !== undefined) return brokenOff(asked, said);
	if (error instanceof Error && error.cause) return disconnection(asked, error);
	// A chunk that is not JSON is what a cut leaves too; from a server that has sent good ones it may well come right.
	const sentence = `${asked.place} sent a piece of an answer that cannot be read${chunks > 0 ? '' : ', and nothing else. Check the base URL (most end in /v1)'}.`;
	return failure(asked, chunks > 0 ? 'retry' : 'protocol', sentence, {cause: error});
}
