/** Above this many comparisons nobody would wait for a hint. */
const MAX_COMPARISONS = 20_000_000;
/** Lines of the file that a hint shows. */
const MAX_SHOWN = 40;

/** Whole lines of a file: from and to are indexes of its text, first and last its line numbers. */
export type Located = {start: number; end: number; first: number; last: number};

/**
Where a text was meant to be that does not occur in a file: the one place whose lines are all the same as its own but for white
space and kinds of quotes. Both have `\n` only. It only locates: what is there is what will be replaced, and a person has to see it.
*/
export function locate(file: string, wanted: string): Located | undefined {
	const parts = trimBlank(wanted.split('\n').map(look));
	const lines = file.split('\n');
	if (parts.length === 0 || parts.length * lines.length > MAX_COMPARISONS) return undefined;
	const looks = lines.map(look);
	const places: number[] = [];
	for (let at = 0; at + parts.length <= looks.length && places.length < 2; at++) {
		if (parts.every((part, i) => looks[at + i] === part)) places.push(at);
	}
	const [at] = places;
	if (at === undefined || places.length > 1) return undefined;
	const start = lines.slice(0, at).reduce((sum, line) => sum + line.length + 1, 0);
	const length = lines.slice(at, at + parts.length).join('\n').length;
	return {start, end: start + length, first: at + 1, last: at + parts.length};
}

/**
A sentence about the lines that a text was meant to be, for a text that does not occur in a file. Both have `\n` only.

It compares lines without regard to white space and kinds of quotes. Lines are shown if one place matches better than all
others and by half at least; they are a hint, never a match.
*/
export function nearMatch(file: string, wanted: string): string {
	const again = 'Read the file again and copy the text from there.';
	const lines = file.split('\n');
	const looks = lines.map(look);
	const parts = trimBlank(wanted.split('\n').map(look));
	if (parts.length === 0 || parts.length * looks.length > MAX_COMPARISONS) return again;
	let best = 0;
	let at = -1;
	let unique = false;
	for (let start = 0; start + parts.length <= looks.length; start++) {
		let score = 0;
		for (const [i, part] of parts.entries()) {
			if (fits(looks[start + i] ?? '', part, i === 0, i === parts.length - 1)) score++;
		}
		if (score === best) unique = false;
		if (score > best) {
			best = score;
			at = start;
			unique = true;
		}
	}
	if (!unique || best < parts.length / 2) return `No lines come close to it. ${again}`;
	const end = at + parts.length;
	const shown = lines.slice(at, Math.min(end, at + MAX_SHOWN));
	const range = parts.length === 1 ? `line ${at + 1}` : `lines ${at + 1}–${end}`;
	const why = best === parts.length ? ', which differ in white space or quotes only' : '';
	const more = end - at > MAX_SHOWN ? '\n…' : '';
	return `The closest is ${range}${why}:\n${shown.map((line, i) => `${at + i + 1}\t${line}`).join('\n')}${more}`;
}

/** The first and the last line of a text may be parts of lines. */
function fits(line: string, part: string, first: boolean, last: boolean): boolean {
	if (line === part) return true;
	if (part === '') return false;
	if (first && last) return line.includes(part);
	return (first && line.endsWith(part)) || (last && line.startsWith(part));
}

/** What a line looks like to a hasty reader. */
function look(line: string): string {
	return line
		.replace(/[\u2018\u2019\u201a\u2032]/g, "'")
		.replace(/[\u201c\u201d\u201e\u2033]/g, '"')
		.replace(/[\u2010-\u2015\u2212]/g, '-')
		.replace(/\s+/g, ' ')
		.trim();
}

function trimBlank(lines: string[]): string[] {
	const start = lines.findIndex((line) => line !== '');
	return start === -1 ? [] : lines.slice(start, lines.findLastIndex((line) => line !== '') + 1);
}
