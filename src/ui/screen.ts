import type {ForkPoint} from '../session/fork.ts';
import type {Row} from './display.ts';
import type {ModelState} from './ModelPicker.tsx';
import {bannerRows} from './RecoveryBanner.tsx';
import type {ResumeState} from './ResumePicker.tsx';
import type {View} from './view.ts';
import type {Scroll} from './window.ts';

/** What the main area shows. One at a time. */
export type Screen =
	| {show: 'conversation'}
	| {show: 'activity'}
	| {show: 'help'; top: number}
	| {show: 'log'; scroll: Scroll}
	| {show: 'fork'; points: readonly ForkPoint[]; selected: number}
	| {show: 'resume'; state: ResumeState}
	| {show: 'models'; state: ModelState}
	| {show: 'rules'; selected: number};

export const smallest = {columns: 40, rows: 10};
export const sidebarColumns = 40;

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
	const hasSidebar = screen.show === 'conversation' || screen.show === 'log';
	const sidebar = wanted.sidebar && hasSidebar && columns >= 100;
	// The foot comes first: what is asked there has to be seen whole.
	const bannerRoom = Math.max(0, Math.min(rows - 8, rows - 3 - wanted.foot));
	const banner = bannerRows(view, columns - 2).slice(0, bannerRoom);
	return {
		tooSmall: columns < smallest.columns || rows < smallest.rows,
		sidebar,
		mainColumns: sidebar ? columns - sidebarColumns - 3 : columns - 2,
		// One row for the header, one for the status.
		mainHeight: Math.max(1, rows - 2 - banner.length - wanted.foot),
		banner,
	};
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
			return '↑ ↓ choose · Enter open · type to filter · Esc back';
		case 'rules':
			return '↑ ↓ choose · d removes the rule · Esc back';
		case 'conversation':
			return 'Enter send · Ctrl+J newline · Esc stop · Esc Esc fork · /resume · /help';
		default:
			return '↑ ↓ PgUp PgDn · Esc back';
	}
}
