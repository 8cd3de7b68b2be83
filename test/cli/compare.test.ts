import {expect, test} from 'vitest';
import {a, b, lines, makeScene, turn, writes} from './scene.ts';

function twoBranches(scene: ReturnType<typeof makeScene>) {
	scene.session(a, ...turn('first'), ...turn('second'), ...writes('a.txt', null, 'x\n'));
	scene.forked(b, a, turn('first'), ...turn('another', null));
}

test('compare --json: what is shared, then each branch', async () => {
	const scene = makeScene();
	twoBranches(scene);
	const spend = {calls: 1, inputTokens: 100, outputTokens: 10, estimated: false};
	expect(await scene.json('compare', a, b, '--json')).toEqual([
		{
			shared: {events: 4, seq: 4, turns: 1},
			branches: [
				{
					id: a,
					turns: [
						{turn: 2, ts: '2026-09-07T10:00:05.000Z', prompt: 'second', answer: 'About second.', calls: 1},
					],
					files: [{path: 'a.txt', edits: 1, added: 1, removed: 0}],
					calls: 1,
					failures: 0,
					spend: {...spend, costUsd: 0.25, unpriced: 0},
					elapsedMs: 5000,
				},
				{
					id: b,
					turns: [
						{turn: 2, ts: '2026-09-07T10:00:06.000Z', prompt: 'another', answer: 'About another.', calls: 0},
					],
					files: [],
					calls: 0,
					failures: 0,
					spend: {...spend, costUsd: 0, unpriced: 1},
					elapsedMs: 2000,
				},
			],
		},
	]);
});

test('compare prints both branches side by side', async () => {
	const scene = makeScene();
	twoBranches(scene);
	const {stdout, status} = await scene.run(['compare', a, b]);
	expect(lines(stdout).map((row) => row.trim().replace(/ {2,}/g, '|'))).toEqual([
		'They part after event 4: 4 events and 1 turn are the same.',
		`${a}|${b}`,
		'turn 2|second|another',
		'answer|About second.|About another.',
		'calls|1|0',
		'failures|0|0',
		'tokens|100 → 10|100 → 10',
		'cost|$0.250|?',
		'time|5.0 s|2.0 s',
		'edits|a.txt +1 −0 in 1',
	]);
	expect(status).toBe(0);
});
