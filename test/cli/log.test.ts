import {execFileSync} from 'node:child_process';
import {appendFileSync, readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import type {Body} from '../../src/session/events.ts';
import {events, line, toolEnd, turnOne, turnTwo, user} from '../helpers/log-file.ts';
import {entry, prompts} from '../helpers/terminal.ts';
import {a, lines, makeScene, turn, writes} from './scene.ts';

const rest = turnOne.slice(1);

test('log prints one row an event: seq, time, elapsed, event, outcome, size, tokens, cost, verdict, what', async () => {
	const scene = makeScene();
	scene.session(a, ...rest);
	const {stdout, status} = await scene.run(['log', a]);
	expect(lines(stdout)).toHaveLength(9);
	expect(lines(stdout)[0]).toMatch(
		/^ +seq +time +elapsed +event +outcome +size +tokens +cost +verdict +what$/,
	);
	expect(lines(stdout)[5]).toMatch(
		/^ +5 +2026-09-07 10:00:05 +1\.0 s +tool_end +exit 1 +\d+ B +person +run_command node --test$/,
	);
	expect(lines(stdout)[3]).toMatch(
		/^ +3 +2026-09-07 10:00:03 +1\.0 s +usage +stop +\d+ B +812 → 41 +\? +scripted$/,
	);
	expect(status).toBe(0);
});

test('log --json is one object a line with every fact of the row', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...rest, ...writes('src/a.js', null, 'x\n'));
	const rows = (await scene.json('log', '--json', a)) as {seq: number}[];
	const bytes = readFileSync(path, 'utf8')
		.split('\n')
		.map((text) => Buffer.byteLength(text) + 1);
	expect(rows.map(({seq}) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
	expect(rows[2]).toEqual({
		seq: 3,
		ts: '2026-09-07T10:00:03.000Z',
		elapsedMs: 1000,
		turn: 1,
		type: 'usage',
		role: null,
		tool: null,
		what: 'scripted',
		outcome: 'stop',
		ok: true,
		bytes: bytes[2],
		tokens: {input: 812, output: 41, estimated: false},
		costUsd: null,
		verdict: null,
		files: [],
	});
	expect(rows[9]).toEqual({
		seq: 10,
		ts: '2026-09-07T10:00:10.000Z',
		elapsedMs: 1000,
		turn: 1,
		type: 'tool_end',
		role: null,
		tool: 'write_file',
		what: 'write_file src/a.js',
		outcome: '+1 −0',
		ok: true,
		bytes: bytes[9],
		tokens: null,
		costUsd: null,
		verdict: {state: 'allow', by: 'person', why: 'allowed when asked'},
		files: [{path: 'src/a.js', before: null, after: expect.any(String), added: 1, removed: 0}],
	});
	expect(rows[0]).toMatchObject({elapsedMs: null, turn: 0, type: 'message', role: 'system'});
});

test('the filters leave what they name, together and alone', async () => {
	const scene = makeScene();
	const failed: Body = {
		...(toolEnd('c9') as Extract<Body, {type: 'tool_end'}>),
		result: {ok: false, content: 'exit 1'},
	};
	const error: Body = {type: 'error', message: 'busy', did: 'retried'};
	scene.session(a, ...rest, user('next'), ...writes('src/a.js', null, 'x\n'), failed, error);
	const seqs = async (...filters: string[]) =>
		((await scene.json('log', '--json', a, ...filters)) as {seq: number}[]).map(({seq}) => seq).join(' ');
	expect(await seqs('--type', 'usage')).toBe('3 7');
	expect(await seqs('--type', 'user,error')).toBe('2 9 14');
	expect(await seqs('--type', 'user', '--type', 'usage')).toBe('2 3 7 9');
	expect(await seqs('--tool', 'write_file')).toBe('10 11 12');
	expect(await seqs('--tool', 'run_command', '--type', 'tool_end')).toBe('5');
	expect(await seqs('--turn', '0')).toBe('1');
	expect(await seqs('--turn', '2', '--type', 'tool_end')).toBe('11 13');
	expect(await seqs('--file', 'src/a.js')).toBe('10 11 12');
	expect(await seqs('--file', './a.js')).toBe('10 11 12');
	expect(await seqs('--file', 'b.js')).toBe('');
	expect(await seqs('--errors')).toBe('13 14');
	expect(await seqs('--since', '2026-09-07T10:00:12Z')).toBe('12 13 14');
	expect(await seqs('--since', '2026-09-08')).toBe('');
	expect(await seqs('--since', '9999d')).toBe('1 2 3 4 5 6 7 8 9 10 11 12 13 14');
});

test('a filter that is none is a sentence and status 2', async () => {
	const scene = makeScene();
	scene.session(a, ...rest);
	const turnless = await scene.run(['log', a, '--turn', 'x']);
	expect(turnless).toEqual({
		status: 2,
		signal: null,
		stdout: '',
		stderr: 'mca: --turn takes the number of a turn, not x.\n',
	});
	const timeless = await scene.run(['log', a, '--since', 'noon']);
	expect(timeless.stderr).toBe(
		'mca: --since takes a span such as 30m, 2h or 1d, or a date such as 2026-09-07, not noon.\n',
	);
	expect(timeless.status).toBe(2);
});

test('of a cut log the whole lines are printed, and the status is 3', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...rest);
	appendFileSync(path, '{"seq":9,');
	const {stdout, stderr, status} = await scene.run(['log', '--json', a]);
	expect(lines(stdout)).toHaveLength(8);
	expect(stderr).toBe(
		`Session ${a} stops at line 9: the line does not end. 9 bytes from there on are ignored and left as they are.\n`,
	);
	expect(status).toBe(3);
	expect((await scene.run(['log', path])).status).toBe(3);
});

