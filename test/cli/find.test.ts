import {mkdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {events, user} from '../helpers/log-file.ts';
import {a, b, c, makeScene, turn} from './scene.ts';

test('find shows the newest session first, the hit in its context and how to go on with it', async () => {
	const scene = makeScene();
	scene.session(a, ...turn('the needle'));
	scene.session(b, user('before\nanother NEEDLE here\nafter'));
	scene.session(c, ...turn('hay'));
	expect(await scene.run(['find', 'needle'])).toMatchObject({
		status: 0,
		stdout: [
			`${b}  before another NEEDLE here after`,
			'  2  turn 1  user  2026-09-07 10:00:02',
			'    before',
			'    another NEEDLE here',
			'    after',
			`  mca --resume ${b} --at 2`,
			'',
			`${a}  the needle`,
			'  2  turn 1  user  2026-09-07 10:00:02',
			'    the needle',
			'  4  turn 1  assistant  2026-09-07 10:00:04',
			'    About the needle.',
			`  mca --resume ${a} --at 4`,
			'',
			'',
		].join('\n'),
	});
});

test('find --json is one hit a line', async () => {
	const scene = makeScene();
	scene.session(a, user('one\ntwo needles\nthree'));
	expect(await scene.json('find', '/need(le)?/', '--json')).toEqual([
		{
			session: a,
			title: 'one\ntwo needles\nthree',
			seq: 2,
			ts: '2026-09-07T10:00:02.000Z',
			turn: 1,
			in: 'user',
			line: 'two needles',
			at: 4,
			length: 6,
			before: 'one',
			after: 'three',
			matches: 1,
			resume: `mca --resume ${a} --at 2`,
		},
	]);
});

test('what forks copied is found once, in the session that wrote it, else in a fork of it', async () => {
	const scene = makeScene();
	const gone = scene.session(a, ...turn('needle'));
	scene.forked(b, a, turn('needle'));
	scene.forked(c, a, turn('needle'), user('a needle of its own'));
	const found = async () =>
		((await scene.json('find', 'needle', '--json')) as {session: string; seq: number}[]).map(
			({session, seq}) => `${session.slice(-4)} ${seq}`,
		);
	expect(await found()).toEqual(['cccc 6', 'aaaa 2', 'aaaa 4']);
	rmSync(gone);
	expect(await found()).toEqual(['cccc 2', 'cccc 4', 'cccc 6']);
});

test('find looks in this workspace, with --all everywhere, and ends with 1 where there is nothing', async () => {
	const scene = makeScene();
	const other = join(scene.root, 'other');
	mkdirSync(other);
	scene.put(a, events([scene.head(other), ...turn('needle')]), other);
	expect(await scene.run(['find', 'needle'])).toMatchObject({
		status: 1,
		stdout: '',
		stderr: 'Nothing found for needle in this workspace; --all looks everywhere.\n',
	});
	expect(await scene.json('find', '--all', 'needle', '--json')).toHaveLength(2);
	const {status, stderr} = await scene.run(['find', '/(/']);
	expect(stderr).toMatch(/^mca: \/\(\/ is not a pattern: /);
	expect(status).toBe(2);
});

test('on a terminal the match is marked and the line fits', async () => {
	const scene = makeScene();
	scene.session(a, user(`${'hay '.repeat(60)}needle ${'hay '.repeat(60)}`));
	const terminal = scene.open({args: ['find', 'needle'], columns: 60, env: {TZ: 'UTC'}});
	await terminal.exit();
	expect(terminal.bytes).toContain('\u001b[35mneedle\u001b[0m');
	expect(terminal.screen().filter((row) => row.includes('needle'))).toHaveLength(1);
});
