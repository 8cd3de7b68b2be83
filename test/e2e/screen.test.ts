import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {kinds, makeWorld, scriptOf} from '../helpers/mca.ts';
import {ask, gateListens, prompts, type Terminal} from '../helpers/terminal.ts';

/** The user's prompts in the newest log. */
function asked(world: ReturnType<typeof makeWorld>): string[] {
	return world
		.log()
		.flatMap((event) =>
			event.type === 'message' && event.message.role === 'user' ? [event.message.content] : [],
		);
}

/** The columns in which a row has the sidebar's border, for every row that the conversation pane has. */
function borders(terminal: Terminal): Set<string> {
	const cells = terminal.cells();
	const end = cells.findIndex((row) => row.some((cell) => cell.text === '┴'));
	const columns = cells.slice(1, end).map((row) => row.flatMap((cell, x) => (cell.text === '│' ? [x] : [])));
	return new Set([...columns, [cells[end]?.findIndex((cell) => cell.text === '┴')]].map(String));
}

test('a line and its Enter in one write are sent once', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.type('hello\r');
	await terminal.untilIdle('I am a script');
	expect(kinds(world.log())).toEqual(['system', 'user', 'usage', 'assistant']);
	expect(asked(world)).toEqual(['hello']);
});

test('what is typed before the first frame is in the composer, and its Enter sends it', async () => {
	const world = makeWorld();
	const terminal = world.open();
	terminal.type('hello\r');
	await terminal.untilIdle('I am a script');
	expect(asked(world)).toEqual(['hello']);
});

test('a paste of several lines never sends: not with brackets, not in one write without them', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.until(() => terminal.modes().bracketedPaste);
	terminal.paste('first\rsecond\r\nthird\n');
	await terminal.untilIdle(/❯ first\n {3}second\n {3}third\n/);
	terminal.type('fourth\rfifth');
	await terminal.untilIdle(/ {3}third\n {3}fourth\n {3}fifth\n/);
	expect(world.ids()).toEqual([]);

	terminal.press('enter');
	await terminal.untilIdle('I am a script');
	expect(asked(world)).toEqual(['first\nsecond\nthird\nfourth\nfifth']);
});

test('a new line in the composer: Ctrl+J, Alt+Enter, and a backslash before Enter', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.type('a');
	await terminal.until(/❯ a$/m);
	terminal.press('ctrl+j');
	terminal.type('b');
	await terminal.until(/❯ a\n {3}b$/m);
	terminal.press('alt+enter');
	await terminal.until(() => terminal.cursor().x === 3);
	terminal.type('c\\');
	await terminal.until(/ {3}b\n {3}c\\$/m);
	terminal.press('enter');
	await terminal.until(() => terminal.cursor().x === 3);
	terminal.type('d');
	await terminal.until(/❯ a\n {3}b\n {3}c\n {3}d$/m);
	expect(world.ids()).toEqual([]);
});

test('the cursor of the terminal stands where the next character goes, behind wide ones too', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.type('日本語🎉x');
	await terminal.until('❯ 日本語🎉x');
	await terminal.until(() => terminal.cursor().x === 3 + 4 * 2 + 1);
	const y = terminal.screen().findIndex((row) => row.includes('日本語🎉x'));
	expect(terminal.cursor().y).toBe(y);
	expect(terminal.modes().cursorShown).toBe(true);
	terminal.press('left', 'left');
	await terminal.until(() => terminal.cursor().x === 3 + 3 * 2);
});

