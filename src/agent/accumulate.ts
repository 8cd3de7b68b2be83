import {randomInt} from 'node:crypto';
import type {AssistantMessage, ToolCall} from '../session/events.ts';
import type {StreamDelta, Usage} from './gateway.ts';

type CallDelta = Extract<StreamDelta, {type: 'call'}>;
type Extra = Record<string, unknown>;

/** One tool call as far as it is known. */
type Slot = {
	index: number | undefined;
	id: string;
	/** Ours, where the server gave none or gave one twice. Kept, so that the answer reads the same when asked for again. */
	ownId: string;
	name: string;
	args: string;
	extra: Extra | undefined;
};

/** What the deltas so far add up to. */
export type Answer = {
	/** `toolCalls`, `reasoning` and `extra` are absent where there is nothing in them. Every call has an id, unique in here. */
	message: AssistantMessage;
	/** The last that the server said. */
	usage?: Usage;
	/** Absent: the answer was cut off, and its calls must not run. */
	finish?: string;
};

/**
Joins what a gateway yields into one answer.

`end` may be called at any time, also more than once, and says what there is so far. Nothing is repaired: arguments that are
not JSON stay the text that the model said. Nothing throws, however odd the deltas are.

Which call a fragment belongs to: the slot of its `index`, but a different id together with a name opens a new slot (Ollama
counts every call as 0). Without an index: the slot of its id; without an id a name opens a new slot, and what has neither
belongs to the last one. The first id counts. So does the first name; a different piece is appended as long as there are no
arguments yet.
*/
export function accumulator(newId: () => string = randomId): {add(delta: StreamDelta): void; end(): Answer} {
	// Appending to a string is a constant cost in V8 (a rope, flattened once when it is read).
	let content = '';
	let reasoning = '';
	const slots: Slot[] = [];
	let extra: Extra | undefined;
	let usage: Usage | undefined;
	let finish: string | undefined;

	return {
		add(delta) {
			switch (delta.type) {
				case 'text':
					content += delta.text;
					break;
				case 'reasoning':
					reasoning += delta.text;
					break;
				case 'call':
					if (delta.id || delta.name || delta.args || delta.extra) addToSlot(findSlot(slots, delta), delta);
					break;
				case 'extra':
					extra = merge(extra, delta.extra) as Extra;
					break;
				case 'usage':
					usage = delta.usage;
					break;
				case 'finish':
					finish = delta.reason;
					break;
			}
		},
		end() {
			// Only now: a surrogate pair may have come in two deltas, and is whole once they are joined.
			const message: AssistantMessage = {role: 'assistant', content: content.toWellFormed()};
			// What has neither a name nor arguments calls nothing: an id or a signature that no call followed.
			const called = slots.filter((slot) => slot.name !== '' || slot.args !== '');
			if (called.length > 0) message.toolCalls = toCalls(called, newId);
			if (reasoning !== '') message.reasoning = reasoning.toWellFormed();
			if (extra) message.extra = wellFormed(extra) as Extra;
			const answer: Answer = {message};
			if (usage) answer.usage = usage;
			if (finish !== undefined) answer.finish = finish;
			return answer;
		},
	};
}

function findSlot(slots: Slot[], {index, id, name}: CallDelta): Slot {
	const open = () => {
		const slot: Slot = {index, id: '', ownId: '', name: '', args: '', extra: undefined};
		slots.push(slot);
		return slot;
	};
	const last = slots.at(-1);
	if (index !== undefined) {
		const slot = slots.findLast((each) => each.index === index);
		if (slot) return id && slot.id && slot.id !== id && name ? open() : slot;
		// A server that leaves the index out of some fragments only: this one continues the call that came without.
		const nameless = !id && !name;
		return nameless && last && last.index === undefined ? last : open();
	}
	const known = id ? slots.findLast((each) => each.id === id) : undefined;
	if (known) return known;
	if (!last) return open();
	// Metadata can come before the call that it belongs to, and an id after the name.
	const isBare = !last.name && !last.args && !(id && last.id);
	if (name) return isBare ? last : open();
	return id && last.id ? open() : last;
}

function addToSlot(slot: Slot, {id, name, args, extra}: CallDelta) {
	if (id && !slot.id) slot.id = id;
	if (name && name !== slot.name && slot.args === '') slot.name += name;
	if (args) slot.args += args;
	if (extra) slot.extra = merge(slot.extra, extra) as Extra;
}

function toCalls(slots: Slot[], newId: () => string): ToolCall[] {
	const taken = new Set<string>();
	return slots.map((slot) => {
		let id = slot.id.toWellFormed();
		while (id === '' || taken.has(id)) {
			if (slot.ownId === '' || taken.has(slot.ownId)) slot.ownId = newId();
			id = slot.ownId;
		}
		taken.add(id);
		const call: ToolCall = {id, name: slot.name.toWellFormed(), args: slot.args.toWellFormed()};
		if (slot.extra) call.extra = wellFormed(slot.extra) as Extra;
		return call;
	});
}

/** Nine letters and digits: the one form that Mistral takes, and everybody else takes too. */
function randomId(): string {
	const signs = 'abcdefghijklmnopqrstuvwxyz0123456789';
	return Array.from({length: 9}, () => signs[randomInt(signs.length)]).join('');
}

/** Opaque fields come in pieces too: lists are continued, objects are joined, of anything else the later value counts. */
function merge(before: unknown, after: unknown): unknown {
	if (before === undefined || before === null) return after;
	if (after === undefined || after === null) return before;
	if (Array.isArray(before) && Array.isArray(after)) return after.reduce(continued, [...before]);
	if (!isObject(before) || !isObject(after)) return after;
	let joined = before;
	for (const [key, value] of Object.entries(after)) {
		joined = {...joined, [key]: Object.hasOwn(joined, key) ? merge(joined[key], value) : value};
	}
	return joined;
}

/** A signed block of reasoning is sent in fragments but has to go back as one, or its signature does not hold. */
const streamed = ['text', 'summary', 'thinking'];

function continued(list: unknown[], next: unknown): unknown[] {
	const last = list.at(-1);
	const field = isObject(next) ? streamed.find((name) => typeof next[name] === 'string') : undefined;
	const same =
		field !== undefined &&
		isObject(last) &&
		isObject(next) &&
		typeof last[field] === 'string' &&
		last.type === next.type &&
		last.index === next.index &&
		!last.signature;
	if (!same) return [...list, next];
	const text = `${last[field]}${next[field]}`;
	return [...list.slice(0, -1), {...(merge(last, next) as Extra), [field]: text}];
}

/** The same value with every lone surrogate in its strings and keys replaced, as `String.toWellFormed` does. */
export function wellFormed(value: unknown): unknown {
	if (typeof value === 'string') return value.toWellFormed();
	if (Array.isArray(value)) return value.map(wellFormed);
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed(each)]),
	);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
