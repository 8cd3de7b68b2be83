import {stripVTControlCharacters} from 'node:util';

const pieces = [
	...'abc XYZ 019 .,-_/`*#',
	'  ',
	'\n',
	'\t',
	'漢',
	'字',
	'ｶﾞ',
	'한',
	'ᄒ',
	'\u1112\u1161\u11ab',
	'🎉',
	'👨‍👩‍👧',
	'👍🏽',
	'⚠️',
	'1️⃣',
	'🇩🇪',
	'🏳️‍🌈',
	'e\u0301',
	'\u0301',
	'n\u0303\u0323',
	'नि',
	'\u00ad',
	'\u034f',
	'\u3164',
	'\u2028',
	'\u00a0',
	'\u200b',
	'\u202e',
	'\ufeff',
	'\ud83d',
	'\udc68',
	'\x1b[31m',
	'\x1b[2J',
	'\x1b]0;title\x07',
	'\x1b]52;c;ZXZpbA==\x1b\\',
	'\x1bP1$r\x1b\\',
	'\x1b',
	'\x9b2J',
	'\x07',
	'\b',
	'\r',
	'\r\n',
	'\x7f',
	'\x00',
];

/** Random texts of what a screen is given: plain, wide, combining, invisible, hostile. The same ones in every run. */
export function* texts(count: number, longest = 40): Generator<string> {
	let seed = 20260907;
	const below = (bound: number) => {
		seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
		return (seed >>> 8) % bound;
	};
	for (let made = 0; made < count; made++) {
		yield Array.from({length: below(longest) + 1}, () => pieces[below(pieces.length)]).join('');
	}
}

/** What a terminal would act on, or does not show, or shows with a width of its own. A row on the screen holds none of it. */
export function unfit(text: string): string[] {
	const found = text.match(
		/\p{Cc}|\p{Surrogate}|\p{Variation_Selector}|\p{Emoji_Modifier}|[\u061c\u2028\u2029\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu,
	);
	return stripVTControlCharacters(text) === text ? [...(found ?? [])] : ['an escape sequence'];
}
