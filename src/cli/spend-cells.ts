import type {Spend} from '../session/audit.ts';
import {dollars} from '../ui/display.ts';
import {type Cell, type Column, thousands} from './table.ts';

/** The columns that every table of costs ends with, and their cells. */
export const spendColumns: readonly Column[] = [
	{title: 'calls', right: true, leave: 2},
	{title: 'tokens in', right: true, leave: 4},
	{title: 'tokens out', right: true, leave: 3},
	{title: 'cost', right: true},
];

export function spendCells(spend: Spend): Cell[] {
	const about = spend.estimated ? '≈' : '';
	return [
		thousands(spend.calls),
		`${about}${thousands(spend.inputTokens)}`,
		`${about}${thousands(spend.outputTokens)}`,
		priceCell(spend),
	];
}

/** A price that is not known is not nothing: `?` where none is known, `$0.031 + ?` where some are. */
export function price(spend: Spend): string {
	if (spend.unpriced === 0) return dollars(spend.costUsd);
	return spend.unpriced === spend.calls ? '?' : `${dollars(spend.costUsd)} + ?`;
}

function priceCell(spend: Spend): Cell {
	return spend.unpriced > 0 ? {text: price(spend), style: 'yellow'} : price(spend);
}
