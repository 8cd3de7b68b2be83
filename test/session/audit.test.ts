import {expect, test} from 'vitest';
import {spendOf, turnNumbers} from '../../src/session/audit.ts';
import type {Body} from '../../src/session/events.ts';
import {answer, events, system, turnOne, turnTwo, usage, user} from '../helpers/log-file.ts';

const lineage: Body = {type: 'fork', from: 's-a', atSeq: 4, origin: 's-a', kind: 'fork'};

test('what came before the last fork is inherited, what comes after is its own', () => {
	const log = events([
		system,
		user('a'),
		usage(10, 1, 0.5),
		answer('b'),
		lineage,
		user('c'),
		usage(20, 2),
		answer('d'),
	]);
	const {own, inherited} = spendOf(log);
	expect(inherited).toMatchObject({calls: 1, inputTokens: 10, outputTokens: 1, costUsd: 0.5, unpriced: 0});
	expect(own).toMatchObject({calls: 1, inputTokens: 20, outputTokens: 2, costUsd: 0, unpriced: 1});
});

test('a fork that has said nothing yet has spent nothing', () => {
	expect(spendOf(events([system, user('a'), usage(10, 1, 0.5), answer('b'), lineage])).own).toMatchObject({
		calls: 0,
		costUsd: 0,
	});
});

test('a turn is a user message and every event up to the next; the system line belongs to none', () => {
	const numbers = turnNumbers(events([...turnOne, ...turnTwo]));
	expect(numbers).toEqual([0, ...Array(7).fill(1), ...Array(11).fill(2)]);
});
