import {
	appendFileSync,
	mkdirSync,
	readFileSync,
	rmSync,
	statSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {kinds, lastAnswer, makeWorld, scriptOf} from '../helpers/mca.ts';
import {prompts} from '../helpers/terminal.ts';

const noSession = 's-20200101-000000-aaaa';

/** Chop a few bytes off a log; how many bytes its last line still has. */
function cut(path: string, bytes = 10): number {
	const log = readFileSync(path);
	truncateSync(path, log.length - bytes);
	return log.length - bytes - (log.lastIndexOf('\n', log.length - 2) + 1);
}

// --- mca without a terminal ---

test('mca without a terminal says that mca run works without one, and ends with 2', async () => {
	const world = makeWorld();
	for (const args of [[], ['hello'], ['--resume'], ['resume']]) {
		const {status, stdout, stderr} = await world.run(args);
		expect(stderr).toMatch(/^mca: .*terminal.* mca run .*\.\n$/);
		expect({status, stdout}).toEqual({status: 2, stdout: ''});
	}
	expect(world.files()).toEqual({});
});

test('--version prints the version of the package and nothing else', async () => {
	const {version} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
	expect(await makeWorld().run(['--version'])).toMatchObject({status: 0, stdout: `${version}\n`, stderr: ''});
});

test('what mca makes first of its home is for nobody else', async () => {
	const world = makeWorld();
	const home = join(world.root, 'new', 'home');
	await world.run(['run', 'hello there'], {env: {MCA_HOME: home}});
	expect(statSync(home).mode & 0o777).toBe(0o700);
});

test('--help names the commands', async () => {
	const {status, stdout} = await makeWorld().run(['--help']);
	for (const command of ['resume', 'run', 'verify', 'fork'])
		expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
	expect(status).toBe(0);
});

// --- mca run ---

test('mca run prints the answer to stdout and everything else to stderr', async () => {
	const world = makeWorld();
	const {status, stdout, stderr} = await world.run(['run', '--yes', prompts.ask]);
	expect(stdout).toMatch(/^The failing case is “divide by zero”: .*\n$/);
	expect(stderr).toMatch(/^Let me run the tests first\.\n✗ run_command {2}exit 1 .*\n/);
	expect(stderr).toContain(`Session ${world.newest()}. Go on with: mca run --resume ${world.newest()}`);
	expect(status).toBe(0);
	expect(world.log()).toHaveLength(8);
});

test('mca run refuses what it would have to ask, tells so on stderr, and is done', async () => {
	const world = makeWorld();
	const {status, stdout, stderr} = await world.run(['run', prompts.ask]);
	expect(status).toBe(0);
	expect(stdout).toBe('I ran the tests, but their output names no failing case.\n');
	expect(stderr).toContain('Refused, since nobody could be asked: run_command node --test. --yes allows it.');
	expect(world.log()[4]).toMatchObject({stoppedBy: 'gate', verdict: {state: 'deny', by: 'headless'}});
});

test('--yes turns an ask into an allow, and never a deny', async () => {
	const outside = {name: 'write_file', args: {path: '../outside.txt', content: 'x'}};
	const world = makeWorld({script: scriptOf('go', outside)});
	const {status} = await world.run(['run', '--yes', 'go']);
	expect(status).toBe(0);
	expect(world.log()[4]).toMatchObject({
		type: 'tool_end',
		stoppedBy: 'gate',
		verdict: {state: 'deny', by: 'builtin'},
	});
});

test('--yes lifts neither --max-steps nor the pause of a repetition: the turn stops with one sentence, and 1', async () => {
	const call = {name: 'run_command', args: {command: 'true'}};
	const steps = Array.from({length: 6}, () => ({say: '', calls: [call]}));
	const world = makeWorld({
		script: {name: 'test', turns: [{prompt: 'go', steps: [...steps, {say: 'Done.'}]}]},
	});
	const stopped = (stderr: string) => stderr.split('\n').filter((line) => /stopped|refused/i.test(line));

	const limited = await world.run(['run', '--yes', '--max-steps', '2', 'go']);
	expect(stopped(limited.stderr)).toEqual(['The turn stopped after 2 model calls.']);
	expect(limited).toMatchObject({status: 1, stdout: ''});

	const stuck = await world.run(['run', '--yes', 'go']);
	expect(stopped(stuck.stderr)).toEqual([
		expect.stringMatching(/^The turn stopped: run_command was called \d times with the same result\.$/),
	]);
	expect(stuck).toMatchObject({status: 1, stdout: ''});
});

test('mca run --json prints one AgentEvent a line, and every event of the log is among them', async () => {
	const world = makeWorld();
	const {status, stdout} = await world.run(['run', '--yes', '--json', prompts.ask]);
	const events = stdout
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line));
	const logged = events.flatMap((event) => (event.type === 'logged' ? [event.event] : []));
	expect(logged).toEqual(world.log());
	expect(events.at(-1)).toEqual({type: 'rest', rest: {why: 'done'}});
	expect(events[0]).toMatchObject({type: 'stream', version: 1});
	const known =
		'stream opened moved placed retry writable logged start draft gate answered tool_start tool_output notice rest'.split(
			' ',
		);
	expect(events.filter((event) => !known.includes(event.type))).toEqual([]);
	expect(status).toBe(0);
});