test('an id that is not there and a file that is not there are sentences', async () => {
	const scene = makeScene();
	for (const command of ['log', 'cost', 'export']) {
		const args = command === 'export' ? ['--format', 'md'] : [];
		const id = await scene.run([command, ...args, a]);
		expect(id.stderr).toMatch(new RegExp(`^mca: There is no session ${a} in `));
		const file = await scene.run([command, ...args, 'nowhere.jsonl']);
		expect(file.stderr).toBe('mca: There is no file nowhere.jsonl.\n');
		expect([id.status, file.status]).toEqual([2, 2]);
	}
});

test('log --follow shows what another process writes, until it is interrupted', async () => {
	const scene = makeScene();
	const id = await scene.played(prompts.ask);
	const following = scene.follow('log', '--follow', '--json', id);
	expect(await following.until(8)).toHaveLength(8);
	const {status} = await scene.run(['run', '--yes', '--resume', id, prompts.fix]);
	expect(status).toBe(0);
	const rows = (await following.until(19)).map((row) => JSON.parse(row).seq);
	expect(rows).toEqual(scene.log(id).map(({seq}) => seq));
	expect(await following.interrupt()).toEqual({status: 0, stderr: ''});
});

test('log --follow takes a half-written line for one that is not there yet', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...rest);
	const whole = events(turnTwo, 9).map(line).join('');
	appendFileSync(path, whole.slice(0, 40));
	const following = scene.follow('log', '--follow', '--json', a);
	expect(await following.until(8)).toHaveLength(8);
	const half = Math.floor(whole.length / 2);
	appendFileSync(path, whole.slice(40, half));
	appendFileSync(path, whole.slice(half));
	expect((await following.until(19)).map((row) => JSON.parse(row).seq)).toEqual(
		Array.from({length: 19}, (_, at) => at + 1),
	);
	expect(await following.interrupt()).toEqual({status: 0, stderr: ''});
});

test('log --follow ends with 3 at a line that is not whole', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...rest);
	const following = scene.follow('log', '--follow', '--json', a);
	await following.until(8);
	appendFileSync(path, 'no line of a log\n');
	const {status, stderr} = await following.ended;
	expect(stderr).toBe(
		`Session ${a} stops at line 9: the line is not JSON. 17 bytes from there on are ignored and left as they are.\n`,
	);
	expect(status).toBe(3);
});

test('a log that is read leaves its file as it was', async () => {
	const scene = makeScene();
	scene.session(a, ...rest, ...turn('again'));
	const files = scene.files();
	for (const args of [
		['log', a],
		['cost', a],
		['sessions'],
		['tree'],
		['find', 'again'],
		['compare', a, a],
		['export', '--format', 'html', a],
	]) {
		expect((await scene.run(args)).status).toBe(0);
	}
	expect(scene.files()).toEqual(files);
});

test('on a terminal the table fits it, has colours, and NO_COLOR has none', async () => {
	const scene = makeScene();
	scene.session(a, ...rest);
	for (const columns of [80, 100, 140]) {
		const terminal = scene.open({args: ['log', a], columns, env: {TZ: 'UTC'}});
		await terminal.exit();
		const rows = terminal.screen().filter((row) => row !== '');
		// The heading, the day, and one row an event.
		expect(rows).toHaveLength(10);
		expect(rows[1]).toBe('2026-09-07');
		expect(rows[6]).toMatch(/^ +5 {2}10:00:05 .*tool_end .*run_.*exit 1 .*person$/);
		expect(terminal.bytes).toContain('\u001b[36massistant');
	}
	const plain = scene.open({args: ['log', a], env: {NO_COLOR: '1'}});
	await plain.exit();
	expect(plain.bytes).not.toContain('\u001b[3');
});

test('whoever stops reading is not told that mca failed', async () => {
	const scene = makeScene();
	scene.session(a, ...Array.from({length: 3000}, () => turn('again')).flat());
	const env = {...process.env, HOME: scene.root, MCA_HOME: scene.home};
	const script = '"$0" "$1" log "$2" 2>&1 | head -2';
	const output = execFileSync('sh', ['-c', script, process.execPath, entry, a], {env, encoding: 'utf8'});
	expect(lines(output)).toHaveLength(2);
});

test('a disk that is full is a sentence and status 1', () => {
	const scene = makeScene();
	scene.session(a, ...turn('first'));
	const env = {...process.env, HOME: scene.root, MCA_HOME: scene.home};
	const script = '"$0" "$1" log "$2" 2>&1 >/dev/full; echo $?';
	const output = execFileSync('sh', ['-c', script, process.execPath, entry, a], {env, encoding: 'utf8'});
	expect(output).toMatch(/^mca: The output could not be written: ENOSPC.*\n1\n$/);
});

test('what a terminal would act on stands in the JSON as an escape', async () => {
	const scene = makeScene();
	scene.session(a, user('\u001b[2J \u009b2J \u202e'));
	for (const args of [
		['log', '--json', a],
		['find', '--json', '2J'],
		['export', '--format', 'json', a],
	]) {
		const {stdout} = await scene.run(args);
		expect(stdout).toContain('\\u001b[2J \\u009b2J \\u202e');
		expect(stdout).not.toMatch(/[\u001b\u009b\u202e]/);
	}
});
