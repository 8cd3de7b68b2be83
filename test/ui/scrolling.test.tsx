import {expect, test, vi} from 'vitest';
import type {AgentEvent} from '../../src/agent/agent-event.ts';
import type {Gateway} from '../../src/agent/gateway.ts';
import type {Body} from '../../src/session/events.ts';
import type {AppOptions} from '../../src/ui/App.tsx';
import {highlighter} from '../../src/ui/highlight.ts';
import {emptyView, type Item, reduce, type View} from '../../src/ui/view.ts';
import {agentWorld, questions, run, saying, scripted, text} from '../helpers/agent.ts';
import {answer, call, events, logFile, result, system, toolEnd, turnOne, user} from '../helpers/log-file.ts';
import {byPerson, ctrl, keyOf, openScreen} from './screen.tsx';

// Before ink is loaded, which asks only once whether there are colours.
vi.hoisted(() => {
	process.env.FORCE_COLOR = '1';
});

const wheel = {up: '\x1b[<64;9;9M', down: '\x1b[<65;9;9M'};
const shiftUp = '\x1b[1;2A';
const shiftDown = '\x1b[1;2B';
const ctrlHome = '\x1b[1;5H';
const ctrlEnd = '\x1b[1;5F';
const altM = '\x1bm';

type More = Partial<AppOptions> & {columns?: number; rows?: number; gateway?: Gateway; asks?: boolean};

/** The screen over a session of these events. */
async function showing(of: readonly Body[], {gateway = saying(), asks = false, ...more}: More = {}) {
	const world = agentWorld({gateway, ...(asks ? byPerson : {})});
	const screen = await openScreen({
		...world,
		open: logFile(...events(of)).path,
		columns: 90,
		rows: 20,
		...more,
	});
	await screen.until('idle');
	/** Presses, and waits until something else is to be seen. */
	const after = async (...keys: string[]) => {
		for (const key of keys) {
			const before = screen.text();
			await screen.press(key);
			await screen.until((shown) => shown !== before);
		}
		return screen.lines().map((row) => row.slice(1));
	};
	return {...world, screen, after, lines: () => screen.lines().map((row) => row.slice(1))};
}

const numbered = (count: number, words = 'line') =>
	Array.from({length: count}, (_, number) => `${words} ${number + 1}.`).join('\n');
const long = [...turnOne, user('many'), answer(numbered(60))];

test('PgUp goes a page up, Shift+↑ a row, Ctrl+Home to the start and Ctrl+End to the end', async () => {
	const {after, lines} = await showing(long);
	// One row for the header, three for the line, the composer and the status.
	expect(lines()[16]).toBe('line 60.');
	expect((await after(keyOf.pageUp))[1]).toBe('line 31.');
	expect((await after(shiftUp))[1]).toBe('line 30.');
	expect((await after(shiftDown, shiftDown))[1]).toBe('line 32.');
	expect((await after(ctrlHome))[2]).toBe('❯ run the tests');
	expect((await after(keyOf.pageDown))[1]).toMatch(/^line \d+\./);
	expect((await after(ctrlEnd))[16]).toBe('line 60.');
});

test('whoever scrolled up is told how many messages are new, and Ctrl+End follows again', async () => {
	const {after, agent, screen} = await showing(long, {
		gateway: saying(text('one'), text(numbered(9, 'new'))),
	});
	expect((await after(keyOf.pageUp))[16]).toBe('↓ more below · PgDn');
	const reading = screen.lines()[1];
	await agent.submit('a');
	await screen.until('↓ 2 new · Ctrl+End');
	await agent.submit('b');
	await screen.until('↓ 4 new · Ctrl+End');
	expect(screen.lines()[1]).toBe(reading);
	expect((await after(ctrlEnd))[16]).toBe('new 9.');
	expect((await after(shiftUp))[16]).toBe('↓ more below · PgDn');
});

