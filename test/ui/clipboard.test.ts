import {expect, test} from 'vitest';
import type {EventOf} from '../../src/session/events.ts';
import {copyOf, copyPart, osc52} from '../../src/ui/clipboard.ts';
import type {Item} from '../../src/ui/view.ts';
import {events, toolEnd} from '../helpers/log-file.ts';

const items: Item[] = [
	{kind: 'user', seq: 1, text: 'why?'},
	{kind: 'assistant', seq: 2, text: 'Look:\n\n- here\n  ```js\n  a();\n  ```\n\n```\nb\n\tc\n```\nSo.'},
	{
		kind: 'call',
		seq: 2,
		call: {id: 'c1', name: 'run_command', args: '{"command":"node --test"}'},
		end: events([toolEnd('c1', 'exit 1')])[0] as EventOf<'tool_end'>,
	},
	{kind: 'assistant', seq: 5, text: '', reasoning: 'hm'},
	{kind: 'assistant', seq: 6, text: 'The **end**.\x1b[2J\n'},
	{kind: 'error', seq: 7, text: 'stopped by the user', did: 'cancelled'},
];

test('the last answer is copied as its Markdown, without what would act on a terminal', () => {
	expect(copyOf(items, 'answer')).toBe('The **end**.');
});

test('the last block of code is copied without its fence', () => {
	expect(copyOf(items, 'code')).toBe('b\n\tc');
	expect(copyOf([{kind: 'assistant', seq: 1, text: '> 1. x\n>    ```\n>    deep\n>    ```'}], 'code')).toBe(
		'deep',
	);
	expect(copyOf(items.slice(2), 'code')).toBeUndefined();
});

test('the whole conversation is copied as Markdown, a call as one line', () => {
	expect(copyOf(items, 'all')).toBe(
		[
			'## You\n\nwhy?',
			'## mca\n\nLook:\n\n- here\n  ```js\n  a();\n  ```\n\n```\nb\n\tc\n```\nSo.',
			'- run_command node --test → exit 1 · 65 ms',
			'## mca\n\nThe **end**.',
			'> stopped by the user',
		].join('\n\n'),
	);
});

test('the terminal is asked, and whoever else can', async () => {
	const written: string[] = [];
	const write = (sequence: string) => void written.push(sequence);
	expect(await copyPart(items, 'code', write)).toBe(
		'Copied the last block of code (4 characters), if the terminal takes OSC 52.',
	);
	expect(written).toEqual(['\x1b]52;c;YgoJYw==\x07']);
	expect(
		await copyPart(items, 'answer', write, async (text) => (text === 'The **end**.' ? 'pbcopy' : undefined)),
	).toBe('Copied the last answer (12 characters) with pbcopy.');
	expect(await copyPart([], 'all', write)).toBe('There is nothing to copy yet.');
	expect(await copyPart([], 'code', write)).toBe('No answer holds a block of code yet.');
});

test('what is more than terminals take is not sent to one', async () => {
	const much: Item[] = [{kind: 'assistant', seq: 1, text: 'x'.repeat(80_000)}];
	expect(osc52('x'.repeat(80_000))).toBeUndefined();
	const write = () => {
		throw new Error('something was written');
	};
	expect(await copyPart(much, 'answer', write, async () => undefined)).toBe(
		'No terminal takes the last answer (80,000 characters). mca export writes it to a file.',
	);
	expect(await copyPart(much, 'answer', write, async () => 'wl-copy')).toMatch(/with wl-copy\.$/);
});