test('wide characters do not move the border of the sidebar, at any width', async () => {
	const say = `${'日本語の文章はとても長い。'.repeat(9)} 🎉 party 🚀🚀 ${'漢字'.repeat(40)} ⚠️ ❤️ 👍🏽 ok`;
	const world = makeWorld({
		script: scriptOf('go', {name: 'run_command', args: {command: `echo '${say}'`}}, say),
	});
	const terminal = world.open();
	await ask(terminal, 'go', 'party');
	expect(borders(terminal)).toEqual(new Set(['74']));
	for (const [columns, border] of [
		[101, 64],
		[133, 87],
		[150, 104],
	] as const) {
		terminal.resize(columns, 36);
		await terminal.untilIdle(new RegExp(`^─{${border}}┴`, 'm'));
		expect(borders(terminal)).toEqual(new Set([String(border)]));
	}
});

type Size = readonly [columns: number, rows: number];

/** One screen is taken through all the sizes, and at each must show, to the last cell, what a fresh start at that size shows. */
async function expectAsFresh(
	open: (columns: number, rows: number) => Terminal,
	begin: Size,
	sizes: readonly Size[],
) {
	const ready = (terminal: Terminal) => terminal.untilIdle(/new session|messages replayed/);
	const fresh: string[] = [];
	for (const [columns, rows] of sizes) {
		const terminal = open(columns, rows);
		await ready(terminal);
		fresh.push(JSON.stringify(terminal.cells()));
		terminal.press('ctrl+d');
		await terminal.exit();
	}
	const terminal = open(...begin);
	await ready(terminal);
	for (const [index, [columns, rows]] of sizes.entries()) {
		// A window that is dragged: thirty sizes, and none of them waits for the one before.
		for (let step = 1; step <= 30 && index === sizes.length - 1; step++)
			terminal.resize(200 - 4 * step, 50 - step);
		terminal.resize(columns, rows);
		await terminal.until(() => JSON.stringify(terminal.cells()) === fresh[index]);
	}
}

test('after any number of resizes a conversation looks as after a fresh start at that size', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask, prompts.fix);
	const open = (columns: number, rows: number) => world.open({args: ['--resume', id], columns, rows});
	await expectAsFresh(
		open,
		[120, 36],
		[
			[60, 20],
			[200, 50],
			[113, 31],
		],
	);
});

test('after any number of resizes an empty session looks as after a fresh start at that size', async () => {
	const world = makeWorld();
	const open = (columns: number, rows: number) => world.open({columns, rows});
	await expectAsFresh(
		open,
		[90, 30],
		[
			[60, 30],
			[200, 50],
			[43, 12],
			[61, 21],
		],
	);
});

test('below 40 columns or 10 rows one line says so, and the screen comes back with the room', async () => {
	const world = makeWorld();
	const terminal = world.open({columns: 80, rows: 24});
	await terminal.untilIdle('new session');
	terminal.type('a draft');
	await terminal.until('❯ a draft');
	for (const [columns, rows] of [
		[39, 24],
		[80, 9],
		[20, 5],
	] as const) {
		terminal.resize(columns, rows);
		await terminal.until((screen) => /^mca needs 40/.test(screen) && !screen.includes('draft'));
		expect(terminal.screen().filter((row) => row !== '')).toHaveLength(1);
	}
	terminal.resize(40, 10);
	await terminal.until('❯ a draft');
	terminal.resize(80, 24);
	await terminal.untilIdle('❯ a draft');
});

test('under 100 columns the activity is a view of its own, one key away', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const terminal = world.open({args: ['--resume', id], columns: 90});
	await terminal.untilIdle('messages replayed');
	expect(terminal.text()).not.toContain('Activity');
	terminal.press('ctrl+b');
	await terminal.until(/3 of 8: activity[\s\S]*\n +3 +usage .*\n +5 +✗ run_command/);
	terminal.press('escape');
	await terminal.untilIdle('The failing case is');
	expect(terminal.text()).not.toContain('Activity');
});

