import {expect, test} from 'vitest';
import type {Body, Event, EventOf} from '../../src/session/events.ts';
import {activityRow} from '../../src/ui/activity.ts';
import {type Row, rowWidth} from '../../src/ui/display.ts';
import {labelOf, outcome, rowsOf} from '../../src/ui/rows.ts';
import type {Item} from '../../src/ui/view.ts';
import {answer, call, events, result, system, toolEnd, usage, user} from '../helpers/log-file.ts';
import {texts, unfit} from './corpus.ts';

const plain = (rows: readonly Row[]) =>
	rows.map((row) =>
		row
			.map((span) => span.text)
			.join('')
			.trimEnd(),
	);
const asked: Item = {
	kind: 'call',
	seq: 1,
	call: {id: 'c1', name: 'run_command', args: '{"command":"node --test"}'},
};
const ended = (body: Body) => ({...asked, end: events([body])[0] as EventOf<'tool_end'>});
const activity = (body: Body, columns = 60) => plain([activityRow(events([body])[0] as Event, columns)])[0];

test('a prompt is marked on its first row, and all of it is bold', () => {
	const rows = rowsOf({kind: 'user', seq: 1, text: 'one two three'}, 9);
	expect(plain(rows)).toEqual(['', '❯ one two', '  three']);
	expect(rows[1]?.every((span) => span.bold)).toBe(true);
});

test('a call says what was called, how it went and how long it took', () => {
	expect(plain(rowsOf(ended(toolEnd('c1', 'exit 1')), 50))).toEqual([
		'  ● run_command  node --test        exit 1 · 65 ms',
	]);
	expect(plain(rowsOf(asked, 50))).toEqual(['  ○ run_command  node --test         no result yet']);
});

test('a long outcome leaves room for what was called', () => {
	const [row = ''] = plain(
		rowsOf(ended(toolEnd('c1', 'a sentence about what went wrong with the call')), 38),
	);
	expect(row).toMatch(/^ {2}● run_comm.*… a sentence about/);
});

test('a refused call and a lost one show no time', () => {
	const end = events([toolEnd('c1', 'refused')])[0] as EventOf<'tool_end'>;
	expect(outcome({...end, stoppedBy: 'gate'})).toBe('refused');
	expect(outcome({...end, stoppedBy: 'lost'})).toBe('refused');
});

test('arguments that do not fit the tool are shown as they are', () => {
	expect(labelOf({name: 'run_command', args: '{"command":"ls -l"}'})).toBe('ls -l');
	expect(labelOf({name: 'run_command', args: '{"cmd":'})).toBe('{"cmd":');
	expect(labelOf({name: 'teleport', args: '{"to":"moon"}'})).toBe('{"to":"moon"}');
});

test('what the model thought is one dim row until it is unfolded', () => {
	const thought: Item = {kind: 'assistant', seq: 1, text: '', reasoning: 'Zero is\nspecial.'};
	expect(plain(rowsOf(thought, 70))).toEqual(['', 'thought in 3 words (Ctrl+T unfolds): Zero is special.']);
	expect(plain(rowsOf(thought, 70, {thinking: true}))).toEqual(['', 'Zero is', 'special.']);
	expect(
		rowsOf(thought, 70, {thinking: true})
			.flat()
			.every((span) => span.dim),
	).toBe(true);
});

test('an error shows what had come before it', () => {
	const rows = rowsOf(
		{kind: 'error', seq: 1, text: 'stopped by the user', did: 'cancelled', partial: 'It is'},
		40,
	);
	expect(plain(rows)).toEqual(['', 'It is', '✗ stopped by the user']);
});

test('rows are made once for a width', () => {
	const item: Item = {kind: 'user', seq: 1, text: 'hello'};
	expect(rowsOf(item, 40)).toBe(rowsOf(item, 40));
	expect(rowsOf(item, 4)).not.toEqual(rowsOf(item, 40));
	expect(plain(rowsOf(item, 40))).toEqual(['', '❯ hello']);
});

