import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Gateway, StreamDelta} from '../../src/agent/gateway.ts';
import type {Step} from '../../src/agent/scripted.ts';
import {deadMs} from '../../src/ui/gate-state.ts';
import {agentWorld, run, saying, scripted, text} from '../helpers/agent.ts';
import {events, logFile, turnOne} from '../helpers/log-file.ts';
import {byPerson, ctrl, keyOf, movableClock, openScreen} from './screen.tsx';

type More = {gateway?: Gateway; columns?: number; rows?: number; open?: string; maxSteps?: number};

/** A screen whose model makes these calls, one message each, and then says Done. */
async function asking(calls: NonNullable<Step['calls']>, {gateway, maxSteps, ...size}: More = {}) {
	const steps = calls.map((call) => ({say: '', calls: [call]}));
	const world = agentWorld({
		gateway: gateway ?? scripted(...steps, {say: 'Done.'}),
		...byPerson,
		...(maxSteps ? {maxSteps} : {}),
	});
	const clock = movableClock();
	const screen = await openScreen({...world, ...size});
	await screen.until('idle');
	return {
		world,
		screen,
		clock,
		/** Send the prompt, and be past the time in which the question hears nothing. */
		async ask(question: string | RegExp = 'waits for you') {
			await screen.press('go\r');
			await screen.until(question);
			await screen.until('❯ No');
			clock.pass(deadMs);
		},
		/** What the model was told of its calls. */
		async told() {
			const {events: all} = await world.log();
			return all.flatMap((event) =>
				event.type === 'message' && event.message.role === 'tool' ? [event.message.content] : [],
			);
		},
	};
}

const calling = (id: string, command: string): StreamDelta[] => [
	{type: 'call', index: 0, id, name: 'run_command', args: JSON.stringify({command})},
	{type: 'finish', reason: 'tool_calls'},
];

