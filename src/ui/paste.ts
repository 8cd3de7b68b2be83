/**
A long paste is folded in the draft: one character, a mark, stands for it, so that it is moved over and deleted as one, and is
shown as `[pasted 120 lines]`. Marks are the last private characters of Unicode, which no font and no language uses; a text that
has one all the same is folded too, however short it is, so that nothing is ever taken for a mark that is none.
*/
const firstMark = 0x10f000;
const mostMarks = 0xffd;
const mark = /[\u{10f000}-\u{10fffd}]/u;
const marks = /[\u{10f000}-\u{10fffd}]/gu;

const mostLines = 10;
const mostCharacters = 1000;

export function hasMark(text: string): boolean {
	return mark.test(text);
}

/** What goes into the draft for a text: itself, or the mark of a new paste where it is long. */
export function fold(text: string, pastes: readonly string[]): {text: string; pastes: readonly string[]} {
	if (text.length <= mostCharacters && linesOf(text, mostLines + 1) <= mostLines && !hasMark(text)) {
		return {text, pastes};
	}
	// More than four thousand pastes in one draft: what would be taken for a mark is left out of the rest.
	if (pastes.length >= mostMarks) return {text: text.replace(marks, ''), pastes};
	return {text: String.fromCodePoint(firstMark + pastes.length), pastes: [...pastes, text]};
}

export function expanded(text: string, pastes: readonly string[]): string {
	return replaced(text, pastes, (paste) => paste);
}

/** The text as the composer shows it. */
export function folded(text: string, pastes: readonly string[]): string {
	return replaced(text, pastes, (paste) => {
		const lines = linesOf(paste);
		return lines > mostLines
			? `[pasted ${lines.toLocaleString('en')} lines]`
			: `[pasted ${paste.length.toLocaleString('en')} characters]`;
	});
}

function replaced(text: string, pastes: readonly string[], by: (paste: string) => string): string {
	if (pastes.length === 0) return text;
	return text.replace(marks, (each) => {
		const paste = pastes[(each.codePointAt(0) ?? 0) - firstMark];
		return paste === undefined ? '' : by(paste);
	});
}

/** A line end at the very end begins no further line. Counts no further than `enough`. */
function linesOf(text: string, enough = Number.POSITIVE_INFINITY): number {
	let lines = 1;
	for (let at = text.indexOf('\n'); at !== -1 && at < text.length - 1; at = text.indexOf('\n', at + 1)) {
		lines++;
		if (lines >= enough) break;
	}
	return lines;
}
