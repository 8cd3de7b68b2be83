import {createHash} from 'node:crypto';
import {expect, test} from 'vitest';
import type {Gateway, StreamDelta} from '../../src/agent/gateway.ts';
import {deadMs} from '../../src/ui/gate-state.ts';
import {briefHistory} from '../../src/ui/history.ts';
import type {Edited, Terminal} from '../../src/ui/terminal.ts';
import {bareTerminal} from '../../src/ui/terminal.ts';
import {agentWorld, run, saying, scripted, text} from '../helpers/agent.ts';
import {byPerson, ctrl, keyOf, movableClock, type Options, openScreen} from './screen.tsx';

/** A model that answers when it is told to; what it was asked is kept. */
function patientModel() {
	const asked: string[] = [];
	const waiting: ((answer: StreamDelta[] | Error) => void)[] = [];
	const gateway: Gateway = {
		name: 'patient',
		async *stream(request, signal) {
			asked.push(String(request.messages.at(-1)?.content));
			const answer = await new Promise<StreamDelta[] | Error>((resolve) => {
				waiting.push(resolve);
				signal.addEventListener('abort', () => resolve([]), {once: true});
			});
			if (answer instanceof Error) throw answer;
			yield* answer;
		},
	};
	return {gateway, asked, answer: (answer: StreamDelta[] | Error) => waiting.shift()?.(answer)};
}

async function opened(gateway: Gateway = saying(), options: Partial<Options> = {}, more = {}) {
	const world = agentWorld({gateway, ...more});
	const screen = await openScreen({...world, rows: 20, ...options});
	await screen.until('Enter send');
	return {world, screen};
}

test('what is sent while a turn runs waits above the composer, and is sent when the turn rests', async () => {
	const model = patientModel();
	const {screen} = await opened(model.gateway);
	await screen.press('first\r');
	await screen.until('working');
	await screen.press('second\r', 'third\r', 'a draft');
	await screen.until(/^ queued {2}second\n queued {2}third {3}↑ takes it back\n ❯ a draft$/m);
	model.answer(text('one'));
	await screen.until(/^ one/m);
	await screen.until((shown) => shown.includes('❯ second') && !shown.includes('queued  second'));
	expect(screen.text()).toMatch(/^ queued {2}third/m);
	expect(screen.text()).toContain('❯ a draft');
	model.answer(text('two'));
	await screen.until((shown) => /^ two/m.test(shown) && model.asked.length === 3);
	model.answer(text('three'));
	await screen.until(/idle$/);
	expect(model.asked).toEqual(['first', 'second', 'third']);
	expect(screen.text()).not.toContain('queued');
	expect(screen.text()).toContain('❯ a draft');
});

test('Up on an empty composer takes the last of what waits back', async () => {
	const model = patientModel();
	const {screen} = await opened(model.gateway);
	await screen.press('first\r');
	await screen.until('working');
	await screen.press('second\r', 'third\r', keyOf.up);
	await screen.until(/^ queued {2}second {3}↑ takes it back\n ❯ third$/m);
	await screen.press(' thing\r');
	await screen.until(/^ queued {2}third thing/m);
});

test('after a cancel what waits goes back into the composer, before what is being written', async () => {
	const model = patientModel();
	const {screen} = await opened(model.gateway);
	await screen.press('first\r');
	await screen.until('working');
	await screen.press('second\r', 'and more');
	await screen.press(keyOf.escape);
	await screen.until(/❯ second\n {3}and more$/m);
	await screen.until(/idle$/);
	expect(model.asked).toEqual(['first']);
	expect(screen.text()).not.toContain('queued');
});

test('a command does not wait: /cost answers while a turn runs', async () => {
	const model = patientModel();
	const {screen} = await opened(model.gateway);
	await screen.press('first\r');
	await screen.until('working');
	await screen.press('/cost\r');
	await screen.until('This session:');
	await screen.press('/new\r');
	await screen.until('A turn is running. Esc stops it first.');
});

test('a long paste is a token, and what is sent is the whole of it', async () => {
	const gateway = saying(text('read'));
	const {screen} = await opened(gateway);
	const long = `${'a line of code\n'.repeat(65_000)}the end`;
	await screen.press('look: ', `\x1b[200~${long}\x1b[201~`);
	await screen.until('❯ look: [pasted 65,001 lines]');
	await screen.press(keyOf.backspace);
	await screen.until(/❯ look:\s*$/m);
	await screen.press(ctrl('_'));
	await screen.until('❯ look: [pasted 65,001 lines]');
	await screen.press(keyOf.enter);
	await screen.until(/^ read/m);
	const sha = (of: string) => createHash('sha256').update(of).digest('hex');
	expect(sha(String(gateway.requests[0]?.messages.at(-1)?.content))).toBe(sha(`look: ${long}`));
});

test('a key in a large draft writes as little, and draws as little, as in a small one', async () => {
	const {screen} = await opened();
	for (let part = 0; part < 300; part++) await screen.press(`${'word '.repeat(180)}.`);
	await screen.press('END');
	await screen.until('END');
	const before = screen.bytes().length;
	await screen.press('!');
	await screen.until('END!');
	expect(screen.bytes().length - before).toBeLessThan(400);
});

