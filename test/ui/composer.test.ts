import {expect, test} from 'vitest';
import {chunkOf, type Draft, draftOf, type Edit, edit, emptyDraft, textOf} from '../../src/ui/composer.ts';
import {composerRows} from '../../src/ui/composer-rows.ts';
import {width} from '../../src/ui/display.ts';
import {texts, unfit} from './corpus.ts';

/** `ab|cd`: a draft with its cursor. */
function at(marked: string): Draft {
	const [before = '', after = ''] = marked.split('|');
	return {...emptyDraft, before, after};
}
const marked = ({before, after}: Draft) => `${before}|${after}`;
const doing = (draft: Draft, ...edits: Edit['do'][]) =>
	marked(edits.reduce((now, each) => edit(now, {do: each} as Edit), draft));
const insert = (draft: Draft, text: string) => marked(edit(draft, {do: 'insert', text}));

test.each([
	['a family', '👨‍👩‍👧'],
	['a letter with its mark', 'e\u0301'],
	['a flag', '🇩🇪'],
	['a hand with its skin', '👍🏽'],
	['a syllable of jamo', '한'],
])('backspace, delete and the arrows take %s as one character', (_, character) => {
	expect(doing(at(`a${character}|`), 'backspace')).toBe('a|');
	expect(doing(at(`a|${character}b`), 'delete')).toBe('a|b');
	expect(doing(at(`a${character}|`), 'left')).toBe(`a|${character}`);
	expect(doing(at(`a|${character}b`), 'right')).toBe(`a${character}|b`);
});

test('at the ends there is nothing to delete and nowhere to go', () => {
	expect(doing(at('|ab'), 'backspace', 'left', 'wordBack', 'wordLeft', 'killLine')).toBe('|ab');
	expect(doing(at('ab|'), 'delete', 'right', 'wordRight', 'killToEnd')).toBe('ab|');
});

test('words are gone over and deleted whole', () => {
	expect(doing(at('run the tests |now'), 'wordLeft')).toBe('run the |tests now');
	expect(doing(at('run| the tests'), 'wordRight')).toBe('run the| tests');
	expect(doing(at('run the tests  |'), 'wordBack')).toBe('run the |');
});

test('home, end and the kills stay within their line', () => {
	expect(doing(at('one\ntw|o\nthree'), 'home')).toBe('one\n|two\nthree');
	expect(doing(at('one\ntw|o\nthree'), 'end')).toBe('one\ntwo|\nthree');
	expect(doing(at('one\ntw|o\nthree'), 'killLine')).toBe('one\n|o\nthree');
	expect(doing(at('one\ntw|o\nthree'), 'killToEnd')).toBe('one\ntw|\nthree');
	expect(doing(at('one\ntwo|\nthree'), 'killToEnd')).toBe('one\ntwo|three');
});

test('up and down keep the column where the line is long enough', () => {
	expect(doing(at('long line\nab|c'), 'up')).toBe('lo|ng line\nabc');
	expect(doing(at('long li|ne\nabc\nlong line'), 'down')).toBe('long line\nabc|\nlong line');
	expect(doing(at('a\n|b'), 'up')).toBe('|a\nb');
	expect(doing(at('漢字漢|\nabcd'), 'down')).toBe('漢字漢\nabc|d');
});

test('history is walked from an empty draft, newest first, and back to empty', () => {
	const past = ['second', 'first'];
	const walk = (draft: Draft, ...steps: ('up' | 'down')[]) =>
		steps.reduce((now, step) => edit(now, {do: step}, past), draft);
	expect(textOf(walk(emptyDraft, 'up'))).toBe('second');
	expect(textOf(walk(emptyDraft, 'up', 'up'))).toBe('first');
	expect(textOf(walk(emptyDraft, 'up', 'up', 'up'))).toBe('first');
	expect(textOf(walk(emptyDraft, 'up', 'up', 'down'))).toBe('second');
	expect(walk(emptyDraft, 'up', 'down')).toEqual(emptyDraft);
	expect(walk(emptyDraft, 'down')).toEqual(emptyDraft);
	expect(edit(emptyDraft, {do: 'up'}, [])).toEqual(emptyDraft);
});

test('a draft is never given up for history: up goes to its start, down to its end', () => {
	const past = ['old'];
	expect(marked(edit(at('new te|xt'), {do: 'up'}, past))).toBe('|new text');
	expect(marked(edit(at('new te|xt'), {do: 'down'}, past))).toBe('new text|');
	// Three times over, as a mouse wheel sends it where the terminal makes arrows of it.
	let draft = at('new text|');
	for (let i = 0; i < 3; i++) draft = edit(draft, {do: 'up'}, past);
	expect(textOf(draft)).toBe('new text');
});

test('a recalled prompt that is changed is a draft of its own', () => {
	const recalled = edit(emptyDraft, {do: 'up'}, ['old']);
	const changed = edit(recalled, {do: 'insert', text: 'er'});
	expect(textOf(edit(changed, {do: 'up'}, ['old']))).toBe('older');
});

