import {plainText} from '../tools/plain-text.ts';
import {graphemes} from './display.ts';
import {expanded, fold, hasMark} from './paste.ts';

/** The text that is being written, as what stands before and after the cursor. */
export type Draft = {
	before: string;
	after: string;
	/** Which of the past prompts this is; -1 for a text of one's own. */
	history: number;
	/** What the marks in the text stand for; see paste.ts. */
	pastes: readonly string[];
	/** What was cut last; Ctrl+Y puts it back. */
	cut: string;
	/** What Ctrl+_ goes back to, newest last. */
	undo: readonly Before[];
	/** The last edit was a typed letter: the next one belongs to the same step back. */
	typing: boolean;
};

type Before = Pick<Draft, 'before' | 'after' | 'pastes'>;

export const emptyDraft: Draft = {
	before: '',
	after: '',
	history: -1,
	pastes: [],
	cut: '',
	undo: [],
	typing: false,
};

/** All of it, with long pastes in full: what is sent. */
export function textOf({before, after, pastes}: Draft): string {
	return expanded(before + after, pastes);
}

export function isEmpty({before, after}: Draft): boolean {
	return before === '' && after === '';
}

export function draftOf(text: string): Draft {
	const {text: before, pastes} = hasMark(text) ? fold(text, []) : {text, pastes: []};
	return {...emptyDraft, before, pastes};
}

/** What a key does to the draft. */
export type Edit =
	/** Typed, or a paste of a terminal that does not mark them. */
	| {do: 'insert' | 'paste'; text: string}
	/** Another text in place of all of it. */
	| {do: 'replace'; text: string}
	| {do: 'left' | 'right' | 'wordLeft' | 'wordRight' | 'home' | 'end' | 'up' | 'down'}
	| {do: 'backspace' | 'delete' | 'wordBack' | 'wordForward' | 'killLine' | 'killToEnd' | 'yank'}
	| {do: 'clear'}
	| {do: 'undo'};

/** Pure: one edit. `past` are the prompts of this workspace, newest first; up and down walk them from the first and last line. */
export function edit(draft: Draft, change: Edit, past: readonly string[] = []): Draft {
	if (change.do === 'undo') return undone(draft);
	const next = apply(draft, change, past);
	const isSame = next.before.length === draft.before.length && next.after.length === draft.after.length;
	const isMove = change.do === 'up' || change.do === 'down' || (isSame && next.before === draft.before);
	if (isMove) return {...next, typing: false};
	const typing = change.do === 'insert' && !/\s/.test(change.text);
	const goesOn = typing && draft.typing;
	return {...next, typing, undo: goesOn ? draft.undo : remembered(draft)};
}

