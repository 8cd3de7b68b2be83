import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Gateway} from '../../src/agent/gateway.ts';
import type {Event} from '../../src/session/events.ts';
import {emptyView, type Item, reduce, type View} from '../../src/ui/view.ts';
import {agentWorld, run, saying, scripted, text} from '../helpers/agent.ts';
import {answer, events, logFile, turnOne, turnTwo, user} from '../helpers/log-file.ts';
import {texts} from './corpus.ts';
import {ctrl, keyOf, openScreen} from './screen.tsx';

const help = 'Enter send';

/** The screen over a session of these events, with an answer for each prompt that is sent. */
async function opened(
	of: readonly Event[],
	size: {columns?: number; rows?: number} = {},
	gateway: Gateway = saying(),
) {
	const file = logFile(...of);
	const world = agentWorld({gateway});
	const screen = await openScreen({...world, open: file.path, ...size});
	await screen.until(size.columns && size.columns < 80 ? 'idle' : help);
	return {file, world, screen};
}

test('a session is shown as conversation and activity, side by side', async () => {
	const {screen} = await opened(events(turnOne), {columns: 110, rows: 12});
	const rows = screen.lines();
	expect(rows[0]).toMatch(/^ mca {2}s-20260907-100000-ab12 · \S+ · scripted +2\.1k tokens$/);
	expect(rows.slice(1, -1)).toEqual([
		'                                                                         │ Activity',
		' ❯ run the tests                                                         │ 3  usage  812 → 41 tokens',
		'   ● run_command  node --test                             exit 1 · 65 ms │ 5  ● run_command  exit 1 · 65 ms',
		'                                                                         │ 7  usage  1.2k → 60 tokens',
		' The failing case is “divide by zero”.                                   │',
		'                                                                         │',
		'                                                                         │',
		'                                                                         │',
		'─────────────────────────────────────────────────────────────────────────┴────────────────────────────────────',
		' ❯',
	]);
	expect(rows.at(-1)).toMatch(/^ Enter send · Ctrl\+J newline · .* idle$/);
});

test('the real cursor stands in the composer, behind wide characters too', async () => {
	const {screen} = await opened(events(turnOne), {rows: 12});
	expect(screen.cursor()).toEqual({x: 3, y: 10});
	await screen.press('変更');
	await screen.until('❯ 変更');
	await screen.until(() => screen.cursor().x === 7);
	await screen.press(keyOf.left, keyOf.newline);
	await screen.until(() => screen.cursor().x === 3 && screen.cursor().y === 10);
	expect(screen.lines().slice(9, 11)).toEqual([' ❯ 変', '   更']);
});

test('/help lists keys and commands, and Esc goes back', async () => {
	const {screen} = await opened(events(turnOne), {rows: 70});
	await screen.press('/help\r');
	await screen.until('Ctrl+J, Alt+Enter');
	expect(screen.text()).toContain('/resume [ID]');
	await screen.press(keyOf.down);
	await screen.until((shown) => !/^ Keys$/m.test(shown));
	await screen.press(keyOf.escape);
	await screen.until('❯ run the tests');
});

test('/log shows every event, and scrolls', async () => {
	const {screen} = await opened(events([...turnOne, ...turnTwo]), {columns: 90, rows: 16});
	await screen.press('/log\r');
	await screen.until('19 of 19: all events');
	expect(screen.text()).toMatch(/^ ❯ 19 {2}assistant {2}All 4 cases pass\./m);
	await screen.press(keyOf.pageUp, keyOf.pageUp);
	await screen.until(/^ ❯ 1 {3}system {2}You are mca\./m);
	expect(screen.text()).toMatch(/5 {3}● run_command {2}exit 1 · 65 ms · allow by person/m);
	await screen.press(keyOf.escape);
	await screen.until(help);
});