test('the whole command is shown, with what could not be seen spelled out', async () => {
	const command = `echo safe\u202e # ${'\u200b'}\x1b[2K\rrm -rf . ${'x'.repeat(150)} the end`;
	const {screen, ask} = await asking([run(command)], {columns: 80});
	await ask('Run this command?  run_command  commands are asked');
	expect(screen.text().replace(/\n +/g, '')).toContain('echo safe⟦U+202E⟧ # ⟦U+200B⟧\\x1b[2K\\x0drm -rf .');
	expect(screen.text()).toContain('x the end');
	expect(screen.text()).toMatch(/ {2}❯ No +Yes +No, and say why/);
	expect(screen.bytes()).not.toMatch(/\x1b\[2K\r?rm|\u202e|\u200b/);
});

test('keys that come with the question do not answer it', async () => {
	const {screen, world, clock, told} = await asking([run('echo done > made')]);
	await screen.press('go\r');
	await screen.until('❯ No');
	await screen.press('yes\r', 'y', keyOf.right, keyOf.enter, keyOf.escape, 'n');
	expect(world.agent.busy).toBe(true);
	clock.pass(deadMs);
	await screen.press(keyOf.right);
	await screen.until('❯ Yes');
	await screen.press(keyOf.enter);
	await screen.until('Done.');
	expect(existsSync(join(world.workspace, 'made'))).toBe(true);
	expect(await told()).toEqual([expect.stringMatching(/^Exit code 0/)]);
});

test('Enter says no, and the model is told', async () => {
	const {screen, world, ask, told} = await asking([run('echo done > made')]);
	await ask();
	await screen.press(keyOf.enter);
	await screen.until('Done.');
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
	expect(await told()).toEqual(['The user refused this call.']);
	expect(screen.text()).toMatch(/✗ run_command .*refused/);
});

test.each([
	['key by key', ['use', ' npm', '\r']],
	['with Enter in the same chunk', ['use npm\r']],
])('no can say why, typed %s', async (_, chunks) => {
	const {screen, ask, told} = await asking([run('yarn test')]);
	await ask();
	await screen.press('r');
	await screen.until('No, because:');
	await screen.press(...chunks);
	await screen.until('Done.');
	expect(await told()).toEqual(['The user refused this call: use npm']);
});

test('Esc leaves the reason, and then says no', async () => {
	const {screen, ask, told} = await asking([run('yarn test')]);
	await ask();
	await screen.press('r');
	await screen.until('No, because:');
	await screen.press('hm', keyOf.escape);
	await screen.until('❯ No, and say why');
	await screen.press(keyOf.escape);
	await screen.until('Done.');
	expect(await told()).toEqual(['The user refused this call.']);
});

test('a reason longer than the row leaves everything in its place', async () => {
	const {screen, ask, told} = await asking([run('yarn test')], {columns: 60, rows: 16});
	await ask();
	await screen.press('r');
	await screen.until('No, because:');
	const reason = `${'it takes long and '.repeat(8)}that is all`;
	await screen.press(reason);
	await screen.until(/^ {2}No, because: .*that is all/m);
	expect(screen.lines().at(-1)).toMatch(/waits for you$/);
	expect(screen.lines()[0]).toMatch(/^ mca {2}s-/);
	await screen.press(keyOf.enter);
	await screen.until('Done.');
	expect(await told()).toEqual([`The user refused this call: ${reason}`]);
});

test('the draft that was being typed stays, and its letters do not answer', async () => {
	const script = scripted({say: '', calls: [run('yarn test')]}, {say: 'Done.'});
	let answer = () => {};
	const typed = new Promise<void>((resolve) => {
		answer = resolve;
	});
	const gateway: Gateway = {
		...script,
		async *stream(request, signal) {
			await typed;
			yield* script.stream(request, signal);
		},
	};
	const {screen, world, clock, told} = await asking([], {gateway});
	await screen.press('go\r');
	await screen.until('working');
	await screen.press('yes please');
	await screen.until('❯ yes please');
	answer();
	await screen.until('❯ No');
	clock.pass(deadMs);
	await screen.press('y', 'n', 'r');
	expect(world.agent.busy).toBe(true);
	await screen.press(keyOf.escape);
	await screen.until('Done.');
	await screen.until('❯ yes please');
	expect(await told()).toEqual(['The user refused this call.']);
});

test('where nothing was typed, a letter answers', async () => {
	const {screen, ask, told} = await asking([run('echo hi')]);
	await ask();
	await screen.press('y');
	await screen.until('Done.');
	expect(await told()).toEqual([expect.stringContaining('hi')]);
});

test('each question begins anew, also where the model gives its calls one id', async () => {
	const gateway = saying(calling('call_0', 'echo one'), calling('call_0', 'echo two > made'), text('Done.'));
	const {screen, world, ask, clock} = await asking([], {gateway});
	await ask('echo one');
	await screen.press(keyOf.right);
	await screen.until('❯ Yes');
	await screen.press(keyOf.enter);
	await screen.until('echo two > made');
	await screen.until('❯ No');
	await screen.press(keyOf.enter, 'y', keyOf.right);
	expect(screen.text()).toContain('❯ No');
	expect(world.agent.busy).toBe(true);
	clock.pass(deadMs);
	await screen.press(keyOf.enter);
	await screen.until('Done.');
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
});

const long = `${Array.from({length: 60}, (_, n) => `echo ${n}`).join('\n')}\necho end > made`;

test('yes waits until all of a long command was shown', async () => {
	const {screen, world, ask} = await asking([run(long)], {rows: 24});
	await ask(/rows 1 to 9 of 61/);
	await screen.press('y');
	await screen.until('❯ Yes (after reading 52 more rows: PgDn)');
	await screen.press(keyOf.enter);
	expect(world.agent.busy).toBe(true);
	for (let page = 0; page < 7; page++) await screen.press(keyOf.pageDown);
	await screen.until(/rows 53 to 61 of 61/);
	await screen.until('❯ Yes   ');
	expect(screen.text()).toContain('echo end > made');
	await screen.press(keyOf.enter);
	await screen.until('Done.');
	expect(existsSync(join(world.workspace, 'made'))).toBe(true);
});

test('what was read at another width is read anew', async () => {
	const {screen, world, ask} = await asking([run(`echo ${'word '.repeat(300)}\n${long}`)], {
		columns: 40,
		rows: 24,
	});
	await ask(/rows 1 to 9 of/);
	for (let page = 0; page < 7; page++) await screen.press(keyOf.pageDown);
	await screen.until(/rows 57 to 65 of/);
	screen.resize(160, 24);
	await screen.until(/rows 1 to 9 of 7\d/);
	await screen.press('y', keyOf.enter);
	await screen.until(/❯ Yes \(after reading 6\d more rows/);
	expect(world.agent.busy).toBe(true);
	await screen.press(keyOf.escape);
	await screen.until('Done.');
});

test('what cannot be seen is not answered', async () => {
	const {screen, world, ask} = await asking([run('echo done > made')]);
	await ask();
	screen.resize(39, 9);
	await screen.until('mca needs 40 columns');
	await screen.press('y', keyOf.right, keyOf.enter);
	expect(world.agent.busy).toBe(true);
	screen.resize(120, 36);
	await screen.until('❯ No');
	await screen.press(keyOf.escape);
	await screen.until('Done.');
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
});

test('on the smallest screen the question and its answers are seen, under a banner too', async () => {
	const file = logFile(...events(turnOne)).append('{"seq":9,"ts"');
	const {screen, world} = await asking([run('ls\npwd')], {columns: 40, rows: 10, open: file.path});
	await screen.press('go\r');
	await screen.until('❯ No');
	const rows = screen.lines();
	expect(rows[0]).toMatch(/^ mca/);
	expect(rows[8]).toMatch(/^ {2}❯ No +Yes/);
	expect(rows[9]).toMatch(/waits for you$/);
	expect(rows.join('\n')).toMatch(/Run this command\?.*\n {4}ls\n {4}pwd\n/);
	expect(world.agent.busy).toBe(true);
});

test('a change is asked about with its diff', async () => {
	const edits = [{old_text: 'return a - b;', new_text: 'return b - a;'}];
	const change = {name: 'edit_file', args: {path: 'src/calc.js', edits}};
	const {screen, ask} = await asking([change]);
	await ask('Change this file?  src/calc.js');
	expect(screen.text()).toMatch(/^ {4}- +return a - b;$/m);
	expect(screen.text()).toMatch(/^ {4}\+ +return b - a;$/m);
	await screen.press(keyOf.escape);
	await screen.until('Done.');
});

test('a name with a line end in it takes one row', async () => {
	const {screen, ask} = await asking([{name: 'write_file', args: {path: 'a\nb.txt', content: 'x'}}], {
		rows: 20,
	});
	await ask('Change this file?');
	expect(screen.text()).toContain('a\\nb.txt');
	expect(screen.lines().at(-1)).toMatch(/waits for you$/);
	await screen.press(keyOf.escape);
	await screen.until('Done.');
});

test('Ctrl+C at a question stops the turn, and every call has its answer', async () => {
	const {screen, ask, told, world} = await asking([run('echo one')]);
	await ask();
	await screen.press(ctrl('c'));
	await screen.until('Stopped.');
	await screen.until(/idle$/);
	expect(await told()).toEqual(['cancelled by the user; stop and wait']);
	expect(world.agent.busy).toBe(false);
});

test('after as many model calls as allowed it is asked whether to go on', async () => {
	const {screen, ask} = await asking([{name: 'read_file', args: {path: 'README.md'}}], {maxSteps: 1});
	await ask('This turn has asked the model 1 times. Go on?');
	await screen.press(keyOf.enter);
	await screen.until('The turn stopped after 1 model calls.');
});
