import {expect, test} from 'vitest';
import {plainLine, plainText} from '../../src/tools/plain-text.ts';

test('ordinary text in any script stays as it is', () => {
	const text = 'naïve\tcafé²\n你好 👨‍👩‍👧 🏳️‍🌈 नमस्ते می‌خواهم\n';
	expect(plainText(text)).toBe(text);
});

test.each([
	['colours', '\x1b[1;31mred\x1b[0m', 'red'],
	['cursor and clear', 'a\x1b[2J\x1b[Hb', 'ab'],
	['C1 control sequences', 'a\x9b2Jb', 'ab'],
	['the clipboard (OSC 52)', 'a\x1b]52;c;ZXZpbA==\x07b', 'ab'],
	['a title ended by ST', 'a\x1b]0;title\x1b\\b', 'ab'],
	['a link (OSC 8)', '\x1b]8;;http://x.test\x07text\x1b]8;;\x07', 'text'],
	['a device string', 'a\x1bPq#0;2\x1b\\b', 'ab'],
	['a C1 string', 'a\x9d0;title\x9cb', 'ab'],
	['a string that does not end, to the end of its line', 'a\x1b]0;never\nb', 'a\nb'],
	['a sequence that is cut off', 'a\x1b[12', 'a'],
	['a lone escape', 'a\x1b', 'a'],
	['a sequence within a sequence', 'a\x1b\x1b[2J[2Jb', 'a[2Jb'],
	['control characters', 'a\x00\x07\x0b\x0c\x7fb', 'ab'],
	['bidi controls', 'a\u202eb\u2066c', 'abc'],
	['zero-width characters', 'a\u200bb\u2060c\ufeffd\u200de', 'abcde'],
	['invisible tags', `a${String.fromCodePoint(0xe0041, 0xe0042)}b`, 'ab'],
])('it is without %s', (_, given, plain) => {
	expect(plainText(given)).toBe(plain);
});

test('a line drawn over itself is what it was last', () => {
	expect(plainText('10%\r50%\r100%\ndone\r\nnext\r')).toBe('100%\ndone\nnext');
	expect(plainText('N\bNA\bAM\bME\bE')).toBe('NAME');
});

test('what is plain stays plain, whatever is thrown at it', () => {
	const alphabet = [
		'\x1b',
		'[',
		']',
		'P',
		'\x9b',
		'\x9d',
		'\\',
		'\x07',
		';',
		'3',
		'm',
		'\r',
		'\n',
		'\b',
		'\u202e',
		'a',
	];
	let seed = 7;
	const next = () => {
		seed = (seed * 1103515245 + 12345) % 2147483648;
		return alphabet[seed % alphabet.length];
	};
	for (let i = 0; i < 2000; i++) {
		const plain = plainText(Array.from({length: 12}, next).join(''));
		expect(plain).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
		expect(plainText(plain)).toBe(plain);
	}
});

test('a long output of escape sequences takes no more than linear time', () => {
	const start = performance.now();
	plainText('\x1b]'.repeat(500_000));
	plainText(`\x1b[${'3;'.repeat(1_000_000)}`);
	expect(performance.now() - start).toBeLessThan(5000);
});

test('a label is one line', () => {
	expect(plainLine('a\n\tb\x1b[2J')).toBe('a b');
});
