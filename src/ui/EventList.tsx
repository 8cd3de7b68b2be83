import {activityRow} from './activity.ts';
import type {Row} from './display.ts';
import {detailRows, type EventListState, filterName, listed, selectedIndex} from './event-list.ts';
import {Lines} from './Line.tsx';
import {pickerRows} from './Picker.tsx';
import type {View} from './view.ts';

type Props = {view: View; state: EventListState; columns: number; height: number};

/** The audit view: the events of the session, a row each, or one of them whole. Only the rows on the screen are made. */
export function EventList({view, state, columns, height}: Props) {
	const events = listed(view, state.filter);
	const at = selectedIndex(events, state.seq);
	const event = events[at];
	if (state.open && event) {
		const rows = detailRows(event, view, columns);
		const top = Math.max(0, Math.min(state.open.top, rows.length - height + 1));
		const title: Row = [
			{text: `Event ${event.seq}`, bold: true},
			{text: '   ↑ ↓ PgUp PgDn · Esc back', dim: true},
		];
		return <Lines rows={[title, ...rows.slice(top)]} columns={columns} height={height} />;
	}
	const title: Row = [
		{text: 'Log', bold: true},
		{text: `   ${events.length} of ${view.events.length}: ${filterName(state.filter)}`, dim: true},
	];
	const visible = Math.max(1, height - 2);
	const first = Math.max(0, Math.min(at - Math.floor(visible / 2), events.length - visible));
	const seqColumns = Math.max(3, String(view.events.at(-1)?.seq ?? 0).length);
	const rows = events.slice(first, first + visible).map((each) => activityRow(each, columns - 2, seqColumns));
	const keys: Row = [
		{text: 'a all  b activity  t tools  e errors  u usage  c this turn  f this file', dim: true},
	];
	return (
		<Lines rows={[title, keys, ...pickerRows(rows, at, visible, first)]} columns={columns} height={height} />
	);
}
