/**
The format page of a session log.

A log is a file of lines. A line is one event: a JSON object in UTF-8, ended by one `\n` (byte 0x0A; U+2028 inside a string is
text, not an end). The newline is the commit mark: a last line without it was being written when the writer died, even if its
JSON happens to parse.

    {"seq":1,"ts":"2026-09-07T10:00:00.000Z","type":"message","message":{"role":"system","content":"You are …"},"session":{"id":"s-20260907-100000-ab12","workspace":"/home/me/proj","model":"gpt-5-mini","version":"0.1.0","format":1}}
    {"seq":2,"ts":"2026-09-07T10:00:00.000Z","type":"message","message":{"role":"user","content":"run the tests"}}
    {"seq":3,"ts":"2026-09-07T10:00:01.204Z","type":"usage","model":"gpt-5-mini","provider":"api.openai.com","inputTokens":812,"outputTokens":41,"estimated":false,"ms":1180,"finish":"tool_calls","costUsd":null}
    {"seq":4,"ts":"2026-09-07T10:00:01.204Z","type":"message","message":{"role":"assistant","content":"","toolCalls":[{"id":"c1","name":"run_command","args":"{\"command\":\"node --test\"}"}]}}

Every line carries the envelope: `seq`, an integer from 1 that is larger than the one before it; `ts`, ISO 8601 in UTC with
milliseconds; `type`. Then come the type's own fields, listed below, one zod entry a type.

A `message` line rebuilds the conversation; every other line is for people (the sidebar, the audit, the cost). A new kind of
fact is a new type or an optional field, never a change of an old one. A type that this version does not know is kept: it
counts as not rebuilding and survives a fork byte for byte. That is the price of the format too: nothing can be corrected in
place, a wrong line stays for ever, and reading costs as much as the log is long.
*/
import * as z from 'zod';

const extra = z.record(z.string(), z.unknown()).optional();

const toolCall = z.object({
	id: z.string(),
	name: z.string(),
	/** The model's own JSON text, as it was said. */
	args: z.string(),
	/** Provider fields that mca does not know, sent back as they came. */
	extra,
});

const message = z.discriminatedUnion('role', [
	z.object({role: z.literal('system'), content: z.string()}),
	z.object({role: z.literal('user'), content: z.string()}),
	z.object({
		role: z.literal('assistant'),
		content: z.string(),
		toolCalls: z.array(toolCall).optional(),
		reasoning: z.string().optional(),
		extra,
	}),
	z.object({role: z.literal('tool'), toolCallId: z.string(), content: z.string()}),
]);

const sessionHead = z.object({
	id: z.string(),
	/** Real path of the folder that the tools work in. */
	workspace: z.string(),
	model: z.string(),
	/** mca's own version. */
	version: z.string(),
	format: z.number(),
});

const fileChange = z.object({
	/** Relative to the workspace, with `/`. */
	path: z.string(),
	/** sha256 of the bytes before and after, hex; null where there was no file. */
	before: z.string().nullable(),
	after: z.string().nullable(),
	/** Lines. */
	added: z.number(),
	removed: z.number(),
});

const verdict = z.object({
	state: z.enum(['allow', 'deny', 'ask']),
	by: z.enum(['rule', 'sandbox', 'builtin', 'person', 'headless']),
	why: z.string(),
});

const cut = z.object({line: z.number(), reason: z.string(), ignoredBytes: z.number()});

/** The types of this format: each with its fields. The envelope is checked before these are looked at. */
export const eventFields = {
	message: z.object({
		message,
		/** On line 1 only. */
		session: sessionHead.optional(),
	}),
	tool_end: z.object({
		/** The call's id. */
		id: z.string(),
		/** `content` is one line, for people; the whole result is in the tool message that follows. */
		result: z.object({ok: z.boolean(), content: z.string()}),
		name: z.string().optional(),
		ms: z.number().optional(),
		/** Length of the tool message in UTF-16 units. */
		chars: z.number().optional(),
		/** Whether the model was shown less than the tool produced. */
		truncated: z.boolean().optional(),
		stoppedBy: z.enum(['gate', 'loop', 'cancel', 'timeout', 'limit', 'lost']).optional(),
		verdict: verdict.optional(),
		files: z.array(fileChange).optional(),
		/** Path of the full output, where it was longer than the tool message. */
		spill: z.string().optional(),
	}),
	usage: z.object({
		model: z.string(),
		/** The gateway's name: which server was asked. */
		provider: z.string().optional(),
		inputTokens: z.number(),
		outputTokens: z.number(),
		cachedTokens: z.number().optional(),
		reasoningTokens: z.number().optional(),
		/** True where the server did not say and mca counted characters. */
		estimated: z.boolean().optional(),
		ms: z.number().optional(),
		finish: z.string().optional(),
		/** US dollars; null where the price is unknown. */
		costUsd: z.number().nullable().optional(),
	}),
	draft: z.object({text: z.string(), reasoning: z.string().optional()}),
	error: z.object({
		message: z.string(),
		did: z.enum(['retried', 'gaveUp', 'cancelled']),
		partial: z.string().optional(),
	}),
	fork: z.object({
		/** Id of the session whose bytes were copied. */
		from: z.string(),
		/** The last seq that was copied. */
		atSeq: z.number(),
		/** Id of the session that wrote event `atSeq`. */
		origin: z.string(),
		kind: z.enum(['fork', 'recovery', 'compact']),
		cut: cut.optional(),
	}),
	name: z.object({title: z.string()}),
};

