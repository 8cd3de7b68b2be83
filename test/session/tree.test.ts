import {expect, test} from 'vitest';
import type {EventOf} from '../../src/session/events.ts';
import {lineageTrees, type TreeNode} from '../../src/session/tree.ts';

type Lineage = [from: string, atSeq: number, kind?: 'fork' | 'recovery'];

const session = (id: string, ...lineage: Lineage[]) => ({
	id,
	forks: lineage.map(
		([from, atSeq, kind = 'fork'], index): EventOf<'fork'> => ({
			seq: 100 + index,
			ts: '2026-09-07T10:00:00.000Z',
			type: 'fork',
			from,
			atSeq,
			origin: from,
			kind,
		}),
	),
});

/** A node in one line: its id, `!` where it is gone, where it parted, its forks. */
function drawn<S>({id, session: found, parted, forks}: TreeNode<S>): string {
	const at = parted ? `${parted.kind === 'fork' ? '' : 'r'}${parted.atSeq}:` : '';
	return `${at}${id}${found ? '' : '!'}${forks.length > 0 ? `(${forks.map(drawn).join(' ')})` : ''}`;
}

const trees = (...sessions: ReturnType<typeof session>[]) => lineageTrees(sessions).map(drawn);

test('forks hang from what they were forked from, oldest first', () => {
	expect(
		trees(
			session('d', ['b', 9]),
			session('c', ['a', 5, 'recovery']),
			session('b', ['a', 2]),
			session('a'),
			session('z'),
		),
	).toEqual(['a(2:b(9:d) r5:c)', 'z']);
});

test('a parent that is gone is in its place, and one in between too', () => {
	expect(trees(session('c', ['a', 2], ['b', 9]), session('d', ['a', 2], ['b', 12]))).toEqual([
		'a!(2:b!(9:c 12:d))',
	]);
	expect(trees(session('a'), session('c', ['a', 2], ['b', 9]))).toEqual(['a(2:b!(9:c))']);
});

test('lineages that contradict each other or bite their tail still end', () => {
	expect(trees(session('a', ['b', 2]), session('b', ['a', 2]))).toEqual(['b(2:a)']);
	expect(trees(session('a', ['a', 2]))).toEqual(['a']);
});
