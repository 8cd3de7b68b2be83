import {expect, test} from 'vitest';
import {type Blocks, carry, paneRows, reveal, type Scroll, scrollBy, toStart} from '../../src/ui/window.ts';

/** Blocks of that many rows each, named `2.0` for the first row of block 2; it counts which are asked for. */
function blocks(...heights: number[]): Blocks & {asked: Set<number>; calls: number} {
	const made = {
		length: heights.length,
		asked: new Set<number>(),
		calls: 0,
		rows(index: number) {
			made.asked.add(index);
			made.calls++;
			return Array.from({length: heights[index] ?? 0}, (_, row) => [{text: `${index}.${row}`}]);
		},
	};
	return made;
}

const shown = (of: Blocks, height: number, scroll: Scroll) =>
	paneRows(of, height, scroll).rows.map((row) => row[0]?.text);
const follow: Scroll = {follow: true};

test('the end is followed', () => {
	expect(shown(blocks(2, 2, 2), 3, follow)).toEqual(['1.1', '2.0', '2.1']);
	expect(shown(blocks(2, 2, 2, 1), 3, follow)).toEqual(['2.0', '2.1', '3.0']);
});

test('what does not fill the window begins at its top', () => {
	expect(shown(blocks(1, 2), 9, follow)).toEqual(['0.0', '1.0', '1.1']);
	expect(shown(blocks(), 9, follow)).toEqual([]);
});

test('a block taller than the window is shown by its end', () => {
	expect(shown(blocks(1, 9), 2, follow)).toEqual(['1.7', '1.8']);
});

test('scrolling up lets go of the end, scrolling down to it takes hold again', () => {
	const of = blocks(2, 2, 2);
	const up = scrollBy(of, 3, follow, -2);
	expect(up).toEqual({follow: false, item: 0, row: 1});
	expect(shown(of, 3, up)).toEqual(['0.1', '1.0', '1.1']);
	expect(scrollBy(of, 3, up, 1)).toEqual({follow: false, item: 1, row: 0});
	expect(scrollBy(of, 3, up, 2)).toEqual(follow);
	expect(scrollBy(of, 3, up, 500)).toEqual(follow);
});

test('above the first row there is nothing', () => {
	const top = scrollBy(blocks(2, 2, 2), 3, follow, -500);
	expect(top).toEqual({follow: false, item: 0, row: 0});
});

test('the reader stays where they are while blocks come below', () => {
	const anchor: Scroll = {follow: false, item: 1, row: 1};
	const before = shown(blocks(2, 2, 2, 2, 2), 3, anchor);
	expect(shown(blocks(2, 2, 2, 2, 2, 7, 7), 3, anchor)).toEqual(before);
	expect(paneRows(blocks(2, 2, 2, 2, 2, 7, 7), 3, anchor).below).toBe(4);
});

test('after a resize the anchor is still in its block, and the window is full', () => {
	const anchor: Scroll = {follow: false, item: 1, row: 5};
	expect(shown(blocks(1, 6, 3, 3), 2, anchor)).toEqual(['1.5', '2.0']);
	expect(shown(blocks(1, 2, 1, 1), 2, anchor)).toEqual(['1.1', '2.0']);
	expect(shown(blocks(1, 2, 1, 1), 4, anchor)).toEqual(['1.0', '1.1', '2.0', '3.0']);
});

test('an anchor behind the last block shows the end', () => {
	expect(shown(blocks(2, 2), 3, {follow: false, item: 7, row: 0})).toEqual(['0.1', '1.0', '1.1']);
});

test('blocks without rows are passed over', () => {
	const of = blocks(2, 0, 0, 2, 0);
	expect(shown(of, 3, follow)).toEqual(['0.1', '3.0', '3.1']);
	const up = scrollBy(of, 2, follow, -1);
	expect(shown(of, 2, up)).toEqual(['0.1', '3.0']);
	expect(scrollBy(of, 2, up, 1)).toEqual(follow);
});

test('up and down by every amount lead back', () => {
	const of = blocks(3, 0, 1, 5, 2, 0, 4, 1, 1, 3);
	for (const height of [1, 2, 5, 7]) {
		const start = scrollBy(of, height, follow, -6);
		for (let by = 1; by < 6; by++) {
			expect(shown(of, height, scrollBy(of, height, scrollBy(of, height, start, -by), by))).toEqual(
				shown(of, height, start),
			);
		}
	}
});

test('of 10,000 blocks only those near the window are asked for, wherever it is', () => {
	const heights = Array.from({length: 10_000}, (_, index) => 1 + (index % 3));
	for (const scroll of [
		follow,
		{follow: false, item: 0, row: 0},
		{follow: false, item: 5000, row: 1},
	] as const) {
		const drawn = blocks(...heights);
		paneRows(drawn, 30, scroll);
		expect(drawn.calls).toBeLessThan(80);
		const scrolled = blocks(...heights);
		scrollBy(scrolled, 30, scroll, 28);
		scrollBy(scrolled, 30, scroll, -28);
		expect(scrolled.calls).toBeLessThan(200);
	}
	const following = blocks(...heights);
	paneRows(following, 30, follow);
	expect(Math.min(...following.asked)).toBeGreaterThan(9960);
});

test('the start is the first row, unless all is in the window', () => {
	expect(toStart(blocks(2, 2, 2), 3)).toEqual({follow: false, item: 0, row: 0});
	expect(toStart(blocks(2), 3)).toEqual(follow);
});

test('a row is brought into the window, and nothing moves where it is in it', () => {
	const of = blocks(...Array.from({length: 50}, () => 2));
	const here: Scroll = {follow: false, item: 20, row: 1};
	expect(reveal(of, 9, here, 22, 0)).toBe(here);
	expect(reveal(of, 9, follow, 49, 1)).toBe(follow);
	for (const scroll of [follow, here]) {
		for (let item = 0; item < 50; item++) {
			const to = reveal(of, 9, scroll, item, 1);
			// What tells that there is more covers the last row.
			expect(shown(of, to.follow ? 9 : 8, to), `${item}`).toContain(`${item}.1`);
		}
	}
});

test('who reads a row reads the same text after it was wrapped anew', () => {
	const rows = (...texts: string[]) => texts.map((text) => (text === '' ? [] : [{text}]));
	const wide = rows('', 'one two three four', 'five six seven');
	const narrow = rows('', 'one two', 'three', 'four', 'five six', 'seven');
	expect(carry(2, wide, narrow)).toBe(4);
	expect(carry(4, narrow, wide)).toBe(2);
	expect(carry(3, narrow, wide)).toBe(1);
	expect(carry(0, wide, narrow)).toBe(0);
	expect(carry(9, wide, [])).toBe(0);
});
