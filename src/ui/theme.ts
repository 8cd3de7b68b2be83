/** The terminal's own 16 colours, by what they mean here, so that light and dark themes both stay readable. */
export const theme = {
	accent: 'cyan',
	good: 'green',
	bad: 'red',
	warn: 'yellow',
	code: 'magenta',
} as const;

export type Color = (typeof theme)[keyof typeof theme];

/** Signs that stay one column wide in every terminal, and tell the state apart without colour. */
export const glyph = {
	prompt: '❯',
	selected: '❯',
	running: '◐',
	waiting: '○',
	good: '●',
	bad: '✗',
	warn: '⚠',
	down: '↓',
} as const;
