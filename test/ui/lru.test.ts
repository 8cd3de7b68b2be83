import {expect, test} from 'vitest';
import {lru} from '../../src/ui/lru.ts';

test('what was asked for longest ago goes first', () => {
	const kept = lru<string, number>(2);
	kept.set('a', 1);
	kept.set('b', 2);
	expect(kept.get('a')).toBe(1);
	kept.set('c', 3);
	expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([1, undefined, 3]);
});

test('values count by their weight, and a value that is replaced counts once', () => {
	const kept = lru<string, string>(10, {weight: (value) => value.length});
	for (let turn = 0; turn < 20; turn++) kept.set('a', 'xxxx');
	kept.set('b', 'xxxx');
	expect(kept.size).toBe(2);
	kept.set('c', 'xxx');
	expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([undefined, 'xxxx', 'xxx']);
});

test('the newest stay, however heavy they are', () => {
	const kept = lru<number, string>(10, {least: 3, weight: (value) => value.length});
	for (let key = 0; key < 9; key++) kept.set(key, 'x'.repeat(100));
	expect(kept.size).toBe(3);
	expect(kept.get(8)).toBeDefined();
});

test('a hundred thousand values leave no more than the limit', () => {
	const kept = lru<number, string[]>(8000, {least: 100, weight: (rows) => rows.length});
	for (let key = 0; key < 100_000; key++)
		kept.set(
			key,
			Array.from({length: 1 + (key % 30)}, () => ''),
		);
	expect(kept.size).toBeLessThan(1000);
});
