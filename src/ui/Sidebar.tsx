import type {Event} from '../session/events.ts';
import {activityRow} from './activity.ts';
import {count, dollars, duration, type Row} from './display.ts';
import {Lines} from './Line.tsx';
import {theme} from './theme.ts';
import type {View} from './view.ts';

/** What happened beside the conversation: the newest of the events that rebuild nothing, and below them what it took. */
export function Sidebar({view, columns, height}: {view: View; columns: number; height: number}) {
	const foot = height >= 12 ? footRows(view, columns) : [];
	const room = Math.max(1, height - 1 - foot.length);
	const shown = newest(view.activity, room);
	const seqColumns = Math.max(2, String(view.activity.at(-1)?.seq ?? 0).length);
	const rows: Row[] = [
		[{text: 'Activity', bold: true}],
		...shown.map((event) => activityRow(event, columns, seqColumns)),
	];
	while (foot.length > 0 && rows.length < height - foot.length) rows.push([]);
	return <Lines rows={[...rows, ...foot]} columns={columns} height={height} />;
}

/** The last `room` events, where drafts that follow each other are one: the newest of them. */
function newest(activity: readonly Event[], room: number): Event[] {
	const shown: Event[] = [];
	for (let at = activity.length - 1; at >= 0 && shown.length < room; at--) {
		const event = activity[at];
		if (!event || (event.type === 'draft' && shown[0]?.type === 'draft')) continue;
		shown.unshift(event);
	}
	return shown;
}

function footRows(view: View, columns: number): Row[] {
	const steps = newestSteps(view.activity, columns);
	if (steps.length === 0) return [];
	const turn = turnTotals(view.events);
	const {own} = view;
	const price = own.unpriced === own.calls ? '' : ` · ${dollars(own.costUsd)}`;
	return [
		[],
		[{text: plot(steps), color: theme.accent}],
		[
			{
				text: `turn     ${count(turn.tokens)} tokens · ${duration(turn.ms)}`,
				dim: true,
			},
		],
		[{text: `session  ${count(own.inputTokens + own.outputTokens)} tokens${price}`, dim: true}],
	];
}

/** Tokens of the last model calls, as many as there are columns. */
function newestSteps(activity: readonly Event[], columns: number): number[] {
	const steps: number[] = [];
	for (let at = activity.length - 1; at >= 0 && steps.length < columns; at--) {
		const event = activity[at];
		if (event?.type === 'usage') steps.unshift(event.inputTokens + event.outputTokens);
	}
	return steps;
}

/** Of the turn that is running or was the last. */
function turnTotals(events: readonly Event[]): {tokens: number; ms: number} {
	const totals = {tokens: 0, ms: 0};
	for (let at = events.length - 1; at >= 0; at--) {
		const event = events[at];
		if (event?.type === 'message' && event.message.role === 'user') break;
		if (event?.type === 'usage') {
			totals.tokens += event.inputTokens + event.outputTokens;
			totals.ms += event.ms ?? 0;
		}
		if (event?.type === 'tool_end') totals.ms += event.ms ?? 0;
	}
	return totals;
}

const bars = '▁▂▃▄▅▆▇█';

/** A small plot, a column for each number. */
export function plot(numbers: readonly number[]): string {
	const highest = Math.max(...numbers, 1);
	return numbers.map((number) => bars[Math.round((number / highest) * (bars.length - 1))]).join('');
}
