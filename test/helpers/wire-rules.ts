/** A request as it came, of which nothing is certain. */
export type WireRequestBody = {
	model?: unknown;
	messages?: {
		role?: unknown;
		content?: unknown;
		tool_calls?: {id?: unknown; type?: unknown; function?: {name?: unknown; arguments?: unknown}}[];
		tool_call_id?: unknown;
		[field: string]: unknown;
	}[];
	tools?: {type?: unknown; function?: {name?: unknown; parameters?: unknown; strict?: unknown}}[];
	stream?: unknown;
	[field: string]: unknown;
};

/** What the strictest of the providers would refuse in a request. */
export function problemsOf(body: WireRequestBody): string[] {
	const problems: string[] = [];
	const {messages = [], tools} = body;
	if (typeof body.model !== 'string' || body.model === '') problems.push('the request names no model');
	if (body.stream !== true) problems.push('the request does not ask for a stream');
	if (messages.length === 0) problems.push('the request has no messages');
	if (tools?.length === 0) problems.push('the list of tools is empty');
	if (tools?.some((tool) => tool.function?.strict !== undefined)) problems.push('a tool asks to be strict');
	if (!isWellFormed(body)) problems.push('a string has a lone surrogate');
	let waiting: unknown[] = [];
	for (const [at, {role, content, tool_calls: calls, tool_call_id: answered}] of messages.entries()) {
		const where = `message ${at} (${role})`;
		if (role === 'tool') {
			if (waiting[0] !== answered) problems.push(`${where} answers ${answered}, not ${waiting[0]}`);
			waiting = waiting.filter((id) => id !== answered);
			if (typeof content !== 'string') problems.push(`${where} has no text`);
			continue;
		}
		if (waiting.length > 0) problems.push(`${where} comes before the answer to ${waiting.join(', ')}`);
		waiting = [];
		if (role === 'system' && at > 0) problems.push(`${where} is not the first`);
		if (role === 'user' && messages[at - 1]?.role === 'user')
			problems.push(`${where} follows a user message`);
		if (role !== 'assistant') continue;
		if (!calls?.length && (typeof content !== 'string' || content.trim() === ''))
			problems.push(`${where} is empty`);
		if (calls?.length === 0) problems.push(`${where} has an empty list of calls`);
		waiting = calls?.map((call) => call.id) ?? [];
		if (new Set(waiting).size !== waiting.length) problems.push(`${where} uses an id twice`);
		for (const {id, type, function: called} of calls ?? []) {
			if (typeof id !== 'string' || id === '') problems.push(`${where} has a call without an id`);
			if (type !== 'function') problems.push(`${where} has a call without a type`);
			if (!/^[\w-]{1,64}$/.test(String(called?.name)))
				problems.push(`${where} calls ${called?.name}, which is no name`);
			if (!isJsonObject(called?.arguments)) problems.push(`${where} has arguments that are no JSON object`);
		}
	}
	if (waiting.length > 0) problems.push(`the request ends without an answer to ${waiting.join(', ')}`);
	return problems;
}

function isJsonObject(text: unknown): boolean {
	try {
		const value = JSON.parse(text as string);
		return typeof value === 'object' && value !== null && !Array.isArray(value) && isWellFormed(value);
	} catch {
		return false;
	}
}

function isWellFormed(value: unknown): boolean {
	if (typeof value === 'string') return value.isWellFormed();
	if (typeof value !== 'object' || value === null) return true;
	return Object.entries(value).every(([key, each]) => key.isWellFormed() && isWellFormed(each));
}
