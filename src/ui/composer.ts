import {plainText} from '../tools/plain-text.ts';
import {display, graphemes, width} from './display.ts';

/** The text that is being written, as what stands before and after the cursor. */
export type Draft = {before: string; after: string; history: number};

export const emptyDraft: Draft = {before: '', after: '', history: -1};

export function textOf(draft: Draft): string {
	return draft.before + draft.after;
}

export function draftOf(text: string): Draft {
	return {before: text, after: '', history: -1};
}

/** What a key does to the draft. */
export type Edit =
	| {do: 'insert'; text: string}
	| {do: 'left' | 'right' | 'wordLeft' | 'wordRight' | 'home' | 'end' | 'up' | 'down'}
	| {do: 'backspace' | 'delete' | 'wordBack' | 'killLine' | 'killToEnd' | 'clear'};

/** Pure: one edit. `past` are the prompts of this workspace, newest first; up and down walk them from the first and last line. */
export function edit(draft: Draft, change: Edit, past: readonly string[] = []): Draft {
	const {before, after} = draft;
	const moved = (at: number): Draft => {
		const text = before + after;
		return {before: text.slice(0, at), after: text.slice(at), history: draft.history};
	};
	switch (change.do) {
		case 'insert':
			return {before: before + clean(change.text), after, history: -1};
		case 'left':
			return moved(before.length - lastGrapheme(before).length);
		case 'right':
			return moved(before.length + firstGrapheme(after).length);
		case 'wordLeft':
			return moved(before.replace(/\S+\s*$|\s+$/, '').length);
		case 'wordRight':
			return moved(before.length + (/^\s*\S+/.exec(after)?.[0].length ?? after.length));
		case 'home':
			return moved(before.lastIndexOf('\n') + 1);
		case 'end':
			return moved(before.length + lineEnd(after));
		case 'up': {
			const start = before.lastIndexOf('\n');
			if (start === -1) return recall(draft, 1, past);
			const column = graphemes(before.slice(start + 1)).length;
			const above = before.lastIndexOf('\n', start - 1) + 1;
			return moved(above + columnsIn(before.slice(above, start), column));
		}
		case 'down': {
			const end = lineEnd(after);
			if (end === after.length) return recall(draft, -1, past);
			const column = graphemes(before.slice(before.lastIndexOf('\n') + 1)).length;
			const below = after.slice(end + 1);
			return moved(before.length + end + 1 + columnsIn(below.slice(0, lineEnd(below)), column));
		}
		case 'backspace':
			return {before: before.slice(0, before.length - lastGrapheme(before).length), after, history: -1};
		case 'delete':
			return {before, after: after.slice(firstGrapheme(after).length), history: -1};
		case 'wordBack':
			return {before: before.replace(/\S+\s*$|\s+$/, ''), after, history: -1};
		case 'killLine':
			return {before: before.slice(0, before.lastIndexOf('\n') + 1), after, history: -1};
		case 'killToEnd':
			return {before, after: after.slice(lineEnd(after) || (after.startsWith('\n') ? 1 : 0)), history: -1};
		case 'clear':
			return emptyDraft;
	}
}

/** Walk the past prompts. A text that is being written is only left for history when it is empty or came from there. */
function recall(draft: Draft, step: 1 | -1, past: readonly string[]): Draft {
	if (draft.history === -1 && textOf(draft) !== '') {
		return step === 1
			? {...draft, before: '', after: textOf(draft)}
			: {...draft, before: textOf(draft), after: ''};
	}
	const history = Math.min(Math.max(draft.history + step, -1), past.length - 1);
	return {before: past[history] ?? '', after: '', history};
}

/** Line ends of every kind become \n; escape sequences and control characters of a paste are not text. All else is kept as it came. */
function clean(text: string): string {
	return plainText(text.replace(/\r\n?/g, '\n').toWellFormed());
}

/** Length of the first `column` characters of a line, or of all of it. */
function columnsIn(line: string, column: number): number {
	return graphemes(line).slice(0, column).join('').length;
}

function lineEnd(text: string): number {
	const at = text.indexOf('\n');
	return at === -1 ? text.length : at;
}

/** Looked for near the cursor only, so that a key costs the same in a long text. */
function lastGrapheme(text: string): string {
	return graphemes(text.slice(-64)).at(-1) ?? '';
}

function firstGrapheme(text: string): string {
	return graphemes(text.slice(0, 64))[0] ?? '';
}

/** What one chunk of input means: terminals and tmux may hand over several keys, or a paste without brackets, at once. */
export function chunkOf(input: string): {text: string; submit: boolean} {
	const single = /^([^\r\n]*)\r$/.exec(input);
	if (single) return {text: single[1] ?? '', submit: true};
	return {text: input, submit: false};
}

/** The draft as rows of at most `columns`, and where the cursor stands in them. At most `height` rows, those around the cursor. */
export function composerRows(
	draft: Draft,
	columns: number,
	height: number,
): {rows: string[]; x: number; y: number} {
	const rows: string[] = [''];
	let used = 0;
	let x = 0;
	let y = 0;
	const put = (text: string) => {
		for (const [index, line] of display(text).split('\n').entries()) {
			if (index > 0) {
				rows.push('');
				used = 0;
			}
			for (const grapheme of graphemes(line)) {
				const wide = width(grapheme);
				if (used + wide > columns) {
					rows.push('');
					used = 0;
				}
				rows[rows.length - 1] += grapheme;
				used += wide;
			}
		}
	};
	put(draft.before);
	// A full row has no cell left for the cursor: it stands at the start of the next.
	if (used >= columns) {
		rows.push('');
		used = 0;
	}
	x = used;
	y = rows.length - 1;
	put(draft.after);
	const top = Math.max(0, y - height + 1);
	return {rows: rows.slice(top, top + height), x, y: y - top};
}
