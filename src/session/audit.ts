import type {Event} from './events.ts';

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
