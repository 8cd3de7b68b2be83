import {expect, test} from 'vitest';
import {kinds, makeWorld} from '../helpers/mca.ts';
import {ask, prompts, type Terminal} from '../helpers/terminal.ts';

/** A session of two turns (19 events) on the screen. */
async function twoTurns() {
	const world = makeWorld();
	const parent = await world.played(prompts.ask, prompts.fix);
	const before = world.bytes(parent);
	const terminal = world.open({args: ['--resume', parent]});
	await terminal.untilIdle('All 4 cases pass.');
	return {world, parent, before, terminal};
}

async function openPicker(terminal: Terminal) {
	terminal.press('escape', 'escape');
	await terminal.until('Fork: go on from here in a new session');
}

/** The numbers of the points that are listed, the selected one marked. */
function points(terminal: Terminal): string[] {
	return terminal.screen().flatMap((row) => /^ (❯ | {2})(\d+) /.exec(row)?.slice(1, 3).join('') ?? []);
}

test('Esc Esc lists the clean boundaries; Up and Enter fork at one, and the parent stays byte for byte', async () => {
	const {world, parent, before, terminal} = await twoTurns();
	await openPicker(terminal);
	expect(points(terminal)).toEqual(['  2', '  8', '  9', '❯ 19']);

	terminal.press('up');
	await terminal.until(/^ ❯ 9 /m);
	terminal.press('up');
	await terminal.until(/^ ❯ 8 /m);
	// The preview shows the conversation as it was there.
	expect(terminal.text()).toMatch(/│ The failing case is/);
	expect(terminal.text()).not.toMatch(/│ All 4 cases pass/);
	terminal.press('enter');
	await terminal.untilIdle(`Forked ${parent} at 8.`);

	const child = world.newest();
	expect(child).not.toBe(parent);
	expect(terminal.screen()[0]).toContain(child);
	const kept = before.split('\n').slice(0, 8).join('\n');
	expect(world.bytes(child).startsWith(`${kept}\n`)).toBe(true);
	expect(world.log(child).slice(8)).toMatchObject([
		{seq: 9, type: 'fork', from: parent, atSeq: 8, origin: parent, kind: 'fork'},
	]);
	expect(world.bytes(parent)).toBe(before);

	await ask(terminal, prompts.which, 'The case that failed was “divide by zero”.');
	expect(kinds(world.log(child)).slice(9)).toEqual(['user', 'usage', 'assistant']);
	expect(world.bytes(parent)).toBe(before);
});

test('a fork at a question rests until Enter asks for the answer', async () => {
	const {world, parent, terminal} = await twoTurns();
	await openPicker(terminal);
	terminal.press('up');
	await terminal.until(/^ ❯ 9 /m);
	terminal.press('enter');
	await terminal.untilIdle(`Forked ${parent} at 9.`);
	expect(terminal.text()).toContain('Enter asks the model for the answer it owes');
	const child = world.newest();
	expect(kinds(world.log(child)).slice(8)).toEqual(['user', 'fork']);

	terminal.press('enter');
	// The repository is already fixed, so the edit is not even asked.
	await terminal.until('Run this command?');
	expect(kinds(world.log(child)).slice(8, 12)).toEqual(['user', 'fork', 'usage', 'assistant']);
});

test('/fork with an event that is no boundary says why, lists those that are, and writes nothing', async () => {
	const {world, terminal} = await twoTurns();
	const files = world.files();
	terminal.type('/fork 4\r');
	await terminal.untilIdle('Event 4 is not a fork point: its tool calls have no results at that point.');
	expect(terminal.text()).toContain('Fork points are 2, 8, 9 and 19.');
	expect(world.files()).toEqual(files);

	terminal.type('/fork 8\r');
	await terminal.untilIdle('at 8.');
	expect(world.ids()).toHaveLength(2);
});

test('e in the picker forks before a question and puts its text into the composer', async () => {
	const {world, parent, before, terminal} = await twoTurns();
	await openPicker(terminal);
	terminal.type('e');
	await terminal.until('choose one of your own messages');
	terminal.press('up');
	await terminal.until(/^ ❯ 9 /m);
	terminal.type('e');
	await terminal.untilIdle((screen) => screen.includes(`❯ ${prompts.fix}`) && screen.includes(`at 8.`));
	expect(kinds(world.log()).slice(6)).toEqual(['usage', 'assistant', 'fork']);
	expect(world.log().at(-1)).toMatchObject({from: parent, atSeq: 8});
	expect(world.bytes(parent)).toBe(before);
});

test('e on the first question begins a new session with its text', async () => {
	const {world, parent, before, terminal} = await twoTurns();
	await openPicker(terminal);
	terminal.press('home');
	await terminal.until(/^ ❯ 2 /m);
	terminal.type('e');
	await terminal.untilIdle('new session');
	await terminal.until(`❯ ${prompts.ask}`);
	expect(world.ids()).toEqual([parent]);
	expect(world.bytes(parent)).toBe(before);
});

test('Esc leaves the picker and nothing is written', async () => {
	const {world, terminal} = await twoTurns();
	const files = world.files();
	await openPicker(terminal);
	terminal.press('escape');
	await terminal.untilIdle((screen) => !screen.includes('Fork: go on from here'));
	expect(world.files()).toEqual(files);
});
