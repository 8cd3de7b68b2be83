import {turnNumbers} from '../session/audit.ts';
import type {Event, EventOf} from '../session/events.ts';
import {display, type Row, wrap} from './display.ts';
import type {KeyPress} from './keys.ts';
import {moveSelection} from './Picker.tsx';
import {labelOf} from './rows.ts';
import type {View} from './view.ts';

/** Which events the list shows. `activity` are those that rebuild nothing. */
export type EventFilter = 'all' | 'activity' | 'tools' | 'errors' | 'usage' | 'turn' | {file: string};

export type EventListState = {
	filter: EventFilter;
	/** seq of the selected event; null follows the newest. */
	seq: number | null;
	/** The selected event is shown whole, from this row on. */
	open: {top: number} | null;
};

export const freshLog: EventListState = {filter: 'all', seq: null, open: null};
export const freshActivity: EventListState = {...freshLog, filter: 'activity'};

/** The events of a filter, in the order of the log. */
export function listed(view: View, filter: EventFilter): readonly Event[] {
	if (filter === 'all') return view.events;
	if (filter === 'activity') return view.activity;
	if (filter === 'tools') return view.activity.filter((event) => event.type === 'tool_end');
	if (filter === 'usage') return view.activity.filter((event) => event.type === 'usage');
	if (filter === 'errors') return view.activity.filter(isError);
	if (filter === 'turn') {
		const turns = turnNumbers(view.events);
		return view.events.filter((_, index) => turns[index] === turns.at(-1));
	}
	const {file} = filter;
	return view.activity.filter((event) => filesOf(event, view).includes(file));
}

function isError(event: Event): boolean {
	return event.type === 'error' || (event.type === 'tool_end' && !event.result.ok);
}

/** The files that a tool's event is about: those it changed, else the one that its call names. */
export function filesOf(event: Event, view: View): string[] {
	if (event.type !== 'tool_end') return [];
	if (event.files) return event.files.map((file) => file.path);
	const item = view.items.findLast((each) => each.kind === 'call' && each.end === event);
	return item?.kind === 'call' && /^(read|edit|write)_file$/.test(item.call.name) ? [labelOf(item.call)] : [];
}

const filterKeys: Record<string, EventFilter> = {
	a: 'all',
	b: 'activity',
	t: 'tools',
	e: 'errors',
	u: 'usage',
	c: 'turn',
};

/** What a key does in the list; null closes it. `page` is the height of the list. */
export function eventListKey(
	state: EventListState,
	{input, key}: KeyPress,
	view: View,
	page: number,
): EventListState | null {
	if (state.open) {
		if (key.escape || key.return) return {...state, open: null};
		const by = key.upArrow ? -1 : key.downArrow ? 1 : key.pageUp ? -page : key.pageDown ? page : 0;
		return {...state, open: {top: Math.max(0, state.open.top + by)}};
	}
	if (key.escape || input === 'q') return null;
	const events = listed(view, state.filter);
	const at = selectedIndex(events, state.seq);
	const selected = events[at];
	if (key.return) return selected ? {...state, seq: selected.seq, open: {top: 0}} : state;
	if (input === 'f' && selected) {
		const [file] = filesOf(selected, view);
		return file ? {...state, filter: {file}, seq: selected.seq} : state;
	}
	const filter = filterKeys[input];
	if (filter) return {filter, seq: selected?.seq ?? null, open: null};
	const to = moveSelection(at, events.length, page, key);
	return {...state, seq: to >= events.length - 1 ? null : (events[to]?.seq ?? null)};
}

/** The row that is selected: that event, or the one before where its filter hides it; the newest where none is. */
export function selectedIndex(events: readonly Event[], seq: number | null): number {
	if (seq === null) return events.length - 1;
	const after = events.findIndex((event) => event.seq > seq);
	return after === -1 ? events.length - 1 : Math.max(0, after - 1);
}

export function filterName(filter: EventFilter): string {
	if (typeof filter === 'object') return `of ${filter.file}`;
	return {
		all: 'all events',
		activity: 'activity',
		tools: 'tool calls',
		errors: 'errors',
		usage: 'usage',
		turn: 'this turn',
	}[filter];
}

/** An event whole: its fields, and for a tool what it gave the model. */
export function detailRows(event: Event, view: View, columns: number): Row[] {
	const rows: Row[] = [];
	for (const [name, value] of Object.entries(event)) {
		const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
		const lines = display(text).split('\n');
		const label = `${name}: `;
		if (lines.length === 1) {
			rows.push(...wrap([{text: label, dim: true}, {text: lines[0] ?? ''}], columns, 2));
		} else {
			rows.push([{text: label, dim: true}]);
			for (const line of lines) rows.push(...wrap([{text: `  ${line}`}], columns, 4));
		}
	}
	if (event.type !== 'tool_end') return rows;
	const output = outputOf(event, view.events);
	if (output === undefined) return rows;
	rows.push([], [{text: 'What the model was given:', bold: true}]);
	for (const line of display(output).split('\n')) rows.push(...wrap([{text: line}], columns));
	return rows;
}

/** The tool message of a tool_end: the next one with its id. */
function outputOf(end: EventOf<'tool_end'>, events: readonly Event[]): string | undefined {
	for (let at = selectedIndex(events, end.seq) + 1; at < events.length; at++) {
		const event = events[at];
		if (event?.type !== 'message' || event.message.role !== 'tool') continue;
		if (event.message.toolCallId === end.id) return event.message.content;
	}
	return undefined;
}
