import {plainLine, plainText} from '../tools/plain-text.ts';
import {truncate, width} from '../ui/display.ts';
import {UsageError} from './usage-error.ts';

const stdout = process.stdout;

/** Whether a person reads along. A pipe gets the same words without colour, bars and cutting. */
export const onTerminal = stdout.isTTY === true;
const coloured = onTerminal && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

/** Columns of the terminal; a pipe has no edge. */
export function terminalColumns(): number {
	return onTerminal ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

// Whoever reads may have seen enough (`| head`): what is printed after that goes nowhere, and that is no failure.
let gone = false;
stdout.on('error', () => {
	gone = true;
});

/** Print and wait until it is handed over. False once nobody reads any more: a long search can stop. */
export async function print(text: string): Promise<boolean> {
	if (gone) return false;
	await new Promise<void>((resolve, reject) => {
		stdout.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
			if (!error || error.code === 'EPIPE') resolve();
			else reject(new UsageError(`The output could not be written: ${error.message}`, 1));
		});
	});
	return !gone;
}

export function printLine(text = ''): Promise<boolean> {
	return print(`${text}\n`);
}

export function printJson(value: unknown): Promise<boolean> {
	return print(`${inAnyTerminal(JSON.stringify(value))}\n`);
}

/** JSON in which what a terminal would act on stands as an escape. It says the same. */
export function inAnyTerminal(json: string): string {
	return json.replace(
		/[\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g,
		(sign) => sign.split('').map(escapeOf).join(''),
	);
}

function escapeOf(unit: string): string {
	return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A remark beside the answer: it never ends up in a file that the answer is written to. */
export function tell(text: string): void {
	process.stderr.write(`${plainText(text)}\n`);
}

const codes = {bold: 1, dim: 2, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36};
export type Style = keyof typeof codes;

/** Text in one of the terminal's own colours. The text must be fit for the terminal already. */
export function styled(text: string, style: Style | undefined): string {
	return coloured && style && text !== '' ? `\x1b[${codes[style]}m${text}\x1b[0m` : text;
}

export type Column = {
	title: string;
	/** For numbers. */
	right?: true;
	/** Taken from the start, for tables that are printed while their rows are still to come; else as wide as the widest cell. */
	columns?: number;
	/** Takes the room that is left, and is cut where that is too little. */
	rest?: true;
	/** Left out where the terminal is too narrow: the lowest goes first. */
	leave?: number;
};

/** A column that knows what of a row it shows. */
export type ColumnOf<Row> = Column & {cell: (row: Row) => Cell};

export type Cell = string | {text: string; style: Style};

/** Rows under a heading, one line each, fit for the terminal and its width: what a cell holds may come from anywhere. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
	const measured = columns.map((column, index) => {
		const widest = rows.reduce((most, row) => Math.max(most, width(textOf(row[index]))), width(column.title));
		return {...column, index, ...(column.rest ? {} : {columns: column.columns ?? widest})};
	});
	const shown = fitted(measured);
	const lines = rows.map((row) =>
		tableRow(
			shown,
			shown.map(({index}) => row[index] ?? ''),
		),
	);
	return [heading(shown), ...lines].map((line) => `${line}\n`).join('');
}

/** What the column that takes the rest should have at least. */
const leastRest = 15;

/** The columns that the terminal has room for. */
export function fitted<C extends Column>(columns: readonly C[]): C[] {
	const shown = [...columns];
	const leaving = columns
		.filter(({leave}) => leave !== undefined)
		.sort((a, b) => (a.leave ?? 0) - (b.leave ?? 0));
	for (const column of leaving) {
		if (roomFor(shown) >= leastRest) break;
		shown.splice(shown.indexOf(column), 1);
	}
	return shown;
}

function roomFor(columns: readonly Column[]): number {
	const taken = columns.reduce((sum, {columns: own = 0, rest}) => sum + (rest ? 0 : own + gap.length), 0);
	return terminalColumns() - taken;
}

/** The heading of a table whose rows come one by one. */
export function heading(columns: readonly Column[]): string {
	return tableRow(
		columns,
		columns.map(({title}) => ({text: title, style: 'bold'})),
	);
}

export function tableRow(columns: readonly Column[], cells: readonly Cell[]): string {
	const room = Math.max(8, roomFor(columns));
	const line = columns.map((column, index) => {
		const cell = cells[index] ?? '';
		const style = typeof cell === 'string' ? undefined : cell.style;
		const wide = column.rest ? room : (column.columns ?? 0);
		const text = onTerminal ? truncate(textOf(cell), wide) : textOf(cell);
		const padding = ' '.repeat(Number.isFinite(wide) ? Math.max(0, wide - width(text)) : 0);
		if (column.right) return padding + styled(text, style);
		return styled(text, style) + (index === columns.length - 1 ? '' : padding);
	});
	return line.join(gap).trimEnd();
}

const gap = '  ';

/** The longest cell in a pipe, in UTF-16 units: a whole file in one argument is no row. */
const maxCell = 1000;

function textOf(cell: Cell | undefined): string {
	const text = typeof cell === 'object' ? cell.text : (cell ?? '');
	return plainLine(text.slice(0, maxCell).toWellFormed()).replace(/\s+/g, ' ').trim();
}

/** 12,345 */
export function thousands(number: number): string {
	return Math.round(number).toLocaleString('en-US');
}

/** The share of `most` as a bar, at most `columns` wide; something is never nothing. */
export function bar(value: number, most: number, columns: number): string {
	if (!(value > 0) || !(most > 0)) return '';
	const eighths = Math.max(1, Math.round((value / most) * columns * 8));
	return '█'.repeat(Math.floor(eighths / 8)) + ('▏▎▍▌▋▊▉'[(eighths % 8) - 1] ?? '');
}

/** 2026-09-07 10:00:01 in the reader's own zone; as it stands where it is no time. */
export function localTime(ts: string): string {
	const date = new Date(ts);
	return Number.isNaN(date.getTime()) ? ts : `${localDay(ts)} ${date.toTimeString().slice(0, 8)}`;
}

/** 2026-09-07 in the reader's own zone. */
export function localDay(ts: string): string {
	const date = new Date(ts);
	if (Number.isNaN(date.getTime())) return 'unknown day';
	const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0'));
	return `${date.getFullYear()}-${month}-${day}`;
}
