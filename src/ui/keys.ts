import type {useInput} from 'ink';
import type {Edit} from './composer.ts';

/** What ink says of one press. */
export type KeyPress = {
	input: string;
	key: Parameters<Parameters<typeof useInput>[0]>[1];
};

/** Every key and what it does: the help screen, the README and the tests read this table. */
export const keys = [
	{key: 'Enter', does: 'send; on an empty line ask for an answer that is still owed'},
	{
		key: 'Ctrl+J, Alt+Enter, \\ Enter',
		does: 'new line; Shift+Enter too, where the terminal tells it from Enter',
	},
	{key: '↑ ↓', does: 'move between lines; from the first and last, earlier prompts; ↑ takes back what waits'},
	{key: 'Ctrl+R', does: 'search the earlier prompts of this folder'},
	{key: '← →, Alt+← Alt+→', does: 'move by a character, by a word'},
	{key: 'Ctrl+A, Ctrl+E', does: 'start and end of the line'},
	{key: 'Ctrl+W, Ctrl+U, Ctrl+K', does: 'delete the word before, the line before, the line after the cursor'},
	{key: 'Alt+D, Ctrl+Y', does: 'delete the word after the cursor; put back what was deleted'},
	{key: 'Ctrl+_', does: 'undo'},
	{key: 'Ctrl+G', does: 'go on writing in your editor ($VISUAL, $EDITOR)'},
	{key: 'PgUp, PgDn', does: 'scroll the conversation'},
	{key: 'Shift+↑, Shift+↓', does: 'scroll it by a row'},
	{key: 'Ctrl+Home, Ctrl+End', does: 'go to its start; to its end, and follow it'},
	{key: 'Ctrl+O', does: 'open or close the results of the calls on the screen'},
	{key: 'Ctrl+B', does: 'with the activity, without it, the text alone to select in'},
	{key: 'Alt+M', does: 'let the wheel scroll, or give the mouse back to the terminal'},
	{key: 'Esc', does: 'stop the turn; close a picker; say no to a question'},
	{key: 'Esc Esc', does: 'choose a point to fork at, when nothing runs and nothing is typed'},
	{key: 'Ctrl+C', does: 'stop the turn, then clear the line, then (twice) leave'},
	{key: 'Ctrl+D', does: 'leave, when nothing is typed'},
	{key: 'Shift+Tab', does: 'change the mode: ask, edits (changes pass), plan (nothing is changed)'},
	{key: 'Ctrl+P', does: 'go through the activity; Enter shows an event whole'},
	{key: 'Ctrl+T', does: 'unfold or fold what the model thought'},
	{key: 'r', does: 'try again now, while a failed try is waited out'},
	{key: 'Ctrl+Z', does: 'suspend mca; fg brings it back as it was'},
	{key: 'Ctrl+L', does: 'draw the screen anew'},
	{key: '?', does: 'show all keys, when nothing is typed'},
	{key: 'Tab', does: 'take the prompt that the demo suggests'},
] as const;

/** The edit of the draft that a key asks for, if it is such a key. */
export function editOf({input, key}: KeyPress): Edit | undefined {
	if (key.return || input === '\n' || (key.ctrl && input === 'j')) return {do: 'insert', text: '\n'};
	if (key.leftArrow) return {do: key.meta || key.ctrl ? 'wordLeft' : 'left'};
	if (key.rightArrow) return {do: key.meta || key.ctrl ? 'wordRight' : 'right'};
	if (key.upArrow) return {do: 'up'};
	if (key.downArrow) return {do: 'down'};
	if (key.home) return {do: 'home'};
	if (key.end) return {do: 'end'};
	if (key.backspace) return {do: key.meta || key.ctrl ? 'wordBack' : 'backspace'};
	if (key.delete) return {do: key.meta || key.ctrl ? 'wordForward' : 'delete'};
	if (key.ctrl) return controls[input];
	if (key.meta) return metas[input];
	return undefined;
}

const controls: Record<string, Edit> = {
	a: {do: 'home'},
	e: {do: 'end'},
	w: {do: 'wordBack'},
	u: {do: 'killLine'},
	k: {do: 'killToEnd'},
	f: {do: 'right'},
	d: {do: 'delete'},
	y: {do: 'yank'},
	// One key of the keyboard, which terminals tell in three ways.
	_: {do: 'undo'},
	'-': {do: 'undo'},
	'/': {do: 'undo'},
};

const metas: Record<string, Edit> = {
	b: {do: 'wordLeft'},
	f: {do: 'wordRight'},
	d: {do: 'wordForward'},
};
