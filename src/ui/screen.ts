import type {Event} from '../session/events.ts';
import type {ForkPoint} from '../session/fork.ts';
import type {Row} from './display.ts';
import type {EventListState} from './event-list.ts';
import {type Find, findLine} from './find.ts';
import type {ModelState} from './ModelPicker.tsx';
import {bannerRows} from './RecoveryBanner.tsx';
import type {ResumeState} from './ResumePicker.tsx';
import type {View} from './view.ts';

/** What the main area shows. One at a time. */
export type Screen =
	| {show: 'conversation'}
	/** The conversation, searched. */
	| {show: 'find'; find: Find}
	/** The conversation and nothing else, to copy from with the mouse. */
	| {show: 'focus'}
	| {show: 'help'; top: number}
	| {show: 'log'; state: EventListState}
	| {show: 'fork'; points: readonly ForkPoint[]; selected: number}
	| {show: 'resume'; state: ResumeState}
	| {show: 'models'; state: ModelState}
	| {show: 'rules'; selected: number}
	| {show: 'compare'; names: [string, string]; logs: [readonly Event[], readonly Event[]]; top: number};

export const smallest = {columns: 40, rows: 10};
/** With the time of day where there is room for it. */
export function sidebarColumns(columns: number): number {
	return columns >= 120 ? 45 : 36;
}

export type Layout = {
	tooSmall: boolean;
	sidebar: boolean;
	/** Of the pane's text. */
	mainColumns: number;
	mainHeight: number;
	banner: readonly Row[];
};

/** Where everything stands. `foot` is the height of the composer or the gate prompt, with the line above it. */
export function layout(
	size: {columns: number; rows: number},
	screen: Screen,
	view: View,
	wanted: {sidebar: boolean; foot: number},
): Layout {
	const {columns, rows} = size;
	const hasSidebar = screen.show === 'conversation' || screen.show === 'find' || screen.show === 'log';
	const sidebar = wanted.sidebar && hasSidebar && columns >= 100;
	if (screen.show === 'focus' && !view.question) {
		return {
			tooSmall: isTooSmall(size),
			sidebar: false,
			mainColumns: columns,
			mainHeight: Math.max(1, rows - 1),
			banner: [],
		};
	}
	// The foot comes first: what is asked there has to be seen whole.
	const bannerRoom = Math.max(0, Math.min(rows - 8, rows - 3 - wanted.foot));
	const banner = bannerRows(view, columns - 2).slice(0, bannerRoom);
	return {
		tooSmall: isTooSmall(size),
		sidebar,
		mainColumns: sidebar ? columns - sidebarColumns(columns) - 3 : columns - 2,
		// One row for the header, one for the status.
		mainHeight: Math.max(1, rows - 2 - banner.length - wanted.foot),
		banner,
	};
}

function isTooSmall({columns, rows}: {columns: number; rows: number}): boolean {
	return columns < smallest.columns || rows < smallest.rows;
}

/** What the keys do here, in the words of the status line. */
export function keysHere(screen: Screen, view: View): string {
	if (view.retry) return 'r try now · Esc stop';
	if (view.question) return '← → choose · Enter answer · ↑ ↓ PgUp PgDn read · Esc no';
	switch (screen.show) {
		case 'fork':
			return '↑ ↓ choose · Enter fork · e ask it differently · Esc back';
		case 'models':
			return '↑ ↓ choose · Enter ask it from now on · type to filter · Esc back';
		case 'resume':
			return '↑ ↓ choose · Enter open · Tab all folders · → compare · Del trash · Esc back';
		case 'log':
			return '↑ ↓ choose · Enter shows it whole · a letter filters · Esc back';
		case 'find':
			return findLine(screen.find);
		case 'focus':
			return '↑ ↓ PgUp PgDn scroll · Esc back';
		case 'rules':
			return '↑ ↓ choose · d removes the rule · Esc back';
		case 'conversation':
			return 'Enter send · Ctrl+J newline · Esc stop · Esc Esc fork · /resume · /help';
		default:
			return '↑ ↓ PgUp PgDn · Esc back';
	}
}