test('/log filters by a letter, and Enter shows an event whole, with what the model was given', async () => {
	const {screen} = await opened(events([...turnOne, ...turnTwo]), {columns: 90, rows: 30});
	await screen.press('/log\r');
	await screen.until('19 of 19');
	await screen.press('e');
	await screen.until('0 of 19: errors');
	await screen.press('t');
	await screen.until('3 of 19: tool calls');
	await screen.press(keyOf.up, keyOf.up, keyOf.up, keyOf.enter);
	await screen.until('What the model was given:');
	expect(screen.text()).toContain('✖ divide by zero');
	expect(screen.text()).toMatch(/seq: 5/);
	await screen.press(keyOf.escape);
	await screen.until('3 of 19: tool calls');
	await screen.press('c');
	await screen.until('11 of 19: this turn');
});

test('/cost tells it in the status line, until the next key', async () => {
	const {screen} = await opened(events(turnOne));
	await screen.press('/cost\r');
	await screen.until('This session: 2.0k in, 101 out in 2 calls (price of 2 unknown).');
	await screen.press('x');
	await screen.until(help);
});

test('a command that is none keeps its text: it may be a prompt', async () => {
	const {screen} = await opened(events(turnOne));
	await screen.press('/tmp is full, what now?\r');
	await screen.until('/tmp is full, what now? is not a command of mca.');
	expect(screen.text()).toContain('❯ /tmp is full, what now?');
});

test('below 100 columns the activity is one key away', async () => {
	const {screen} = await opened(events(turnOne), {columns: 99});
	expect(screen.text()).not.toContain('Activity');
	await screen.press(ctrl('b'));
	await screen.until('3 of 8: activity');
	expect(screen.text()).not.toContain('divide by zero');
	await screen.press(keyOf.escape);
	await screen.until('divide by zero');
});

test('from 100 columns the activity can be hidden, and then all but the text', async () => {
	const {screen} = await opened(events(turnOne));
	await screen.press(ctrl('b'));
	await screen.until((shown) => !shown.includes('Activity') && !shown.includes('│'));
	await screen.press(ctrl('b'));
	await screen.until((shown) => !/[│─]|mca/.test(shown) && shown.includes('❯ run the tests'));
	await screen.press(ctrl('b'));
	await screen.until('Activity');
});

test('on a screen that is too small there is a notice, and after it grew all is as before', async () => {
	const {screen} = await opened(events(turnOne), {columns: 100, rows: 12});
	await screen.press('a draft');
	await screen.until('❯ a draft');
	const before = screen.text();
	screen.resize(39, 9);
	await screen.until(/^mca needs 40 columns and 10 rows\.\s*$/);
	await screen.press('x', keyOf.enter);
	screen.resize(100, 12);
	await screen.until((shown) => shown === before);
});

