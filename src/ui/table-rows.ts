import {type Row, rowWidth, type Span, wrap} from './display.ts';

export type Align = 'left' | 'center' | 'right' | null;
export type Cell = readonly Span[];

/** Narrower columns are worse to read than no columns. */
const narrowest = 6;
const between: Span = {text: ' │ ', dim: true};

/** A table, at most `columns` wide: in columns where there is room for them, else a line a cell. */
export function tableRows(
	header: readonly Cell[],
	align: readonly Align[],
	body: readonly (readonly Cell[])[],
	columns: number,
): Row[] {
	const wanted = header.map((cell, index) =>
		Math.max(1, ...[cell, ...body.map((row) => row[index] ?? [])].map(rowWidth)),
	);
	const widths = shares(wanted, columns - 3 * (header.length - 1));
	if (!widths) return listed(header, body, columns);
	const rule: Row = [{text: widths.map((wide) => '─'.repeat(wide)).join('─┼─'), dim: true}];
	const head = cells(
		header.map((cell) => cell.map((span) => ({...span, bold: true}))),
		widths,
		align,
	);
	const rows = body.map((row) => cells(row, widths, align));
	// Where cells go over several rows, an empty one tells where the next begins.
	const airy = rows.some((row) => row.length > 1);
	return [
		...head,
		rule,
		...rows.flatMap((row, index) => (airy && index > 0 ? [cells([], widths, align)[0] ?? [], ...row] : row)),
	];
}

/** Who wants less than an equal share gets it; the others share what is left. Undefined where that is too little. */
function shares(wanted: readonly number[], room: number): number[] | undefined {
	const widths = wanted.map(() => 0);
	let left = room;
	const order = wanted.map((_, index) => index).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
	for (const [done, index] of order.entries()) {
		const share = Math.floor(left / (order.length - done));
		const wide = Math.min(wanted[index] ?? 1, share);
		if (wide < Math.min(wanted[index] ?? 1, narrowest)) return undefined;
		widths[index] = wide;
		left -= wide;
	}
	return widths;
}

/** One row of the table as rows of the screen. */
function cells(row: readonly Cell[], widths: readonly number[], align: readonly Align[]): Row[] {
	const wrapped = widths.map((wide, index) => wrap(row[index] ?? [], wide));
	const height = Math.max(1, ...wrapped.map((lines) => lines.length));
	return Array.from({length: height}, (_, line) =>
		widths.flatMap((wide, index): Span[] => {
			const cell = wrapped[index]?.[line] ?? [];
			const space = wide - rowWidth(cell);
			const before = align[index] === 'right' ? space : align[index] === 'center' ? Math.floor(space / 2) : 0;
			const isLast = index === widths.length - 1;
			return [...blank(before), ...cell, ...(isLast ? [] : [...blank(space - before), between])];
		}),
	);
}

function blank(columns: number): Span[] {
	return columns > 0 ? [{text: ' '.repeat(columns)}] : [];
}

function listed(header: readonly Cell[], body: readonly (readonly Cell[])[], columns: number): Row[] {
	return body.flatMap((row, index) => [
		...(index > 0 ? [[]] : []),
		...header.flatMap((name, at) => {
			const label = name.map((span) => ({...span, bold: true}));
			return wrap([...label, ...(name.length > 0 ? [{text: ': '}] : []), ...(row[at] ?? [])], columns, 2);
		}),
	]);
}
