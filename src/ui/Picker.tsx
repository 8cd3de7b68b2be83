import type {Row} from './display.ts';
import {glyph, theme} from './theme.ts';

/** The selected row is marked by a sign as well as by colour. */
export function pickerRows(rows: readonly Row[], selected: number, height: number, first = 0): Row[] {
	const top = Math.max(0, Math.min(selected - first - Math.floor(height / 2), rows.length - height));
	return rows.slice(top, top + height).map((row, index) => {
		const isSelected = top + index === selected - first;
		return isSelected
			? [
					{text: `${glyph.selected} `, color: theme.accent, bold: true},
					...row.map((span) => ({...span, bold: true})),
				]
			: [{text: '  '}, ...row];
	});
}

/** Where the selection goes for a key; the same in every list. */
export function moveSelection(
	selected: number,
	length: number,
	page: number,
	key: {
		upArrow: boolean;
		downArrow: boolean;
		pageUp: boolean;
		pageDown: boolean;
		home: boolean;
		end: boolean;
	},
): number {
	const by = key.upArrow ? -1 : key.downArrow ? 1 : key.pageUp ? -page : key.pageDown ? page : 0;
	const to = key.home ? 0 : key.end ? length - 1 : selected + by;
	return Math.max(0, Math.min(length - 1, to));
}