test('a screen that was resized is one that was opened at that size', async () => {
	const sizes: [number, number][] = [
		[80, 24],
		[40, 10],
		[160, 50],
		[101, 17],
		[99, 30],
		[120, 13],
	];
	const log = events([...turnOne, ...turnTwo, user('漢字 '.repeat(40)), answer('word 🎉 '.repeat(60))]);
	const {screen, file} = await opened(log);
	for (const [columns, rows] of sizes) {
		screen.resize(columns, rows);
		const fresh = await openScreen({...agentWorld({gateway: saying()}), open: copyOf(file), columns, rows});
		await fresh.until('idle');
		const settled = (shown: string) => shown.split('\n').slice(1).join('\n');
		await screen.until((shown) => settled(shown) === settled(fresh.text()));
		expect(screen.cursor()).toEqual(fresh.cursor());
	}
	expect(screen.bytes()).not.toMatch(/\x1b\[[23]J/);
});

/** The same session in a folder of its own, so that no lock is in the way. */
function copyOf(file: ReturnType<typeof logFile>): string {
	const copy = logFile();
	writeFileSync(copy.path, readFileSync(file.path));
	return copy.path;
}

test('wide, combining and hostile text keeps the border in its column, and reaches no terminal', async () => {
	const lines = [
		'漢字 全角 ｶﾞ 한글',
		'👨‍👩‍👧 👍🏽 ⚠️ ❤️ 1️⃣ 🇩🇪 🎉🎉',
		'e\u0301e\u0301 naïve a\u00ad\u3164b',
		'\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[3J\x1b[H\x1b[6n\x9b2Jsafe',
		'\u202eright to left\u202c \u200bzero',
	];
	const {screen} = await opened(
		events([...turnOne, user(lines.join('\n')), answer(lines.map((line) => line.repeat(9)).join('\n'))]),
		{
			columns: 110,
			rows: 40,
		},
	);
	await screen.until('right to left');
	for (let y = 1; y < 37; y++) expect(screen.columnOf(y, '│'), screen.lines()[y]).toBe(73);
	expect(screen.text()).toContain('❯ run the tests');
	const strings = [...screen.bytes().matchAll(/\x1b[\]PX^_]/g)];
	expect(strings).toEqual([]);
	expect(screen.bytes()).not.toMatch(/\x1b\[[23]J|\x1b\[6n|[\x80-\x9f]|\u202e|\u200b/);
});

test('whatever a session holds, the border stays in its column', async () => {
	const bodies = [...texts(40)].flatMap((each) => [user(each), answer(each)]);
	const {screen} = await opened(events([...turnOne, ...bodies]), {columns: 110, rows: 30});
	for (let page = 0; page < 6; page++) {
		for (let y = 1; y < 27; y++) expect(screen.columnOf(y, '│'), screen.lines()[y]).toBe(73);
		const before = screen.text();
		await screen.press(keyOf.pageUp);
		await screen.until((shown) => shown !== before);
	}
});

test('a cut session says where, why and how much, and the next prompt moves on', async () => {
	const file = logFile(...events([...turnOne, ...turnTwo])).cutLastLine();
	const before = file.hash();
	const world = agentWorld({gateway: saying(text('I am back.'))});
	const screen = await openScreen({...world, open: file.path});
	await screen.until(/⚠ s-20260907-100000-ab12 stops at line 19: the line does not end \(\d+ B ignored\)\./);
	await screen.until(/Your next prompt continues in a new\s+session\./);
	await screen.press('go on\r');
	await screen.until('I am back.');
	const {id = ''} = world.agent.session ?? {};
	expect(id).not.toBe(file.id);
	await screen.until((shown) =>
		shown
			.replace(/\s+/g, ' ')
			.includes(`This conversation goes on in ${id}; the damaged file is left as it is, `),
	);
	await screen.press(keyOf.escape);
	await screen.until((shown) => !shown.includes('stops at line 19'));
	await screen.until(/fork|recovery {2}of s-20260907-100000-ab12/);
	expect(file.hash()).toBe(before);
});

test('an answer is drawn as it streams, and Esc stops it', async () => {
	const gateway: Gateway = {
		name: 'slow',
		async *stream(_request, signal) {
			yield {type: 'text', text: 'Once upon a time'};
			await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), {once: true}));
		},
	};
	const {screen, world} = await opened([], {}, gateway);
	await screen.press('tell me\r');
	await screen.until('Once upon a time');
	expect(screen.text()).toContain('◐ working');
	await screen.press(keyOf.escape);
	await screen.until('✗ stopped by the user');
	await screen.until(/idle$/);
	expect(world.agent.busy).toBe(false);
	expect(screen.text()).toContain('Once upon a time');
});

test('a prompt that cannot be kept says why, and is still there', async () => {
	const {screen} = await opened([], {}, saying(text('never')));
	await screen.press('x'.repeat(2 << 20));
	await screen.press(keyOf.enter);
	await screen.until('✗ This message is');
	await screen.until(/❯? +x{50}/);
});

test('the output of a running command is shown while it runs', async () => {
	const world = agentWorld({
		gateway: scripted({say: 'Look:', calls: [run('echo first; read x < gate; echo last')]}, {say: 'Done.'}),
	});
	const {execFileSync} = await import('node:child_process');
	execFileSync('mkfifo', [join(world.workspace, 'gate')]);
	const screen = await openScreen(world);
	await screen.press('go\r');
	await screen.until(/◐ run_command .*running/);
	await screen.until(/^ {7}first/m);
	writeFileSync(join(world.workspace, 'gate'), 'x\n');
	await screen.until('Done.');
	expect(screen.text()).not.toMatch(/^ {7}first/m);
});