test('mca run --json writes what a terminal would act on as an escape that reads back the same', async () => {
	const world = makeWorld();
	const prompt = 'a\u009b31m b\u202e c\u200b d\ufeff e\u{e0041} é 🙂';
	const {stdout} = await world.run(['run', '--json', prompt]);
	expect(stdout).not.toMatch(/[\x7f-\x9f\u200b\u202e\ufeff\u{e0041}]/u);
	expect(stdout).toContain('é 🙂');
	const user = stdout
		.trimEnd()
		.split('\n')
		.map((line) => JSON.parse(line))
		.find(({event}) => event?.message?.role === 'user');
	expect(user.event.message.content).toBe(prompt);
});

test('mca run --resume goes on with the newest session of the workspace, with an id with that one', async () => {
	const world = makeWorld();
	const first = await world.played(prompts.ask);
	const second = await world.played('hello there');
	const newest = await world.run(['run', '--resume', 'good morning']);
	expect(newest.stderr).toMatch(
		new RegExp(`^Resuming ${second}, begun .*\\.\n3 messages replayed, 1 events left out`),
	);
	const named = await world.run(['run', '--resume', first, prompts.which]);
	expect(named.stdout).toBe('The case that failed was “divide by zero”.\n');
	expect(named.stderr).toMatch(/^5 messages replayed, 3 events left out, [1-9]\d* tokens so far$/m);
	expect(kinds(world.log(first)).slice(8)).toEqual(['user', 'usage', 'assistant']);
});

test('mca run --resume without a prompt asks for the answer that is owed, and says so where none is', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const files = world.files();
	const none = await world.run(['run', '--resume', id]);
	expect(none).toMatchObject({status: 2, stdout: ''});
	expect(none.stderr).toContain(`${id} waits for no answer.`);
	expect(world.files()).toEqual(files);

	const lines = world.bytes(id).split('\n').slice(0, 2);
	writeFileSync(world.pathOf(id), `${lines.join('\n')}\n`);
	const owed = await world.run(['run', '--yes', '--resume', id]);
	expect(owed.status).toBe(0);
	expect(owed.stdout).toContain('divide by zero');
	expect(kinds(world.log(id)).filter((kind) => kind === 'user')).toHaveLength(1);
});

test('mca run on a cut log goes on in a new session, and the next time in that one', async () => {
	const world = makeWorld();
	const damaged = await world.played(prompts.ask);
	cut(world.pathOf(damaged));
	const bytes = world.bytes(damaged);
	const first = await world.run(['run', '--resume', damaged, prompts.which]);
	expect(first.stderr).toContain(`Session ${damaged} stops at line 8: the line does not end.`);
	const recovery = world.newest();
	expect(recovery).not.toBe(damaged);
	const second = await world.run(['run', '--resume', damaged, prompts.which]);
	expect(second.stderr).toContain(`It was recovered before; going on with ${recovery}.`);
	expect(world.ids()).toEqual([recovery, damaged]);
	expect(world.bytes(damaged)).toBe(bytes);
	expect(lastAnswer(world.log(recovery))).toContain('divide by zero');
});

