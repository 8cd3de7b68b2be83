import {expect, test} from 'vitest';
import {
	auditor,
	type Charges,
	ledger,
	type Spend,
	spendOf,
	spendPerTurn,
	turnNumbers,
} from '../../src/session/audit.ts';
import type {Body, EventOf} from '../../src/session/events.ts';
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

test('what each turn spent is told apart, and a turn that a fork cut through is two entries', () => {
	const log = events([
		system,
		user('a'),
		usage(10, 1, 0.5),
		answer('b'),
		user('c'),
		usage(20, 2, 0.25),
		lineage,
		usage(30, 3),
		answer('d'),
	]);
	const sums = (calls: number, inputTokens: number, outputTokens: number, costUsd: number, unpriced = 0) => ({
		calls,
		inputTokens,
		outputTokens,
		estimated: false,
		costUsd,
		unpriced,
	});
	expect(spendPerTurn(log)).toEqual([
		{turn: 1, prompt: 'a', ts: log[1]?.ts, inherited: true, spend: sums(1, 10, 1, 0.5)},
		{turn: 2, prompt: 'c', ts: log[4]?.ts, inherited: true, spend: sums(1, 20, 2, 0.25)},
		{turn: 2, prompt: 'c', ts: log[4]?.ts, inherited: false, spend: sums(1, 30, 3, 0, 1)},
	]);
});

test('a line that forks copied is counted once, for the session that wrote it, also when that is gone', () => {
	const charge = (id: string, seqs: number[], forks: [origin: string, atSeq: number][] = []): Charges => ({
		id,
		workspace: '/w',
		usages: seqs.map((seq) => ({...usageAt(seq), type: 'usage' as const})),
		forks: forks.map(([origin, atSeq], index) => ({
			...envelope(100 + index),
			type: 'fork',
			from: origin,
			atSeq,
			origin,
			kind: 'fork',
		})),
	});
	const book = ledger(
		[
			charge('s-root', [3, 7]),
			charge('s-fork', [3, 5], [['s-root', 4]]),
			// s-gone, between them, is not there any more: only its forks hold its line 6.
			charge(
				's-one',
				[3, 6, 9],
				[
					['s-root', 4],
					['s-gone', 8],
				],
			),
			charge(
				's-two',
				[3, 6],
				[
					['s-root', 4],
					['s-gone', 8],
				],
			),
		],
		(ts) => ts.slice(0, 10),
	);
	const calls = (sums: Map<string, Spend>) =>
		Object.fromEntries([...sums].map(([key, sum]) => [key, sum.calls]));
	expect(calls(book.sessions)).toEqual({'s-root': 2, 's-fork': 1, 's-gone': 1, 's-one': 1});
	expect(book.total).toMatchObject({calls: 5, inputTokens: 50, costUsd: 2.5});
	expect(calls(book.days)).toEqual({'2026-09-07': 5});
	expect(calls(book.models)).toEqual({scripted: 5});
	expect(calls(book.workspaces)).toEqual({'/w': 5});
});

test('an audited line knows its turn, what it took, its bytes and the calls that it is about', () => {
	const read = auditor();
	const log = events(turnOne);
	const lines = log.map((event, index) => read(event, (index + 1) * 100));
	expect(lines.map(({turn}) => turn)).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
	expect(lines.map(({elapsedMs}) => elapsedMs)).toEqual([null, 1000, 1000, 1000, 1000, 1000, 1000, 1000]);
	expect(lines.map(({bytes}) => bytes)).toEqual(Array(8).fill(100));
	expect(lines.map(({calls}) => calls.map(({id}) => id).join())).toEqual([
		'',
		'',
		'',
		'c1',
		'c1',
		'c1',
		'',
		'',
	]);
});

const envelope = (seq: number) => ({seq, ts: '2026-09-07T10:00:00.000Z'});
const usageAt = (seq: number) => ({...usage(10, 1, 0.5), ...envelope(seq)}) as EventOf<'usage'>;
