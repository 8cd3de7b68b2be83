import type {Body, Event, EventOf, Message, ToolCall} from './events.ts';

export type Replay = {
	/** The conversation: each assistant message is followed by the answers to its calls, in the order of the calls. */
	messages: Message[];
	/** How many message events there were, and how many events of other types were left out. */
	replayed: number;
	leftOut: number;
	/** Sum over the usage events, input and output together. */
	tokens: number;
};

/** A call that no tool message answers; `toolEnd` where the tool had finished and only its message is missing. */
export type UnansweredCall = {call: ToolCall; toolEnd?: EventOf<'tool_end'>};

/** Rebuild the conversation from its events: message events and nothing else. */
export function replay(events: readonly Event[]): Replay {
	const conversation = new Conversation();
	let replayed = 0;
	let tokens = 0;
	for (const event of events) {
		if (event.type === 'message') {
			replayed++;
			conversation.add(event.message);
		} else if (event.type === 'usage') {
			tokens += event.inputTokens + event.outputTokens;
		}
	}
	return {messages: conversation.messages(), replayed, leftOut: events.length - replayed, tokens};
}

/** The calls that still need an answer before the conversation can go on, in call order. */
export function unansweredCalls(events: readonly Event[]): UnansweredCall[] {
	const conversation = new Conversation();
	for (const event of events) {
		if (event.type === 'message') conversation.add(event.message);
		if (event.type === 'tool_end') conversation.end(event);
	}
	return conversation.open();
}

/** Whether the model still owes an answer: the log ends with a user message or in the middle of a turn. */
export function owesAnswer(events: readonly Event[]): boolean {
	const last = events.findLast((event) => event.type === 'message');
	if (last?.type !== 'message' || last.message.role === 'system') return false;
	return last.message.role !== 'assistant' || !!last.message.toolCalls?.length;
}

/** What a killed process had streamed of its answer: the draft lines after the last line that is not one. */
export function openDraft(events: readonly Event[]): {text: string; reasoning: string} | undefined {
	let first = events.length;
	while (events[first - 1]?.type === 'draft') first--;
	if (first === events.length) return undefined;
	const drafts = events.slice(first).flatMap((event) => (event.type === 'draft' ? [event] : []));
	return {
		text: drafts.map((draft) => draft.text).join(''),
		reasoning: drafts.map((draft) => draft.reasoning ?? '').join(''),
	};
}

/**
What has to be appended before the next user line when a log ends in the middle of a turn: for each unanswered call a tool_end
(unless it has one) and its tool message. Nothing is run again. A call that had finished is answered with what its tool_end
kept; of any other nobody knows what it did, and the model is told so instead of "failed".
*/
export function lostAnswers(events: readonly Event[]): Body[] {
	return unansweredCalls(events).flatMap(({call, toolEnd}): Body[] => {
		if (toolEnd) {
			const outcome = toolEnd.result.ok ? 'finished' : 'failed';
			const content = `This call ${outcome}; the process ended before its full result was kept. What was kept: ${toolEnd.result.content}`;
			return [{type: 'message', message: {role: 'tool', toolCallId: call.id, content}}];
		}
		const content = 'outcome unknown: the process ended; check before repeating';
		return [
			{
				type: 'tool_end',
				id: call.id,
				name: call.name,
				result: {ok: false, content: 'outcome unknown'},
				ms: 0,
				chars: content.length,
				truncated: false,
				stoppedBy: 'lost',
			},
			{type: 'message', message: {role: 'tool', toolCallId: call.id, content}},
		];
	});
}

type Slot = UnansweredCall & {answer?: Message};

/** A conversation as it grows, knowing which calls still wait for their answer. */
export class Conversation {
	readonly #entries: (Message | Slot)[] = [];
	readonly #waiting: Slot[] = [];

	add(message: Message): void {
		if (message.role === 'tool') {
			const slot = this.#newest(message.toolCallId);
			if (slot) {
				slot.answer = message;
				this.#waiting.splice(this.#waiting.indexOf(slot), 1);
			} else {
				this.#entries.push(message);
			}
			return;
		}
		this.#entries.push(message);
		if (message.role !== 'assistant') return;
		for (const call of message.toolCalls ?? []) {
			const slot = {call};
			this.#entries.push(slot);
			this.#waiting.push(slot);
		}
	}

	/** A call has finished; its message is still to come. */
	end(toolEnd: EventOf<'tool_end'>): void {
		const slot = this.#newest(toolEnd.id);
		if (slot) slot.toolEnd = toolEnd;
	}

	/** Whether everything said so far is answered. */
	get settled(): boolean {
		return this.#waiting.length === 0;
	}

	open(): UnansweredCall[] {
		return [...this.#waiting];
	}

	messages(): Message[] {
		return this.#entries.flatMap((entry) => {
			if ('role' in entry) return [entry];
			return entry.answer ? [entry.answer] : [];
		});
	}

	/** Ids are unique within a message only, since some servers count from 0 in each: the newest call of an id is meant. */
	#newest(id: string): Slot | undefined {
		return this.#waiting.findLast((slot) => slot.call.id === id);
	}
}
