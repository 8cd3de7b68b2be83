import type {Row} from './display.ts';

/** Where the reader is: at the end, following it, or at a row of an item, which stays where it is whatever comes below. */
export type Scroll = {follow: true} | {follow: false; item: number; row: number};

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
		rows.push(...blocks.rows(index).slice(skip));
		skip = 0;
		index++;
	}
	return {rows: rows.slice(0, height), top: from.item, below: blocks.length - index};
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

/** The first row of a window that ends with the last one. */
function fromEnd(blocks: Blocks, height: number): {item: number; row: number} {
	let item = blocks.length;
	let missing = height;
	while (item > 0 && missing > 0) {
		item--;
		missing -= blocks.rows(item).length;
	}
	return {item, row: Math.max(0, -missing)};
}

/** After a resize an anchor may lie past the rows that its item has, or so far down that the window would not be full. */
function clampTop(
	blocks: Blocks,
	height: number,
	scroll: {item: number; row: number},
): {item: number; row: number} {
	const item = Math.min(scroll.item, Math.max(0, blocks.length - 1));
	const row = Math.min(scroll.row, Math.max(0, (blocks.length > 0 ? blocks.rows(item).length : 1) - 1));
	const end = fromEnd(blocks, height);
	if (item > end.item || (item === end.item && row > end.row)) return end;
	return {item, row};
}
