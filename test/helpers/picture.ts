import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {ask, type Cell, openTerminal, prompts} from './terminal.ts';

/** The demo as a newcomer sees it: a plain start, turn one and turn two, everything allowed. */
export async function playDemo(columns = 120, rows = 30): Promise<{cells: Cell[][]; lines: string[]}> {
	const home = realpathSync(mkdtempSync(join(tmpdir(), 'mca-picture-')));
	const terminal = openTerminal({env: {HOME: home, TZ: 'UTC'}, cwd: home, columns, rows});
	try {
		await terminal.untilIdle(`❯ ${prompts.ask}`);
		terminal.press('ctrl+u');
		await ask(terminal, prompts.ask, 'The failing case is');
		await ask(terminal, prompts.fix, 'All 4 cases pass.');
		return {cells: terminal.cells(), lines: terminal.screen()};
	} finally {
		await terminal.dispose();
		rmSync(home, {recursive: true, force: true, maxRetries: 5});
	}
}

// A cell, and the frame around all of them, in the units of the picture.
const cell = {width: 8.4, height: 19};
const frame = {left: 18, top: 46, right: 18, bottom: 16, bar: 34, radius: 10};

const colors = {background: '#0d1117', bar: '#161b22', edge: '#3d444d', text: '#d1d7e0', title: '#9198a1'};
/** The 16 colours of a terminal on a dark ground. */
const palette = [
	...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
	...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
];

/** Lines and corners, as the sides of the cell that they reach: drawn, so that they join whatever font is there. */
const boxes: Record<string, string> = {
	'─': 'lr',
	'│': 'ud',
	'┌': 'rd',
	'┐': 'ld',
	'└': 'ru',
	'┘': 'lu',
	'├': 'udr',
	'┤': 'udl',
	'┬': 'lrd',
	'┴': 'lru',
	'┼': 'lrud',
};

/** A screen as an SVG of its own: no font, style or script from elsewhere. */
export function svgOf(cells: readonly (readonly Cell[])[], title: string): string {
	const columns = cells[0]?.length ?? 0;
	const width = number(frame.left + columns * cell.width + frame.right);
	const height = number(frame.top + cells.length * cell.height + frame.bottom);
	const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
		(fill, index) => `<circle cx="${22 + index * 20}" cy="${frame.bar / 2}" r="6" fill="${fill}"/>`,
	);
	const inside = `x="0.5" y="0.5" width="${number(width - 1)}" height="${number(height - 1)}" rx="${frame.radius}"`;
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
		'<style>text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:14px;white-space:pre}</style>',
		`<clipPath id="frame"><rect ${inside}/></clipPath>`,
		`<g clip-path="url(#frame)"><rect width="${width}" height="${height}" fill="${colors.background}"/><rect width="${width}" height="${frame.bar}" fill="${colors.bar}"/></g>`,
		`<rect ${inside} fill="none" stroke="${colors.edge}"/>`,
		...dots,
		`<text class="title" x="${number(width / 2)}" y="${frame.bar / 2 + 5}" fill="${colors.title}" text-anchor="middle">${escaped(title)}</text>`,
		...cells.flatMap((row, y) => [...backgrounds(row, y), ...lines(row, y), ...texts(row, y)]),
		'</svg>',
		'',
	].join('\n');
}

type Run = {x: number; columns: number; text: string; first: Cell};

/** Cells side by side that look the same. Spaces at either end are left out: there is nothing to draw. */
function runs(row: readonly Cell[]): Run[] {
	const found: Run[] = [];
	let open: Run | undefined;
	for (const [x, each] of row.entries()) {
		if (each.width === 0) continue;
		// A wide character stands alone, so that its own width in the font moves nothing else.
		const alone = each.width === 2;
		if (boxes[each.text] || each.text === ' ' || alone || !open || style(open.first) !== style(each))
			open = undefined;
		if (boxes[each.text] || each.text === ' ') continue;
		if (open) {
			open.text += each.text;
			open.columns += each.width;
		} else {
			const run = {x, columns: each.width, text: each.text, first: each};
			found.push(run);
			if (!alone) open = run;
		}
	}
	return found;
}

