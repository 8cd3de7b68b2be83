import {expect, test} from 'vitest';
import {type Draft, draftOf, type Edit, edit, emptyDraft, textOf} from '../../src/ui/composer.ts';
import {composerRows} from '../../src/ui/composer-rows.ts';
import {found, older, searchRows, withPrompt} from '../../src/ui/history.ts';
import {afterRest, queueRows, takenBack} from '../../src/ui/queue.ts';
import {texts} from './corpus.ts';

const lines = (count: number) => Array.from({length: count}, (_, number) => `line ${number}`).join('\n');
const paste = (draft: Draft, text: string) => edit(draft, {do: 'paste', text});
const type = (draft: Draft, text: string) =>
	[...text].reduce((now, each) => edit(now, {do: 'insert', text: each}), draft);
const doing = (draft: Draft, ...edits: Edit['do'][]) =>
	edits.reduce((now, each) => edit(now, {do: each} as Edit), draft);
const shown = (draft: Draft) => composerRows(draft, 60, 5).rows.join('\n');
const marked = ({before, after}: Draft) => `${before}|${after}`;

test('a long paste is shown as one token, moved over and deleted as one, and sent in full', () => {
	let draft = paste(type(emptyDraft, 'see '), lines(120));
	draft = type(draft, ' please');
	expect(shown(draft)).toBe('see [pasted 120 lines] please');
	expect(textOf(draft)).toBe(`see ${lines(120)} please`);
	const atToken = doing(draft, 'home', 'wordRight', 'right');
	expect(shown(doing(atToken, 'delete'))).toBe('see  please');
	expect(shown(doing(atToken, 'right', 'backspace'))).toBe('see  please');
	expect(textOf(doing(atToken, 'delete'))).toBe('see  please');
});

test('ten lines and a thousand characters are shown as they are, one more is not', () => {
	expect(shown(paste(emptyDraft, lines(10)))).toContain('line 9');
	expect(shown(paste(emptyDraft, `${lines(10)}\n`))).toContain('line 9');
	expect(shown(paste(emptyDraft, lines(11)))).toBe('[pasted 11 lines]');
	expect(shown(paste(emptyDraft, 'x'.repeat(1000)))).toContain('xxx');
	expect(shown(paste(emptyDraft, 'x'.repeat(1001)))).toBe('[pasted 1,001 characters]');
});

test('two pastes are two tokens, each with its own text', () => {
	const draft = paste(paste(emptyDraft, lines(20)), lines(30));
	expect(shown(draft)).toBe('[pasted 20 lines][pasted 30 lines]');
	expect(textOf(draft)).toBe(lines(20) + lines(30));
	expect(textOf(doing(draft, 'backspace'))).toBe(lines(20));
	expect(textOf(paste(doing(draft, 'backspace'), lines(12)))).toBe(lines(20) + lines(12));
});

test('a character that is like a mark is none', () => {
	const own = 'a\u{10f000}b\u{10fffd}c';
	const draft = paste(paste(emptyDraft, lines(20)), own);
	expect(textOf(draft)).toBe(lines(20) + own);
	expect(textOf(draftOf(own))).toBe(own);
	expect(textOf(edit(emptyDraft, {do: 'up'}, [own]))).toBe(own);
});

test('whatever is pasted comes back as it was pasted', () => {
	for (const text of texts(300)) {
		const once = textOf(paste(emptyDraft, text));
		expect(textOf(paste(emptyDraft, once))).toBe(once);
		expect(textOf(doing(paste(type(emptyDraft, 'ab'), `${once}${lines(20)}`), 'home', 'end'))).toBe(
			`ab${once}${lines(20)}`,
		);
	}
});

test('undo goes back word by word, over deletions and pastes, and to nothing', () => {
	let draft = type(emptyDraft, 'run the tests');
	draft = doing(draft, 'wordBack', 'killLine');
	draft = paste(draft, lines(20));
	expect(shown(draft)).toBe('[pasted 20 lines]');
	const seen: string[] = [];
	for (let steps = 0; steps < 8; steps++) {
		draft = doing(draft, 'undo');
		seen.push(marked(draft));
	}
	expect(seen).toEqual(['|', 'run the |', 'run the tests|', 'run the |', 'run the|', 'run |', 'run|', '|']);
	expect(doing(draft, 'undo')).toEqual(draft);
});

test('what was cleared comes back', () => {
	const draft = paste(type(emptyDraft, 'see '), lines(20));
	const cleared = doing(draft, 'clear');
	expect(textOf(cleared)).toBe('');
	expect(textOf(doing(cleared, 'undo'))).toBe(textOf(draft));
});

test('undo keeps little of a large draft, however long it is edited', () => {
	let draft = edit(emptyDraft, {do: 'insert', text: 'x'.repeat(900)});
	draft = {...draft, before: 'y '.repeat(500_000)};
	for (let word = 0; word < 300; word++) draft = type(draft, 'w ');
	const kept = draft.undo.reduce((sum, each) => sum + each.before.length + each.after.length, 0);
	expect(kept).toBeLessThanOrEqual(4_000_000);
	expect(draft.undo.length).toBeGreaterThanOrEqual(3);
});

test('what was cut is put back where the cursor is', () => {
	expect(marked(doing(type(emptyDraft, 'one two'), 'wordBack', 'home', 'yank'))).toBe('two|one ');
	expect(marked(doing(type(emptyDraft, 'one two'), 'killLine', 'yank', 'yank'))).toBe('one twoone two|');
	expect(marked(doing(type(emptyDraft, 'one two'), 'home', 'wordForward', 'end', 'yank'))).toBe(' twoone|');
	// A key that cuts nothing forgets nothing.
	expect(marked(doing(type(emptyDraft, 'one'), 'killLine', 'killLine', 'killToEnd', 'yank'))).toBe('one|');
	const token = paste(type(emptyDraft, 'see '), lines(20));
	expect(textOf(doing(token, 'wordBack', 'home', 'yank'))).toBe(`${lines(20)}see `);
});

