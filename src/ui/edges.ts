import {type Mode, modes} from '../agent/gate.ts';
import {owesAnswer} from '../session/replay.ts';
import {display, oneLine, type Row, rowWidth, spread, width, wrap} from './display.ts';
import {pickerRows} from './Picker.tsx';
import {sidebarColumns} from './screen.ts';
import {glyph, theme} from './theme.ts';
import {contextShare, totals} from './totals.ts';
import type {View} from './view.ts';

export function header(view: View, demo: boolean, home: string, columns: number): Row {
	const {workspace, model} = view.place;
	const short =
		workspace === home || workspace.startsWith(`${home}/`) ? `~${workspace.slice(home.length)}` : workspace;
	const title: Row = [
		{text: ' mca', color: theme.accent, bold: true},
		...(demo ? [{text: '  DEMO', color: theme.warn, bold: true}] : []),
		{text: `  ${view.session?.id ?? 'new session'} · ${oneLine(short, 40)}`},
		{text: ` · ${oneLine(model, 40)}`, dim: true},
	];
	return spread(title, [{text: `${totals(view)} `, dim: true}], columns);
}

export function divider(columns: number, sidebar: boolean): Row {
	if (!sidebar) return [{text: '─'.repeat(columns), dim: true}];
	const left = columns - sidebarColumns(columns) - 1;
	return [{text: `${'─'.repeat(left)}┴${'─'.repeat(columns - left - 1)}`, dim: true}];
}

export function placeholder(view: View, suggestion: string | undefined): string {
	if (view.busy) return '';
	if (owesAnswer(view.events)) return 'Enter asks the model for the answer it owes';
	return suggestion ? `${suggestion}   (Tab takes it)` : '';
}

/** How many rows a long hint may take above the last one. */
const maxHintRows = 4;

/**
The last row: what was said last or what the keys do here, and on the right how things stand. A hint that is too long for it
stands above it. One column stays free: writing the last cell of the last row scrolls some terminals.
*/
export function statusRows(hint: string | null, keysHere: string, view: View, columns: number): Row[] {
	const right = [...context(view), ...gateBadge(view), state(view)];
	const row = (left: string) => spread([{text: ` ${oneLine(left, columns)}`, dim: true}], right, columns - 1);
	const room = columns - 3 - rowWidth(right);
	if (hint === null) return [row(keysHere)];
	const text = display(hint).replace(/\s+/g, ' ');
	if (width(text) <= room) return [row(text)];
	const rows = wrap([{text}], columns - 2).slice(0, maxHintRows);
	return [...rows.map((each): Row => [{text: ' '}, ...each]), row(keysHere)];
}

/** What passes unasked, and whether commands have a sandbox. */
function gateBadge({place: {mode, sandbox}}: View): Row {
	const loud = mode === 'ask' ? {dim: true} : {color: theme.accent, bold: true};
	return [
		{text: mode, ...loud},
		{text: sandbox ? ' · sandbox  ' : ' · no sandbox  ', dim: true},
	];
}

export function nextMode(mode: Mode): Mode {
	return modes[(modes.indexOf(mode) + 1) % modes.length] ?? 'ask';
}

export function ruleRows(
	rules: readonly string[],
	selected: number,
	{columns, height}: {columns: number; height: number},
): Row[] {
	const title: Row = [{text: 'Commands that run unasked in this folder, to the letter', bold: true}];
	if (rules.length === 0) return [title, [{text: 'None. “Yes, always” at a question makes one.', dim: true}]];
	const rows = rules.map((rule): Row => [{text: oneLine(rule, columns - 2)}]);
	return [title, ...pickerRows(rows, selected, height - 1)];
}

/** How full the context is, once that is known; from 80 % on it is a warning. */
function context(view: View): Row {
	const share = contextShare(view);
	if (share === undefined) return [];
	const text = `context ${Math.round(share * 100)} %`;
	return share >= 0.8
		? [{text: `${glyph.warn} ${text}  `, color: theme.warn, bold: true}]
		: [{text: `${text}  `, dim: true}];
}

function state(view: View): Row[number] {
	if (view.rest?.why === 'unsaved') return {text: 'NOT SAVED', color: theme.bad, bold: true};
	if (view.question) return {text: 'waits for you', color: theme.warn, bold: true};
	if (view.retry) {
		const seconds = Math.max(0, Math.ceil((view.retry.until - Date.now()) / 1000));
		return {text: `tries again in ${seconds} s`, color: theme.warn};
	}
	if (view.busy) return {text: `${glyph.running} working`, color: theme.warn};
	return {text: 'idle', dim: true};
}
