import type {GatewayError} from './gateway.ts';

/** How patient a model call is. Times in ms. */
export type RetryPolicy = {
	/** Tries of one call, the first included. */
	tries: number;
	/** The longest wait that a server may ask for; beyond that the person is told instead. */
	longestAskedMs: number;
	/** All waits of one call together. */
	budgetMs: number;
	/** The n-th wait is drawn from 0 to `baseMs` × 2ⁿ, at most `capMs`. */
	baseMs: number;
	capMs: number;
	/** 0 to 1; drawn anew for each wait. */
	random(): number;
};

export const patient: RetryPolicy = {
	tries: 6,
	longestAskedMs: 15 * 60_000,
	budgetMs: 30 * 60_000,
	baseMs: 1000,
	capMs: 60_000,
	random: Math.random,
};

export type NextTry = {again: true; waitMs: number} | {again: false; why?: string};

/**
What to do after the `failed`-th failed try of a call that has waited `waitedMs` so far.

Full jitter: a wait is drawn from the whole range, so that many clients do not come back in the same moment. What the server
asked for is honoured to the millisecond, with a little on top for the same reason. `why` says why it is not tried again, where
the error alone does not.
*/
export function nextTry(
	error: GatewayError,
	failed: number,
	waitedMs: number,
	policy: RetryPolicy = patient,
): NextTry {
	if (error.kind !== 'retry') return {again: false};
	const asked = error.retryAfterMs;
	if (asked !== undefined && asked > policy.longestAskedMs) {
		return {again: false, why: `The server asks to wait ${minutes(asked)}; ask again then.`};
	}
	if (failed >= policy.tries) return {again: false, why: `It was tried ${failed} times.`};
	const range = Math.min(policy.capMs, policy.baseMs * 2 ** (failed - 1));
	const waitMs =
		asked === undefined ? policy.random() * range : asked + policy.random() * policy.baseMs * 0.1;
	if (waitedMs + waitMs > policy.budgetMs) {
		return {again: false, why: `It was tried ${failed} times in ${minutes(waitedMs)}.`};
	}
	return {again: true, waitMs: Math.round(waitMs)};
}

function minutes(ms: number): string {
	if (ms < 60_000) return `${Math.ceil(ms / 1000)} s`;
	return ms < 2 * 3_600_000 ? `${Math.ceil(ms / 60_000)} minutes` : `${Math.ceil(ms / 3_600_000)} hours`;
}
