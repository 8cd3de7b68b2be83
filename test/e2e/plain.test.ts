import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {kinds, lastAnswer, makeWorld, scriptOf, type World} from '../helpers/mca.ts';
import {cleanEnvironment, entry, prompts, type Terminal} from '../helpers/terminal.ts';

/** Whatever moves the cursor, wipes, colours or rings: nothing of it may be in what is read aloud. */
const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/** All that was written, as lines; a terminal's own line ends and the echo of what was typed are in it. */
const said = (terminal: Terminal) => terminal.bytes.replaceAll('\r\n', '\n');

async function opened(world: World, options: Parameters<World['open']>[0] = {args: ['--plain']}) {
	const terminal = world.open(options);
	await terminal.until('/help lists the commands');
	await terminal.until(/^> *$/m);
	return terminal;
}

test('--plain asks in words, is answered in words, and only ever appends', async () => {
	const world = makeWorld();
	const terminal = await opened(world);
	terminal.type(`${prompts.ask}\r`);
	await terminal.until(/^Working\.$/m);
	await terminal.until(/Allow run_command\?/);
	await terminal.until(/Type yes, no, no and a reason, or always/);
	// What comes too soon was meant for something else; so the word is typed until it counts.
	await sayUntil(terminal, 'yes', 'The failing case is');
	expect(said(terminal)).toMatch(/\nNow: run_command node --test\n/);
	expect(said(terminal)).toMatch(/\nrun_command ended: exit 1 · \d+ ms\n/);
	expect(said(terminal)).not.toMatch(control);
	expect(terminal.modes()).toMatchObject({alternateScreen: false, bracketedPaste: false});
	terminal.type('/cost\r');
	await terminal.until('This session:');
	terminal.type('/quit\r');
	expect(await terminal.exit()).toMatchObject({status: 0});
	expect(said(terminal)).toContain(`go on with: mca --resume ${world.newest()}`);
	expect(kinds(world.log())).toHaveLength(8);
});

/** Type a word until it was taken: one that comes too soon is not, on purpose, and says so. */
async function sayUntil(terminal: Terminal, word: string, expected: string) {
	for (;;) {
		const seen = terminal.bytes.length;
		terminal.type(`${word}\r`);
		await terminal.until(
			() => terminal.bytes.slice(seen).includes('came too soon') || terminal.bytes.includes(expected),
		);
		if (terminal.bytes.includes(expected)) return;
	}
}

test('no with a reason tells the model, nothing is run, and what is no answer is asked again', async () => {
	const world = makeWorld({
		script: scriptOf('go', {name: 'run_command', args: {command: 'echo done > made'}}),
	});
	const terminal = await opened(world);
	terminal.type('go\r');
	await terminal.until(/Type yes, no/);
	await sayUntil(terminal, 'maybe', 'That is no answer. Type yes or no.');
	await sayUntil(terminal, 'no, use npm', 'Done.');
	const tool = world.log().find((event) => event.type === 'message' && event.message.role === 'tool');
	expect(tool).toMatchObject({message: {content: 'The user refused this call: use npm'}});
});

test('what cannot be seen or heard is spelled out in the question, and never reaches the terminal', async () => {
	const attack = '\x1b]52;c;c3RvbGVu\x07\x1b[2J\u202e';
	const world = makeWorld({
		script: scriptOf('go', {name: 'run_command', args: {command: `printf '${attack}'`}}, `Seen${attack}.`),
	});
	const terminal = await opened(world);
	terminal.type('go\r');
	await terminal.until('\\x1b]52;c;c3RvbGVu\\x07\\x1b[2J⟦U+202E⟧');
	await sayUntil(terminal, 'yes', 'Seen.');
	expect(said(terminal)).not.toMatch(control);
	expect(terminal.bytes).not.toContain('\u202e');
});

for (const [what, env] of [
	['TERM=dumb', {TERM: 'dumb'}],
	['INK_SCREEN_READER=true', {INK_SCREEN_READER: 'true'}],
	['ACCESSIBLE=1', {ACCESSIBLE: '1'}],
] as const) {
	test(`${what} is line mode without a flag`, async () => {
		const world = makeWorld();
		const terminal = await opened(world, {env});
		terminal.type('hello\r');
		await terminal.until('I am a script');
		expect(said(terminal)).not.toMatch(control);
		// Ctrl+D on an empty line is the end.
		await terminal.until(/^> *$/m);
		terminal.press('ctrl+d');
		expect(await terminal.exit()).toMatchObject({status: 0});
	});
}