export type Message = z.infer<typeof message>;
export type AssistantMessage = Extract<Message, {role: 'assistant'}>;
export type ToolCall = z.infer<typeof toolCall>;
export type SessionHead = z.infer<typeof sessionHead>;
export type FileChange = z.infer<typeof fileChange>;
export type Verdict = z.infer<typeof verdict>;
/** Where and why the reading stopped: line from 1, bytes from the start of that line to the end of the file. */
export type Cut = z.infer<typeof cut>;

type Fields = {[T in keyof typeof eventFields]: z.infer<(typeof eventFields)[T]>};
/** What a writer says of an event; the log adds `seq` and `ts`. */
export type Body = {[T in keyof Fields]: {type: T} & Fields[T]}[keyof Fields];
export type Envelope = {seq: number; ts: string};
/** An event of a type that this version does not know. Its `type` is what the file says; this literal stands for all such names. */
export type UnknownEvent = Envelope & {type: '(a type of a later version)'};
export type Event = (Envelope & Body) | UnknownEvent;
export type EventOf<T extends Body['type']> = Envelope & {type: T} & Fields[T];

export type ParsedLine = {ok: true; event: Event} | {ok: false; reason: string};

/**
Check one line, given without its newline, against the format.

`previousSeq` is the seq of the line before it, 0 for the first. The event is the parsed JSON itself, with the fields that this
version does not know. The reason is a clause that finishes "stops at line 14: …".
*/
export function parseLine(text: string, previousSeq: number): ParsedLine {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		if (text === '') return {ok: false, reason: 'the line is empty'};
		const nul = text.includes('\0');
		return {ok: false, reason: nul ? 'the line is not JSON (it holds NUL bytes)' : 'the line is not JSON'};
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value)) {
		return {ok: false, reason: 'the line is not a JSON object'};
	}
	const {seq, ts, type} = value as Record<string, unknown>;
	if (!Number.isSafeInteger(seq)) return {ok: false, reason: 'seq is not an integer'};
	if ((seq as number) <= previousSeq) {
		return {ok: false, reason: `seq ${seq} is not larger than ${previousSeq}`};
	}
	if (typeof ts !== 'string') return {ok: false, reason: 'ts is not a string'};
	if (typeof type !== 'string') return {ok: false, reason: 'type is not a string'};
	if (Object.hasOwn(eventFields, type) && !isPlain(value as Record<string, unknown>)) {
		const checked = eventFields[type as keyof typeof eventFields].safeParse(value);
		if (!checked.success)
			return {ok: false, reason: `this ${type} event does not fit: ${firstIssue(checked.error)}`};
	}
	return {ok: true, event: value as Event};
}

/**
Whether an event is sound at a glance, which nearly all of a long log are: reading them through zod as well would cost more than
the rest of the reading. It says yes to nothing that zod refuses; whatever it does not know is left to zod, which has the last
word and the reasons.
*/
function isPlain(event: Record<string, unknown>): boolean {
	if (event.type === 'usage') return isPlainUsage(event);
	if (event.type !== 'message' || event.session !== undefined) return false;
	const message = event.message as Record<string, unknown> | null | undefined;
	if (typeof message !== 'object' || message === null || typeof message.content !== 'string') return false;
	switch (message.role) {
		case 'system':
		case 'user':
			return true;
		case 'tool':
			return typeof message.toolCallId === 'string';
		case 'assistant':
			return (
				(message.reasoning === undefined || typeof message.reasoning === 'string') &&
				message.extra === undefined &&
				(message.toolCalls === undefined || isPlainCalls(message.toolCalls))
			);
		default:
			return false;
	}
}

function isPlainCalls(calls: unknown): boolean {
	return (
		Array.isArray(calls) &&
		calls.every(
			(call) =>
				typeof call === 'object' &&
				call !== null &&
				typeof call.id === 'string' &&
				typeof call.name === 'string' &&
				typeof call.args === 'string' &&
				call.extra === undefined,
		)
	);
}

function isPlainUsage(event: Record<string, unknown>): boolean {
	return (
		typeof event.model === 'string' &&
		(event.provider === undefined || typeof event.provider === 'string') &&
		Number.isFinite(event.inputTokens) &&
		Number.isFinite(event.outputTokens) &&
		event.cachedTokens === undefined &&
		event.reasoningTokens === undefined &&
		typeof event.estimated === 'boolean' &&
		Number.isFinite(event.ms) &&
		typeof event.finish === 'string' &&
		(event.costUsd === null || Number.isFinite(event.costUsd))
	);
}

function firstIssue(error: z.ZodError): string {
	const issue = error.issues[0];
	if (!issue) return 'unknown problem';
	const path = issue.path.join('.');
	return path === '' ? issue.message : `${path}: ${issue.message}`;
}
