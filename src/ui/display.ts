import stringWidth from 'string-width';
import {plainText} from '../tools/plain-text.ts';

/** A run of text in one style. The text is fit for the terminal: no control, bidi or zero-width character is in it. */
export type Span = Style & {text: string};
export type Style = {
	color?: string;
	bold?: boolean;
	dim?: boolean;
	italic?: boolean;
	underline?: boolean;
	strike?: boolean;
	inverse?: boolean;
};
/** One line of the screen. */
export type Row = readonly Span[];

/** Columns that a text takes. */
export function width(text: string): number {
	return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

/**
Whatever came from a model, a tool, a file or a session, made fit for the terminal. What terminals disagree on the width of goes
too (variation selectors, skin tones, keycaps, fillers, the joiners of emoji): a row that is off by one breaks every border to
its right.
*/
export function display(text: string): string {
	if (/^[\x20-\x7e\n]*$/.test(text)) return text;
	return plainText(text.toWellFormed())
		.replaceAll('\t', '    ')
		.replace(/[\u2028\u2029]/g, '\n')
		.replace(/(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}|[\u20e3\u{1f3fb}-\u{1f3ff}]/gu, '')
		.replace(/(?<=\p{Extended_Pictographic})\u200d/gu, '');
}

/** The same on one line, cut to `columns` with an ellipsis. */
export function oneLine(text: string, columns: number): string {
	return truncate(
		display(text.slice(0, columns * 8))
			.replace(/\s+/g, ' ')
			.trim(),
		columns,
	);
}

/** Cut to `columns`, with an ellipsis where something is left out. */
export function truncate(text: string, columns: number): string {
	if (columns <= 0) return '';
	if (width(text) <= columns) return text;
	let cut = '';
	let used = 0;
	for (const grapheme of graphemes(text)) {
		const wide = width(grapheme);
		if (used + wide > columns - 1) break;
		cut += grapheme;
		used += wide;
	}
	return `${cut}…`;
}

const segmenter = new Intl.Segmenter(undefined, {granularity: 'grapheme'});

/** What a reader takes for one character. */
export function graphemes(text: string): string[] {
	if (/^[\x00-\x7f]*$/.test(text)) return text.split('');
	return Array.from(segmenter.segment(text), ({segment}) => segment);
}

/** Break styled text into rows of at most `columns`, at spaces where there are some. Later rows of a line begin with `hang` spaces. */
export function wrap(spans: Row, columns: number, hang = 0): Row[] {
	const room = Math.max(1, columns);
	const [only] = spans;
	// Most lines of code and of lists are short: they need no measuring.
	if (only && spans.length === 1 && only.text.length <= room && /^[\x20-\x7e]*$/.test(only.text)) {
		return [only.text === '' ? [] : [only]];
	}
	const rows: Span[][] = [[]];
	let used = 0;
	const put = (span: Span, text: string, wide: number) => {
		const row = rows.at(-1) as Span[];
		const last = row.at(-1);
		if (last && sameStyle(last, span)) row[row.length - 1] = {...last, text: last.text + text};
		else row.push({...span, text});
		used += wide;
	};
	const breakRow = (indent: number) => {
		rows.push(indent > 0 ? [{text: ' '.repeat(indent)}] : []);
		used = indent;
	};
	const indent = hang < room / 2 ? hang : 0;
	for (const span of spans) {
		for (const [index, line] of span.text.split('\n').entries()) {
			if (index > 0) breakRow(0);
			for (const word of line.match(/ +|[^ ]+/g) ?? []) {
				const wide = width(word);
				if (used + wide <= room) {
					put(span, word, wide);
				} else if (word.startsWith(' ')) {
					// Spaces at the end of a row take no room.
					used = room;
				} else {
					if (used > indent && wide <= room - indent) breakRow(indent);
					else if (used >= room) breakRow(indent);
					if (used + wide <= room) {
						put(span, word, wide);
						continue;
					}
					for (const whole of graphemes(word)) {
						const each = width(whole) > room - indent ? '…' : whole;
						const columnsOfEach = width(each);
						if (used + columnsOfEach > room && used > indent) breakRow(indent);
						put(span, each, columnsOfEach);
					}
				}
			}
		}
	}
	return rows;
}

function sameStyle(a: Style, b: Style): boolean {
	return (
		a.color === b.color &&
		a.bold === b.bold &&
		a.dim === b.dim &&
		a.italic === b.italic &&
		a.underline === b.underline &&
		a.strike === b.strike &&
		a.inverse === b.inverse
	);
}

/** `left` and `rightmost` on one row, with the space between them; `left` gives way. */
export function spread(left: Row, rightmost: Row, columns: number): Row {
	const right = fit(rightmost, columns);
	const rightWide = rowWidth(right);
	const room = Math.max(0, columns - rightWide - (rightWide > 0 ? 1 : 0));
	const fitted = fit(left, room);
	const gap = Math.max(0, columns - rowWidth(fitted) - rightWide);
	// The space takes the style of what follows: a span less for each row of the screen.
	const [first, ...others] = right;
	const space = ' '.repeat(gap);
	return first && !first.inverse && !first.underline && !first.strike
		? [...fitted, {...first, text: space + first.text}, ...others]
		: [...fitted, {text: space}, ...right];
}

/** What stands on a row, without its styles. */
export function rowText(row: Row): string {
	return row.map((span) => span.text).join('');
}

export function rowWidth(row: Row): number {
	return row.reduce((sum, span) => sum + width(span.text), 0);
}

/** A row cut to `columns`. */
export function fit(row: Row, columns: number): Row {
	const fitted: Span[] = [];
	let room = columns;
	for (const span of row) {
		if (room <= 0) break;
		const text = truncate(span.text, room);
		fitted.push({...span, text});
		room -= width(text);
	}
	return fitted;
}

/** 812, 1.2k, 3.4M. */
export function count(number: number): string {
	if (number < 1000) return String(number);
	if (number < 999_950) return `${(number / 1000).toFixed(1)}k`;
	return `${(number / 1_000_000).toFixed(1)}M`;
}

/** 65 ms, 1.2 s, 3 min. */
export function duration(ms: number): string {
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
	return `${Math.round(ms / 60_000)} min`;
}

/** How long ago, in one unit. */
export function age(then: Date, now: Date): string {
	const seconds = Math.max(0, Math.round((now.getTime() - then.getTime()) / 1000));
	if (seconds < 60) return `${seconds} s ago`;
	if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
	if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
	return `${Math.round(seconds / 86_400)} d ago`;
}

/** 212 B, 3.4 kB, 1.2 MB. */
export function size(bytes: number): string {
	if (bytes < 1000) return `${bytes} B`;
	if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
	return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Money in US dollars, fine enough that a small call is not nothing. */
export function dollars(usd: number): string {
	return `$${usd.toFixed(usd < 1 ? 3 : 2)}`;
}