test('the reader who scrolled up stays there while the answer comes, and sees that there is more', async () => {
	const rows = Array.from({length: 80}, (_, number) => `row ${number}`).join('\n');
	let release = () => {};
	const gateway: Gateway = {
		name: 'waiting',
		async *stream() {
			await new Promise<void>((resolve) => {
				release = resolve;
			});
			yield* text(`The new answer.\n${rows}`);
		},
	};
	const {screen} = await opened(events([...turnOne, user('many'), answer(rows)]), {rows: 20}, gateway);
	await screen.press('more\r');
	await screen.until('working');
	for (let page = 0; page < 2; page++) {
		const before = screen.text();
		await screen.press(keyOf.pageUp);
		await screen.until((shown) => shown !== before);
	}
	const reading = screen.lines().slice(1, 16);
	expect(reading[0]).toMatch(/^ row \d+ /);
	release();
	await screen.until('idle');
	const text80 = (row: string) => row.slice(0, 70);
	expect(screen.lines().slice(1, 16).map(text80)).toEqual(reading.map(text80));
	expect(screen.text()).toMatch(/↓ 1 new · Ctrl\+End/);
	for (let page = 0; page < 9; page++) await screen.press(keyOf.pageDown);
	await screen.until((shown) => !shown.includes('↓') && shown.includes('row 79'));
});

test('keys of one chunk act one after the other', async () => {
	const gateway = saying(text('one'), text('two'));
	const {screen} = await opened([], {}, gateway);
	await screen.press('helo\x7fxy\x7f\x7flo\r');
	await screen.until(/^ one/m);
	expect(gateway.requests[0]?.messages.at(-1)?.content).toBe('hello');
	await screen.press(`${keyOf.up} again${keyOf.left}\x7fX${keyOf.end}!\r`);
	await screen.until(/^ two/m);
	expect(gateway.requests[1]?.messages.at(-1)?.content).toBe('hello agaXn!');
});

test('a paste never sends, in brackets or without', async () => {
	const gateway = saying(text('read'));
	const {screen} = await opened([], {}, gateway);
	await screen.press('\x1b[200~one\r\ntwo\x1b[31m\r\x1b[201~');
	await screen.until('   two');
	await screen.press('three\rfour\rfive');
	await screen.until('   five');
	expect(gateway.requests).toEqual([]);
	await screen.press(keyOf.enter);
	await screen.until(/^ read/m);
	expect(gateway.requests[0]?.messages.at(-1)?.content).toBe('one\ntwo\nthree\nfour\nfive');
});

test('Enter behind a backslash, Alt+Enter and Ctrl+J are new lines', async () => {
	const {screen} = await opened([]);
	await screen.press('one\\', keyOf.enter, 'two', '\x1b\r', 'three', keyOf.newline, 'four');
	await screen.until('   four');
	expect(screen.text()).toMatch(/❯ one\n {3}two\n {3}three\n {3}four\n/);
});

test('Ctrl+C closes what is open, then clears the draft, then leaves at the second press', async () => {
	const {screen} = await opened(events(turnOne));
	await screen.press('/help\r');
	await screen.until('Ctrl+J, Alt+Enter');
	await screen.press(ctrl('c'));
	await screen.until('❯ run the tests');
	await screen.press('a draft');
	await screen.until('❯ a draft');
	await screen.press(ctrl('c'));
	await screen.until((shown) => !shown.includes('a draft'));
	await screen.press(ctrl('c'));
	await screen.until('Ctrl+C again leaves.');
	await screen.press(ctrl('c'));
	expect(await screen.end()).toEqual({how: 'left'});
});

