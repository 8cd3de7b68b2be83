import {expect, test} from 'vitest';
import {kinds, lastAnswer, makeWorld, scriptOf} from '../helpers/mca.ts';
import {allow, ask, gateListens, prompts} from '../helpers/terminal.ts';

const turnOne = ['system', 'user', 'usage', 'assistant', 'tool_end', 'tool', 'usage', 'assistant'];
const turnTwo = [
	...['user', 'usage', 'assistant', 'tool_end', 'tool'],
	...['usage', 'assistant', 'tool_end', 'tool', 'usage', 'assistant'],
];

test('turn one asks before it runs the tests, names the failing case and is 8 events; turn two makes all four tests green', async () => {
	const world = makeWorld();
	const terminal = world.open();

	await terminal.untilIdle('new session');
	terminal.type(prompts.ask);
	await terminal.until(`❯ ${prompts.ask}`);
	terminal.press('enter');
	await terminal.until('Run this command?');
	expect(terminal.text()).toContain('node --test');
	await gateListens(terminal);
	terminal.type('y');
	await terminal.untilIdle('The failing case is “divide by zero”');
	expect(kinds(world.log())).toEqual(turnOne);
	expect(world.log().map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);

	const before = world.source();
	terminal.type(prompts.fix);
	terminal.press('enter');
	await terminal.until('Change this file?');
	expect(terminal.text()).toContain("+  if (b === 0) throw new RangeError('Cannot divide by zero');");
	expect(world.source()).toBe(before);
	await gateListens(terminal);
	terminal.type('y');
	await terminal.until('Run this command?');
	await gateListens(terminal);
	terminal.type('y');
	await terminal.untilIdle('All 4 cases pass.');

	expect(kinds(world.log())).toEqual([...turnOne, ...turnTwo]);
	expect(world.source()).toBe(
		before.replace(
			'divide(a, b) {\n',
			"divide(a, b) {\n  if (b === 0) throw new RangeError('Cannot divide by zero');\n",
		),
	);
	expect(world.ids()).toHaveLength(1);
});

test('everything beside the messages is in the sidebar, with its seq', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await ask(terminal, prompts.ask, 'The failing case is');
	const sidebar = terminal.screen().map((row) => row.slice(row.indexOf('│') + 1));
	expect(sidebar.join('\n')).toMatch(
		/Activity\n 3 {2}usage .*tokens.*\n 5 {2}✗ run_command {2}exit 1.*\n 7 {2}usage/,
	);
});

test('Enter on a question says no: nothing is run, and the model is told', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await terminal.until('Run this command?');
	await gateListens(terminal);
	terminal.press('enter');
	await terminal.untilIdle('I ran the tests, but their output names no failing case.');
	expect(world.log()[4]).toMatchObject({
		type: 'tool_end',
		stoppedBy: 'gate',
		verdict: {state: 'deny', by: 'person'},
		result: {ok: false, content: 'refused'},
	});
	expect(world.log()[5]).toMatchObject({message: {role: 'tool', content: 'The user refused this call.'}});
});

test('a refusal can say why, and the model reads it', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await terminal.until('Run this command?');
	await gateListens(terminal);
	terminal.type('r');
	await terminal.until('No, because:');
	terminal.type('only the unit tests, please');
	await terminal.until('No, because: only the unit tests, please');
	terminal.press('enter');
	await terminal.untilIdle('I ran the tests, but their output names no failing case.');
	expect(world.log()[5]).toMatchObject({
		message: {role: 'tool', content: 'The user refused this call: only the unit tests, please'},
	});
});

test('the arrows choose yes as well as the letter does', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await allow(terminal);
	await terminal.untilIdle('The failing case is “divide by zero”');
});

test('what was typed for the next prompt does not approve a command that comes up meanwhile', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await terminal.until('Run this command?');
	terminal.type('yes\r');
	await gateListens(terminal);
	expect(kinds(world.log())).toEqual(['system', 'user', 'usage', 'assistant']);
	terminal.press('enter');
	await terminal.untilIdle('I ran the tests, but');
	expect(world.log()[4]).toMatchObject({verdict: {state: 'deny', by: 'person'}});
});

test('where a draft is being typed, a single letter answers nothing', async () => {
	const world = makeWorld({env: {MCA_SCRIPT_PACE_MS: '150'}});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type(`${prompts.ask}\r`);
	await terminal.until('working');
	terminal.type('and then');
	await terminal.until('❯ and then');
	await terminal.until('Run this command?');
	await gateListens(terminal);
	terminal.type('y');
	// The key after it is seen to be answered, so that one was read and left alone.
	terminal.press('right');
	await terminal.until('❯ Yes');
	expect(kinds(world.log())).toEqual(['system', 'user', 'usage', 'assistant']);
	terminal.press('escape');
	await terminal.untilIdle('❯ and then');
	expect(world.log()[4]).toMatchObject({verdict: {state: 'deny', by: 'person'}});
});

test('a command is shown with everything that is invisible in it spelled out', async () => {
	const command = 'echo safe\u202e\u001b[2K # \u200bhidden';
	const world = makeWorld({script: scriptOf('go', {name: 'run_command', args: {command}})});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('go\r');
	await terminal.until('Run this command?');
	expect(terminal.text()).toContain('echo safe⟦U+202E⟧\\x1b[2K # ⟦U+200B⟧hidden');
});

test('with the sandbox on, the tests run unasked in it, and only the change is asked', async () => {
	const world = makeWorld({sandbox: 'on'});
	const terminal = world.open();
	await terminal.untilIdle('new session');
	await terminal.until('· sandbox');
	terminal.type(`${prompts.ask}\r`);
	await terminal.untilIdle('The failing case is “divide by zero”');
	expect(kinds(world.log())).toEqual(turnOne);
	expect(world.log()[4]).toMatchObject({type: 'tool_end', verdict: {state: 'allow', by: 'sandbox'}});
	terminal.type(`${prompts.fix}\r`);
	await terminal.until('Change this file?');
	await allow(terminal);
	await terminal.untilIdle('All 4 cases pass.');
	expect(kinds(world.log())).toEqual([...turnOne, ...turnTwo]);
});

test('the demo opens where no model is configured, with its first prompt in the composer and a repository of its own', async () => {
	const world = makeWorld({env: {MOCK: ''}});
	const terminal = world.open();
	await terminal.untilIdle(`❯ ${prompts.ask}`);
	expect(terminal.screen()[0]).toMatch(/mca {2}DEMO {2}new session · ~\/home\/demo\/repo · scripted/);
	terminal.press('enter');
	await allow(terminal);
	await terminal.untilIdle('The failing case is “divide by zero”');
	terminal.press('tab');
	await terminal.until((screen) => screen.includes(`❯ ${prompts.fix}`) && !screen.includes('Tab takes it'));
	terminal.press('enter');
	for (const question of ['Change this file?', 'Run this command?']) {
		await terminal.until(question);
		await allow(terminal);
	}
	await terminal.untilIdle('All 4 cases pass.');
	expect(world.source()).not.toContain('RangeError');
	expect(lastAnswer(world.log())).toContain('All 4 cases pass.');
});
