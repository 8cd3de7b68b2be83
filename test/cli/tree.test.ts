import {rmSync} from 'node:fs';
import {expect, test} from 'vitest';
import {a, b, c, makeScene, turn} from './scene.ts';

const own = (calls: number) => ({
	calls,
	inputTokens: calls * 100,
	outputTokens: calls * 10,
	estimated: false,
	costUsd: calls * 0.25,
	unpriced: 0,
});

test('tree draws what was forked from what', async () => {
	const scene = makeScene();
	scene.session(a, ...turn('first'), ...turn('second'));
	scene.forked(b, a, turn('first'));
	scene.forked(c, a, turn('first'), {type: 'name', title: 'another way'}, ...turn('more'));
	expect(await scene.run(['tree'])).toMatchObject({
		status: 0,
		stdout: [
			`${a}  2 turns  $0.500  first`,
			`├─ ${b}  fork at 4  1 turn  $0.000  first`,
			`└─ ${c}  fork at 4  2 turns  $0.250  another way`,
			'',
		].join('\n'),
	});
});

test('tree --json has a missing parent in its place', async () => {
	const scene = makeScene();
	const gone = scene.session(a, ...turn('first'));
	scene.forked(b, a, turn('first'), ...turn('own'));
	rmSync(gone);
	expect(await scene.json('tree', '--json')).toEqual([
		{
			sessions: [
				{
					id: a,
					there: false,
					title: null,
					turns: null,
					own: null,
					fork: null,
					forks: [
						{
							id: b,
							there: true,
							title: 'first',
							turns: 2,
							own: own(1),
							fork: {atSeq: 4, kind: 'fork'},
							forks: [],
						},
					],
				},
			],
			unreadable: [],
		},
	]);
	expect((await scene.run(['tree'])).stdout).toMatch(new RegExp(`^${a} {2}\\(its file is gone\\)\n└─ ${b} `));
});
