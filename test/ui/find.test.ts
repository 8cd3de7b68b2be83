import {expect, test} from 'vitest';
import {type Row, rowText} from '../../src/ui/display.ts';
import {
	type Find,
	findIn,
	findLine,
	lookFurther,
	markedBlocks,
	matchesOf,
	placeOf,
	step,
} from '../../src/ui/find.ts';
import {rowsOf} from '../../src/ui/rows.ts';
import type {Item} from '../../src/ui/view.ts';
import {type Blocks, paneRows, reveal} from '../../src/ui/window.ts';

const answers = (...texts: string[]): Item[] => texts.map((text, seq) => ({kind: 'assistant', seq, text}));
const blocksOf = (items: readonly Item[], columns = 40): Blocks => ({
	length: items.length,
	rows: (index) => (items[index] ? rowsOf(items[index], columns) : []),
});
const rows = (...texts: string[]): Row[] => texts.map((text) => [{text}]);
const places = (of: readonly Row[], text: string) =>
	matchesOf(of, findIn([], text).pattern).map(({pieces}) => pieces);
const at = (find: Find) => find.at && [find.hits[find.at.hit], find.at.match];

test('a place is found whatever its case, and any character is only itself', () => {
	expect(places(rows('One a.c', 'abc A.C'), 'a.c')).toEqual([
		[{row: 0, from: 4, to: 7}],
		[{row: 1, from: 4, to: 7}],
	]);
	for (const text of ['(', '[a', '\\', 'a|b', '*', '$^', '/', '-', '{2}', '漢字', '🎉']) {
		expect(places(rows(`x ${text} y`), text), text).toHaveLength(1);
	}
});

test('a place that goes over the end of a row is one', () => {
	expect(places(rows('│ the quick', '  brown fox'), 'quick  brown')).toEqual([
		[
			{row: 0, from: 6, to: 11},
			{row: 1, from: 0, to: 7},
		],
	]);
});

test('what is bold in the source is found as it is read', () => {
	const items = answers('with **no check** in `calc.js`');
	expect(findIn(items, 'no check in calc').hits).toEqual([0]);
	const find = step(findIn(items, 'no check in calc'), 'older', blocksOf(items));
	expect(at(find)).toEqual([0, 0]);
});

test('n goes from the newest to the oldest and begins again, N goes back', () => {
	const items = answers('needle', 'hay', 'a needle and a needle', 'hay');
	const blocks = blocksOf(items);
	let find = findIn(items, 'needle');
	const seen = [];
	for (const direction of ['older', 'older', 'older', 'older', 'newer', 'newer', 'newer'] as const) {
		find = step(find, direction, blocks);
		seen.push(at(find));
	}
	expect(seen).toEqual([
		[2, 1],
		[2, 0],
		[0, 0],
		[2, 1],
		[0, 0],
		[2, 0],
		[2, 1],
	]);
	expect(findLine(find)).toBe('“needle” · 2/2 in message 1/2 · n older · N newer · Esc ends');
});

test('what is in the source but not on the screen is passed over', () => {
	const items = answers('needle', '[x]: <needle>\n', '```needle\ncode\n```');
	expect(at(step(step(findIn(items, 'needle'), 'older', blocksOf(items)), 'older', blocksOf(items)))).toEqual(
		[0, 0],
	);
});

test('what matches is marked, the shown one more so, and no row changes its text', () => {
	const items = answers('a **needle** and a needle');
	const blocks = blocksOf(items);
	const find = step(findIn(items, 'needle'), 'older', blocks);
	const marked = markedBlocks(blocks, find).rows(0);
	expect(marked.map(rowText)).toEqual(blocks.rows(0).map(rowText));
	expect(marked[1]).toEqual([
		{text: 'a '},
		{text: 'needle', bold: true, inverse: true},
		{text: ' and a '},
		{text: 'needle', bold: true, inverse: true, color: 'yellow'},
	]);
});

test('the window goes to a place that is not in it, and stays where it is', () => {
	const items = answers(...Array.from({length: 100}, (_, index) => `number ${index}.`));
	const blocks = blocksOf(items);
	const shownBy = (text: string) => {
		const place = placeOf(step(findIn(items, text), 'older', blocks), blocks);
		if (!place) throw new Error('nothing is found');
		return reveal(blocks, 9, {follow: true}, place.item, place.row);
	};
	expect(shownBy('number 99.')).toEqual({follow: true});
	for (const number of [0, 1, 50, 94]) {
		const pane = paneRows(blocks, 9, shownBy(`number ${number}.`)).rows.map(rowText);
		expect(pane.slice(0, 8)).toContain(`number ${number}.`);
	}
});

test('of 10,000 messages a key looks at a bounded part, and a search through all is over after a few', () => {
	let read = 0;
	const long = `${'word '.repeat(60)}the end`;
	const items = Array.from(
		{length: 10_000},
		(_, seq): Item => ({
			kind: 'assistant',
			seq,
			get text() {
				read++;
				return seq === 0 ? 'needle' : long;
			},
		}),
	);
	const blocks = blocksOf(items);
	let find = findIn(items, 'needle');
	expect(read).toBeLessThan(3000);
	// Nothing is found yet; a key waits for no more than that.
	expect(step(find, 'older', blocks)).toBe(find);
	let slices = 1;
	for (; find.next >= 0; slices++) {
		read = 0;
		find = lookFurther(find, items);
		expect(read).toBeLessThan(3000);
	}
	expect(slices).toBeLessThan(12);
	expect(find.hits).toEqual([0]);
	read = 0;
	expect(at(step(find, 'older', blocks))).toEqual([0, 0]);
	expect(read).toBeLessThan(10);

	const common = step(findIn(items, 'word'), 'older', blocks);
	read = 0;
	step(common, 'older', blocks);
	expect(read).toBeLessThan(10);
});
