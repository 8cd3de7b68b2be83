import {appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {kinds, makeWorld, scriptOf, type World} from '../helpers/mca.ts';
import {ask, gateListens, prompts, type Terminal} from '../helpers/terminal.ts';
import {longSleep, running, until} from '../tools/scene.ts';

const replayed = /5 messages replayed, 3 events left out, [1-9]\d* tokens so far/;

/** Cut the last line in half, as a process that died in its write leaves it. */
function cutLastLine(world: World, id: string): string {
	const bytes = readFileSync(world.pathOf(id));
	const lastLine = bytes.length - 1 - bytes.lastIndexOf('\n', bytes.length - 2);
	truncateSync(world.pathOf(id), bytes.length - Math.ceil(lastLine / 2));
	return world.bytes(id);
}

async function quit(terminal: Terminal) {
	terminal.type('/quit\r');
	expect(await terminal.exit()).toEqual({status: 0, signal: undefined});
}

test('/resume lists the sessions, narrows them while typing, and Enter goes on with the one that is left', async () => {
	const world = makeWorld();
	const first = await world.played(prompts.ask);
	const others = [await world.played('hello there'), await world.played('good morning')];
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.type('/resume\r');
	await terminal.until((screen) => [first, ...others].every((id) => screen.includes(id.slice(-4))));
	await terminal.until('1 turn');
	const rows = terminal.screen().filter((row) => /^ (❯ | {2})[0-9a-z]{4} /.test(row));
	expect(rows.map((row) => row.slice(9, 25).trim())).toEqual([
		'good morning',
		'hello there',
		prompts.ask.slice(0, 16),
	]);

	terminal.type('FAILS');
	await terminal.until((screen) => !screen.includes('good morning') && !screen.includes('hello there'));
	terminal.press('enter');
	await terminal.untilIdle(replayed);
	expect(terminal.screen()[0]).toContain(first);

	await ask(terminal, prompts.which, 'The case that failed was “divide by zero”.');
	expect(world.log(first).map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('mca --resume goes on with the newest session and says what was replayed', async () => {
	const world = makeWorld();
	await world.played('hello there');
	const newest = await world.played(prompts.ask);
	const terminal = world.open({args: ['--resume']});
	await terminal.untilIdle(replayed);
	expect(terminal.text()).toContain(`Resuming ${newest}`);
	await ask(terminal, prompts.which, 'The case that failed was “divide by zero”.');
	expect(kinds(world.log(newest)).slice(8)).toEqual(['user', 'usage', 'assistant']);
});

test('without a model the demo’s script does not go on with a session that is not its own', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const before = world.files();
	const terminal = world.open({args: ['--resume', id], env: {MOCK: '0', COLUMNS: '200'}});
	expect(await terminal.exit()).toMatchObject({status: 2});
	expect(terminal.bytes).toContain('is no session of the demo, and no model is configured to go on with it');
	expect(world.files()).toEqual(before);
});

test('mca resume begins with the picker', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const terminal = world.open({args: ['resume']});
	await terminal.until('Resume a session');
	await terminal.until(prompts.ask);
	terminal.press('enter');
	await terminal.untilIdle(replayed);
	expect(terminal.screen()[0]).toContain(id);
});

test('a resumed screen shows the conversation and the activity as they were left', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await ask(terminal, prompts.ask, 'The failing case is “divide by zero”');
	const left = terminal.screen().slice(0, -1);
	await quit(terminal);
	const again = world.open({args: ['--resume']});
	await again.untilIdle(replayed);
	const shown = again.screen().slice(0, -1);
	// Only what the resume itself says is new.
	const said = /Resuming s-|messages replayed/;
	const main = (rows: string[]) => rows.map((row) => row.trimEnd());
	expect(main(shown).map((row) => (said.test(row) ? row.slice(row.indexOf('│')) : row))).toEqual(
		main(left).map((row, index) => (said.test(shown[index] ?? '') ? row.slice(row.indexOf('│')) : row)),
	);
});

test('a cut log is shown with line and reason, goes on in a new session that the banner names, and is not touched', async () => {
	const world = makeWorld();
	const damaged = await world.played(prompts.ask, prompts.fix);
	const bytes = cutLastLine(world, damaged);
	const ignored = Buffer.byteLength(bytes) - (bytes.lastIndexOf('\n') + 1);
	const terminal = world.open({args: ['--resume', damaged], columns: 200});
	await terminal.untilIdle(/⚠ s-\S+ stops at line 19: the line does not end \(\d+ B ignored\)\./);
	expect(ignored).toBeGreaterThan(0);
	expect(terminal.text()).toContain(`${damaged} stops at line 19`);
	expect(terminal.text()).toContain('Your next prompt continues in a new session.');
	expect(world.ids()).toEqual([damaged]);

	await ask(terminal, prompts.which, 'The case that failed was');
	const recovery = world.newest();
	expect(recovery).not.toBe(damaged);
	expect(terminal.text()).toContain(`goes on in ${recovery}`);
	expect(terminal.screen()[0]).toContain(recovery);
	expect(world.bytes(damaged)).toBe(bytes);
	const whole = bytes.slice(0, bytes.lastIndexOf('\n') + 1);
	expect(world.bytes(recovery).startsWith(whole)).toBe(true);
	expect(world.log(recovery)[18]).toMatchObject({
		seq: 19,
		type: 'fork',
		from: damaged,
		atSeq: 18,
		kind: 'recovery',
		cut: {line: 19, reason: 'the line does not end'},
	});
	expect(kinds(world.log(recovery)).slice(19)).toEqual(['user', 'usage', 'assistant']);
});

test('a cut that was recovered before is told, and the session that went on from it is named', async () => {
	const world = makeWorld();
	const damaged = await world.played(prompts.ask);
	cutLastLine(world, damaged);
	const terminal = world.open({args: ['--resume', damaged], columns: 200});
	await terminal.untilIdle('stops at line 8');
	await ask(terminal, prompts.which, 'The case that failed was');
	const recovery = world.newest();
	await quit(terminal);

	const again = world.open({args: ['--resume', damaged], columns: 200});
	await again.untilIdle(`It was continued before: /resume ${recovery} opens that.`);
	again.type(`/resume ${recovery}\r`);
	await again.untilIdle((screen) => screen.split('\n')[0]?.includes(recovery) ?? false);
	expect(again.text()).not.toContain('stops at line');
});

test('a log without one whole line is left alone; the next prompt begins a new session', async () => {
	const world = makeWorld();
	const damaged = await world.played('hello there');
	truncateSync(world.pathOf(damaged), 100);
	const bytes = world.bytes(damaged);
	const terminal = world.open({args: ['--resume', damaged], columns: 200});
	await terminal.untilIdle('stops at line 1: the line does not end');
	expect(terminal.text()).toContain('Your next prompt begins a new session.');
	await ask(terminal, 'good morning', 'I am a script');
	expect(kinds(world.log())).toEqual(['system', 'user', 'usage', 'assistant']);
	expect(world.bytes(damaged)).toBe(bytes);
});

test('killed while a command ran: the command is gone, and the next prompt first says that its outcome is unknown', async () => {
	const sleep = longSleep();
	const script = scriptOf('wait', {name: 'run_command', args: {command: sleep}});
	const world = makeWorld({
		script: {...script, turns: [...script.turns, {prompt: 'go on', steps: [{say: 'Gone on.'}]}]},
	});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('wait\r');
	await gateListens(terminal);
	terminal.type('y');
	await until(() => running(sleep).length > 0);
	process.kill(terminal.pid(), 'SIGKILL');
	await terminal.exit();
	await until(() => running(sleep).length === 0);
	expect(running(sleep)).toEqual([]);

	const id = world.newest();
	const bytes = world.bytes(id);
	expect(kinds(world.log(id))).toEqual(['system', 'user', 'usage', 'assistant']);
	const again = world.open({args: ['--resume']});
	await again.untilIdle('3 messages replayed, 1 events left out');
	expect(again.text()).not.toContain('stops at line');
	expect(world.bytes(id)).toBe(bytes);

	await ask(again, 'go on', 'Gone on.');
	expect(kinds(world.log(id)).slice(4)).toEqual(['tool_end', 'tool', 'user', 'usage', 'assistant']);
	expect(world.log(id)[4]).toMatchObject({stoppedBy: 'lost', id: 'call_1_1'});
	expect(world.log(id)[5]).toMatchObject({
		message: {content: 'outcome unknown: the process ended; check before repeating'},
	});
	expect(running(sleep)).toEqual([]);
});

test('resume and quit leaves every file as it was: whole, cut, ended mid-turn, of a later version', async () => {
	const world = makeWorld();
	const whole = await world.played(prompts.ask);
	const midTurn = await world.played(prompts.ask);
	const lines = world.bytes(midTurn).split('\n');
	truncateSync(world.pathOf(midTurn), Buffer.byteLength(`${lines.slice(0, 4).join('\n')}\n`));
	const cut = await world.played('hello there');
	cutLastLine(world, cut);
	const later = await world.played('good morning');
	appendFileSync(
		world.pathOf(later),
		'{"seq":5,"ts":"2026-01-01T00:00:00.000Z","type":"of-the-future","x":1}\n',
	);
	const files = world.files();

	for (const id of [whole, midTurn, cut, later]) {
		const terminal = world.open({args: ['--resume', id]});
		await terminal.untilIdle(`Resuming ${id}`);
		await quit(terminal);
	}
	expect(world.files()).toEqual(files);
});

test('/resume of a session whose workspace is gone names the folder and the way, and opens nothing', async () => {
	const world = makeWorld();
	const elsewhere = join(world.root, 'elsewhere');
	mkdirSync(elsewhere);
	await world.run(['run', 'hello there'], {cwd: elsewhere});
	const id = world.newest();
	rmSync(elsewhere, {recursive: true});
	const terminal = world.open({columns: 240});
	await terminal.untilIdle('new session');
	terminal.type(`/resume ${id}\r`);
	await terminal.untilIdle(
		`The workspace of ${id}, ${elsewhere}, is gone. In a shell, mca --resume ${id} -C DIR`,
	);
	expect(terminal.screen()[0]).toContain('new session');
	await quit(terminal);
});

test('what is said last names no session to go on with where its log was deleted', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const terminal = world.open({args: ['--resume', id]});
	await terminal.untilIdle(replayed);
	rmSync(world.pathOf(id));
	terminal.type('/quit\r');
	expect(await terminal.exit()).toMatchObject({status: 0});
	expect(terminal.bytes).toContain(`${id}.jsonl is not there any more: this session cannot be resumed.`);
	expect(terminal.bytes).not.toContain('go on with:');
});

