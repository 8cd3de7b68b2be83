import {oneLine, type Row, rowText, type Span} from './display.ts';
import {theme} from './theme.ts';
import type {Item} from './view.ts';
import type {Blocks} from './window.ts';

/** What is looked for in a conversation, and how far that is. */
export type Find = {
	text: string;
	/** Global, so that it finds every place; ignores case, and takes a line end for a space. */
	pattern: RegExp;
	/** Items that hold it, newest first, as far as was looked. In their source: a few may not show it. */
	hits: readonly number[];
	/** The item to look at next; below 0 where all were. */
	next: number;
	/** The match that is shown: which of `hits`, and which place of how many in it. */
	at: {hit: number; match: number; of: number} | null;
};

/** A place of a block that matches: where it begins, and the pieces of rows that it takes. */
export type Match = {row: number; pieces: readonly {row: number; from: number; to: number}[]};

/** Units of text that are looked at in one go: a few ms, so that no key waits longer. */
const sliceUnits = 400_000;
/** Items that turn out not to show it, and that are passed over for one key. */
const mostMisses = 30;

export function findIn(items: readonly Item[], text: string): Find {
	const escaped = text
		.trim()
		.split(/\s+/)
		.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
		.join('\\s+');
	const pattern = new RegExp(escaped, 'giu');
	return lookFurther({text, pattern, hits: [], next: items.length - 1, at: null}, items);
}

/** One slice more, towards the oldest. */
export function lookFurther(find: Find, items: readonly Item[], units = sliceUnits): Find {
	const hits = [...find.hits];
	let {next} = find;
	for (let left = units; next >= 0 && left > 0; next--) {
		const item = items[next];
		if (!item) continue;
		const source = sourceOf(item);
		left -= source.length + 50;
		// What marks a style in the source is not on the screen.
		if (holds(find.pattern, source) || holds(find.pattern, source.replace(/[*_`~\\]+/g, ''))) hits.push(next);
	}
	return {...find, hits, next};
}

function holds(pattern: RegExp, text: string): boolean {
	return text.search(pattern) !== -1;
}

function sourceOf(item: Item): string {
	switch (item.kind) {
		case 'user':
			return item.text;
		case 'assistant':
			return item.reasoning ? `${item.reasoning}\n${item.text}` : item.text;
		case 'call':
			return `${item.call.name} ${item.call.args} ${item.end?.result.content ?? ''}`;
		case 'error':
			return `${item.partial ?? ''}\n${item.text}`;
	}
}

/** Every place of these rows that matches, from the top; one that goes over a row's end is one. */
export function matchesOf(rows: readonly Row[], pattern: RegExp): Match[] {
	const texts = rows.map(rowText);
	const matches: Match[] = [];
	let row = 0;
	let start = 0;
	for (const {0: found, index} of texts.join('\n').matchAll(pattern)) {
		while (index >= start + (texts[row]?.length ?? 0) + 1) start += (texts[row++]?.length ?? 0) + 1;
		const pieces = [];
		let at = start;
		for (let each = row; at < index + found.length && each < texts.length; each++) {
			const length = texts[each]?.length ?? 0;
			const from = Math.max(0, index - at);
			const to = Math.min(length, index + found.length - at);
			if (to > from) pieces.push({row: each, from, to});
			at += length + 1;
		}
		matches.push({row, pieces});
	}
	return matches;
}

/** Where the match that is shown stands. */
export function placeOf(find: Find, blocks: Blocks): {item: number; row: number} | undefined {
	const item = find.at ? find.hits[find.at.hit] : undefined;
	if (item === undefined || !find.at) return undefined;
	const matches = matchesOf(blocks.rows(item), find.pattern);
	return {item, row: matches[Math.min(find.at.match, matches.length - 1)]?.row ?? 0};
}

/** The next match, up or down; behind the last one the first comes again, once all is looked through. */
export function step(find: Find, direction: 'older' | 'newer', blocks: Blocks): Find {
	const count = (hit: number) => {
		const item = find.hits[hit];
		return item === undefined ? 0 : matchesOf(blocks.rows(item), find.pattern).length;
	};
	const {hits, at} = find;
	const by = direction === 'older' ? -1 : 1;
	if (at && at.match + by >= 0 && at.match + by < count(at.hit)) {
		return {...find, at: {...at, match: at.match + by}};
	}
	let hit = at ? at.hit - by : 0;
	for (let misses = 0; misses < Math.min(mostMisses, hits.length + 1); misses++, hit -= by) {
		const isPast = hit < 0 || hit >= hits.length;
		if (isPast && find.next >= 0) return find;
		if (isPast) hit = hit < 0 ? hits.length - 1 : 0;
		const matches = count(hit);
		if (matches > 0) return {...find, at: {hit, match: direction === 'older' ? matches - 1 : 0, of: matches}};
	}
	return find;
}

/** The same blocks with what matches marked in them. */
export function markedBlocks(blocks: Blocks, find: Find): Blocks {
	const marked = new WeakMap<readonly Row[], readonly Row[]>();
	const shown = find.at ? find.hits[find.at.hit] : undefined;
	return {
		length: blocks.length,
		rows(index) {
			const rows = blocks.rows(index);
			let made = marked.get(rows);
			if (!made) {
				made = markRows(rows, matchesOf(rows, find.pattern), index === shown ? find.at?.match : undefined);
				marked.set(rows, made);
			}
			return made;
		},
	};
}

function markRows(
	rows: readonly Row[],
	matches: readonly Match[],
	shown: number | undefined,
): readonly Row[] {
	if (matches.length === 0) return rows;
	const marked = [...rows];
	const at = Math.min(shown ?? -1, matches.length - 1);
	for (const [number, {pieces}] of matches.entries()) {
		const style = number === at ? {inverse: true, bold: true, color: theme.warn} : {inverse: true};
		for (const {row, from, to} of pieces) marked[row] = restyled(marked[row] ?? [], from, to, style);
	}
	return marked;
}

/** A row with another style from one unit of its text to another. */
function restyled(row: Row, from: number, to: number, style: Partial<Span>): Row {
	let at = 0;
	return row.flatMap((span): Span[] => {
		const [begin, end] = [Math.max(0, from - at), Math.min(span.text.length, to - at)];
		at += span.text.length;
		if (end <= begin) return [span];
		const {dim: _dim, ...kept} = span;
		return [
			{...span, text: span.text.slice(0, begin)},
			{...kept, ...style, text: span.text.slice(begin, end)},
			{...span, text: span.text.slice(end)},
		].filter(({text}) => text !== '');
	});
}

/** For the status line. */
export function findLine(find: Find): string {
	const more = find.next >= 0 ? '+, looking' : '';
	const at = find.at
		? `${find.at.match + 1}/${find.at.of} in message ${find.at.hit + 1}/${find.hits.length}${more}`
		: 'looking';
	return `“${oneLine(find.text, 30)}” · ${at} · n older · N newer · Esc ends`;
}
