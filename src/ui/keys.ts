/** Every key and what it does: the help screen, the README and the tests read this table. */
export const keys = [
	{key: 'Enter', does: 'send; on an empty line ask for an answer that is still owed'},
	{key: 'Ctrl+J, Alt+Enter', does: 'new line'},
	{key: '↑ ↓', does: 'move between lines; from the first and last, earlier prompts'},
	{key: '← →, Alt+← Alt+→', does: 'move by a character, by a word'},
	{key: 'Ctrl+A, Ctrl+E', does: 'start and end of the line'},
	{key: 'Ctrl+W, Ctrl+U, Ctrl+K', does: 'delete the word before, the line before, the line after the cursor'},
	{key: 'PgUp, PgDn', does: 'scroll the conversation'},
	{key: 'Ctrl+B', does: 'show or hide the activity'},
	{key: 'Esc', does: 'stop the turn; close a picker; say no to a question'},
	{key: 'Esc Esc', does: 'choose a point to fork at, when nothing runs and nothing is typed'},
	{key: 'Ctrl+C', does: 'stop the turn, then clear the line, then (twice) leave'},
	{key: 'Ctrl+D', does: 'leave, when nothing is typed'},
	{key: 'Ctrl+L', does: 'draw the screen anew'},
	{key: 'Tab', does: 'take the suggested prompt'},
] as const;