test('Ctrl+D leaves where nothing is typed, and only there', async () => {
	const {screen} = await opened(events(turnOne));
	await screen.press('x', ctrl('d'));
	await screen.until('❯ x');
	await screen.press('\x7f', ctrl('d'));
	expect(await screen.end()).toEqual({how: 'left'});
});

test('Ctrl+L draws the screen anew', async () => {
	const {screen} = await opened(events(turnOne));
	const before = screen.text();
	const written = screen.bytes().length;
	await screen.press(ctrl('l'));
	await screen.until((shown) => shown === before && screen.bytes().length > written + 1000);
});

test('a key writes less than 400 bytes', async () => {
	const {screen} = await opened(events([...turnOne, ...turnTwo]), {columns: 120, rows: 40});
	for (const key of ['a', 'b', '漢', ' ', 'c']) {
		const before = screen.bytes().length;
		const row = screen.lines()[38];
		await screen.press(key);
		await screen.until(() => key === ' ' || screen.lines()[38] !== row);
		expect(screen.bytes().length - before).toBeLessThan(400);
	}
});

test('Tab takes the prompt that the demo suggests', async () => {
	const world = agentWorld({gateway: saying(text('done'))});
	const screen = await openScreen({...world, demo: ['first thing', 'second thing']});
	await screen.until('DEMO');
	await screen.until('❯ first thing   (Tab takes it)');
	await screen.press(keyOf.tab, keyOf.enter);
	await screen.until('❯ second thing   (Tab takes it)');
});

test('a session that ends with a question says that Enter asks it, and Enter does', async () => {
	const {screen} = await opened(events(turnOne.slice(0, 2)), {}, saying(text('Two cases.')));
	await screen.until('Enter asks the model for the answer it owes');
	await screen.press(keyOf.enter);
	await screen.until(/^ Two cases\./m);
});

/** An item that throws when its text is looked at. */
function poisoned(item: Item | undefined, error: Error): Item {
	if (!item) throw new Error('there is no item');
	return new Proxy(
		{...item},
		{
			get(target, name) {
				if (name === 'text') throw error;
				return Reflect.get(target, name);
			},
		},
	);
}

/** A view that a test changes by hand, shown on a screen. */
async function shownByHand() {
	let view = reduce(emptyView, {
		type: 'opened',
		session: null,
		place: emptyView.place,
		events: events(turnOne),
		end: {at: 'whole'},
	});
	const listeners = new Set<() => void>();
	const store = {
		get: () => view,
		subscribe: (listener: () => void) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
	const screen = await openScreen({...agentWorld({gateway: saying()}), store});
	await screen.until('❯ run the tests');
	return {
		screen,
		show(items: (items: View['items']) => View['items']) {
			view = {...view, items: items(view.items)};
			for (const listener of listeners) listener();
		},
	};
}

const broken = new Error('this row cannot be drawn');

test('a throw in one pane is drawn in that pane, and the composer goes on', async () => {
	const {screen, show} = await shownByHand();
	show((items) => items.map((item) => (item.kind === 'assistant' ? poisoned(item, broken) : item)));
	await screen.until('cannot be drawn: this row cannot be drawn.');
	await screen.press('still here');
	await screen.until('❯ still here');
	await screen.until('Activity');
});

test('a bug in the root ends the screen with its error, not with a blank one', async () => {
	const {screen, show} = await shownByHand();
	show((items) => [poisoned(items[0], broken)]);
	expect(await screen.end()).toEqual({how: 'failed', error: broken});
	// The alternate screen is left, so what main prints of it is seen.
	expect(screen.bytes()).toMatch(/\x1b\[\?1049l/);
});

test('a bug behind a key ends the screen with its error too', async () => {
	const world = agentWorld({
		gateway: {
			name: 'broken',
			stream: () => {
				throw new Error('a bug in the gateway');
			},
		},
	});
	const screen = await openScreen(world);
	await screen.until(help);
	await screen.press('go\r');
	expect(await screen.end()).toMatchObject({how: 'failed', error: {message: 'a bug in the gateway'}});
});