test('mca run on a log without one whole line says that there is nothing to go on with, and begins a session', async () => {
	const world = makeWorld();
	const damaged = await world.played('hello there');
	writeFileSync(world.pathOf(damaged), '{"seq":1');
	const none = await world.run(['run', '--resume', damaged]);
	expect(none).toMatchObject({status: 2, stdout: ''});
	expect(none.stderr).toContain(`There is nothing in ${damaged} to go on with.`);
	const {stderr} = await world.run(['run', '--resume', damaged, 'hello there']);
	expect(stderr).toContain(`Session ${damaged} stops at line 1: the line does not end.`);
	expect(stderr).toContain('Nothing of it can be read. The prompt begins a new session.');
	expect(stderr).not.toMatch(/replayed|continues/);
	expect(world.bytes(damaged)).toBe('{"seq":1');
	expect(kinds(world.log())).toEqual(['system', 'user', 'usage', 'assistant']);
});

test('mca run goes on in the workspace that the session recorded, and fails where that is gone', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const elsewhere = join(world.root, 'elsewhere');
	mkdirSync(elsewhere);
	const there = await world.run(['run', '--yes', '--resume', id, prompts.fix], {cwd: elsewhere});
	expect(there.status).toBe(0);
	expect(world.source()).toContain('RangeError');

	rmSync(world.workspace, {recursive: true});
	const gone = await world.run(['run', '--resume', id, prompts.which], {cwd: elsewhere});
	expect(gone).toMatchObject({status: 1, stdout: ''});
	expect(gone.stderr).toContain(`The workspace of ${id}, ${world.workspace}, is gone.`);
});

test('a bad use of mca run is a sentence that says what to do, and ends with 2', async () => {
	const world = makeWorld();
	const said = async (...args: string[]) => {
		const {status, stdout, stderr} = await world.run(args);
		expect({status, stdout}).toEqual({status: 2, stdout: ''});
		return stderr;
	};
	expect(await said('run')).toBe('mca: mca run needs a prompt: mca run "what does this do?"\n');
	expect(await said('run', '-C', 'no-such-folder', 'hello')).toContain('no-such-folder is not a folder.');
	expect(await said('run', '--resume')).toContain(`${world.workspace} has no session yet`);
	expect(await said('run', '--resume', noSession, 'hello')).toContain(`There is no session ${noSession}`);
	expect(await said('run', '--no-such-flag', 'hello')).toContain('--no-such-flag');
	expect(world.files()).toEqual({});
});

test('mca run without a model says how to connect one', async () => {
	const world = makeWorld({env: {MOCK: ''}});
	const {status, stderr} = await world.run(['run', 'hello']);
	expect(status).toBe(2);
	expect(stderr).toContain('OPENAI_API_KEY');
	expect(stderr).toContain('OPENAI_BASE_URL');
});

test("options before a command are the command's, and one that it does not have is refused by name", async () => {
	const world = makeWorld();
	const elsewhere = {cwd: world.root};
	const {status} = await world.run(['-C', 'repo', '--mode=edits', 'run', 'hello there'], elsewhere);
	expect(status).toBe(0);
	expect(world.log()[0]).toMatchObject({session: {workspace: world.workspace}});
	const listed = await world.run(['--folder', 'repo', 'sessions', '--json'], elsewhere);
	expect(JSON.parse(listed.stdout)).toMatchObject({id: world.newest()});
	const refused = await world.run(['-C', 'repo', 'verify', world.newest()], elsewhere);
	expect(refused).toMatchObject({
		status: 2,
		stdout: '',
		stderr: expect.stringContaining("unknown option '-C'"),
	});
	const prompt = await world.run(['-C', 'repo', 'run the tests'], elsewhere);
	expect(prompt.stderr).toMatch(/^mca: .*terminal/);
});

