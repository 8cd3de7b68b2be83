import {expect, test} from 'vitest';
import {commands, parseCommand, whyUnknown} from '../../src/ui/commands.ts';
import {editOf, type KeyPress, keys} from '../../src/ui/keys.ts';
import {visible} from '../../src/ui/visible.ts';

const none = {
	upArrow: false,
	downArrow: false,
	leftArrow: false,
	rightArrow: false,
	pageDown: false,
	pageUp: false,
	home: false,
	end: false,
	return: false,
	escape: false,
	ctrl: false,
	shift: false,
	tab: false,
	backspace: false,
	delete: false,
	meta: false,
	super: false,
	hyper: false,
	capsLock: false,
	numLock: false,
};
const press = (input: string, key: Partial<KeyPress['key']> = {}): KeyPress => ({
	input,
	key: {...none, ...key},
});

test.each<[string, KeyPress, unknown]>([
	['Ctrl+J', press('\n'), {do: 'insert', text: '\n'}],
	['Ctrl+J as kitty sends it', press('j', {ctrl: true}), {do: 'insert', text: '\n'}],
	['Alt+Enter', press('', {return: true, meta: true}), {do: 'insert', text: '\n'}],
	['Shift+Enter', press('', {return: true, shift: true}), {do: 'insert', text: '\n'}],
	['←', press('', {leftArrow: true}), {do: 'left'}],
	['Alt+←', press('', {leftArrow: true, meta: true}), {do: 'wordLeft'}],
	['Ctrl+→', press('', {rightArrow: true, ctrl: true}), {do: 'wordRight'}],
	['Alt+B', press('b', {meta: true}), {do: 'wordLeft'}],
	['Alt+F', press('f', {meta: true}), {do: 'wordRight'}],
	['↑', press('', {upArrow: true}), {do: 'up'}],
	['↓', press('', {downArrow: true}), {do: 'down'}],
	['Home', press('', {home: true}), {do: 'home'}],
	['End', press('', {end: true}), {do: 'end'}],
	['Ctrl+A', press('a', {ctrl: true}), {do: 'home'}],
	['Ctrl+E', press('e', {ctrl: true}), {do: 'end'}],
	['Ctrl+W', press('w', {ctrl: true}), {do: 'wordBack'}],
	['Ctrl+U', press('u', {ctrl: true}), {do: 'killLine'}],
	['Ctrl+K', press('k', {ctrl: true}), {do: 'killToEnd'}],
	['Backspace', press('', {backspace: true}), {do: 'backspace'}],
	['Alt+Backspace', press('', {backspace: true, meta: true}), {do: 'wordBack'}],
	['Delete', press('', {delete: true}), {do: 'delete'}],
	['a letter', press('a'), undefined],
	['Ctrl+Z', press('z', {ctrl: true}), undefined],
	['Alt+X', press('x', {meta: true}), undefined],
])('%s edits as it should', (_, given, expected) => {
	expect(editOf(given)).toEqual(expected);
});

test('no key and no command is listed twice', () => {
	const names = keys.map(({key}) => key);
	expect(new Set(names).size).toBe(names.length);
	expect(new Set(commands.map(({usage}) => usage)).size).toBe(commands.length);
});

test.each([
	['/help', {run: 'help'}],
	['/quit ', {run: 'quit'}],
	['/fork', {run: 'fork'}],
	['/fork 8', {run: 'fork', seq: 8}],
	['/resume', {run: 'resume'}],
	['/resume s-20260907-100000-ab12', {run: 'resume', id: 's-20260907-100000-ab12'}],
	['/fork eight', {run: 'unknown', text: '/fork eight'}],
	['/fork -1', {run: 'unknown', text: '/fork -1'}],
	['/help me', {run: 'unknown', text: '/help me'}],
	['/nothing', {run: 'unknown', text: '/nothing'}],
])('%s is a command', (text, command) => {
	expect(parseCommand(text)).toEqual(command);
});

test.each(['', 'help', '/etc/hosts', 'run /help', ' /help', '/', '/help\nme', '/2', 'a\n/help', '/Users/me'])(
	'%j is a prompt',
	(text) => {
		expect(parseCommand(text)).toBeUndefined();
	},
);

test('every command that is listed is one, and an unknown one names them', () => {
	for (const {usage} of commands) {
		const [name = '', argument = ''] = usage.split(' ');
		const needed = /^[A-Z]/.test(argument) ? ` ${argument}` : '';
		expect(parseCommand(name + needed)).toMatchObject({run: name.slice(1)});
		expect(whyUnknown('/nothing')).toContain(usage);
	}
});

test('what is asked about is spelled out where it could not be seen', () => {
	expect(visible('ls\x1b[2K\rrm\x07')).toBe('ls\\x1b[2K\\x0drm\\x07');
	expect(visible('a\x9b\x7f\x00')).toBe('a\\x9b\\x7f\\x00');
	expect(visible('x\u202ey\u2066z\u200b')).toBe('x⟦U+202E⟧y⟦U+2066⟧z⟦U+200B⟧');
	expect(visible('a\u00adb\ufeffc\u2028d\u3164e\ufe0ff\u034fg\u{e0041}h\u2065')).toBe(
		'a⟦U+00AD⟧b⟦U+FEFF⟧c⟦U+2028⟧d⟦U+3164⟧e⟦U+FE0F⟧f⟦U+034F⟧g⟦U+E0041⟧h⟦U+2065⟧',
	);
	expect(visible('half \ud83d')).toBe('half \ufffd');
});

test('a space that is not the ordinary one is spelled out: a shell takes it for a letter', () => {
	expect(visible('rm\u00a0-rf\u3000x\u2800y')).toBe('rm⟦U+00A0⟧-rf⟦U+3000⟧x⟦U+2800⟧y');
});

test('what can be seen is left as it is', () => {
	const text = 'echo "naïve 漢字 🎉 e\u0301" | sort > out.txt';
	expect(visible(text)).toBe(text);
	expect(visible('a\r\nb\n\tc')).toBe('a\nb\n    c');
});

test('a command hides nothing of any character below U+3000 that a terminal acts on or leaves blank', () => {
	for (let code = 0; code < 0x3000; code++) {
		const character = String.fromCharCode(code);
		if (!/\p{C}|\p{Z}|\p{Default_Ignorable_Code_Point}/u.test(character) || /\p{Cn}/u.test(character))
			continue;
		if (' \t\n'.includes(character)) continue;
		expect(visible(character), code.toString(16)).toMatch(/^(\\x[0-9a-f]{2}|⟦U\+[0-9A-F]{4}⟧)$/);
	}
});
