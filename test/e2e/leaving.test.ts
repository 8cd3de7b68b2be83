import {expect, test} from 'vitest';
import {kinds, makeWorld, scriptOf, type World} from '../helpers/mca.ts';
import {ask, gateListens, prompts, type Terminal} from '../helpers/terminal.ts';
import {longSleep, running, until} from '../tools/scene.ts';

/** A command that would run for hours, and runs now. */
async function longCommand() {
	const sleep = longSleep();
	const world = makeWorld({script: scriptOf('wait', {name: 'run_command', args: {command: sleep}})});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('wait\r');
	await gateListens(terminal);
	terminal.type('y');
	await until(() => running(sleep).length > 0);
	return {world, terminal, sleep};
}

for (const key of ['ctrl+c', 'escape'] as const) {
	test(`${key} stops the turn: the command is gone, and its call is answered`, async () => {
		const {world, terminal, sleep} = await longCommand();
		terminal.press(key);
		await terminal.untilIdle('Stopped.');
		await until(() => running(sleep).length === 0);
		expect(running(sleep)).toEqual([]);
		expect(kinds(world.log())).toEqual(['system', 'user', 'usage', 'assistant', 'tool_end', 'tool']);
		expect(world.log()[4]).toMatchObject({stoppedBy: 'cancel', result: {ok: false}});
	});
}

test('Ctrl+C stops the turn, then clears the line, then says how to leave, then leaves', async () => {
	const {terminal} = await longCommand();
	terminal.type('a draft');
	await terminal.until('❯ a draft');
	terminal.press('ctrl+c');
	await terminal.untilIdle('Stopped.');
	expect(terminal.text()).toContain('❯ a draft');
	terminal.press('ctrl+c');
	await terminal.untilIdle((screen) => !screen.includes('a draft'));
	terminal.press('ctrl+c');
	await terminal.until('Ctrl+C again leaves.');
	// Both at once: on a busy machine the one before may be too long ago.
	terminal.type('\x03\x03');
	expect(await terminal.exit()).toEqual({status: 0, signal: undefined});
});

test('Ctrl+C while a question is up stops the turn, and nothing is run', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await terminal.until('Run this command?');
	terminal.press('ctrl+c');
	await terminal.untilIdle('Stopped.');
	expect(kinds(world.log()).slice(4)).toEqual(['tool_end', 'tool']);
	expect(world.log()[4]).toMatchObject({stoppedBy: 'cancel'});
});

test('stopped while the answer streams, what was said so far is kept as an error event and shown', async () => {
	const world = makeWorld({env: {MCA_SCRIPT_PACE_MS: '200'}});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await terminal.until('Let me run');
	terminal.press('escape');
	await terminal.untilIdle('✗ stopped by the user');
	expect(kinds(world.log())).toEqual(['system', 'user', 'error']);
	expect(world.log()[2]).toMatchObject({did: 'cancelled', partial: expect.stringMatching(/^Let me run/)});
});

test('Ctrl+D leaves where nothing is typed, and only there', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('x');
	await terminal.until('❯ x');
	terminal.press('ctrl+d', 'backspace');
	await terminal.untilIdle((screen) => !screen.includes('❯ x'));
	terminal.press('ctrl+d');
	expect(await terminal.exit()).toEqual({status: 0, signal: undefined});
});

test('after leaving, one line says which session it was and how to go on with it', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await ask(terminal, prompts.ask, 'The failing case is');
	terminal.press('ctrl+d');
	await terminal.exit();
	const id = world.newest();
	const said = terminal.screen().filter((row) => row !== '');
	expect(said).toEqual([
		expect.stringMatching(new RegExp(`^Session ${id} · \\d+ tokens · go on with: mca --resume ${id}$`)),
	]);
});

test('leaving a session that never began says nothing and leaves no file', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.press('ctrl+d');
	await terminal.exit();
	expect(terminal.text().trim()).toBe('');
	expect(world.files()).toEqual({});
});

const ways: {how: string; leave: (terminal: Terminal) => void; status: number}[] = [
	{how: '/quit', leave: (terminal) => terminal.type('/quit\r'), status: 0},
	{how: 'Ctrl+C Ctrl+C', leave: (terminal) => terminal.type('\x03\x03'), status: 0},
	{how: 'SIGTERM', leave: (terminal) => process.kill(terminal.pid(), 'SIGTERM'), status: 143},
	{how: 'SIGHUP', leave: (terminal) => process.kill(terminal.pid(), 'SIGHUP'), status: 129},
	{how: 'SIGINT', leave: (terminal) => process.kill(terminal.pid(), 'SIGINT'), status: 130},
];

async function expectAsFound(terminal: Terminal, status: number) {
	const left = await terminal.left();
	expect(left).toEqual({before: left.before, after: left.before, status, cooked: true});
	expect(left.before).toBeTruthy();
	expect(terminal.modes()).toEqual({alternateScreen: false, cursorShown: true, bracketedPaste: false});
}

for (const {how, leave, status} of ways) {
	test(`the terminal is left as it was found: ${how}`, async () => {
		const world: World = makeWorld();
		const terminal = world.open({shell: true});
		await terminal.untilIdle('new session');
		await terminal.until(() => terminal.modes().alternateScreen && terminal.modes().bracketedPaste);
		leave(terminal);
		await expectAsFound(terminal, status);
	});
}

test('the terminal is left as it was found, and the command is gone, where SIGTERM comes in the middle of a turn', async () => {
	const sleep = longSleep();
	const world = makeWorld({script: scriptOf('wait', {name: 'run_command', args: {command: sleep}})});
	const terminal = world.open({shell: true});
	await terminal.untilIdle();
	terminal.type('wait\r');
	await gateListens(terminal);
	terminal.type('y');
	await until(() => running(sleep).length > 0);
	process.kill(terminal.pid(), 'SIGTERM');
	await expectAsFound(terminal, 143);
	await until(() => running(sleep).length === 0);
	expect(running(sleep)).toEqual([]);
});
