/** The terminal's own 16 colours, by what they mean here, so that light and dark themes both stay readable. */
export const theme = {
	accent: 'cyan',
	good: 'green',
	bad: 'red',
	warn: 'yellow',
	code: 'magenta',
} as const;

/** Code, by the scopes of highlight.js; a scope such as `title.function` falls back on its beginning. What is not here is plain. */
export const syntax: Readonly<
	Record<string, {color?: string; dim?: boolean; bold?: boolean; italic?: boolean}>
> = {
	comment: {dim: true},
	quote: {dim: true},
	doctag: {dim: true, bold: true},
	keyword: {color: 'magenta'},
	'variable.language': {color: 'magenta'},
	literal: {color: 'yellow'},
	number: {color: 'yellow'},
	symbol: {color: 'yellow'},
	string: {color: 'green'},
	'char.escape': {color: 'yellow'},
	regexp: {color: 'red'},
	title: {color: 'cyan'},
	'title.class': {color: 'yellow'},
	type: {color: 'yellow'},
	built_in: {color: 'cyan'},
	attr: {color: 'cyan'},
	attribute: {color: 'cyan'},
	property: {color: 'cyan'},
	name: {color: 'magenta'},
	'selector-tag': {color: 'magenta'},
	'selector-id': {color: 'cyan'},
	'selector-class': {color: 'cyan'},
	variable: {color: 'cyan'},
	'template-variable': {color: 'cyan'},
	meta: {dim: true},
	section: {bold: true},
	emphasis: {italic: true},
	strong: {bold: true},
	addition: {color: 'green'},
	deletion: {color: 'red'},
};

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
