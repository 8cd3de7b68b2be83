import {GatewayError} from './gateway.ts';
import {list, record} from './openai-chunk.ts';
import {scrub} from './scrub.ts';

/** An HTTP answer that is not a stream of chunks. Thrown inside the transport only, and told to people as a GatewayError. */
export class Refused extends Error {
	readonly status: number;
	readonly headers: Headers;
	readonly text: string;

	constructor(status: number, headers: Headers, text: string) {
		super(`answered ${status}`);
		this.status = status;
		this.headers = headers;
		this.text = text;
	}
}

/** For whom a sentence is written: where was asked (the base URL), for which model, and what must not be shown. */
export type Asked = {place: string; model: string; secrets: readonly string[]};

/** What a server said of its failure, out of the shapes that are in use. */
type Said = {message: string; code: string; type: string; waitMs: number | undefined};

/** The failure of a request that got an HTTP answer. */
export function refusal(asked: Asked, {status, headers, text}: Refused): GatewayError {
	let value: unknown = text;
	try {
		value = JSON.parse(text);
	} catch {
		// Many gateways answer in plain text or HTML; `saidIn` takes both.
	}
	if (status < 300) return notAStream(asked, status, headers, value);
	if (status < 400) {
		const target = headers.get('location') ?? 'nowhere';
		const sentence = `${asked.place} redirects to ${target} (${status}). Set the base URL to where the server really is.`;
		return failure(asked, 'config', sentence, {status});
	}
	const said = saidIn(asked, value);
	const order = headers.get('x-should-retry');
	const retryAfterMs = retryAfter(headers) ?? said.waitMs;
	return judge(asked, status, said, order, retryAfterMs);
}

/** The failure that a server announced inside a stream, after HTTP 200. */
export function brokenOff(asked: Asked, error: unknown): GatewayError {
	const said = saidIn(asked, {error});
	const code = Number(said.code);
	return judge(asked, code >= 400 && code < 600 ? code : undefined, said, null, said.waitMs);
}

/** The failure of the connection itself. */
export function disconnection(asked: Asked, error: unknown): GatewayError {
	const codes = codesOf(error);
	const {place} = asked;
	const has = (shape: RegExp) => codes.find((code) => shape.test(code));
	const certificate = has(/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/);
	if (certificate) {
		const sentence = `The certificate of ${place} is not trusted (${certificate}). Check the base URL, or tell Node about the authority with NODE_EXTRA_CA_CERTS.`;
		return failure(asked, 'config', sentence, {cause: error});
	}
	if (has(/EPROTO|ERR_SSL/)) {
		const sentence = `${place} does not speak TLS. Check whether the base URL should begin with http:// instead.`;
		return failure(asked, 'config', sentence, {cause: error});
	}
	let sentence = `The connection to ${place} broke (${codes.at(-1) ?? 'no reason given'}).`;
	if (has(/ECONNREFUSED/))
		sentence = `Nothing listens at ${place}. Check that the server runs and that the base URL is right.`;
	else if (has(/ENOTFOUND|EAI_AGAIN/))
		sentence = `The host of ${place} is not known. Check the base URL and the network.`;
	else if (has(/TIMEOUT|ETIMEDOUT/))
		sentence = `No connection to ${place} came about in time. Check the network.`;
	return failure(asked, 'retry', sentence, {cause: error});
}

/** A GatewayError whose sentence has no key in it, no control characters, and no more than a screenful. */
export function failure(
	{secrets}: Pick<Asked, 'secrets'>,
	kind: GatewayError['kind'],
	sentence: string,
	more: ConstructorParameters<typeof GatewayError>[2] = {},
): GatewayError {
	return new GatewayError(kind, scrub(sentence, secrets), more);
}

