import type {EventOf} from '../session/events.ts';
import {tools} from '../tools/index.ts';
import {display, duration, oneLine, type Row, type Span, spread, truncate, wrap} from './display.ts';
import {glyph, theme} from './theme.ts';
import type {Item} from './view.ts';

/** Rows of the items that were looked at, one width at a time. Items never change, so an item is its own version. */
const cache = new WeakMap<Item, {columns: number; thinking: boolean; rows: Row[]}>();

/**
An item as rows of the conversation pane, each at most `columns` wide; with `thinking` the model's reasoning is unfolded.
Wrapped once for a width, then taken from the cache.
*/
export function rowsOf(item: Item, columns: number, thinking = false): Row[] {
	const cached = cache.get(item);
	if (cached?.columns === columns && cached.thinking === thinking) return cached.rows;
	const rows = build(item, columns, thinking);
	cache.set(item, {columns, thinking, rows});
	return rows;
}

function build(item: Item, columns: number, thinking: boolean): Row[] {
	switch (item.kind) {
		case 'user':
			return [[], ...userRows(item.text, columns)];
		case 'assistant':
			return [
				...(item.reasoning ? [[], ...reasoningRows(item.reasoning, columns, thinking)] : []),
				...(item.text === '' ? [] : [[], ...proseRows(item.text, columns)]),
			];
		case 'call':
			return [callRow(item, columns)];
		case 'error': {
			const partial = item.partial ? dimmed(item.partial, columns) : [];
			const sign = item.did === 'retried' ? {dim: true} : {color: theme.bad};
			return [[], ...partial, ...wrap([{text: `${glyph.bad} ${display(item.text)}`, ...sign}], columns, 2)];
		}
	}
}

function userRows(text: string, columns: number): Row[] {
	const rows = wrap([{text: display(text), bold: true}], columns - 2);
	return rows.map((row, index) => [
		index === 0 ? {text: `${glyph.prompt} `, color: theme.accent, bold: true} : {text: '  '},
		...row,
	]);
}

/** What the model thought: one dim line of it until it is unfolded. */
function reasoningRows(text: string, columns: number, thinking: boolean): Row[] {
	if (thinking) return dimmed(text.trim(), columns);
	const words = text.split(/\s+/).filter(Boolean).length;
	return [[{text: oneLine(`thought in ${words} words (Ctrl+T unfolds): ${text}`, columns), dim: true}]];
}

/** What the model says: code fences as they are, inline code and emphasis in their styles. */
export function proseRows(text: string, columns: number): Row[] {
	const rows: Row[] = [];
	let fenced = false;
	for (const line of display(text).split('\n')) {
		if (/^\s*(```|~~~)/.test(line)) {
			fenced = !fenced;
			continue;
		}
		if (fenced) rows.push(...wrap([{text: `  ${line}`, color: theme.code}], columns, 2));
		else rows.push(...wrap(inline(line), columns, /^\s*([-*]|\d+\.) /.exec(line)?.[0].length ?? 0));
	}
	return rows;
}

function inline(line: string): Span[] {
	const heading = /^#{1,6} (.*)$/.exec(line);
	if (heading?.[1]) return [{text: heading[1], bold: true}];
	return line.split(/(`[^`]+`|\*\*[^*]+\*\*)/).flatMap((piece, index): Span[] => {
		if (piece === '') return [];
		// What the pattern found has odd places; a mark that is never closed is text.
		if (index % 2 === 0) return [{text: piece}];
		if (piece.startsWith('`')) return [{text: piece.slice(1, -1), color: theme.code}];
		return [{text: piece.slice(2, -2), bold: true}];
	});
}

/** Text that is not part of the conversation: it streams still, or it broke off. */
export function dimmed(text: string, columns: number): Row[] {
	return wrap([{text: display(text), dim: true}], columns);
}

export function callRow(item: Extract<Item, {kind: 'call'}>, columns: number, running = false): Row {
	const {call, end} = item;
	const sign = running
		? {text: glyph.running, color: theme.warn}
		: end === undefined
			? {text: glyph.waiting, dim: true}
			: end.result.ok
				? {text: glyph.good, color: theme.good}
				: {text: glyph.bad, color: theme.bad};
	const said = end ? outcome(end) : running ? 'running' : 'no result yet';
	// What was called is worth as much room as how it went.
	const right = truncate(said, Math.floor(columns / 2));
	const left: Span[] = [
		{text: '  '},
		sign,
		{text: ` ${oneLine(call.name, 24)}  `, bold: true},
		{text: oneLine(labelOf(call), columns)},
	];
	return spread(left, [{text: right, dim: true}], columns);
}

/** `exit 1 · 65 ms`: the outcome of a call and how long it took. */
export function outcome(end: EventOf<'tool_end'>): string {
	const said = oneLine(end.result.content, 60);
	if (end.ms === undefined || end.stoppedBy === 'gate' || end.stoppedBy === 'lost' || / ms\b| s$/.test(said))
		return said;
	return `${said} · ${duration(end.ms)}`;
}

/** One line that tells a call from another; its arguments as they are where they do not fit the tool. */
export function labelOf(call: {name: string; args: string}): string {
	const prepared = tools.find((tool) => tool.name === call.name)?.prepare(call.args);
	return prepared?.ok ? prepared.call.label : call.args;
}
