import type {Row} from './display.ts';

/** Where the reader is: at the end, following it, or at a row of an item, which stays where it is whatever comes below. */
export type Scroll = {follow: true} | {follow: false; item: number; row: number};

type Place = {item: number; row: number};

/** A list of blocks of rows of which only those near the window are ever asked for. */
export type Blocks = {length: number; rows(index: number): readonly Row[]};

export type Pane = {
	rows: Row[];
	/** Index of the first block on the screen. */
	top: number;
	/** Blocks that begin below the window. */
	below: number;
};

/** The rows that a window of `height` shows. Costs as much as what is visible, however long the list is. */
export function paneRows(blocks: Blocks, height: number, scroll: Scroll): Pane {
	const from = scroll.follow ? fromEnd(blocks, height) : clampTop(blocks, height, scroll);
	const rows: Row[] = [];
	let index = from.item;
	let skip = from.row;
	while (index < blocks.length && rows.length < height) {
		rows.push(...blocks.rows(index).slice(skip, skip + height - rows.length));
		skip = 0;
		index++;
	}
	return {rows, top: from.item, below: blocks.length - index};
}

/** Move the window by `delta` rows, down if positive. At the end it follows again. */
export function scrollBy(blocks: Blocks, height: number, scroll: Scroll, delta: number): Scroll {
	const end = fromEnd(blocks, height);
	let {item, row} = scroll.follow ? end : clampTop(blocks, height, scroll);
	row += delta;
	while (row < 0 && item > 0) {
		item--;
		row += blocks.rows(item).length;
	}
	if (row < 0) row = 0;
	while (item < blocks.length && row >= blocks.rows(item).length) {
		row -= blocks.rows(item).length;
		item++;
	}
	if (item > end.item || (item === end.item && row >= end.row)) return {follow: true};
	return {follow: false, item, row};
}

/** The window at the first row. */
export function toStart(blocks: Blocks, height: number): Scroll {
	const end = fromEnd(blocks, height);
	return end.item === 0 && end.row === 0 ? {follow: true} : {follow: false, item: 0, row: 0};
}

/** The window around a row: as it is where that is in it, else with the row in its upper third. */
export function reveal(blocks: Blocks, height: number, scroll: Scroll, item: number, row: number): Scroll {
	const end = fromEnd(blocks, height);
	const from = scroll.follow ? end : clampTop(blocks, height, scroll);
	// Above the end the last row is covered by what tells that there is more.
	const room = scroll.follow ? height : height - 1;
	if (!isBefore({item, row}, from) && distance(blocks, from, {item, row}, room) < room) return scroll;
	const top = {item, row: row - Math.floor(height / 3)};
	while (top.row < 0 && top.item > 0) top.row += blocks.rows(--top.item).length;
	return isBefore(top, end) ? {follow: false, item: top.item, row: Math.max(0, top.row)} : {follow: true};
}

function isBefore(a: Place, b: Place): boolean {
	return a.item < b.item || (a.item === b.item && a.row < b.row);
}

/** Rows from one place down to another, counted no further than `most`. */
function distance(blocks: Blocks, from: Place, to: Place, most: number): number {
	let rows = -from.row;
	for (let item = from.item; item < to.item && rows < most; item++) rows += blocks.rows(item).length;
	return rows + to.row;
}

/**
The row of a block that shows what `row` showed before the block was made anew, at another width or with more in it: the one with as
much text above it.
*/
export function carry(row: number, before: readonly Row[], after: readonly Row[]): number {
	let above = before.slice(0, row).reduce((sum, each) => sum + ink(each), 0);
	if (row === 0) return 0;
	for (const [index, each] of after.entries()) {
		above -= ink(each);
		if (above < 0) return index;
	}
	return Math.max(0, after.length - 1);
}

/** Units of a row that are not spaces. */
function ink(row: Row): number {
	return row.reduce((sum, {text}) => sum + text.replace(/ +/g, '').length, 0);
}

/** The first row of a window that ends with the last one. */
function fromEnd(blocks: Blocks, height: number): Place {
	let item = blocks.length;
	let missing = height;
	while (item > 0 && missing > 0) {
		item--;
		missing -= blocks.rows(item).length;
	}
	return {item, row: Math.max(0, -missing)};
}

/** After a resize an anchor may lie past the rows that its item has, or so far down that the window would not be full. */
function clampTop(blocks: Blocks, height: number, scroll: Place): Place {
	const item = Math.min(scroll.item, Math.max(0, blocks.length - 1));
	const row = Math.min(scroll.row, Math.max(0, (blocks.length > 0 ? blocks.rows(item).length : 1) - 1));
	const end = fromEnd(blocks, height);
	if (item > end.item || (item === end.item && row > end.row)) return end;
	return {item, row};
}