/** ms to wait as the headers ask, undefined where they do not. A date in the past is 0. */
export function retryAfter(headers: Headers, now = Date.now()): number | undefined {
	const ms = headers.get('retry-after-ms');
	if (ms?.trim() && Number(ms) >= 0) return Number(ms);
	const after = headers.get('retry-after')?.trim();
	if (!after) return undefined;
	const seconds = Number(after);
	if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
	const date = Date.parse(after);
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** `place` answered 200 with something that is no stream: a sign-in page, an error that forgot its status, nothing. */
function notAStream(asked: Asked, status: number, headers: Headers, value: unknown): GatewayError {
	const {error, object} = record(Array.isArray(value) ? value[0] : value);
	if (error || object === 'error') return brokenOff(asked, error || value);
	const type = headers.get('content-type')?.split(';')[0] ?? '';
	const what = value === '' ? 'an empty answer' : /html/.test(type) ? 'a web page' : type || 'something else';
	const sentence = `${asked.place} sent ${what} instead of a stream (${status}). Check the base URL (most end in /v1) and whether the network wants a sign-in.`;
	return failure(asked, 'protocol', sentence, {status});
}

const noCredit =
	/insufficient_quota|insufficient_user_quota|insufficient_balance|exceeded_current_quota|billing_(?:hard_limit|not_active)/i;
const tooLong =
	/context_length_exceeded|exceed_context_size|context (?:length|window|size)|maximum context|(?:prompt|input|request|conversation) (?:is )?too (?:long|large)|too many (?:input )?tokens|(?:input|prompt) token count|reduce the length/i;

/** Sort one failure by what can be done about it, and say so. */
function judge(
	asked: Asked,
	status: number | undefined,
	said: Said,
	order: string | null,
	retryAfterMs: number | undefined,
): GatewayError {
	const {place, model} = asked;
	const {message, code, type} = said;
	const words = `${code} ${type}`;
	const told = `${status === undefined ? '' : ` (${status})`}${message === '' ? '' : `: ${message}`}`;
	const make = (kind: GatewayError['kind'], sentence: string, isTooLong = false) =>
		failure(asked, kind, sentence, {
			isTooLong,
			...(status === undefined ? {} : {status}),
			...(kind === 'retry' && retryAfterMs !== undefined ? {retryAfterMs} : {}),
		});

	if (status === 402 || noCredit.test(words)) {
		return make(
			'config',
			`${place} has no credit left for this key${told}. Waiting does not help: top up, or use another key.`,
		);
	}
	if (status === 401 || (status === undefined && /auth|api_key/i.test(words))) {
		return make(
			'config',
			`${place} does not accept the API key${told}. Check the key and that it belongs to this server.`,
		);
	}
	if (/model_not_found/.test(words)) {
		return make('config', `${place} has no model ${model}${told}. Choose another model.`);
	}
	if (status === 403 || (status === undefined && /permission|forbidden/i.test(words))) {
		return make('config', `${place} does not allow this${told}. Check what the key and the account may use.`);
	}
	if (status === 404 || status === 405) {
		return make(
			'config',
			`${place} has no such address or no model ${model}${told}. Check the base URL (most end in /v1) and the model.`,
		);
	}
	// A rate limit counted in tokens is worded alike; only "request too large" among them is final.
	if (tooLong.test(`${words} ${message}`) && (status !== 429 || /request too large/i.test(message))) {
		return make(
			'request',
			`The conversation is too long for the context of ${model}${told}. Start a new session, or fork from an earlier point.`,
			true,
		);
	}
	if (/tool_use_failed/.test(words)) {
		return make(
			'retry',
			`${model} made a tool call that ${place} could not read${told}. Asking again often helps.`,
		);
	}
	if (order === 'false' && (status === undefined || status >= 400)) {
		return make('request', `${place} failed and asks not to be tried again${told}.`);
	}
	if (status === 429) return make('retry', `${place} allows no more requests at the moment${told}.`);
	const isPassing =
		status === undefined
			? !/invalid_request|bad_request/i.test(words)
			: [408, 409, 425].includes(status) || status >= 500;
	if (isPassing || order === 'true') {
		return make(
			'retry',
			status === undefined ? `${place} broke off the answer${told}.` : `${place} failed${told}.`,
		);
	}
	return make(
		'request',
		`${place} does not accept the request for ${model}${told}. Sending it again will not help.`,
	);
}

/** Read an error body of any shape: OpenAI's object, Gemini's list, FastAPI's `detail`, a string, HTML. */
function saidIn({secrets}: Asked, value: unknown): Said {
	const body = record(Array.isArray(value) ? value[0] : value);
	const nested = Array.isArray(body.error) ? body.error[0] : body.error;
	const error = typeof nested === 'object' && nested !== null ? record(nested) : body;
	const generation = text(error.failed_generation);
	const message =
		[
			text(error.message) || text(nested) || details(error.detail ?? body.detail) || (text(value) ?? ''),
			generation && `it said ${generation}`,
		]
			.filter(Boolean)
			.join('; ') || (Object.keys(body).length > 0 ? JSON.stringify(value) : '');
	return {
		// Before it is cut, since half a key is not found any more.
		message: oneLine(scrub(message, secrets)),
		code: text(error.code) ?? text(body.code) ?? '',
		type: [text(error.type), text(error.status)].filter(Boolean).join(' '),
		waitMs: retryDelay(error.details),
	};
}

/** FastAPI: a string, or a list of `{loc, msg}`. */
function details(detail: unknown): string {
	return (
		text(detail) ??
		list(detail)
			.map((item) => `${list(record(item).loc).join('.')}: ${text(record(item).msg) ?? ''}`)
			.join('; ')
	);
}

/** Google says how long to wait inside the body: `{retryDelay: '34s'}`. */
function retryDelay(details: unknown): number | undefined {
	for (const detail of list(details)) {
		const seconds = /^([\d.]+)s$/.exec(text(record(detail).retryDelay) ?? '')?.[1];
		if (seconds !== undefined && Number.isFinite(Number(seconds))) return Number(seconds) * 1000;
	}
	return undefined;
}

function text(value: unknown): string | undefined {
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** One line of at most 300 characters, without tags, and without a full stop, since our sentence goes on. */
function oneLine(message: string): string {
	const isPage = /<(?:!doctype|html|head|body)\b/i.test(message);
	const plain = isPage ? (/<title[^>]*>([^<]*)/i.exec(message)?.[1] ?? 'a web page') : message;
	const line = plain
		.toWellFormed()
		.replace(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ')
		.trim()
		.replace(/[.\s]+$/, '');
	const signs = [...line.slice(0, 1000)];
	return signs.length > 300 ? `${signs.slice(0, 300).join('')}…` : line;
}

/** The codes of an error and of what caused it, outermost first. */
function codesOf(error: unknown): string[] {
	const codes: string[] = [];
	for (let each = error; each instanceof Error && codes.length < 8; each = each.cause) {
		const {code} = each as NodeJS.ErrnoException;
		codes.push(code ?? each.message);
	}
	return codes;
}