test('Ctrl+C stops the turn, and twice leaves', async () => {
	const world = makeWorld({env: {MCA_SCRIPT_PACE_MS: '300'}});
	const terminal = await opened(world);
	terminal.type(`${prompts.ask}\r`);
	await terminal.until(() => world.ids().length > 0);
	terminal.press('ctrl+c');
	await terminal.until('Stopped.');
	terminal.press('ctrl+c');
	await terminal.until('Ctrl+C again leaves.');
	terminal.type('\x03\x03');
	expect(await terminal.exit()).toMatchObject({status: 0});
});

test('several lines that are pasted are one prompt', async () => {
	const world = makeWorld();
	const terminal = await opened(world);
	terminal.type('one\rtwo\rthree\r');
	await terminal.until('I am a script');
	expect(world.log()[1]).toMatchObject({message: {content: 'one\ntwo\nthree'}});
});

test('/resume and /fork are chosen by number', async () => {
	const world = makeWorld();
	const first = await world.played(prompts.ask);
	await world.played('hello there');
	const terminal = await opened(world);
	terminal.type('/resume\r');
	await terminal.until(new RegExp(`^1\\. hello there \\(s-.*\\n2\\. ${prompts.ask} \\(${first}`, 'm'));
	terminal.type('7\r');
	await terminal.until('7 is none of 1 to 2. Nothing was chosen.');
	terminal.type('/resume\r');
	await terminal.until((screen) => screen.split('Type a number').length === 3);
	terminal.type('2\r');
	await terminal.until('5 messages replayed');
	await terminal.until(`Session ${first}, model scripted.`);
	terminal.type('/fork\r');
	await terminal.until(/^2\. event 8, answer: The failing case/m);
	terminal.type('2\r');
	await terminal.until(`Forked ${first} at 8.`);
	terminal.type(`${prompts.which}\r`);
	await terminal.until('The case that failed was');
	expect(world.newest()).not.toBe(first);
	expect(world.log(first)).toHaveLength(8);
});

test('mca resume --plain begins with the numbered list', async () => {
	const world = makeWorld();
	await world.played('hello there');
	const terminal = world.open({args: ['resume', '--plain']});
	await terminal.until(/^1\. hello there/m);
	terminal.type('1\r');
	await terminal.until('messages replayed');
});

test('a prompt on the command line is sent, and a session that is resumed shows its end', async () => {
	const world = makeWorld();
	const terminal = world.open({args: ['--plain', 'hello', 'there']});
	await terminal.until('I am a script');
	await terminal.until(/^> *$/m);
	terminal.type('/quit\r');
	await terminal.exit();
	const again = await opened(world, {args: ['--plain', '--resume']});
	expect(said(again)).toContain('You: hello there\nI am a script');
});

/** mca with its input from a pipe. */
function piped(
	world: World,
	args: string[],
	input: string,
): Promise<{status: number | null; stdout: string; stderr: string}> {
	const env = cleanEnvironment({HOME: world.root, MCA_HOME: world.home, MOCK: '1'});
	const child = spawn(process.execPath, [entry, ...args], {cwd: world.workspace, env});
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text) => {
		stdout += text;
	});
	child.stderr.setEncoding('utf8').on('data', (text) => {
		stderr += text;
	});
	child.stdin.end(input);
	return new Promise((resolve) => child.once('close', (status) => resolve({status, stdout, stderr})));
}

test('from a pipe each line is a prompt or an answer, and its end is the end', async () => {
	const world = makeWorld();
	const {status, stdout, stderr} = await piped(world, ['--plain'], `${prompts.ask}\nyes\n${prompts.which}\n`);
	expect([status, stderr]).toEqual([0, '']);
	expect(stdout).toContain('The failing case is');
	expect(stdout).toContain('The case that failed was');
	expect(stdout).not.toMatch(/^> /m);
	expect(stdout).not.toMatch(control);
	expect(lastAnswer(world.log())).toContain('The case that failed was');
});

test('a question that nobody answers any more is refused', async () => {
	const world = makeWorld();
	const {status, stdout} = await piped(world, ['--plain'], `${prompts.ask}\n`);
	expect(status).toBe(0);
	expect(stdout).toContain('Allow run_command?');
	expect(world.log().find((event) => event.type === 'tool_end')).toMatchObject({stoppedBy: 'gate'});
});

test('without a terminal and without --plain there is a sentence, not a screen', async () => {
	const world = makeWorld();
	const {status, stderr} = await piped(world, [], 'hello\n');
	expect(status).toBe(2);
	expect(stderr).toContain('the screen needs a terminal');
});

test('a cut log says so before anything else is done', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	writeFileSync(join(world.root, 'copy'), world.bytes(id));
	writeFileSync(world.pathOf(id), world.bytes(id).slice(0, -20));
	const terminal = await opened(world, {args: ['--plain', '--resume'], columns: 200});
	expect(said(terminal)).toMatch(new RegExp(`${id} stops at line 8: the line does not end`));
	terminal.type(`${prompts.which}\r`);
	await terminal.until('This conversation goes on in');
});
