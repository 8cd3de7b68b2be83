import {expect, test} from 'vitest';
import {cutLine, cutMiddle, takeHead, takeTail, windowAround} from '../../src/tools/limits.ts';

test('head and tail are cut in bytes and never inside a character', () => {
	for (const text of ['abcdefgh', 'é你😀é你😀', '😀😀😀😀']) {
		for (let max = 0; max < 30; max++) {
			const head = takeHead(text, max);
			const tail = takeTail(text, max);
			expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
			expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
			expect(Buffer.byteLength(head)).toBeLessThanOrEqual(max);
			expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(max);
			if (max >= 24) expect([head, tail]).toEqual([text, text]);
		}
	}
});

test('a middle that is left out is counted', () => {
	expect(cutMiddle('short', 10, 10)).toBe('short');
	expect(cutMiddle('aaaaabbbbbccccc', 5, 5)).toBe('aaaaa\n… 5 bytes left out …\nccccc');
});

test('a long line says how much more it has', () => {
	expect(cutLine('abcdef', 6)).toBe('abcdef');
	expect(cutLine('abcdefgh', 6)).toBe('abcdef… (2 more characters)');
	expect(cutLine('abcde😀', 6)).toBe('abcde… (2 more characters)');
});

test('a window has the match in it and no half characters', () => {
	const line = `${'😀'.repeat(1000)}needle${'😀'.repeat(1000)}`;
	const shown = windowAround(line, 2000, 2006, 101);
	expect(shown).toMatch(/^…(😀)+needle(😀)+…$/u);
	expect(shown.length).toBeLessThanOrEqual(103);
	expect(windowAround('abc', 0, 1, 100)).toBe('abc');
	expect(windowAround('x'.repeat(200), 0, 1, 100)).toBe(`${'x'.repeat(100)}…`);
});