function texts(row: readonly Cell[], y: number): string[] {
	const baseline = number(frame.top + y * cell.height + 14);
	return runs(row).map(({x, columns, text, first}) => {
		const length = number(columns * cell.width);
		return `<text x="${left(x)}" y="${baseline}" textLength="${length}"${style(first)}>${escaped(text)}</text>`;
	});
}

function lines(row: readonly Cell[], y: number): string[] {
	const middle = frame.top + (y + 0.5) * cell.height;
	const drawn: string[] = [];
	for (let x = 0; x < row.length; x++) {
		const sides = boxes[row[x]?.text ?? ''];
		if (!sides) continue;
		let end = x + 1;
		while (sides === 'lr' && row[end]?.text === '─') end++;
		const center = frame.left + (x + 0.5) * cell.width;
		const path = [
			sides.includes('l') ? `M${left(x)} ${number(middle)}H${number(center)}` : '',
			sides.includes('r') ? `M${number(center)} ${number(middle)}H${left(end)}` : '',
			sides.includes('u') ? `M${number(center)} ${number(middle - cell.height / 2)}V${number(middle)}` : '',
			sides.includes('d') ? `M${number(center)} ${number(middle)}V${number(middle + cell.height / 2)}` : '',
		];
		const {color, opacity} = ink(row[x]);
		drawn.push(`<path d="${path.join('')}" stroke="${color}"${opacity} fill="none"/>`);
		x = end - 1;
	}
	return drawn;
}

function backgrounds(row: readonly Cell[], y: number): string[] {
	return row.flatMap((each, x) => {
		const background = each.inverse ? paint(each.color, colors.text) : paint(each.background, '');
		if (background === '') return [];
		const top = number(frame.top + y * cell.height);
		return `<rect x="${left(x)}" y="${top}" width="${number(each.width * cell.width)}" height="${cell.height}" fill="${background}"/>`;
	});
}

function style(each: Cell): string {
	const {color, opacity} = ink(each);
	return ` fill="${color}"${opacity}${each.bold ? ' font-weight="700"' : ''}`;
}

function ink(each: Cell | undefined): {color: string; opacity: string} {
	const color = each?.inverse ? paint(each.background, colors.background) : paint(each?.color, colors.text);
	return {color, opacity: each?.dim ? ' opacity="0.6"' : ''};
}

function paint(color: number | string | undefined, otherwise: string): string {
	if (color === undefined) return otherwise;
	if (typeof color === 'string') return color;
	if (color < 16) return palette[color] ?? otherwise;
	if (color >= 232) return gray(8 + (color - 232) * 10);
	const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
	const cube = color - 16;
	const parts = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) => hex(level(step)));
	return `#${parts.join('')}`;
}

function gray(level: number): string {
	return `#${hex(level).repeat(3)}`;
}

function hex(level: number): string {
	return level.toString(16).padStart(2, '0');
}

function left(column: number): number {
	return number(frame.left + column * cell.width);
}

function number(value: number): number {
	return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
	return text
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;');
}

/** The rows of text that a picture shows, read back from what it draws. */
export function rowsOf(svg: string): string[] {
	const rows: string[] = [];
	for (const [, x, y, text = ''] of svg.matchAll(
		/<text x="([\d.]+)" y="([\d.]+)" textLength[^>]*>([^<]*)</g,
	)) {
		const row = Math.round((Number(y) - frame.top - 14) / cell.height);
		const column = Math.round((Number(x) - frame.left) / cell.width);
		rows[row] = (rows[row] ?? '').padEnd(column) + plain(text);
	}
	return Array.from(rows, (row) => row ?? '');
}

function plain(text: string): string {
	return text
		.replaceAll('&quot;', '"')
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&amp;', '&');
}

/** A row without what differs from one run to the next: ids, times, durations, token counts, and the room that they take. */
export function steady(row: string): string {
	return row
		.replace(/[─│┌┐└┘├┤┬┴┼]/g, ' ')
		.replace(/s-\d{8}-\d{6}-[0-9a-z]{4}/g, 'ID')
		.replace(/\d\d:\d\d:\d\d/g, 'TIME')
		.replace(/ · [\d.]*(?: ?ms| ?s| ?m?…)/g, ' · DURATION')
		.replace(/≈?[\d.]+[kM]?(?= tokens| →)/g, 'N')
		.replace(/→ [\d.]+[kM]?/g, '→ N')
		.replace(/\s+/g, ' ')
		.trim();
}
