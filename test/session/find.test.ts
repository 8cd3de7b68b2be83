import {expect, test} from 'vitest';
import type {Body} from '../../src/session/events.ts';
import {hitsIn, patternOf} from '../../src/session/find.ts';
import {answer, events, logFile, system, turnOne, user} from '../helpers/log-file.ts';

async function found(given: string, ...bodies: Body[]) {
	const looked = patternOf(given);
	if (!looked.ok) throw new Error(looked.reason);
	const hits = await hitsIn(logFile(...events(bodies)).path, looked.pattern);
	return hits.map(({seq, in: where, line}) => [seq, where, line]);
}

test('a hit says whose words they are, where they are and what stands around them', async () => {
	const file = logFile(...events([system, user('one\nthe two of us\nthree\ntwo'), answer('four')]));
	const looked = patternOf('two');
	expect(looked.ok && (await hitsIn(file.path, looked.pattern))).toEqual([
		{
			owner: file.id,
			seq: 2,
			ts: '2026-09-07T10:00:02.000Z',
			turn: 1,
			in: 'user',
			line: 'the two of us',
			at: 4,
			length: 3,
			before: 'one',
			after: 'three',
			matches: 2,
		},
	]);
});

test('prompts, answers, calls, results, titles and errors are searched, the system message is not', async () => {
	const call: Body = {
		type: 'message',
		message: {
			role: 'assistant',
			content: '',
			toolCalls: [{id: 'c', name: 'write_file', args: '{"content":"say \\"mca\\"\\nmca"}'}],
		},
	};
	const title: Body = {type: 'name', title: 'about mca'};
	const error: Body = {type: 'error', message: 'mca failed', did: 'gaveUp'};
	const tool: Body = {type: 'message', message: {role: 'tool', toolCallId: 'c', content: 'ran mca'}};
	expect(
		await found('mca', system, user('what is mca?'), call, tool, answer('mca is this'), title, error),
	).toEqual([
		[2, 'user', 'what is mca?'],
		[3, 'write_file', 'say "mca"'],
		[4, 'tool', 'ran mca'],
		[5, 'assistant', 'mca is this'],
		[6, 'title', 'about mca'],
		[7, 'error', 'mca failed'],
	]);
});

test('small letters mean any case, a capital means itself', async () => {
	expect(await found('failing', ...turnOne)).toHaveLength(1);
	expect(await found('THE', system, user('the'), answer('THE'))).toEqual([[3, 'assistant', 'THE']]);
	expect(await found('the', system, user('The'), answer('THE'))).toHaveLength(2);
});

test('a text is a text, and a pattern between slashes is a pattern', async () => {
	expect(await found('a.b (c)', system, user('a.b (c)'), answer('axb (c)'))).toEqual([
		[2, 'user', 'a.b (c)'],
	]);
	expect(await found('/a.b/', system, user('a.b'), answer('axb'))).toHaveLength(2);
	expect(await found('/A.B/i', system, user('axb'))).toHaveLength(1);
	expect(await found('/^b$/m', system, user('a\nb\nc'))).toEqual([[2, 'user', 'b']]);
	expect(await found('/one.two/s', system, user('zero\none\ntwo'))).toEqual([[2, 'user', 'one']]);
	expect(patternOf('/(/')).toEqual({
		ok: false,
		reason: expect.stringMatching(/^\/\(\/ is not a pattern: .*\.$/),
	});
});

test('a line that a fork inherited is its owner’s', async () => {
	const lineage: Body = {type: 'fork', from: 's-a', atSeq: 2, origin: 's-a', kind: 'fork'};
	const file = logFile(...events([system, user('here'), lineage, user('and here')]));
	const looked = patternOf('here');
	const hits = looked.ok ? await hitsIn(file.path, looked.pattern) : [];
	expect(hits.map(({owner, seq}) => [owner, seq])).toEqual([
		['s-a', 2],
		[file.id, 4],
	]);
});

test('of a line that is very long, only what is around the match is kept', async () => {
	const file = logFile(...events([system, user(`${'a'.repeat(5000)}needle${'b'.repeat(5000)}`)]));
	const looked = patternOf('needle');
	const [hit] = looked.ok ? await hitsIn(file.path, looked.pattern) : [];
	expect(hit).toMatchObject({line: `${'a'.repeat(500)}needle${'b'.repeat(500)}`, at: 500, length: 6});
});