test('Ctrl+R finds an earlier prompt, an older one, and takes it without sending', async () => {
	const history = briefHistory();
	for (const prompt of ['fix the build', 'run it', 'fix the tests\nall of them']) history.add(prompt);
	const gateway = saying();
	const {screen} = await opened(gateway, {history});
	await screen.press('kept', ctrl('r'));
	await screen.until(/❯ search: *\n {3}fix the tests\n {3}all of them/);
	expect(screen.cursor()).toEqual({x: 11, y: 16});
	await screen.press('FIX');
	await screen.until('search: FIX');
	await screen.press(ctrl('r'));
	await screen.until(/search: FIX\n {3}fix the build/);
	await screen.press(keyOf.escape);
	await screen.until('❯ kept');
	await screen.press(ctrl('r'), 'build\r');
	await screen.until('❯ fix the build');
	expect(gateway.requests).toEqual([]);
	// And back to what was there before.
	await screen.press(ctrl('_'));
	await screen.until('❯ kept');
	await screen.press(ctrl('r'), 'nothing like it');
	await screen.until('No prompt has it.');
	await screen.press(ctrl('c'));
	await screen.until('❯ kept');
});

test('what was sent is remembered, commands too, before what the session has', async () => {
	const history = briefHistory();
	history.add('of yesterday');
	const {screen} = await opened(saying(text('done')), {history});
	await screen.press('hello\r');
	await screen.until(/^ done/m);
	await screen.press('/cost\r');
	await screen.until('This session:');
	expect(history.past()).toEqual(['/cost', 'hello', 'of yesterday']);
	await screen.press(keyOf.up, keyOf.up, keyOf.up);
	await screen.until('❯ of yesterday');
	await screen.press(keyOf.down);
	await screen.until(/❯ hello *\n Enter/);
});

test('an arrow three times over, as a wheel writes it, leaves a draft as it is', async () => {
	const history = briefHistory();
	history.add('old');
	const {screen} = await opened(saying(), {history});
	await screen.press('a draft');
	await screen.press('\x1bOA\x1bOA\x1bOA', '\x1bOB\x1bOB');
	await screen.press('!');
	await screen.until('❯ a draft!');
});

test('Shift+Enter is a new line where the terminal says so, in either of two ways', async () => {
	const {screen} = await opened();
	await screen.press('one', '\x1b[13;2u', 'two', '\x1b[27;2;13~', 'three', '\x1b[106;5u', 'four');
	await screen.until(/❯ one\n {3}two\n {3}three\n {3}four/);
});

test('answers of the terminal never land in the composer', async () => {
	const {screen} = await opened();
	await screen.press(
		'\x1b[?1u',
		'\x1b[0n',
		'\x1b[?62;22c',
		'\x1b[24;80R',
		'\x1b]11;rgb:0000/0000/0000\x07',
		'\x1b[I',
		'\x1b[O',
	);
	await screen.press('\x1b[', '?1u');
	await screen.press('text');
	await screen.until('❯ text');
});

test('a paste that never ends does not lock the keyboard', async () => {
	const {screen} = await opened();
	await screen.press('\x1b[200~half a paste', ctrl('c'));
	await screen.press('typed');
	await screen.until('❯ typed');
	await screen.press(ctrl('c'), ctrl('c'));
	await screen.until('Ctrl+C again leaves.');
});

test('? shows the keys where nothing is typed, and is a character elsewhere', async () => {
	const {screen} = await opened();
	await screen.press('why?');
	await screen.until('❯ why?');
	await screen.press(ctrl('c'), '?');
	await screen.until(/^ Keys$/m);
	expect(screen.text()).toContain('Ctrl+_');
});

function terminalWith(edited: Edited): Terminal & {given: string[]; stops: number} {
	const terminal = {
		...bareTerminal(),
		given: [] as string[],
		stops: 0,
		async edit(text: string) {
			terminal.given.push(text);
			return edited;
		},
		async stop() {
			terminal.stops++;
		},
	};
	return terminal;
}

test('Ctrl+G hands over the whole draft and takes what comes back; undo goes before it', async () => {
	const terminal = terminalWith({text: 'rewritten\nin two lines'});
	const {screen} = await opened(saying(), {terminal});
	const long = 'x\n'.repeat(30);
	await screen.press(`\x1b[200~${long}\x1b[201~`, ctrl('g'));
	await screen.until(/❯ rewritten\n {3}in two lines/);
	expect(terminal.given).toEqual([long]);
	await screen.press(ctrl('_'));
	await screen.until('[pasted 30 lines]');
});

test('Ctrl+Z stops, whatever is on the screen', async () => {
	const terminal = terminalWith({text: ''});
	const {screen} = await opened(saying(), {terminal});
	await screen.press(ctrl('z'), '/help\r', ctrl('z'), '\x1b[122;5u');
	expect(terminal.stops).toBe(3);
});

test('Ctrl+L twice at once draws anew and harms nothing', async () => {
	const {screen} = await opened();
	await screen.press('\x0c\x0c', '\x1b[108;5u\x1b[108;5u', 'x');
	await screen.until('❯ x');
});

test('a paste answers no question', async () => {
	const {screen, world} = await opened(
		scripted({say: '', calls: [run('echo done')]}, {say: 'Done.'}),
		{},
		byPerson,
	);
	const clock = movableClock();
	await screen.press('go\r');
	await screen.until('❯ No');
	clock.pass(deadMs);
	await screen.press('\x1b[200~y\x1b[201~', '\x1b[200~yes\r\x1b[201~');
	expect(world.agent.busy).toBe(true);
	expect(screen.text()).toContain('❯ No');
	await screen.press('y');
	await screen.until('Done.');
});
