import type {Answer} from '../agent/agent-event.ts';
import type {KeyPress} from './keys.ts';

/** The answers, in the order in which they stand. The first is the default. */
export const gateAnswers = ['no', 'yes', 'reason'] as const;

/** Keys this soon after the question came up were meant for the composer, ms. */
export const deadMs = 400;

export type GateState = {
	/** Index into gateAnswers. */
	selected: number;
	/** First row of the preview that is shown. */
	top: number;
	/** The furthest row of the preview that was shown: a yes needs all of it. */
	seen: number;
	/** The refusal's reason while it is typed. */
	reason: string | null;
};

export const freshGate: GateState = {selected: 0, top: 0, seen: 0, reason: null};

/** How much there is to read, and whether something was being typed when the question came up. */
export type GateContext = {total: number; shown: number; typing: boolean};

/** What a key does to the prompt: another state, or the answer. */
export function gateKey(state: GateState, {input, key}: KeyPress, context: GateContext): GateState | Answer {
	const {total, shown} = context;
	const choose = (index: number): GateState | Answer => {
		const chosen = gateAnswers[index];
		if (chosen === 'no') return {allow: false};
		if (chosen === 'reason') return {...state, selected: index, reason: ''};
		return Math.max(state.seen, shown) >= total ? {allow: true} : {...state, selected: index};
	};
	const select = (by: number) => ({
		...state,
		selected: (state.selected + by + gateAnswers.length) % gateAnswers.length,
	});
	if (state.reason !== null) return key.escape ? {...state, reason: null} : state;
	if (key.escape) return {allow: false};
	if (key.return) return choose(state.selected);
	if (key.rightArrow || key.tab) return select(1);
	if (key.leftArrow) return select(-1);
	const page = Math.max(1, shown - 1);
	const by = key.pageDown ? page : key.pageUp ? -page : key.downArrow ? 1 : key.upArrow ? -1 : 0;
	if (by !== 0) {
		const top = Math.max(0, Math.min(total - shown, state.top + by));
		return {...state, top, seen: Math.max(state.seen, top + shown)};
	}
	// A letter answers only where none was being typed.
	if (context.typing) return state;
	if (input === 'n') return choose(0);
	if (input === 'y') return choose(1);
	if (input === 'r') return choose(2);
	return state;
}
