import type {Answer, Question} from '../agent/agent-event.ts';
import type {KeyPress} from './keys.ts';
import {visible} from './visible.ts';

export type GateAnswer = 'no' | 'yes' | 'reason' | 'remember';

/**
The answers, in the order in which they stand. The first is the default. Only a command of one line can be remembered, in which
everything can be seen: its field shows it as it is.
*/
export function gateAnswers(question: Question): GateAnswer[] {
	if (question.kind !== 'tool') return ['no', 'yes'];
	const {command = '\n'} = question;
	const canBeRule = !command.includes('\n') && visible(command) === command;
	return canBeRule ? ['no', 'yes', 'reason', 'remember'] : ['no', 'yes', 'reason'];
}

/** Keys this soon after the question came up were meant for the composer, ms. */
export const deadMs = 400;

export type GateState = {
	/** Index into the answers. */
	selected: number;
	/** First row of the preview that is shown. */
	top: number;
	/** The furthest row of the preview that was shown: a yes needs all of it. */
	seen: number;
	/** The refusal's reason while it is typed. */
	reason: string | null;
	/** The rule while it is looked at and changed: exactly this command, for this session or for good. */
	rule: {command: string; keep: boolean} | null;
};

export const freshGate: GateState = {selected: 0, top: 0, seen: 0, reason: null, rule: null};

/** The question, how much of it there is to read, and whether something was being typed when it came up. */
export type GateContext = {question: Question; total: number; shown: number; typing: boolean};

/** What a key does to the prompt: another state, or the answer. */
export function gateKey(state: GateState, {input, key}: KeyPress, context: GateContext): GateState | Answer {
	const {question, total, shown} = context;
	const answers = gateAnswers(question);
	const choose = (chosen: GateAnswer | undefined): GateState | Answer => {
		const selected = Math.max(0, answers.indexOf(chosen ?? 'no'));
		if (chosen === 'no') return {allow: false};
		if (chosen === 'reason') return {...state, selected, reason: ''};
		if (Math.max(state.seen, shown) < total) return {...state, selected};
		if (chosen === 'yes') return {allow: true};
		const command = question.kind === 'tool' ? (question.command ?? '') : '';
		return {...state, selected, rule: {command, keep: false}};
	};
	const select = (by: number) => ({
		...state,
		selected: (state.selected + by + answers.length) % answers.length,
	});
	if (state.rule !== null) {
		if (key.escape) return {...state, rule: null};
		return key.tab ? {...state, rule: {...state.rule, keep: !state.rule.keep}} : state;
	}
	if (state.reason !== null) return key.escape ? {...state, reason: null} : state;
	if (key.escape) return {allow: false};
	if (key.return) return choose(answers[state.selected]);
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
	const letters: Record<string, GateAnswer> = {n: 'no', y: 'yes', r: 'reason', a: 'remember'};
	const chosen = letters[input];
	return chosen && answers.includes(chosen) ? choose(chosen) : state;
}
