import type {Event, EventOf, ToolCall} from './events.ts';
import {ownerOf} from './fork.ts';

/** Tokens and money of a stretch of a log. */
export type Spend = {
	/** Model calls. */
	calls: number;
	inputTokens: number;
	outputTokens: number;
	/** Some of the tokens were counted by mca, not told by the server. */
	estimated: boolean;
	/** US dollars of the calls whose price is known. */
	costUsd: number;
	/** Model calls whose price is not known: the sum leaves them out. */
	unpriced: number;
};

export const noSpend: Spend = {
	calls: 0,
	inputTokens: 0,
	outputTokens: 0,
	estimated: false,
	costUsd: 0,
	unpriced: 0,
};

/** Two sums in one. */
export function plus(a: Spend, b: Spend): Spend {
	return {
		calls: a.calls + b.calls,
		inputTokens: a.inputTokens + b.inputTokens,
		outputTokens: a.outputTokens + b.outputTokens,
		estimated: a.estimated || b.estimated,
		costUsd: a.costUsd + b.costUsd,
		unpriced: a.unpriced + b.unpriced,
	};
}

/** One more event into a sum; anything but usage leaves it as it is. */
export function spend(sum: Spend, event: Event): Spend {
	if (event.type !== 'usage') return sum;
	const {inputTokens, outputTokens, estimated = false, costUsd = null} = event;
	const unpriced = costUsd === null ? 1 : 0;
	return plus(sum, {calls: 1, inputTokens, outputTokens, estimated, costUsd: costUsd ?? 0, unpriced});
}

/**
What a session spent itself, and what it carries from the sessions it was forked from: lines up to the last fork event were
paid for elsewhere, and counting them again would charge every fork for the whole history.
*/
export function spendOf(events: readonly Event[]): {own: Spend; inherited: Spend} {
	const lastFork = events.findLastIndex((event) => event.type === 'fork');
	return {
		own: events.slice(lastFork + 1).reduce(spend, noSpend),
		inherited: events.slice(0, lastFork + 1).reduce(spend, noSpend),
	};
}

/** The turn that each event belongs to, in the order of the events: 0 before the first prompt, then the n of the n-th user message. */
export function turnNumbers(events: readonly Event[]): number[] {
	let turn = 0;
	return events.map((event) => {
		if (event.type === 'message' && event.message.role === 'user') turn++;
		return turn;
	});
}

/** A line of a log as an audit reads it: what it took, where it belongs, and the calls that it is about. */
export type Audited = {
	event: Event;
	turn: number;
	/** ms since the line before; null on the first line and where a time cannot be read. */
	elapsedMs: number | null;
	/** Of the line, with its newline. */
	bytes: number;
	/** The calls that an assistant message makes, or the one that a tool_end or a tool message is about. */
	calls: readonly ToolCall[];
};

/** Reads a log line by line, in order: give it each event and where its line ends, as `forEachEvent` tells them. */
export function auditor(): (event: Event, endOfLine: number) => Audited {
	let turn = 0;
	let end = 0;
	let before = Number.NaN;
	// Ids are unique within a message only: the newest call of an id is meant.
	const open = new Map<string, ToolCall>();
	return (event, endOfLine) => {
		const time = Date.parse(event.ts);
		const elapsedMs = Number.isNaN(time - before) ? null : time - before;
		before = time;
		const bytes = endOfLine - end;
		end = endOfLine;
		if (event.type === 'message' && event.message.role === 'user') turn++;
		return {event, turn, elapsedMs, bytes, calls: callsOf(event, open)};
	};
}

function callsOf(event: Event, open: Map<string, ToolCall>): readonly ToolCall[] {
	if (event.type === 'message' && event.message.role === 'assistant') {
		const calls = event.message.toolCalls ?? [];
		for (const call of calls) open.set(call.id, call);
		return calls;
	}
	const about =
		event.type === 'tool_end'
			? event.id
			: event.type === 'message' && event.message.role === 'tool'
				? event.message.toolCallId
				: undefined;
	const call = about === undefined ? undefined : open.get(about);
	return call ? [call] : [];
}

/** Whether something went wrong there: a call that failed or was stopped, or an error of the model. */
export function isFailure(event: Event): boolean {
	return event.type === 'error' || (event.type === 'tool_end' && !event.result.ok);
}

export type TurnSpend = {
	/** 0 is what came before the first prompt. */
	turn: number;
	prompt: string;
	ts: string;
	/** Paid for by the session that this one was forked from. */
	inherited: boolean;
	spend: Spend;
};

/**
What each turn spent, in order. A turn that a fork cut through (forked at its prompt, answered in the fork) is two entries: the
inherited part and its own.
*/
export function spendPerTurn(events: readonly Event[]): TurnSpend[] {
	const lastFork = events.findLastIndex((event) => event.type === 'fork');
	const turns = turnNumbers(events);
	const entries: TurnSpend[] = [];
	let prompt = '';
	let asked = '';
	for (const [index, event] of events.entries()) {
		const turn = turns[index] ?? 0;
		const inherited = index <= lastFork;
		if (event.type === 'message' && event.message.role === 'user') {
			prompt = event.message.content;
			asked = event.ts;
			entries.push({turn, prompt, ts: event.ts, inherited, spend: noSpend});
		}
		if (event.type !== 'usage') continue;
		let entry = entries.at(-1);
		if (entry?.turn !== turn || entry.inherited !== inherited) {
			entry = {turn, prompt, ts: asked || event.ts, inherited, spend: noSpend};
			entries.push(entry);
		}
		entry.spend = spend(entry.spend, event);
	}
	return entries;
}

/** What of a session its costs are made of. */
export type Charges = {
	id: string;
	/** The folder it was recorded for. */
	workspace: string;
	usages: readonly EventOf<'usage'>[];
	forks: readonly EventOf<'fork'>[];
};

/** What several sessions spent together, and the same money split in four ways. Each map is in the order it was met. */
export type Ledger = {
	total: Spend;
	/** By the session that paid, which may be gone while its forks still hold its lines. */
	sessions: Map<string, Spend>;
	models: Map<string, Spend>;
	/** By day, as `dayOf` names it. */
	days: Map<string, Spend>;
	workspaces: Map<string, Spend>;
};

/** Add sessions up, each line once: lines that forks copied are known by the session that wrote them and by their seq. */
export function ledger(sessions: Iterable<Charges>, dayOf: (ts: string) => string): Ledger {
	const counted = new Set<string>();
	const book: Ledger = {
		total: noSpend,
		sessions: new Map(),
		models: new Map(),
		days: new Map(),
		workspaces: new Map(),
	};
	for (const {id, workspace, usages, forks} of sessions) {
		for (const usage of usages) {
			const owner = ownerOf(forks, id, usage.seq);
			const key = `${owner} ${usage.seq}`;
			if (counted.has(key)) continue;
			counted.add(key);
			book.total = spend(book.total, usage);
			enter(book.sessions, owner, usage);
			enter(book.models, usage.model, usage);
			enter(book.days, dayOf(usage.ts), usage);
			enter(book.workspaces, workspace, usage);
		}
	}
	return book;
}

function enter(sums: Map<string, Spend>, name: string, usage: Event): void {
	sums.set(name, spend(sums.get(name) ?? noSpend, usage));
}
