import {display, oneLine, type Row, wrap} from './display.ts';
import {Lines} from './Line.tsx';
import {callRow, dimmed, proseRows, rowsOf} from './rows.ts';
import {glyph, theme} from './theme.ts';
import type {View} from './view.ts';
import {type Blocks, paneRows, type Scroll} from './window.ts';

const outputRows = 4;

/** The items of a conversation and, below them, what is live: the answer that streams, the last notice. */
export function conversationBlocks(view: View, columns: number, thinking = false): Blocks {
	let live: Row[] | undefined;
	return {
		length: view.items.length + 1,
		rows(index) {
			const item = view.items[index];
			if (!item) {
				live ??= liveRows(view, columns);
				return live;
			}
			const printed = item.kind === 'call' && !item.end ? view.running[item.call.id] : undefined;
			if (item.kind !== 'call' || printed === undefined) return rowsOf(item, columns, thinking);
			return [callRow(item, columns, true), ...tail(printed, columns)];
		},
	};
}

function liveRows(view: View, columns: number): Row[] {
	const rows: Row[] = [];
	if (view.draft?.reasoning && view.draft.text === '')
		rows.push(...dimmed(view.draft.reasoning, columns).slice(-outputRows));
	if (view.draft?.text) rows.push([], ...proseRows(view.draft.text, columns));
	if (view.interrupted && !view.busy) {
		const text = view.interrupted.text || view.interrupted.reasoning;
		const note =
			'This answer was interrupted; the model does not know it. /keep takes it into your next prompt.';
		rows.push([], ...dimmed(text, columns), [{text: oneLine(note, columns), color: theme.warn}]);
	}
	if (view.rest?.why === 'cancelled') rows.push([], [{text: 'Stopped.', dim: true}]);
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

/** The conversation pane: the rows in its window, and nothing else. */
export function Conversation(props: {blocks: Blocks; columns: number; height: number; scroll: Scroll}) {
	const {blocks, columns, height, scroll} = props;
	const pane = paneRows(blocks, height, scroll);
	const missing = scroll.follow ? 0 : pane.below;
	const rows = missing > 0 ? [...pane.rows.slice(0, height - 1), more(missing)] : pane.rows;
	return <Lines rows={rows} columns={columns} height={height} />;
}

function more(missing: number): Row {
	return [{text: `↓ ${missing} more below · PgDn`, color: theme.accent}];
}
