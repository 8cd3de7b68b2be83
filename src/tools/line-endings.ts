export type LineEnding = '\n' | '\r\n' | '\r';

/** The line ending that a text has most of; null where it is one line. */
export function dominantEnding(text: string): LineEnding | null {
	const counts = {'\n': 0, '\r\n': 0, '\r': 0};
	for (const [ending] of text.matchAll(/\r\n?|\n/g)) counts[ending as LineEnding]++;
	let most: LineEnding | null = null;
	for (const ending of ['\n', '\r\n', '\r'] as const) {
		if (counts[ending] > (most === null ? 0 : counts[most])) most = ending;
	}
	return most;
}

/** Whether all lines of a text end in the same way. */
export function hasOneEnding(text: string): boolean {
	return new Set(text.match(/\r\n?|\n/g)).size <= 1;
}

export function toLf(text: string): string {
	return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** `text` has `\n` only. */
export function withEnding(text: string, ending: LineEnding): string {
	return ending === '\n' ? text : text.replaceAll('\n', ending);
}

/** A text with `\n` only, and the way back: where an index of it lies in the original. */
export type LfView = {text: string; original(index: number): number};

export function lfView(text: string): LfView {
	/** Indexes in the view of the line ends that have one character more in the original, ascending. */
	const pairs: number[] = [];
	for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2))
		pairs.push(at - pairs.length);
	return {
		text: toLf(text),
		original(index) {
			let low = 0;
			let high = pairs.length;
			while (low < high) {
				const middle = (low + high) >> 1;
				if ((pairs[middle] ?? 0) < index) low = middle + 1;
				else high = middle;
			}
			return index + low;
		},
	};
}

/** The line, from 1, that an index of a text with `\n` only lies in. */
export function lineOf(text: string, index: number): number {
	let line = 1;
	for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line++;
	return line;
}