test('a paste is kept as it came, but for line ends and what is no text', () => {
	expect(insert(at('a|b'), 'one\r\ntwo\rthree')).toBe('aone\ntwo\nthree|b');
	expect(insert(emptyDraft, 'all:\n\tcc -o x 漢 ⚠️ 👍🏽')).toBe('all:\n\tcc -o x 漢 ⚠️ 👍🏽|');
	expect(insert(emptyDraft, 'a\x1b[31mred\x1b[0m\x07\x00\u202eb')).toBe('aredb|');
	expect(insert(emptyDraft, 'half \ud83d')).toBe('half \ufffd|');
	expect(insert(emptyDraft, '  \r\n')).toBe('  \n|');
});

test('a paste of a megabyte is kept to the last character', () => {
	const long = 'a line of code\n'.repeat(70_000);
	expect(textOf(edit(emptyDraft, {do: 'insert', text: long}))).toBe(long);
});

test('text that ends with Enter is sent, text with line ends in it is pasted', () => {
	expect(chunkOf('hello\r')).toEqual({text: 'hello', submit: true});
	expect(chunkOf('\r')).toEqual({text: '', submit: true});
	expect(chunkOf('hello')).toEqual({text: 'hello', submit: false});
	expect(chunkOf('one\rtwo\r')).toEqual({text: 'one\rtwo\r', submit: false});
	expect(chunkOf('one\ntwo\r')).toEqual({text: 'one\ntwo\r', submit: false});
	expect(chunkOf('one\r\n')).toEqual({text: 'one\r\n', submit: false});
});

test('the cursor stands in the cell behind the text before it', () => {
	expect(composerRows(at('ab|c'), 10, 5)).toEqual({rows: ['abc'], x: 2, y: 0});
	expect(composerRows(at('漢字|a'), 10, 5)).toEqual({rows: ['漢字a'], x: 4, y: 0});
	expect(composerRows(at('e\u0301|'), 10, 5)).toEqual({rows: ['e\u0301'], x: 1, y: 0});
	expect(composerRows(at('one\ntw|o'), 10, 5)).toEqual({rows: ['one', 'two'], x: 2, y: 1});
	expect(composerRows(emptyDraft, 10, 5)).toEqual({rows: [''], x: 0, y: 0});
});

test('at the end of a full row the cursor begins the next one', () => {
	expect(composerRows(at('abcd|'), 4, 5)).toEqual({rows: ['abcd', ''], x: 0, y: 1});
	expect(composerRows(at('漢字|'), 4, 5)).toEqual({rows: ['漢字', ''], x: 0, y: 1});
	expect(composerRows(at('漢字|字'), 4, 5)).toEqual({rows: ['漢字', '字'], x: 0, y: 1});
});

test('a wide character that does not fit moves to the next row, and the cursor behind it too', () => {
	expect(composerRows(at('abc漢|'), 4, 5)).toEqual({rows: ['abc', '漢'], x: 2, y: 1});
	expect(composerRows(at('abc|漢'), 4, 5)).toEqual({rows: ['abc', '漢'], x: 3, y: 0});
});

test('of a tall draft the rows around the cursor are shown', () => {
	expect(composerRows(at('1\n2\n3\n4|\n5'), 9, 2)).toEqual({rows: ['3', '4'], x: 1, y: 1});
	expect(composerRows(at('1|\n2\n3'), 9, 2)).toEqual({rows: ['1', '2'], x: 1, y: 0});
});

test('a tab is shown as spaces, and the cursor stands behind them', () => {
	expect(composerRows(at('\tx|'), 10, 5)).toEqual({rows: ['    x'], x: 5, y: 0});
});

test('a prompt from an old log is shown without what a terminal would act on', () => {
	expect(composerRows(draftOf('a\x1b[2J\x1b]0;t\x07b'), 10, 5)).toEqual({rows: ['ab'], x: 2, y: 0});
});

test('whatever is pasted, its rows fit, the cursor is in them, and every edit leaves whole characters', () => {
	const edits: Edit['do'][] = [
		'left',
		'left',
		'backspace',
		'up',
		'delete',
		'wordLeft',
		'right',
		'down',
		'wordBack',
	];
	for (const text of texts(400)) {
		let draft = edit(emptyDraft, {do: 'insert', text});
		for (const each of edits) {
			draft = edit(draft, {do: each} as Edit);
			expect(textOf(draft).isWellFormed(), JSON.stringify(text)).toBe(true);
			for (const columns of [4, 9, 36]) {
				const {rows, x, y} = composerRows(draft, columns, 3);
				expect(rows.length).toBeLessThanOrEqual(3);
				for (const row of rows) expect(unfit(row)).toEqual([]);
				expect(x).toBeLessThan(columns);
				expect(y).toBeLessThan(rows.length);
			}
		}
		for (const row of composerRows(draft, 36, 8).rows) expect(width(row)).toBeLessThanOrEqual(36);
	}
});
