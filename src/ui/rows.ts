import type {EventOf} from '../session/events.ts';
import {tools} from '../tools/index.ts';
import {display, duration, oneLine, type Row, type Span, spread, truncate, wrap} from './display.ts';
import {highlighter} from './highlight.ts';
import {lru} from './lru.ts';
import {markdownRows} from './markdown.ts';
import {resultRows} from './result-rows.ts';
import {glyph, theme} from './theme.ts';
import type {Item} from './view.ts';

/** How an item is shown. */
export type How = {
	/** With the model's reasoning unfolded. */
	thinking?: boolean;
	/** What a call answered, where that is open. */
	result?: string | undefined;
};

type Kept = {columns: number; thinking: boolean; result: string | undefined; version: number; rows: Row[]};

/**
Rows of the items that were looked at last. An item never changes, so it is its own version. The least is what a window can
hold: one that is full of long items is not made anew for each frame.
*/
const cache = lru<Item, Kept>(8000, {least: 100, weight: ({rows}) => rows.length + 1});

/** An item as rows of the conversation pane, each at most `columns` wide. Wrapped once for a width, then taken from the cache. */
export function rowsOf(item: Item, columns: number, {thinking = false, result}: How = {}): Row[] {
	const version = highlighter.version();
	const kept = cache.get(item);
	if (
		kept?.columns === columns &&
		kept.thinking === thinking &&
		kept.result === result &&
		kept.version === version
	)
		return kept.rows;
	const rows = build(item, columns, thinking, result);
	cache.set(item, {columns, thinking, result, version, rows});
	return rows;
}

function build(item: Item, columns: number, thinking: boolean, result: string | undefined): Row[] {
	switch (item.kind) {
		case 'user':
			return [[], ...userRows(item.text, columns)];
		case 'assistant':
			return [...thoughtRows(item.reasoning, columns, thinking), ...answerRows(item.text, columns)];
		case 'call':
			return [callRow(item, columns), ...(result === undefined ? [] : resultRows(result, columns))];
		case 'error': {
			const partial = item.partial ? dimmed(item.partial, columns) : [];
			const sign = item.did === 'retried' ? {dim: true} : {color: theme.bad};
			return [[], ...partial, ...wrap([{text: `${glyph.bad} ${display(item.text)}`, ...sign}], columns, 2)];
		}
	}
}

function answerRows(text: string, columns: number): Row[] {
	const rows = text === '' ? [] : markdownRows(text, columns);
	return rows.length === 0 ? [] : [[], ...rows];
}

function userRows(text: string, columns: number): Row[] {
	const rows = wrap([{text: display(text), bold: true}], columns - 2);
	return rows.map((row, index) => [
		index === 0 ? {text: `${glyph.prompt} `, color: theme.accent, bold: true} : {text: '  '},
		...row,
	]);
}

/** What the model thought, with the empty row before it: one dim line of it until it is unfolded. */
export function thoughtRows(text: string | undefined, columns: number, thinking: boolean): Row[] {
	if (!text) return [];
	if (thinking) return [[], ...dimmed(text.trim(), columns)];
	const words = text.split(/\s+/).filter(Boolean).length;
	return [[], [{text: oneLine(`thought in ${words} words (Ctrl+T unfolds): ${text}`, columns), dim: true}]];
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