test('the scrollback is never wiped and nothing is ever scrolled: no CSI 2J, no CSI 3J, in all that a session shows', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await ask(terminal, prompts.ask, 'The failing case is');
	await ask(terminal, prompts.fix, 'All 4 cases pass.');
	for (const [columns, rows] of [
		[60, 20],
		[30, 8],
		[200, 50],
	] as const) {
		terminal.resize(columns, rows);
		await terminal.until((screen) => /idle$|^mca needs 40/.test(screen));
	}
	terminal.press('escape', 'escape');
	await terminal.until('Fork: go on from here');
	terminal.press('escape');
	await terminal.untilIdle((screen) => !screen.includes('Fork: go on'));
	for (const [command, shows] of [
		['/resume', 'Resume a session'],
		['/help', 'Keys'],
		['/log', '19 of 19: all events'],
	] as const) {
		terminal.type(`${command}\r`);
		await terminal.until(shows);
		terminal.press('escape');
		await terminal.untilIdle((screen) => screen.includes('❯ ') && !screen.includes(shows));
	}
	const drawn = terminal.bytes.length;
	terminal.press('ctrl+l');
	await terminal.untilIdle(() => terminal.bytes.slice(drawn).includes('All 4 cases pass.'));
	terminal.press('ctrl+d');
	await terminal.exit();
	expect(terminal.bytes).not.toMatch(/\x1b\[[23]J/);
});

/** What would act on the terminal: write to the clipboard, set the title, wipe the screen, ask for a reply. */
const attack = '\x1b]52;c;c3RvbGVu\x07\x1b]0;pwned\x07\x1b[2J\x1b[3J\x1b[6n\x9b2J\x1bP+q544e\x1b\\';
const harm = /\x1b\]|\x1b\[[23]J|\x1b\[6n|[\x80-\x9f]|\x1bP|pwned|c3RvbGVu/;

test('escape sequences of a tool, of a file name and of the model never reach the terminal', async () => {
	const script = {
		name: 'attack',
		turns: [
			{
				prompt: 'go',
				steps: [
					{say: `Let me${attack} see.`, calls: [{name: 'list_files', args: {}}]},
					{
						say: '',
						calls: [{name: 'run_command', args: {command: 'cat out.bin; sleep 0.2; cat *out.txt; ls'}}],
					},
					{say: `Seen${attack} and done.`},
				],
			},
		],
	};
	const world = makeWorld({script});
	writeFileSync(join(world.workspace, 'out.bin'), `before${attack}after\n`);
	writeFileSync(join(world.workspace, `name${attack.replaceAll('/', '')}out.txt`), 'x\n');
	const terminal = world.open();
	await ask(terminal, 'go', 'and done.');
	terminal.type('/log\r');
	await terminal.until('12 of 12: all events');
	terminal.press('escape');
	await terminal.untilIdle('and done.');
	expect(terminal.bytes).not.toMatch(harm);
});

test('escape sequences of a command are spelled out in the question and never reach the terminal', async () => {
	const command = `printf '${attack}'`;
	const world = makeWorld({script: scriptOf('go', {name: 'run_command', args: {command}})});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('go\r');
	await terminal.until('\\x1b]52;c;c3RvbGVu\\x07\\x1b]0;pwned\\x07\\x1b[2J');
	await gateListens(terminal);
	terminal.press('enter');
	await terminal.untilIdle('Done.');
	expect(terminal.bytes).not.toMatch(/\x1b\]|\x1b\[[23]J|\x1b\[6n|[\x80-\x9f]|\x1bP/);
});

test('NO_COLOR: no colour is ever sent, and the selection is still seen', async () => {
	const world = makeWorld({env: {NO_COLOR: '1'}});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await terminal.until('❯ No');
	await gateListens(terminal);
	expect(terminal.bytes).not.toMatch(/\x1b\[[\d;]*m/);
});

test('Ctrl+L draws the screen anew over what another program has left on it', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle('new session');
	const before = terminal.text();
	terminal.scribble('\x1b[5;5Hleft by another program');
	await terminal.until('left by another program');
	terminal.press('ctrl+l');
	await terminal.until((screen) => screen === before);
});