test('whoever reads stays at the text when the screen gets narrower or wider', async () => {
	const words = Array.from({length: 400}, (_, number) => `w${number}`).join(' ');
	const {after, screen, lines} = await showing([...turnOne, user('many'), answer(words), answer(words)]);
	await after(keyOf.pageUp);
	const [first = ''] = (lines()[1] ?? '').split(' ');
	expect(first).toMatch(/^w\d+$/);
	for (const columns of [50, 120, 43, 90]) {
		screen.resize(columns, 20);
		await screen.until(
			(shown) => shown.split('\n')[18]?.trimEnd().length === columns - 1 || shown.includes('idle'),
		);
		await screen.until((shown) => new RegExp(`\\b${first}\\b`).test(shown.split('\n')[1] ?? ''));
	}
});

test('an answer that streams does not move whoever reads, and what it says is drawn as Markdown', async () => {
	const {gateway, say} = speaking();
	const {agent, screen, after} = await showing(long, {gateway});
	const done = agent.submit('go');
	say('## Head\n\nso **bo');
	await screen.until(/^ Head\n\s*\n so bo$/m);
	const read = await after(keyOf.pageUp);
	say('ld** and\n\n- one\n');
	say('- two\n\n```js\nlet a');
	expect((await after(shiftUp, shiftDown))[1]).toBe(read[1]);
	await screen.press(ctrlEnd);
	await screen.until(/^ so bold and\n\s*\n - one\n - two\n\s*\n {3}let a$/m);
	say(' = 1;\n```\n');
	say('');
	await done;
	await screen.until(/^ so bold and\n\s*\n - one\n - two\n\s*\n {3}let a = 1;$/m);
});

/** A model that says what it is told to, piece by piece; an empty one ends its answer. */
function speaking() {
	const pieces: string[] = [];
	let wake = () => {};
	const gateway: Gateway = {
		name: 'speaking',
		async *stream() {
			for (;;) {
				const piece = pieces.shift();
				if (piece === '') break;
				if (piece !== undefined) yield {type: 'text', text: piece};
				else {
					await new Promise<void>((resolve) => {
						wake = resolve;
					});
				}
			}
			yield {type: 'finish', reason: 'stop'};
		},
	};
	return {
		gateway,
		say(piece: string) {
			pieces.push(piece);
			wake();
		},
	};
}