test('a long line is laid out as a short one is: each row full, the cursor in it', () => {
	const text = Array.from({length: 5000}, (_, at) => String.fromCharCode(97 + (at % 26))).join('');
	for (const at of [0, 1, 39, 40, 41, 639, 640, 641, 1280, 4960, 4999, 5000]) {
		const draft = {...emptyDraft, before: text.slice(0, at), after: text.slice(at)};
		const {rows, x, y} = composerRows(draft, 40, 6);
		expect(x).toBe(at % 40);
		const first = Math.floor(at / 40) - y;
		expect(rows).toEqual(
			Array.from({length: rows.length}, (_, row) => text.slice((first + row) * 40, (first + row + 1) * 40)),
		);
		expect(rows.length).toBe(Math.min(6, Math.floor(5000 / 40) + (at === 5000 ? 1 : 0)));
	}
});

test('of a long line with wide and joined characters none is broken, wherever the cursor is', () => {
	const text = '漢👨‍👩‍👧e\u0301🇩🇪x한'.repeat(700);
	for (let at = 0; at < text.length; at += 397) {
		const before = edit({...emptyDraft, before: text.slice(0, at), after: text.slice(at)}, {do: 'left'});
		const {rows, x, y} = composerRows(before, 31, 6);
		expect(rows.join('')).not.toMatch(/\ufffd|[\ud800-\udfff]/u);
		expect(y).toBeLessThan(rows.length);
		expect(x).toBeLessThanOrEqual(31);
	}
});

test('a key costs the same in a large draft', () => {
	const time = (draft: Draft) => {
		let now = draft;
		const round = () => {
			const begun = performance.now();
			for (let key = 0; key < 20; key++) {
				now = edit(now, {do: 'insert', text: key % 5 ? 'x' : ' '});
				composerRows(now, 116, 8);
			}
			return performance.now() - begun;
		};
		return Math.min(...Array.from({length: 15}, round));
	};
	const prose = (size: number) => 'a word of prose and some more of it\n'.repeat(size / 36);
	const inTheMiddle = {...emptyDraft, before: prose(500_000), after: prose(500_000)};
	const pairs = [
		[draftOf(prose(4000)), draftOf(prose(1_000_000))],
		[draftOf(prose(4000)), inTheMiddle],
		[draftOf('x '.repeat(2000)), draftOf('x '.repeat(500_000))],
		[draftOf('漢'.repeat(4000)), draftOf('漢'.repeat(500_000))],
	] as const;
	// Copying the text takes a part of a millisecond, which is a small part of what a frame takes.
	for (const [small, large] of pairs) expect(time(large) / 20).toBeLessThan((time(small) / 20) * 1.5 + 1.5);
});

test('the prompts of a folder are each kept once, the newest first, and not without end', () => {
	let past: readonly string[] = [];
	for (const prompt of ['one', 'two', ' ', 'one', 'three']) past = withPrompt(past, prompt);
	expect(past).toEqual(['three', 'one', 'two']);
	for (let number = 0; number < 900; number++) past = withPrompt(past, `prompt ${number}`);
	expect(past).toHaveLength(500);
});

test('a search finds what has all its words, newest first, and goes on to older ones', () => {
	const past = ['fix the tests', 'run the tests', 'Fix the build'];
	expect(found({query: 'fix'}, past)).toEqual(['fix the tests', 'Fix the build']);
	expect(found({query: 'the FIX'}, past)).toEqual(['fix the tests', 'Fix the build']);
	const search = {query: 'fix', at: 0};
	expect(older(older(search, past), past).at).toBe(1);
	const rowsOf = (text: string) => [text];
	expect(searchRows(search, past, 30, rowsOf, 4)).toEqual({
		rows: ['search: fix', 'fix the tests'],
		x: 11,
		y: 0,
	});
	expect(searchRows({query: 'zzz', at: 0}, past, 30, rowsOf, 4).rows).toEqual([
		'search: zzz',
		'No prompt has it.',
	]);
	const long = searchRows({query: '漢'.repeat(90), at: 0}, past, 30, rowsOf, 4);
	expect(long.x).toBeLessThan(30);
});

test('what waits is sent one after the other, and goes back to the person where the turn did not end as asked', () => {
	const draft = draftOf('being typed');
	expect(afterRest({why: 'done'}, [], draft)).toBeUndefined();
	expect(afterRest({why: 'done'}, ['first', 'second'], draft)).toEqual({send: 'first'});
	expect(afterRest({why: 'cancelled'}, ['first', 'second'], draft)).toEqual({
		draft: draftOf('first\nsecond\nbeing typed'),
	});
	expect(afterRest({why: 'failed', message: '', unsent: 'sent'}, ['first'], emptyDraft)).toEqual({
		draft: draftOf('sent\nfirst'),
	});
	expect(afterRest({why: 'limit', message: ''}, [], draft)).toBeUndefined();
	expect(takenBack(['first', 'second'])).toEqual({queue: ['first'], draft: draftOf('second')});
	expect(takenBack([])).toBeUndefined();
});

test('of what waits the last few are shown, each in a row', () => {
	const rows = queueRows(['one', 'two\nlines', 'three', 'four'], 60).map((row) =>
		row.map((span) => span.text).join(''),
	);
	expect(rows).toEqual([
		' queued  1 more',
		' queued  two lines',
		' queued  three',
		' queued  four   ↑ takes it back',
	]);
	expect(queueRows([], 60)).toEqual([]);
});
