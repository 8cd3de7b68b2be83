import {expect, test} from 'vitest';
import type {EventOf} from '../../src/session/events.ts';
import {diffLines} from '../../src/ui/diff-rows.ts';
import {rowText, rowWidth} from '../../src/ui/display.ts';
import {resultOf, resultRows} from '../../src/ui/result-rows.ts';
import {call, events, result, toolEnd, turnOne, turnTwo} from '../helpers/log-file.ts';
import {texts, unfit} from './corpus.ts';

const plain = (content: string, columns = 40) => resultRows(content, columns).map(rowText);

test('a result is shown below its call, dim and further in', () => {
	expect(resultRows('exit 1\n\n  two\n', 40)).toEqual([
		[{text: '    '}, {text: 'exit 1', dim: true}],
		[],
		[{text: '    '}, {text: '  two', dim: true}],
	]);
});

test('of a long result the beginning and the end are shown', () => {
	const rows = plain(Array.from({length: 1000}, (_, index) => `line ${index}`).join('\n'));
	expect(rows).toHaveLength(25);
	expect(rows.slice(15, 18)).toEqual(['    line 15', '    … of 1000 lines', '    line 992']);
	expect(plain('x'.repeat(5000))).toHaveLength(25);
});

test('the diff of an edit has its colours, also where its beginning is not shown', () => {
	const lines = Array.from({length: 60}, (_, index) => `${index % 2 === 0 ? '-' : '+'}${index}`);
	const rows = resultRows(`Edited x.\n--- a/x\n+++ b/x\n@@ -1,30 +1,30 @@\n${lines.join('\n')}`, 40);
	expect(rows.slice(0, 3)).toEqual([
		[{text: '    '}, {text: 'Edited x.', dim: true}],
		[{text: '    '}, {text: '@@ -1,30 +1,30 @@', color: 'cyan', dim: true}],
		[{text: '    '}, {text: '-0', color: 'red'}],
	]);
	expect(rows.at(-1)).toEqual([{text: '    '}, {text: '+59', color: 'green'}]);
});

test('what looks like a header inside of a hunk is a line of it', () => {
	const styles = diffLines(['@@ -1,2 +1,2 @@', '--- a', '+++ b', ' c', '--- a', '+++ b']).map(
		([span]) => span?.color,
	);
	expect(styles).toEqual(['cyan', 'red', 'green', undefined, undefined, undefined]);
});

test('the result of a call is the message behind its end, in a log of any length', () => {
	const log = events([
		...turnOne,
		...turnTwo,
		call('c1', 'c2'),
		toolEnd('c1'),
		result('c1', 'one'),
		toolEnd('c2'),
	]);
	const ends = log.filter((event): event is EventOf<'tool_end'> => event.type === 'tool_end');
	// The third turn's c1 is another call than the first one's; the last has no result yet.
	expect(ends.map((end) => resultOf(log, end))).toEqual([
		'✖ divide by zero',
		'exit code 0',
		'exit code 0',
		'one',
		undefined,
	]);
});

test('whatever a result holds, its rows fit and nothing unfit is in them', () => {
	for (const text of texts(200)) {
		for (const columns of [1, 7, 38, 118]) {
			const rows = resultRows(`--- a\n+++ b\n@@ -1 +1 @@\n${text}`, columns);
			for (const row of rows) expect(rowWidth(row), JSON.stringify(text)).toBeLessThanOrEqual(columns);
			expect(unfit(rows.map(rowText).join(''))).toEqual([]);
		}
	}
});
