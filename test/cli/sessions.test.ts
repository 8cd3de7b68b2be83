import {existsSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {events} from '../helpers/log-file.ts';
import {a, b, c, lines, makeScene, turn, writes} from './scene.ts';

test('sessions are listed newest first, damaged, empty and unreadable ones too', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...turn('first'));
	writeFileSync(scene.forked(b, a, turn('first'), ...turn('second')), '{"seq":', {flag: 'a'});
	writeFileSync(join(dirname(path), `${c}.jsonl`), '');
	symlinkSync(join(dirname(path), 'nowhere'), join(dirname(path), 's-20260907-130000-dddd.jsonl'));
	const {stdout, status} = await scene.run(['sessions']);
	const rows = lines(stdout).map((row) =>
		row
			.replace(/ {2,}/g, '|')
			.replace(/\d+ d ago/, 'AGO')
			.replace(/[\d.]+ k?B(?=\|[12]\|)/, 'SIZE'),
	);
	expect(rows).toEqual([
		'session|last|size|turns|state|title',
		expect.stringMatching(/^s-20260907-130000-dddd\|.*\|problem\|This session cannot be read: ENOENT/),
		`${c}|AGO|0 B|0|(empty)`,
		`${b}|AGO|SIZE|2|cut @9|first`,
		`${a}|AGO|SIZE|1|first`,
	]);
	expect(status).toBe(0);
});

test('sessions --json tells everything of each, one object a line', async () => {
	const scene = makeScene();
	const first = scene.session(a, ...turn('first'));
	const second = scene.forked(b, a, turn('first'), {type: 'name', title: 'a name'});
	expect(await scene.json('sessions', '--json')).toEqual([
		{
			id: b,
			path: second,
			workspace: scene.workspace,
			title: 'a name',
			begun: '2026-09-07T11:00:00.000Z',
			lastActivity: '2026-09-07T10:00:06.000Z',
			bytes: expect.any(Number),
			turns: 1,
			fork: {from: a, atSeq: 4, kind: 'fork'},
			end: {at: 'whole'},
			holder: null,
			problem: null,
		},
		{
			id: a,
			path: first,
			workspace: scene.workspace,
			title: 'first',
			begun: '2026-09-07T10:00:00.000Z',
			lastActivity: '2026-09-07T10:00:04.000Z',
			bytes: expect.any(Number),
			turns: 1,
			fork: null,
			end: {at: 'whole'},
			holder: null,
			problem: null,
		},
	]);
});

test('sessions of other workspaces are listed with --all, and counted with --stats', async () => {
	const scene = makeScene();
	const other = join(scene.root, 'other');
	mkdirSync(other);
	const path = scene.session(a, ...turn('here'));
	const elsewhere = scene.put(b, events([scene.head(other), ...turn('there'), ...turn('and there')]), other);
	const ids = (rows: unknown[]) => rows.map((row) => (row as {id: string}).id);
	expect(ids(await scene.json('sessions', '--json'))).toEqual([a]);
	expect(ids(await scene.json('sessions', '--json', '-C', other))).toEqual([b]);
	expect(ids(await scene.json('sessions', '--json', '--all'))).toEqual([b, a]);
	const bytes = expect.any(Number);
	expect(await scene.json('sessions', '--stats', '--json')).toEqual([
		{
			sessions: 2,
			bytes,
			workspaces: [
				{workspace: other, folder: dirname(elsewhere), sessions: 1, bytes},
				{workspace: scene.workspace, folder: dirname(path), sessions: 1, bytes},
			],
			largest: [
				{id: b, path: elsewhere, bytes},
				{id: a, path, bytes},
			],
		},
	]);
});

test('a workspace without sessions says so, and no folder is made to find out', async () => {
	const scene = makeScene();
	for (const command of ['sessions', 'tree']) {
		expect(await scene.run([command])).toMatchObject({status: 0, stdout: 'There is no session here yet.\n'});
	}
	expect(await scene.run(['cost'])).toMatchObject({status: 0, stdout: 'Nothing was spent here yet.\n'});
	expect(scene.ids()).toEqual([]);
	expect(existsSync(join(scene.home, 'sessions'))).toBe(false);
});

test('what sessions are called cannot act on the terminal', async () => {
	const scene = makeScene();
	const other = scene.put(b, []);
	scene.session(a, ...turn('\u001b]0;owned\u0007\u001b[2Jred\u202e text\nsecond line'));
	for (const args of [
		['sessions'],
		['tree'],
		['cost'],
		['cost', a],
		['log', a],
		['find', 'text'],
		['compare', a, other],
	]) {
		const {stdout, status} = await scene.run(args);
		expect(stdout).toContain('red text');
		expect(stdout).not.toMatch(/[\u001b\u0007\u202e]|owned/);
		expect(status).toBe(0);
	}
});

test('the commands work on the demo’s sessions where mca plays the demo', async () => {
	const scene = makeScene();
	const demo = join(scene.home, 'demo');
	const repo = join(demo, 'repo');
	mkdirSync(repo, {recursive: true});
	scene.put(a, events([scene.head(repo), ...turn('in the demo')]), repo);
	const env = {MOCK: '0'};
	expect((await scene.run(['sessions'], {env, cwd: repo})).stdout).toContain('in the demo');
	expect((await scene.run(['tree'], {env})).stdout).toContain('in the demo');
	expect((await scene.run(['tree'], {env: {...env, OPENAI_API_KEY: 'k'}})).stdout).not.toContain(
		'in the demo',
	);
});

test('every table fits a terminal of 60 columns', async () => {
	const scene = makeScene();
	scene.session(
		a,
		...turn('a prompt that is longer than the terminal is wide, by quite a bit'),
		...writes('a.txt', null, 'x\n'),
	);
	scene.forked(b, a, turn('a prompt that is longer than the terminal is wide, by quite a bit'));
	for (const args of [
		['sessions', '--all'],
		['log', a],
		['cost', a],
		['cost'],
		['tree'],
		['compare', a, b],
		['blame', 'a.txt'],
	]) {
		const terminal = scene.open({args, columns: 60});
		await terminal.exit();
		const longest = terminal.bytes
			.replace(/\u001b\[[0-9;]*m/g, '')
			.split(/\r?\n/)
			.map((row) => row.length);
		// What is said in sentences wraps; a row of a table does not.
		const sentences = args[0] === 'cost' || args[0] === 'compare' || args[0] === 'blame' ? 3 : 0;
		expect(longest.filter((length) => length > 60).length, args.join(' ')).toBeLessThanOrEqual(sentences);
	}
});
