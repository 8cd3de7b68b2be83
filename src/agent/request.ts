import type {AssistantMessage, Message, ToolCall} from '../session/events.ts';
import {wellFormed} from './accumulate.ts';
import type {Request} from './gateway.ts';

type WireCall = {id: string; type: 'function'; function: {name: string; arguments: string}};

export type WireMessage =
	| {role: 'system' | 'user'; content: string}
	/** `content` is null where only calls were made: an empty string is refused by some. Provider fields stand beside these. */
	| {role: 'assistant'; content: string | null; tool_calls?: WireCall[]; reasoning_content?: string}
	| {role: 'tool'; tool_call_id: string; content: string};

/** The body of `POST /chat/completions`. */
export type WireBody = {
	model: string;
	messages: WireMessage[];
	tools?: {type: 'function'; function: {name: string; description: string; parameters: object}}[];
	stream: true;
	stream_options?: {include_usage: true};
};

/** What a server has taught us about itself by refusing a request. */
export type Profile = {
	/** Optional fields that it does not take. */
	without: ReadonlySet<string>;
	/** Whether it wants the reasoning of an assistant message with calls back (DeepSeek). Others refuse the field. */
	reasoning: boolean;
};

export const plainProfile: Profile = {without: new Set(), reasoning: false};

const unknownOutcome = 'outcome unknown: this call has no recorded result; check before repeating';

/**
The request as a server takes it, whatever the log holds.

The system message stands first. Every call is answered once, in call order, directly behind its message: a missing answer is
said to be unknown, an answer without its call and a second one are left out. User messages that follow each other are joined
by a blank line. An assistant message with neither text nor calls is left out. No string has a lone surrogate.
*/
export function buildBody({model, messages, tools}: Request, profile: Profile = plainProfile): WireBody {
	const body: WireBody = {model, messages: buildMessages(messages, profile), stream: true};
	if (!profile.without.has('stream_options')) body.stream_options = {include_usage: true};
	if (tools.length > 0) {
		body.tools = tools.map(({name, description, parameters}) => ({
			type: 'function',
			function: {name, description, parameters},
		}));
	}
	return wellFormed(body) as WireBody;
}

/**
What to send instead, when a server refused (400, 422) with `text`: without the optional fields it names, or with the reasoning
that it misses. Undefined where it names nothing that could be changed.
*/
export function adapt(profile: Profile, {messages}: Request, text: string): Profile | undefined {
	const words = new Set(text.match(/[\w-]+/g));
	const optional = new Set(['stream_options']);
	for (const message of messages) {
		if (message.role !== 'assistant') continue;
		for (const {extra} of [message, ...(message.toolCalls ?? [])]) {
			for (const field of Object.keys(extra ?? {})) optional.add(field);
		}
	}
	const refused = [...optional].filter((field) => !profile.without.has(field) && words.has(field));
	const missesReasoning = !profile.reasoning && words.has('reasoning_content');
	if (refused.length === 0 && !missesReasoning) return undefined;
	return {
		without: new Set([...profile.without, ...refused]),
		reasoning: profile.reasoning || missesReasoning,
	};
}

/** A call and the tool message that answers it, each found at its own time. */
type Asked = {wire: WireCall; answer: string | undefined};
type Entry = {message: WireMessage; asked: Asked[]};

function buildMessages(messages: readonly Message[], profile: Profile): WireMessage[] {
	const system: string[] = [];
	const entries: Entry[] = [];
	/** Calls by the id they have in the log, of the latest message that uses it: some servers count from 1 in every answer. */
	const open = new Map<string, Asked[]>();
	for (const message of messages) {
		if (message.role === 'system') {
			system.push(message.content);
		} else if (message.role === 'user') {
			// Tool messages are no entries of their own, so what was said while a tool ran lies behind its answer.
			const before = entries.at(-1)?.message;
			if (before?.role === 'user') before.content += `\n\n${message.content}`;
			else entries.push({message: {role: 'user', content: message.content}, asked: []});
		} else if (message.role === 'assistant') {
			const entry = buildAssistant(message, profile);
			if (!entry) continue;
			entries.push(entry);
			const calls = message.toolCalls ?? [];
			for (const {id} of calls) open.set(id, []);
			for (const [at, {id}] of calls.entries()) open.get(id)?.push(entry.asked[at] as Asked);
		} else {
			const asked = open.get(message.toolCallId)?.find((each) => each.answer === undefined);
			if (asked) asked.answer = message.content;
		}
	}
	const first: WireMessage[] = system.length > 0 ? [{role: 'system', content: system.join('\n\n')}] : [];
	return first.concat(entries.flatMap(({message, asked}) => [message, ...asked.map(answerOf)]));
}

function answerOf({wire, answer}: Asked): WireMessage {
	return {role: 'tool', tool_call_id: wire.id, content: answer ?? unknownOutcome};
}

function buildAssistant(message: AssistantMessage, profile: Profile): Entry | undefined {
	const {content, toolCalls = [], reasoning = '', extra} = message;
	const isBlank = content.trim() === '';
	if (toolCalls.length === 0) {
		if (isBlank) return undefined;
		return {message: {...allowed(extra, profile), role: 'assistant', content}, asked: []};
	}
	const taken = new Set<string>();
	const asked = toolCalls.map((call) => {
		const id = taken.has(call.id) ? unusedId(call.id, taken) : call.id;
		taken.add(id);
		return {wire: buildCall(call, id, profile), answer: undefined};
	});
	const wire: WireMessage = {
		...allowed(extra, profile),
		role: 'assistant',
		content: isBlank ? null : content,
		tool_calls: asked.map((each) => each.wire),
	};
	if (profile.reasoning) wire.reasoning_content = reasoning;
	return {message: wire, asked};
}

function buildCall({name, args, extra}: ToolCall, id: string, profile: Profile): WireCall {
	return {
		...allowed(extra, profile),
		id,
		type: 'function',
		function: {name: soundName(name), arguments: soundArgs(args)},
	};
}

function unusedId(id: string, taken: ReadonlySet<string>): string {
	let count = 2;
	while (taken.has(`${id}_${count}`)) count++;
	return `${id}_${count}`;
}

/** A model can call what is no name at all; servers refuse to hear that again, and with it the whole conversation. */
function soundName(name: string): string {
	return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';
}

/**
The model's own text, if it is a JSON object; else `{}`, because servers parse it and refuse the conversation for ever. The
call's answer tells the model what was wrong with it.
*/
function soundArgs(args: string): string {
	let value: unknown;
	try {
		value = JSON.parse(args);
	} catch {
		return '{}';
	}
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return '{}';
	// Only an escape can still hold a lone surrogate here.
	if (!/\\ud[89a-f]/i.test(args)) return args;
	const sound = JSON.stringify(wellFormed(value));
	return sound === JSON.stringify(value) ? args : sound;
}

function allowed(extra: Record<string, unknown> | undefined, {without}: Profile): Record<string, unknown> {
	return Object.fromEntries(Object.entries(extra ?? {}).filter(([field]) => !without.has(field)));
}
