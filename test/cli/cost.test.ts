import {mkdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {events} from '../helpers/log-file.ts';
import {a, b, c, lines, makeScene, turn} from './scene.ts';

const sum = (calls: number, costUsd: number, unpriced = 0) => ({
	calls,
	inputTokens: calls * 100,
	outputTokens: calls * 10,
	estimated: false,
	costUsd,
	unpriced,
});

test('the cost of a session is told turn by turn, own and inherited apart, unknown prices named', async () => {
	const scene = makeScene();
	scene.session(a, ...turn('first'), ...turn('second'));
	scene.forked(b, a, turn('first'), ...turn('own', 0.5), ...turn('free', null));
	const {stdout, status} = await scene.run(['cost', b]);
	expect(lines(stdout).map((row) => row.trim().replace(/ {2,}/g, '|'))).toEqual([
		'turn|calls|tokens in|tokens out|cost|prompt',
		'1|1|100|10|$0.250|(inherited) first',
		'2|1|100|10|$0.500|own',
		'3|1|100|10|?|free',
		'calls|tokens in|tokens out|cost|model',
		'2|200|20|$0.750|gpt-5-mini',
		'1|100|10|?|llama',
		'This session: 2 model calls, 200 tokens in and 20 out, $0.500 and more that is not known.',
		'Inherited: 1 model call, 100 tokens in and 10 out, $0.250.',
		'The price of 1 call of llama is not known; it is in no sum.',
	]);
	expect(status).toBe(0);
});

test('cost ID --json is one object', async () => {
	const scene = makeScene();
	scene.session(a, ...turn('first'));
	scene.forked(b, a, turn('first'), ...turn('own', null));
	expect(await scene.json('cost', b, '--json')).toEqual([
		{
			id: b,
			own: sum(1, 0, 1),
			inherited: sum(1, 0.25),
			turns: [
				{turn: 1, prompt: 'first', ts: '2026-09-07T10:00:02.000Z', inherited: true, ...sum(1, 0.25)},
				{turn: 2, prompt: 'own', ts: '2026-09-07T10:00:06.000Z', inherited: false, ...sum(1, 0, 1)},
			],
			models: [
				{model: 'gpt-5-mini', ...sum(1, 0.25)},
				{model: 'llama', ...sum(1, 0, 1)},
			],
		},
	]);
});

test('over sessions each line is paid once, also when a session in between is gone', async () => {
	const scene = makeScene();
	const gone = scene.session(a, ...turn('first'), ...turn('only here'));
	scene.forked(b, a, turn('first'), ...turn('in b', 0.5));
	scene.forked(c, a, turn('first'), ...turn('in c', null));
	const total = async () => {
		const [all] = (await scene.json('cost', '--json')) as {total: object; sessions: object[]}[];
		return all;
	};
	expect((await total())?.total).toEqual(sum(4, 1, 1));
	rmSync(gone);
	expect(await total()).toEqual({
		total: sum(3, 0.75, 1),
		sessions: [
			{id: c, title: 'first', there: true, ...sum(1, 0, 1)},
			{id: b, title: 'first', there: true, ...sum(1, 0.5)},
			{id: a, title: '', there: false, ...sum(1, 0.25)},
		],
		models: [
			{model: 'gpt-5-mini', ...sum(2, 0.75)},
			{model: 'llama', ...sum(1, 0, 1)},
		],
		days: [{day: '2026-09-07', ...sum(3, 0.75, 1)}],
		workspaces: [{workspace: scene.workspace, ...sum(3, 0.75, 1)}],
		unreadable: [],
	});
	expect((await scene.run(['cost'])).stdout).toContain(
		`${a} (this session is gone; its forks hold its lines)`,
	);
});

test('--all adds up every workspace', async () => {
	const scene = makeScene();
	const other = join(scene.root, 'other');
	mkdirSync(other);
	scene.session(a, ...turn('here'));
	scene.put(b, events([scene.head(other), ...turn('there', 0.5)]), other);
	const [here, all] = await Promise.all([
		scene.json('cost', '--json'),
		scene.json('cost', '--all', '--json'),
	]);
	expect(here[0]).toMatchObject({total: sum(1, 0.25)});
	expect(all[0]).toMatchObject({
		total: sum(2, 0.75),
		workspaces: [
			{workspace: other, ...sum(1, 0.5)},
			{workspace: scene.workspace, ...sum(1, 0.25)},
		],
	});
});

test('on a terminal each turn has a bar as long as its share', async () => {
	const scene = makeScene();
	scene.session(a, ...turn('small', 0.125), ...turn('large', 1));
	const terminal = scene.open({args: ['cost', a], columns: 100});
	await terminal.exit();
	const bars = terminal.screen().map((row) => /█[█▏▎▍▌▋▊▉]*/.exec(row)?.[0]);
	expect(bars.filter(Boolean)).toEqual(['█▌', '████████████']);
});
