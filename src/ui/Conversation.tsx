import {display, oneLine, type Row, wrap} from './display.ts';
import {Lines} from './Line.tsx';
import {liveMarkdown} from './live-markdown.ts';
import {resultOf} from './result-rows.ts';
import {callRow, dimmed, rowsOf, thoughtRows} from './rows.ts';
import {glyph, theme} from './theme.ts';
import type {Item, View} from './view.ts';
import {type Blocks, paneRows, type Scroll} from './window.ts';

const outputRows = 4;

/** How a conversation is shown. */
export type Shown = {
	/** With the model's reasoning unfolded. */
	thinking?: boolean;
	/** Names, by `callName`, of the calls whose results are open. */
	open?: ReadonlySet<string>;
};

type Call = Extract<Item, {kind: 'call'}>;

/** Tells calls apart: some servers count their ids from 0 in each message. */
export function callName({seq, call}: Call): string {
	return `${seq} ${call.id}`;
}

const liveText = liveMarkdown();

/** The items of a conversation and, below them, what is live: the answer that streams, the last notice. */
export function conversationBlocks(
	view: View,
	columns: number,
	{thinking = false, open}: Shown = {},
): Blocks {
	let live: Row[] | undefined;
	return {
		length: view.items.length + 1,
		rows(index) {
			const item = view.items[index];
			if (!item) {
				live ??= liveRows(view, columns, thinking);
				return live;
			}
			if (item.kind !== 'call') return rowsOf(item, columns, {thinking});
			const printed = item.end ? undefined : view.running[item.call.id];
			if (printed !== undefined) return [callRow(item, columns, true), ...tail(printed, columns)];
			const isOpen = item.end !== undefined && open?.has(callName(item));
			return rowsOf(item, columns, isOpen && item.end ? {result: resultOf(view.events, item.end)} : {});
		},
	};
}

function liveRows(view: View, columns: number, thinking: boolean): Row[] {
	const rows: Row[] = [];
	if (view.draft?.reasoning && view.draft.text === '')
		rows.push(...dimmed(view.draft.reasoning.slice(-columns * outputRows * 2), columns).slice(-outputRows));
	if (view.draft?.text) {
		rows.push(...thoughtRows(view.draft.reasoning, columns, thinking), []);
		for (const row of liveText(view.draft.text, columns)) rows.push(row);
	}
	if (view.interrupted && !view.busy) {
		const text = view.interrupted.text || view.interrupted.reasoning;
		const note =
			'This answer was interrupted; the model does not know it. /keep takes it into your next prompt.';
		rows.push([], ...dimmed(text, columns), ...wrap([{text: note, color: theme.warn}], columns));
	}
	if (view.rest?.why === 'cancelled' && view.items.at(-1)?.kind !== 'error')
		rows.push([], [{text: 'Stopped.', dim: true}]);
	if (view.rest?.why === 'limit') rows.push([], ...dimmed(view.rest.message, columns));
	// What failed in the model's answer is an event of the log and shown as such; of any other failure this is the only word.
	const last = view.items.at(-1);
	if (view.rest?.why === 'failed' && (last?.kind !== 'error' || last.text !== view.rest.message)) {
		rows.push(
			[],
			...wrap([{text: `${glyph.bad} ${display(view.rest.message)}`, color: theme.bad}], columns, 2),
		);
	}
	if (view.notice) rows.push([]);
	if (view.notice) for (const line of view.notice.split('\n')) rows.push(...dimmed(line, columns));
	return rows;
}

function tail(printed: string, columns: number): Row[] {
	const lines = display(printed).trimEnd().split('\n').slice(-outputRows);
	return lines
		.filter((line) => line !== '')
		.map((line) => [{text: '      '}, {text: oneLine(line, columns - 6), dim: true}]);
}

type PaneProps = {
	blocks: Blocks;
	columns: number;
	height: number;
	scroll: Scroll;
	/** Messages and calls that came since the reader left the end. */
	news?: number;
};

/** The conversation pane: the rows in its window, and nothing else. */
export function Conversation({blocks, columns, height, scroll, news = 0}: PaneProps) {
	const pane = paneRows(blocks, height, scroll);
	// The last block is what is live, which mostly is nothing.
	const rows = scroll.follow ? pane.rows : [...pane.rows.slice(0, height - 1), more(pane.below - 1, news)];
	return <Lines rows={rows} columns={columns} height={height} />;
}

function more(below: number, news: number): Row {
	if (news > 0) return [{text: `↓ ${news} new · Ctrl+End`, color: theme.accent, bold: true}];
	return [{text: `↓ ${below > 0 ? `${below} ` : ''}more below · PgDn`, color: theme.accent}];
}
