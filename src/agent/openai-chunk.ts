import type {StreamDelta, Usage} from './gateway.ts';

/** What one chunk of a stream holds. `error` is what the server put where an error belongs, in whatever shape. */
export type Chunk = {deltas: StreamDelta[]; error?: unknown};

/** Fields of a message that have to be sent back as they came, or signed reasoning is refused. Others are not sent back. */
const opaque = ['reasoning_details', 'extra_content', 'thinking_blocks'];

/** Read one parsed chunk. Every field may be missing, null or of another type than expected; what has no meaning is nothing. */
export function readChunk(value: unknown): Chunk {
	// Gemini puts its errors into a list.
	const chunk = record(Array.isArray(value) ? value[0] : value);
	if (chunk.error) return {deltas: [], error: chunk.error};
	if (chunk.object === 'error') return {deltas: [], error: chunk};

	const choice = record(list(chunk.choices)[0]);
	// A server that cannot stream sends the whole message at once.
	const delta = record(choice.delta ?? choice.message);
	const deltas: StreamDelta[] = [
		...reasoningOf(delta),
		...contentOf(delta.content),
		...contentOf(delta.refusal),
		...list(delta.tool_calls).map(callOf),
	];
	const extra = pick(delta, (name) => opaque.includes(name));
	if (extra) deltas.push({type: 'extra', extra});
	const usage = usageOf(chunk.usage) ?? usageOf(choice.usage) ?? usageOf(record(chunk.x_groq).usage);
	if (usage) deltas.push({type: 'usage', usage});

	const reason = choice.finish_reason;
	if (reason === 'error') return {deltas, error: choice.error ?? 'the model stopped with an error'};
	if (typeof reason === 'string' && reason !== '') deltas.push({type: 'finish', reason});
	return {deltas};
}

function reasoningOf(delta: Record<string, unknown>): StreamDelta[] {
	const text = delta.reasoning_content ?? delta.reasoning;
	return typeof text === 'string' && text !== '' ? [{type: 'reasoning', text}] : [];
}

/** Text, or a list of parts of which some (Mistral) are reasoning. */
function contentOf(content: unknown): StreamDelta[] {
	if (typeof content === 'string') return content === '' ? [] : [{type: 'text', text: content}];
	return list(content).flatMap((item): StreamDelta[] => {
		if (typeof item === 'string') return contentOf(item);
		const part = record(item);
		if (part.type === 'thinking') {
			return textsOf(part.thinking).map((text) => ({type: 'reasoning', text}));
		}
		return textsOf(part.text).map((text) => ({type: 'text', text}));
	});
}

function textsOf(value: unknown): string[] {
	if (typeof value === 'string') return value === '' ? [] : [value];
	return list(value).flatMap((part) => textsOf(record(part).text));
}

function callOf(value: unknown): StreamDelta {
	const call = record(value);
	const {name, arguments: args} = record(call.function);
	const delta: StreamDelta = {type: 'call'};
	if (Number.isSafeInteger(call.index)) delta.index = call.index as number;
	if (typeof call.id === 'string' && call.id !== '') delta.id = call.id;
	if (typeof name === 'string' && name !== '') delta.name = name;
	if (typeof args === 'string') delta.args = args;
	else if (typeof args === 'object' && args !== null) delta.args = JSON.stringify(args);
	const extra = pick(call, (field) => !['index', 'id', 'type', 'function'].includes(field));
	if (extra) delta.extra = extra;
	return delta;
}

function usageOf(value: unknown): Usage | undefined {
	const said = record(value);
	const input = count(said.prompt_tokens);
	const output = count(said.completion_tokens);
	if (input === undefined && output === undefined) return undefined;
	const usage: Usage = {inputTokens: input ?? 0, outputTokens: output ?? 0};
	const cached =
		count(record(said.prompt_tokens_details).cached_tokens) ?? count(said.prompt_cache_hit_tokens);
	const reasoning = count(record(said.completion_tokens_details).reasoning_tokens);
	if (cached !== undefined) usage.cachedTokens = cached;
	if (reasoning !== undefined) usage.reasoningTokens = reasoning;
	return usage;
}

function count(value: unknown): number | undefined {
	return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function pick(
	from: Record<string, unknown>,
	wanted: (field: string) => boolean,
): Record<string, unknown> | undefined {
	const fields = Object.entries(from).filter(
		([field, value]) => wanted(field) && value !== null && value !== undefined,
	);
	return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

export function record(value: unknown): Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
		? (value as Record<string, unknown>)
		: {};
}

export function list(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}
