import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {playDemo, rowsOf, steady, svgOf} from '../helpers/picture.ts';

const picture = readFileSync(new URL('screen.svg', import.meta.url), 'utf8');

/** Without the empty rows at the end, which a picture does not draw. */
function text(rows: readonly string[]): string {
	return rows.map(steady).join('\n').trimEnd();
}

test('the picture of the README shows what the demo shows now (node test/e2e/picture.ts makes it anew)', async () => {
	const {cells, lines} = await playDemo();
	expect(text(rowsOf(picture))).toBe(text(lines));
	// And it was made by the drawing code that is here now.
	expect(text(rowsOf(svgOf(cells, 'mca')))).toBe(text(lines));
});

test('the picture needs nothing from elsewhere', () => {
	expect(picture).not.toMatch(/<script|<image|href=|@import|url\((?!#)/);
	expect(picture.match(/https?:[^"]*/g)).toEqual(['http://www.w3.org/2000/svg']);
});