// --- mca verify ---

test('mca verify of a whole log says how many events and bytes it has, and ends with 0', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask);
	const bytes = Buffer.byteLength(world.bytes(id));
	expect(await world.run(['verify', id])).toMatchObject({
		status: 0,
		stdout: `Session ${id} is whole: 8 events, ${bytes} bytes.\n`,
		stderr: '',
	});
	const json = await world.run(['verify', '--json', id]);
	expect(JSON.parse(json.stdout)).toEqual({id, path: world.pathOf(id), events: 8, bytes, end: {at: 'whole'}});
});

test('mca verify of a cut log names line, reason and ignored bytes, ends with 3, and leaves the file as it is', async () => {
	const world = makeWorld();
	const whole = await world.played('hello there');
	const id = await world.played(prompts.ask);
	const ignored = cut(world.pathOf(id));
	const files = world.files();
	const {status, stdout} = await world.run(['verify', whole, id]);
	expect(status).toBe(3);
	expect(stdout).toBe(
		`Session ${whole} is whole: 4 events, ${Buffer.byteLength(world.bytes(whole))} bytes.\n` +
			`Session ${id} stops at line 8: the line does not end. ${ignored} bytes from there on are ignored and left as they are.\n`,
	);
	const json = await world.run(['verify', '--json', id]);
	expect(json.status).toBe(3);
	expect(JSON.parse(json.stdout).end).toEqual({
		at: 'cut',
		line: 8,
		reason: 'the line does not end',
		ignoredBytes: ignored,
	});
	expect(world.files()).toEqual(files);
});

test('mca verify takes a file too, and stops at the first line that is not whole, whatever follows it', async () => {
	const world = makeWorld();
	const id = await world.played('hello there');
	const path = join(world.root, 'copy.jsonl');
	writeFileSync(path, world.bytes(id));
	appendFileSync(path, '{"seq":5,"ts":"2026-01-01T00:00:00.000Z","type":"of-the-future"}\n');
	expect(await world.run(['verify', path])).toMatchObject({status: 0});
	appendFileSync(
		path,
		`{"seq":5,"ts":"2026-01-01T00:00:00.000Z","type":"of-the-future"}\n${world.bytes(id)}`,
	);
	const {status, stdout} = await world.run(['verify', path]);
	expect(status).toBe(3);
	expect(stdout).toContain('stops at line 6: seq 5 is not larger than 5.');
});

test('mca verify of what is not there is a sentence, and ends with 2', async () => {
	const world = makeWorld();
	const {status, stdout, stderr} = await world.run(['verify', noSession]);
	expect({status, stdout}).toEqual({status: 2, stdout: ''});
	expect(stderr).toMatch(
		new RegExp(`^mca: There is no session ${noSession} in ${world.home}/sessions\\. .*\n$`),
	);
	expect((await world.run(['verify'])).status).toBe(2);
	const folder = await world.run(['verify', world.workspace]);
	expect(folder.status).toBe(2);
	expect(folder.stderr).toContain(`${world.workspace} cannot be read`);
});

test('mca verify goes on past what is not there, and ends with 3 where one of the others is cut', async () => {
	const world = makeWorld();
	const id = await world.played('hello there');
	cut(world.pathOf(id));
	const nowhere = join(world.root, 'nowhere.jsonl');
	const {status, stdout, stderr} = await world.run(['verify', nowhere, id, noSession]);
	expect(stderr).toMatch(
		new RegExp(`^mca: There is no file ${nowhere}\\.\nmca: There is no session ${noSession} `),
	);
	expect(stdout).toContain(`Session ${id} stops at line 4`);
	expect(status).toBe(3);
	expect((await world.run(['verify', nowhere])).status).toBe(2);
});

// --- mca fork ---

