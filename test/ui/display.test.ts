import {expect, test} from 'vitest';
import {
	age,
	count,
	display,
	dollars,
	duration,
	fit,
	graphemes,
	oneLine,
	type Row,
	rowWidth,
	size,
	spread,
	truncate,
	width,
	wrap,
} from '../../src/ui/display.ts';
import {texts, unfit} from './corpus.ts';

const plain = (rows: readonly Row[]) => rows.map((row) => row.map((span) => span.text).join(''));
const wrapped = (text: string, columns: number, hang = 0) => plain(wrap([{text}], columns, hang));

test('a text breaks at its spaces, and the space at the end of a row takes no room', () => {
	expect(wrapped('one two three', 7)).toEqual(['one two', 'three']);
	expect(wrapped('one two three', 3)).toEqual(['one', 'two', 'thr', 'ee']);
});

test('a word longer than the row is broken, and what follows goes on behind its end', () => {
	expect(wrapped('a abcdefgh i', 4)).toEqual(['a ab', 'cdef', 'gh i']);
});

test('a wide character is never cut in half: the cell before it stays empty', () => {
	expect(wrapped('漢字漢字', 5)).toEqual(['漢字', '漢字']);
	expect(wrapped('a🎉🎉', 4)).toEqual(['a🎉', '🎉']);
});

test('a combining mark stays with its letter', () => {
	expect(wrapped('e\u0301e\u0301e\u0301', 2)).toEqual(['e\u0301e\u0301', 'e\u0301']);
});

test('later rows of a line hang, and a new line begins at the edge again', () => {
	expect(wrapped('- one two\n- six', 6, 2)).toEqual(['- one ', '  two', '- six']);
});

test('a hang that would leave no room is not made', () => {
	expect(wrapped('abcdef', 3, 2)).toEqual(['abc', 'def']);
});

test('styles are kept, and pieces of one style are one span', () => {
	expect(wrap([{text: 'plain '}, {text: 'bold words', bold: true}], 11)).toEqual([
		[{text: 'plain '}, {text: 'bold ', bold: true}],
		[{text: 'words', bold: true}],
	]);
});

test('an empty line is an empty row', () => {
	expect(wrapped('a\n\nb', 9)).toEqual(['a', '', 'b']);
	expect(wrapped('', 9)).toEqual(['']);
});

test('what is cut ends with an ellipsis, within the columns', () => {
	expect(truncate('abcdef', 6)).toBe('abcdef');
	expect(truncate('abcdef', 5)).toBe('abcd…');
	expect(truncate('漢字漢字', 6)).toBe('漢字…');
	expect(truncate('漢字', 1)).toBe('…');
	expect(truncate('abc', 0)).toBe('');
});

test('one line has no line end and no run of spaces', () => {
	expect(oneLine('  a\n\tb \u2028 c  ', 40)).toBe('a b c');
});

test('one line of a text of any length looks only at its beginning, and leaves no half character', () => {
	expect(oneLine('🎉'.repeat(10_000), 4)).toBe('🎉…');
	expect(oneLine(`a${'\x1b[31m'.repeat(100)}b`, 5)).toBe('a');
	expect(unfit(oneLine(`a${'🎉'.repeat(4)}`, 1))).toEqual([]);
});

test('left and right share a row, and left gives way', () => {
	const row = (left: string, right: string, columns: number) =>
		plain([spread([{text: left}], right ? [{text: right}] : [], columns)])[0];
	expect(row('ab', 'yz', 8)).toBe('ab    yz');
	expect(row('abcdef', 'yz', 7)).toBe('abc… yz');
	expect(row('abc', '', 5)).toBe('abc  ');
});

test('a right side wider than the row is cut too', () => {
	expect(plain([spread([{text: 'ab'}], [{text: 'vwxyz'}], 4)])).toEqual(['vwx…']);
});

test('a row is cut across its spans', () => {
	expect(fit([{text: 'ab'}, {text: 'cdef', bold: true}, {text: 'g'}], 4)).toEqual([
		{text: 'ab'},
		{text: 'c…', bold: true},
	]);
});

test('terminals agree on the width of everything that is shown', () => {
	expect(display('⚠️ 👍🏽 1️⃣ 👨‍👩‍👧 a\u00adb\u3164c')).toBe('⚠ 👍 1 👨👩👧 abc');
	expect(width('漢字')).toBe(4);
	expect(width('e\u0301')).toBe(1);
});

test('scripts that are written with joiners keep them', () => {
	expect(display('می‌خواهم क्‍ष')).toBe('می‌خواهم क्‍ष');
});

test('a line separator is a line end, a tab four columns, half a character a replacement sign', () => {
	expect(display('a\u2028b\tc\ud83d')).toBe('a\nb    c\ufffd');
});

test('a character is what a reader takes for one', () => {
	expect(graphemes('a👨‍👩‍👧e\u0301🇩🇪')).toEqual(['a', '👨‍👩‍👧', 'e\u0301', '🇩🇪']);
});

test('whatever is shown, at any width: no row is wider than asked, and nothing unfit comes out', () => {
	for (const text of texts(1500)) {
		const shown = display(text);
		const seen = `${JSON.stringify(text)} as ${JSON.stringify(shown)}`;
		expect(unfit(shown.replaceAll('\n', '')), seen).toEqual([]);
		for (const columns of [1, 2, 3, 5, 8, 13, 21, 40]) {
			for (const row of wrap([{text: shown}, {text: shown, bold: true}], columns, 2)) {
				expect(rowWidth(row), `${seen} at ${columns}`).toBeLessThanOrEqual(columns);
			}
			const one = oneLine(text, columns);
			expect(unfit(one), seen).toEqual([]);
			expect(width(one), `${seen} at ${columns}`).toBeLessThanOrEqual(columns);
			const both = spread([{text: one}], [{text: oneLine(text, 10)}], columns);
			expect(rowWidth(both), `${seen} spread over ${columns}`).toBe(columns);
		}
	}
});

test('wrapping loses nothing but spaces', () => {
	for (const text of texts(500)) {
		const shown = display(text);
		for (const columns of [20, 40]) {
			expect(wrapped(shown, columns).join('').replace(/\s/g, '')).toBe(shown.replace(/\s/g, ''));
		}
	}
});

test('a long line without a space is wrapped in linear time', () => {
	const start = performance.now();
	expect(wrapped('x'.repeat(300_000), 100).length).toBe(3000);
	expect(wrapped('漢'.repeat(50_000), 100).length).toBe(1000);
	expect(performance.now() - start).toBeLessThan(5000);
});

test.each([
	[count(812), '812'],
	[count(1234), '1.2k'],
	[count(999_949), '999.9k'],
	[count(999_950), '1.0M'],
	[duration(65), '65 ms'],
	[duration(1234), '1.2 s'],
	[duration(180_000), '3 min'],
	[size(212), '212 B'],
	[size(3400), '3.4 kB'],
	[size(1_200_000), '1.2 MB'],
	[dollars(0.0312), '$0.031'],
	[dollars(12.5), '$12.50'],
	[age(new Date(0), new Date(5000)), '5 s ago'],
	[age(new Date(0), new Date(7_200_000)), '2 h ago'],
	[age(new Date(5000), new Date(0)), '0 s ago'],
])('%s', (said, expected) => {
	expect(said).toBe(expected);
});
