import type {Laid} from './composer-rows.ts';
import {truncate, width} from './display.ts';

/** The prompts of this workspace, of earlier sessions too. Whoever starts the screen knows where they are kept. */
export type History = {
	/** Newest first. */
	past(): readonly string[];
	add(prompt: string): void;
};

/** For a screen that keeps none: those of its own session. */
export function briefHistory(): History {
	let all: readonly string[] = [];
	return {
		past: () => all,
		add: (prompt) => {
			all = withPrompt(all, prompt);
		},
	};
}

export const mostPrompts = 500;

/** The newest first, each of them once. */
export function withPrompt(past: readonly string[], prompt: string): readonly string[] {
	if (prompt.trim() === '') return past;
	return [prompt, ...past.filter((each) => each !== prompt)].slice(0, mostPrompts);
}

/** The search through history while it is open: what is looked for, and which of the prompts that have it is shown. */
export type Search = {open: false} | {open: true; query: string; at: number};

export const noSearch: Search = {open: false};

export function found({query}: {query: string}, past: readonly string[]): readonly string[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	return past.filter((prompt) => {
		const text = prompt.toLowerCase();
		return words.every((word) => text.includes(word));
	});
}

/** The next older one, as long as there is one. */
export function older<Open extends {query: string; at: number}>(search: Open, past: readonly string[]): Open {
	return {...search, at: Math.min(search.at + 1, Math.max(0, found(search, past).length - 1))};
}

/** What stands where the draft stood: the search, with the cursor in it, and below it the prompt that it found. */
export function searchRows(
	search: {query: string; at: number},
	past: readonly string[],
	columns: number,
	rowsOf: (text: string, height: number) => readonly string[],
	height: number,
): Laid {
	const label = 'search: ';
	const query = search.query.length > columns ? search.query.slice(-columns) : search.query;
	const room = Math.max(1, columns - width(label) - 1);
	let shown = query;
	while (width(shown) > room) shown = shown.slice(1);
	const match = found(search, past)[search.at];
	const below =
		match === undefined
			? [truncate(past.length === 0 ? 'No prompt yet.' : 'No prompt has it.', columns)]
			: rowsOf(match, Math.max(1, height - 1));
	return {rows: [label + shown, ...below], x: width(label + shown), y: 0};
}
