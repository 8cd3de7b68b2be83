import {expect, test} from 'vitest';
import {compare} from '../../src/session/compare.ts';
import type {Body} from '../../src/session/events.ts';
import {answer, call, events, result, system, toolEnd, turnOne, usage, user} from '../helpers/log-file.ts';

const lineage: Body = {type: 'fork', from: 's-a', atSeq: 8, origin: 's-a', kind: 'fork'};
const failed: Body = {
	...(toolEnd('c2', 'exit 1') as Extract<Body, {type: 'tool_end'}>),
	result: {ok: false, content: 'exit 1'},
};
const edited = (id: string, path: string, added: number, removed: number): Body => ({
	...(toolEnd(id) as Extract<Body, {type: 'tool_end'}>),
	files: [{path, before: null, after: 'b', added, removed}],
});

test('two branches are compared from where they part', () => {
	const parent = events([
		...turnOne,
		user('then fix it'),
		usage(100, 10, 0.5),
		call('c2', 'c3'),
		failed,
		result('c2'),
		edited('c3', 'src/calc.js', 3, 1),
		result('c3'),
		answer('Fixed.'),
	]);
	const fork = events([
		...turnOne,
		lineage,
		user('explain it'),
		usage(50, 5),
		answer('It divides.'),
		user('thanks'),
	]);
	expect(compare(parent, fork)).toEqual({
		shared: {events: 8, seq: 8, turns: 1},
		branches: [
			{
				turns: [{turn: 2, ts: parent[8]?.ts, prompt: 'then fix it', answer: 'Fixed.', calls: 2}],
				files: [{path: 'src/calc.js', edits: 1, added: 3, removed: 1}],
				calls: 2,
				failures: 1,
				spend: {calls: 1, inputTokens: 100, outputTokens: 10, estimated: false, costUsd: 0.5, unpriced: 0},
				elapsedMs: 7000,
			},
			{
				turns: [
					{turn: 2, ts: fork[9]?.ts, prompt: 'explain it', answer: 'It divides.', calls: 0},
					{turn: 3, ts: fork[12]?.ts, prompt: 'thanks', answer: '', calls: 0},
				],
				files: [],
				calls: 0,
				failures: 0,
				spend: {calls: 1, inputTokens: 50, outputTokens: 5, estimated: false, costUsd: 0, unpriced: 1},
				elapsedMs: 3000,
			},
		],
	});
});

test('a session and a fork of its end: one side has nothing of its own', () => {
	const parent = events(turnOne);
	const {shared, branches} = compare(parent, events([...turnOne, lineage]));
	expect(shared).toEqual({events: 8, seq: 8, turns: 1});
	expect(branches.map(({turns, elapsedMs}) => [turns, elapsedMs])).toEqual([
		[[], 0],
		[[], 0],
	]);
});

test('a fork at a prompt answers a question that both have', () => {
	const parent = events([system, user('a'), answer('one')]);
	const fork = events([system, user('a'), lineage, answer('two'), user('b')]);
	const {shared, branches} = compare(parent, fork);
	expect(shared).toEqual({events: 2, seq: 2, turns: 1});
	expect(branches.map(({turns}) => turns.map(({turn, prompt, answer}) => [turn, prompt, answer]))).toEqual([
		[[1, '', 'one']],
		[
			[1, '', 'two'],
			[2, 'b', ''],
		],
	]);
});

test('two sessions that share no line are compared whole', () => {
	const {shared, branches} = compare(events([user('a'), answer('b')]), events([user('c')], 5));
	expect(shared).toEqual({events: 0, seq: 0, turns: 0});
	expect(branches.map(({turns}) => turns.map(({turn, prompt}) => [turn, prompt]))).toEqual([
		[[1, 'a']],
		[[1, 'c']],
	]);
});