test('Ctrl+O opens the results of the calls on the screen, and closes them', async () => {
	const of = [
		...turnOne.slice(0, 3),
		call('c1', 'c2'),
		toolEnd('c1'),
		result('c1', numbered(100, 'row')),
		toolEnd('c2'),
		result('c2', 'Edited x.\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n'),
		answer('Done.'),
	];
	const {screen, after} = await showing(of, {rows: 60});
	const closed = screen.text();
	expect(closed).not.toContain('row 1.');
	const open = await after(ctrl('o'));
	expect(open.slice(3, 6)).toEqual([expect.stringMatching(/^ {2}● run_command/), '    row 1.', '    row 2.']);
	// Bounded: of a hundred lines the first and the last.
	expect(open.slice(19, 22)).toEqual(['    row 16.', '    … of 100 lines', '    row 93.']);
	expect(open.slice(30, 34).map((row) => row.trim())).toEqual(['Edited x.', '@@ -1 +1 @@', '-old', '+new']);
	expect(screen.bytes()).toMatch(/\x1b\[31m-old/);
	expect(screen.bytes()).toMatch(/\x1b\[32m\+new/);
	await after(ctrl('o'));
	expect(screen.text()).toBe(closed);
});

test('where no call is, Ctrl+O says so', async () => {
	const {screen} = await showing([...turnOne.slice(0, 1), user('a'), answer('b')]);
	await screen.press(ctrl('o'));
	await screen.until('No call on the screen has a result.');
});

test('/find shows what matches; n and N go through it, and Esc ends it where it is', async () => {
	const {screen, after} = await showing([
		...turnOne,
		answer('a needle'),
		answer(numbered(60)),
		answer('two Needles'),
	]);
	await screen.press('/find needle\r');
	await screen.until('“needle” · 1/1 in message 1/2 · n older · N newer · Esc ends');
	const found = await after('n');
	expect(found.join('\n')).toContain('a needle');
	expect(screen.bytes()).toMatch(/\x1b\[7m[^\x1b]*(\x1b\[[0-9;]*m)*needle/);
	await after('N');
	expect(screen.text()).toContain('two Needles');
	await after('n', keyOf.escape);
	expect(screen.text()).toContain('a needle');
	expect(screen.text()).toContain('Enter send');
	await screen.press('n');
	await screen.until(/^ ❯ n$/m);
});

test('/find says what is not there', async () => {
	const {screen} = await showing(turnOne);
	await screen.press('/find no such thing\r');
	await screen.until('“no such thing” is not in this conversation.');
});

test('a question that comes during a search is asked, and the search goes on after it', async () => {
	const gateway = scripted({say: 'I run it.', calls: [run('true')]}, {say: 'Done.'});
	const {agent, screen} = await showing(turnOne, {gateway, asks: true});
	await screen.press('/find divide\r');
	await screen.until('“divide” · 1/1');
	const person = questions(agent);
	const done = agent.submit('go');
	await screen.until('Run this command?');
	await person.answer({allow: true});
	await done;
	await screen.until('“divide” · 1/1');
});

test('/focus leaves only text, at full width, and Esc goes back', async () => {
	const {screen, after} = await showing([...turnOne, answer('x'.repeat(300))], {columns: 120});
	await screen.press('/focus\r');
	await screen.until((shown) => shown.includes('x'.repeat(120)));
	const rows = screen.lines();
	expect(rows.slice(0, -1).join('')).not.toMatch(/[│─┴]|mca|Activity/);
	expect(rows.at(-1)).toMatch(/^ ↑ ↓ PgUp PgDn scroll · Esc back .* idle$/);
	await after(keyOf.escape);
	expect(screen.text()).toContain('Activity');
});

test('/copy hands the last answer to the terminal and to the clipboard it is given', async () => {
	const copied: string[] = [];
	const clipboard = async (what: string) => {
		copied.push(what);
		return 'pbcopy';
	};
	const {screen} = await showing(turnOne, {clipboard});
	await screen.press('/copy\r');
	await screen.until('Copied the last answer (37 characters) with pbcopy.');
	const [, sent = ''] = /\x1b\]52;c;([^\x07]*)\x07/.exec(screen.bytes()) ?? [];
	expect([Buffer.from(sent, 'base64').toString(), ...copied]).toEqual([
		'The failing case is “divide by zero”.',
		'The failing case is “divide by zero”.',
	]);
});

test('the mouse is the terminal’s until Alt+M, then the wheel scrolls', async () => {
	const {screen, after, lines} = await showing(long);
	expect(screen.bytes()).not.toMatch(/\x1b\[\?100[0-6]h/);
	await screen.press(wheel.up);
	await screen.press(altM);
	await screen.until('The wheel scrolls.');
	expect(screen.bytes()).toContain('\x1b[?1000h\x1b[?1006h');
	// The hint takes a row of its own above the last one.
	expect(lines()[15]).toBe('line 60.');
	expect((await after(wheel.up))[1]).toBe('line 43.');
	await after(wheel.up + wheel.up);
	expect((await after(wheel.down))[1]).toBe('line 40.');
	// The composer has none of it.
	expect(lines()[17]?.trim()).toBe('❯');
	await screen.press(altM);
	await screen.until('The mouse is the terminal’s again.');
	expect(screen.bytes().endsWith('\x1b[?1000h')).toBe(false);
	expect(modes(screen.bytes())).toEqual({1000: false, 1006: false, 1007: false});
});

test('with the mouse on, leaving gives it back, and the arrows of the wheel too', async () => {
	const {screen} = await showing(long);
	await screen.press(altM);
	await screen.until('The wheel scrolls.');
	expect(modes(screen.bytes())).toEqual({1000: true, 1006: true, 1007: false});
	await screen.press(ctrl('d'));
	await screen.end();
	expect(modes(screen.bytes())).toEqual({1000: false, 1006: false, 1007: true});
	expect(screen.bytes()).toContain('\x1b[?1007h\x1b[?1007r');
});

test('in focus the mouse is the terminal’s, to select with', async () => {
	const {screen} = await showing(long);
	await screen.press(altM);
	await screen.until('The wheel scrolls.');
	await screen.press('/focus\r');
	await screen.until((shown) => !shown.includes('❯'));
	expect(modes(screen.bytes())).toMatchObject({1000: false});
	await screen.press(keyOf.escape);
	await screen.until('❯');
	expect(modes(screen.bytes())).toMatchObject({1000: true});
});

test('while somebody else has the terminal, so has it the mouse', async () => {
	const {screen} = await showing(long);
	await screen.press(altM);
	await screen.until('The wheel scrolls.');
	const before = screen.bytes().length;
	await screen.press(ctrl('l'));
	await screen.until(() => /\x1b\[\?1000l.*\x1b\[\?1000h/s.test(screen.bytes().slice(before)));
	await screen.press(wheel.up);
	await screen.until('more below');
});

test('a bug that ends the screen gives the mouse back', async () => {
	const stream = () => {
		throw new Error('a bug in the gateway');
	};
	const {screen} = await showing(long, {gateway: {name: 'broken', stream}});
	await screen.press(altM);
	await screen.until('The wheel scrolls.');
	await screen.press('go\r');
	expect(await screen.end()).toMatchObject({how: 'failed'});
	expect(modes(screen.bytes())).toEqual({1000: false, 1006: false, 1007: true});
});

/** The mouse modes that a terminal is in after these bytes. */
function modes(bytes: string): Record<number, boolean> {
	const on: Record<number, boolean> = {};
	for (const [, mode, set] of bytes.matchAll(/\x1b\[\?(1000|1006|1007)([hl])/g))
		on[Number(mode)] = set === 'h';
	return on;
}

test('code gets its colours after it was drawn, and nothing moves', async () => {
	const {screen} = await showing([...turnOne, answer('```js\nconst a = 1;\n```')]);
	await screen.until('const a = 1;');
	await highlighter.load();
	await screen.until(() => /\x1b\[35mconst/.test(screen.bytes()));
	expect(screen.text()).toContain('   const a = 1;');
});

/** A screen over items that count how often they are looked at. */
async function counting(length: number) {
	const looked = new Set<number>();
	let looks = 0;
	const items = Array.from(
		{length},
		(_, seq): Item => ({
			kind: 'assistant',
			seq,
			get text() {
				looked.add(seq);
				looks++;
				return `message ${seq}`;
			},
		}),
	);
	let view: View = {...emptyView, items};
	const listeners = new Set<() => void>();
	const store = {
		get: () => view,
		subscribe: (listener: () => void) => {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
	const screen = await openScreen({...agentWorld({gateway: saying()}), store, columns: 90, rows: 30});
	await screen.until(`message ${length - 1}`);
	return {
		screen,
		looked,
		take() {
			const taken = looks;
			looks = 0;
			return taken;
		},
		tell(event: AgentEvent) {
			view = reduce(view, event);
			for (const listener of listeners) listener();
		},
	};
}

test('of 10,000 messages only those near the window are made into rows, at first and for each key', async () => {
	const {screen, looked, take, tell} = await counting(10_000);
	// A message is two rows here: 13 of them fill the window.
	expect(looked.size).toBeLessThan(20);
	take();
	await screen.press('a');
	await screen.until('❯ a');
	expect(take()).toBe(0);
	tell({type: 'draft', text: 'it **comes', reasoning: ''});
	await screen.until('it comes');
	expect(take()).toBe(0);
	for (let page = 0; page < 3; page++) {
		const before = screen.text();
		await screen.press(keyOf.pageUp);
		await screen.until((shown) => shown !== before);
		expect(take()).toBeLessThan(40);
	}
	await screen.press(ctrlHome);
	await screen.until(/^ message 0$/m);
	expect(take()).toBeLessThan(40);
	screen.resize(60, 30);
	await screen.until(/^ message 0$/m);
	expect(looked.size).toBeLessThan(120);
});

test('a screen can begin at a message', async () => {
	const log = Array.from({length: 200}, (_, n) => user(`message number ${n + 1}`));
	const file = logFile(...events([system, ...log]));
	const world = agentWorld({gateway: saying()});
	const screen = await openScreen({...world, open: file.path, rows: 20, at: 51});
	await screen.until('message number 50');
	expect(screen.text()).not.toContain('message number 49\n');
	expect(screen.text()).not.toContain('message number 200');
});