test('mca fork prints the id of a new session with the lines up to the event and its lineage', async () => {
	const world = makeWorld();
	const parent = await world.played(prompts.ask, prompts.fix);
	const before = world.bytes(parent);
	const {status, stdout, stderr} = await world.run(['fork', parent, '--at', '8']);
	expect(status).toBe(0);
	const child = world.newest();
	expect(stdout).toBe(`${child}\n`);
	expect(stderr).toBe(`Forked ${parent} at event 8. Files of the workspace are as they were.\n`);
	const kept = before.split('\n').slice(0, 8).join('\n');
	expect(world.bytes(child).startsWith(`${kept}\n`)).toBe(true);
	expect(world.log(child).slice(8)).toMatchObject([
		{seq: 9, type: 'fork', from: parent, atSeq: 8, origin: parent},
	]);
	expect(world.bytes(parent)).toBe(before);

	const last = await world.run(['fork', '--json', parent]);
	expect(JSON.parse(last.stdout)).toMatchObject({id: world.newest(), from: parent, atSeq: 19});
});

test('mca fork at what is no boundary says why, lists those that are, writes nothing, and ends with 2', async () => {
	const world = makeWorld();
	const id = await world.played(prompts.ask, prompts.fix);
	const files = world.files();
	for (const [at, why] of [
		['4', 'its tool calls have no results at that point'],
		['5', 'it is a tool_end event'],
		['6', 'it is the result of a tool call'],
		['1', 'it is the system message'],
		['99', 'there is no such event'],
	]) {
		const {status, stdout, stderr} = await world.run(['fork', id, '--at', at ?? '']);
		expect({status, stdout}).toEqual({status: 2, stdout: ''});
		expect(stderr).toContain(`Event ${at} is not a fork point: ${why}`);
		expect(stderr).toContain('Fork points are 2, 8, 9 and 19.');
	}
	const word = await world.run(['fork', id, '--at', 'first']);
	expect(word).toMatchObject({status: 2, stderr: 'mca: --at takes the number of an event, not first.\n'});
	expect((await world.run(['fork', noSession])).status).toBe(2);
	expect(world.files()).toEqual(files);
});

// --- config.json ---

test('a bad config.json is a sentence with its path, the field and what fits', async () => {
	const world = makeWorld();
	const path = join(world.home, 'config.json');
	const said = async (content: string) => {
		writeFileSync(path, content);
		const {status, stdout, stderr} = await world.run(['run', 'hello']);
		expect({status, stdout}).toEqual({status: 2, stdout: ''});
		expect(stderr).toMatch(/^mca: .*\n$/);
		expect(stderr).toContain(path);
		return stderr;
	};
	expect(await said('{"model": 7}')).toContain('model: ');
	expect(await said('{"maxSteps": 0}')).toContain('maxSteps: ');
	expect(await said('{"modle": "gpt-5-mini"}')).toContain('modle');
	expect(await said('{"model": ')).toContain('is not JSON');
	expect(await said('[]')).toContain('does not fit');
	expect(world.files()).toEqual({});
});

test('what is piped into mca run is the prompt, or stands below it', async () => {
	const world = makeWorld();
	await world.run(['run', 'review this'], {input: 'diff --git a b\n'});
	await world.run(['run'], {input: 'hello there\n'});
	const asked = world.ids().map((id) => {
		const [, user] = world.log(id);
		return user?.type === 'message' && user.message.content;
	});
	expect(asked).toEqual(['hello there', 'review this\n\ndiff --git a b']);
});

test('mca run waits for a slow pipe to its end, and says that it waits while nothing comes', async () => {
	const world = makeWorld();
	const slow = world.run(['run', 'review this'], {pipe: [1500, 'diff\n', 500, 'more\n']});
	const quick = await makeWorld().run(['run'], {pipe: ['hello there']});
	expect(quick).toMatchObject({status: 0, stderr: expect.not.stringContaining('standard input')});
	expect((await slow).stderr).toMatch(
		/^Waiting for standard input to end\. Where nothing is to come, .*\nSession /,
	);
	expect(world.log()[1]).toMatchObject({message: {content: 'review this\n\ndiff\nmore'}});
});
