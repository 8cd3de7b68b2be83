import type {Draft} from './composer.ts';
import {display, graphemes, width} from './display.ts';
import {folded} from './paste.ts';

/** Rows of a draft, and where the cursor stands in them. */
export type Laid = {rows: string[]; x: number; y: number};

/**
The draft as rows of at most `columns`, and where the cursor stands in them. At most `height` rows, those around the cursor.

Only what is near the cursor is laid out, so that a key costs the same in a long draft. For that a very long line is laid out in
pieces, and each piece begins a row. Where no character is wide nobody sees it, since a piece then fills its rows.
*/
export function composerRows(draft: Draft, columns: number, height: number): Laid {
	const text = draft.before + draft.after;
	const at = draft.before.length;
	const pieces = piecesOf(text, columns * 8);
	const shown = (from: number, to: number) => display(folded(text.slice(from, to), draft.pastes));

	let {start, end} = pieces.around(at);
	const rows = wrapped([''], shown(start, at), columns);
	// A full row has no cell left for the cursor: it stands at the start of the next.
	if (width(rows.at(-1) ?? '') >= columns) rows.push('');
	const x = width(rows.at(-1) ?? '');
	let y = rows.length - 1;
	wrapped(rows, shown(at, end), columns);
	while (y < height - 1 && start > 0) {
		const before = pieces.before(start);
		const added = wrapped([''], shown(before.start, before.end), columns);
		rows.unshift(...added);
		y += added.length;
		start = before.start;
	}
	while (rows.length < height && end < text.length) {
		const after = pieces.after(end);
		rows.push(...wrapped([''], shown(after.start, after.end), columns));
		end = after.end;
	}
	const top = Math.max(0, y - height + 1);
	return {rows: rows.slice(top, top + height), x, y: y - top};
}

/** Put a text behind what the last of the rows holds. */
function wrapped(rows: string[], text: string, columns: number): string[] {
	for (const [index, line] of text.split('\n').entries()) {
		if (index > 0) rows.push('');
		let row = rows.pop() ?? '';
		let used = width(row);
		for (const each of cells(line, columns - used, columns)) {
			const wide = width(each);
			if (used + wide > columns && used > 0) {
				rows.push(row);
				row = '';
				used = 0;
			}
			row += each;
			used += wide;
		}
		rows.push(row);
	}
	return rows;
}

/** What may not be broken: characters, or of a line where all are one column wide, whole rows. */
function cells(line: string, first: number, columns: number): string[] {
	if (!/^[\x20-\x7e]*$/.test(line)) return graphemes(line);
	const rows = first > 0 && line !== '' ? [line.slice(0, first)] : [];
	for (let at = Math.max(0, first); at < line.length; at += columns) rows.push(line.slice(at, at + columns));
	return rows;
}

type Piece = {start: number; end: number};

/** In pieces: how far the start of a line is looked for. */
const longestLine = 16;

/**
A text as pieces: its lines, and of lines longer than `most` parts of about that length, counted from the start of the line; of
lines whose start is too far away to be looked for at each key, from the start of the text.
*/
function piecesOf(text: string, most: number) {
	const lineStart = (at: number) => {
		const from = Math.max(0, at - longestLine * most);
		const found = text.slice(from, at).lastIndexOf('\n');
		return found === -1 ? 0 : from + found + 1;
	};
	const lineEnd = (at: number) => {
		const found = text.slice(at, at + 2 * most).indexOf('\n');
		return found === -1 ? Math.min(text.length, at + 2 * most) : at + found;
	};
	const part = (line: number, number: number): Piece => {
		const start = number === 0 ? line : wholeCharacter(text, line + number * most);
		return {start, end: Math.min(lineEnd(start), wholeCharacter(text, line + (number + 1) * most))};
	};
	return {
		around(at: number): Piece {
			const line = lineStart(at);
			const number = Math.floor((at - line) / most);
			const piece = part(line, number);
			if (at < piece.start) return part(line, number - 1);
			return at === piece.end && at < lineEnd(at) ? part(line, number + 1) : piece;
		},
		/** The piece that ends before this one begins. */
		before(start: number): Piece {
			const end = text[start - 1] === '\n' ? start - 1 : start;
			const line = lineStart(end);
			return {start: part(line, Math.max(0, Math.ceil((end - line) / most) - 1)).start, end};
		},
		/** The piece that begins behind this one. A part may begin a few places before its full length. */
		after(end: number): Piece {
			const start = text[end] === '\n' ? end + 1 : end;
			const line = lineStart(start);
			return {start, end: part(line, Math.ceil((start - line) / most)).end};
		},
	};
}

const segmenter = new Intl.Segmenter(undefined, {granularity: 'grapheme'});
const near = 64;

/** The place itself, or where the character begins that it lies in. */
function wholeCharacter(text: string, at: number): number {
	if (at >= text.length || (text.charCodeAt(at - 1) < 0x300 && text.charCodeAt(at) < 0x300)) return at;
	const from = Math.max(0, at - near);
	const character = segmenter.segment(text.slice(from, at + near)).containing(at - from);
	return from + (character?.index ?? at - from);
}