function apply(draft: Draft, change: Exclude<Edit, {do: 'undo'}>, past: readonly string[]): Draft {
	const {before, after} = draft;
	const moved = (at: number): Draft => {
		const text = before + after;
		return {...draft, before: text.slice(0, at), after: text.slice(at)};
	};
	const changed = (to: {before?: string; after?: string; cut?: string}): Draft => ({
		...draft,
		...to,
		history: -1,
	});
	switch (change.do) {
		case 'insert':
		case 'paste': {
			const {text, pastes} = fold(clean(change.text), draft.pastes);
			return {...changed({before: before + text}), pastes};
		}
		case 'replace': {
			const {text, pastes} = fold(clean(change.text), []);
			return {...changed({before: text, after: ''}), pastes};
		}
		case 'left':
			return moved(before.length - lastGrapheme(before).length);
		case 'right':
			return moved(before.length + firstGrapheme(after).length);
		case 'wordLeft':
			return moved(wordStart(before));
		case 'wordRight':
			return moved(before.length + wordEnd(after));
		case 'home':
			return moved(before.lastIndexOf('\n') + 1);
		case 'end':
			return moved(before.length + lineEnd(after));
		case 'up': {
			const start = before.lastIndexOf('\n');
			if (start === -1) return recall(draft, 1, past);
			const above = start === 0 ? 0 : before.lastIndexOf('\n', start - 1) + 1;
			return moved(above + columnsIn(before.slice(above, start), columnOf(before.slice(start + 1))));
		}
		case 'down': {
			const end = lineEnd(after);
			if (end === after.length) return recall(draft, -1, past);
			const column = columnOf(before.slice(before.lastIndexOf('\n') + 1));
			const below = after.slice(end + 1);
			return moved(before.length + end + 1 + columnsIn(below.slice(0, lineEnd(below)), column));
		}
		case 'backspace':
			return changed({before: before.slice(0, before.length - lastGrapheme(before).length)});
		case 'delete':
			return changed({after: after.slice(firstGrapheme(after).length)});
		case 'wordBack': {
			const at = wordStart(before);
			return changed({before: before.slice(0, at), cut: before.slice(at) || draft.cut});
		}
		case 'wordForward': {
			const at = wordEnd(after);
			return changed({after: after.slice(at), cut: after.slice(0, at) || draft.cut});
		}
		case 'killLine': {
			const at = before.lastIndexOf('\n') + 1;
			return changed({before: before.slice(0, at), cut: before.slice(at) || draft.cut});
		}
		case 'killToEnd': {
			const at = lineEnd(after) || (after === '' ? 0 : 1);
			return changed({after: after.slice(at), cut: after.slice(0, at) || draft.cut});
		}
		case 'yank':
			return changed({before: before + draft.cut});
		case 'clear':
			return changed({before: '', after: ''});
	}
}

/** Walk the past prompts. A text that is being written is only left for history when it is empty or came from there. */
function recall(draft: Draft, step: 1 | -1, past: readonly string[]): Draft {
	if (draft.history === -1 && !isEmpty(draft)) {
		const text = draft.before + draft.after;
		return step === 1 ? {...draft, before: '', after: text} : {...draft, before: text, after: ''};
	}
	const history = Math.min(Math.max(draft.history + step, -1), past.length - 1);
	const {before, pastes} = draftOf(past[history] ?? '');
	return {...draft, before, after: '', pastes, history};
}

/** Characters that all the steps back may hold together, so that a large draft is not kept a thousand times. */
const undoRoom = 4_000_000;

function remembered({before, after, pastes, undo}: Draft): readonly Before[] {
	const all = [...undo, {before, after, pastes}];
	let room = undoRoom;
	const first = all.findLastIndex((each) => {
		room -= each.before.length + each.after.length + 100;
		return room < 0;
	});
	return all.slice(Math.min(first + 1, all.length - 1));
}

function undone(draft: Draft): Draft {
	const last = draft.undo.at(-1);
	if (!last) return draft;
	return {...draft, ...last, history: -1, undo: draft.undo.slice(0, -1), typing: false};
}

/** Line ends of every kind become \n; escape sequences and control characters of a paste are not text. All else is kept as it came. */
function clean(text: string): string {
	return plainText(text.replace(/\r\n?/g, '\n').toWellFormed());
}

/** Searched from the cursor: a pattern would be tried from the start of the text, at each of its characters. */
function wordStart(text: string): number {
	let at = text.length;
	while (at > 0 && isSpace(text[at - 1])) at--;
	while (at > 0 && !isSpace(text[at - 1])) at--;
	return at;
}

function wordEnd(text: string): number {
	let at = 0;
	while (at < text.length && isSpace(text[at])) at++;
	while (at < text.length && !isSpace(text[at])) at++;
	return at;
}

function isSpace(character: string | undefined): boolean {
	return character !== undefined && /\s/.test(character);
}

/** Beyond this a line is not counted in what a reader takes for a character, but in what the text is stored as. */
const longLine = 10_000;

function columnOf(text: string): number {
	return text.length > longLine ? text.length : graphemes(text).length;
}

/** Length of the first `column` characters of a line, or of all of it. */
function columnsIn(line: string, column: number): number {
	if (column > longLine) return Math.min(column, line.length);
	return graphemes(line.slice(0, longLine)).slice(0, column).join('').length;
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