test('/resume of an id that is not there says so', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('/resume s-20200101-000000-aaaa\r');
	await terminal.untilIdle('There is no session s-20200101-000000-aaaa.');
});

test('a session that is open elsewhere is told with its holder, stays readable, and can be forked; it is free when the holder is gone', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const holder = world.open({args: ['--resume', id]});
	await holder.untilIdle(replayed);
	const before = world.bytes(id);

	const headless = await world.run(['run', '--resume', id, prompts.which]);
	expect(headless.status).toBe(1);
	expect(headless.stderr).toContain(`Session ${id} is open in process ${holder.pid()} since`);

	const second = world.open({args: ['--resume', id], columns: 200});
	await second.untilIdle(`Session ${id} is open in process ${holder.pid()} since`);
	expect(second.text()).toContain('The failing case is “divide by zero”');
	second.type(`${prompts.which}\r`);
	// Refused, and nothing that was typed is lost.
	await second.until(`✗ Session ${id} is open`);
	await second.untilIdle(`❯ ${prompts.which}`);
	expect(world.bytes(id)).toBe(before);
	second.press('ctrl+u');
	await second.untilIdle((screen) => !screen.includes(`❯ ${prompts.which}`));
	second.type('/fork\r');
	await second.until('Fork: go on from here in a new session');
	second.press('enter');
	await second.untilIdle(`Forked ${id} at 8.`);
	await ask(second, prompts.which, 'The case that failed was “divide by zero”.');
	expect(world.newest()).not.toBe(id);
	expect(world.bytes(id)).toBe(before);

	process.kill(holder.pid(), 'SIGKILL');
	await holder.exit();
	expect(await world.run(['run', '--resume', id, prompts.which])).toMatchObject({status: 0});
});