test('whatever an item holds, its rows fit and nothing unfit is in them', () => {
	for (const text of texts(300)) {
		const items: Item[] = [
			{kind: 'user', seq: 1, text},
			{kind: 'assistant', seq: 2, text, reasoning: text},
			{kind: 'call', seq: 3, call: {id: text, name: text, args: text}},
			ended(toolEnd('c1', text)),
			{kind: 'error', seq: 4, text, did: 'gaveUp', partial: text},
		];
		for (const columns of [38, 60, 118]) {
			const rows = items.flatMap((item) => [
				...rowsOf(item, columns),
				...rowsOf(item, columns, {thinking: true, result: text}),
			]);
			for (const row of rows) expect(rowWidth(row), JSON.stringify(text)).toBeLessThanOrEqual(columns);
			expect(unfit(plain(rows).join(''))).toEqual([]);
		}
	}
});

test.each<[Body, RegExp]>([
	[usage(812, 41, 0.0312), /^1 {3}usage {2}812 → 41 tokens · \$0\.031 +\d\d:\d\d:\d\d$/],
	[{...usage(1234, 60), estimated: true} as Body, /^1 {3}usage {2}≈1\.2k → 60 tokens +\d/],
	[toolEnd('c1', 'exit 1'), /^1 {3}● run_command {2}exit 1 · 65 ms · allow by person +\d/],
	[
		{type: 'error', message: 'The server said 429.', did: 'retried'},
		/^1 {3}retried {2}The server said 429\. +\d/,
	],
	[
		{
			type: 'fork',
			from: 's-20260907-100000-ab12',
			atSeq: 8,
			origin: 's-20260907-100000-ab12',
			kind: 'recovery',
		},
		/^1 {3}recovery {2}of s-20260907-100000-ab12 at 8 +\d/,
	],
	[{type: 'name', title: 'the calculator'}, /^1 {3}name {2}the calculator +\d/],
	[{type: 'draft', text: 'x'.repeat(1500)}, /^1 {3}draft {2}1\.5k characters +\d/],
	[system, /^1 {3}system {2}You are mca\. +\d/],
	[user('run\nthe tests'), /^1 {3}user {2}run the tests +\d/],
	[answer('Done.'), /^1 {3}assistant {2}Done\. +\d/],
	[call('c1', 'c2'), /^1 {3}assistant {2}run_command, run_command +\d/],
	[result('c1', 'exit code 0'), /^1 {3}tool {2}exit code 0 +\d/],
	[{type: 'mood', good: true} as unknown as Body, /^1 {3}mood {2}not known to this version +\d/],
])('activity tells what happened: %o', (body, expected) => {
	expect(activity(body)).toMatch(expected);
});

test('a failed call is told from a good one without colour', () => {
	const failed = {...toolEnd('c1', 'exit 1'), result: {ok: false, content: 'exit 1'}} as Body;
	expect(activity(failed, 39)).toMatch(/✗ run_command {2}exit 1/);
});

test('where it is narrow the time goes, and a time that is none is left out', () => {
	expect(activity(usage(), 33)).toBe('1   usage  812 → 41 tokens');
	const odd = {...(events([usage()])[0] as Event), ts: 'yesterday'};
	expect(plain([activityRow(odd, 60)])).toEqual(['1   usage  812 → 41 tokens']);
});

test('whatever an event holds, its row fits and nothing unfit is in it', () => {
	for (const text of texts(300)) {
		const bodies: Body[] = [
			user(text),
			result('c1', text),
			toolEnd('c1', text),
			{type: 'name', title: text},
			{type: 'error', message: text, did: 'gaveUp'},
			{type: 'fork', from: text, atSeq: 1, origin: text, kind: 'fork'},
			{type: text} as unknown as Body,
		];
		for (const event of events(bodies)) {
			for (const columns of [20, 39, 118]) {
				const row = activityRow(event, columns);
				expect(rowWidth(row), JSON.stringify(text)).toBeLessThanOrEqual(columns);
				expect(unfit(plain([row]).join(''))).toEqual([]);
			}
		}
	}
});
