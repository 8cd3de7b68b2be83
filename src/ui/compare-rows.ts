import {type Branch, type BranchTurn, compare} from '../session/compare.ts';
import type {Event} from '../session/events.ts';
import {count, dollars, duration, fit, oneLine, type Row, rowWidth} from './display.ts';

/** Two sessions side by side, from the line on where they part. */
export function compareRows(
	names: readonly [string, string],
	logs: readonly [readonly Event[], readonly Event[]],
	columns: number,
): Row[] {
	const {shared, branches} = compare(...logs);
	const [a, b] = branches;
	const half = Math.floor((columns - 3) / 2);
	const pair = (left: Row, right: Row): Row => {
		const fitted = fit(left, half);
		const gap = ' '.repeat(Math.max(0, half - rowWidth(fitted)));
		return [...fitted, {text: gap}, {text: ' │ ', dim: true}, ...fit(right, half)];
	};
	const both = (row: (branch: Branch) => Row) => pair(row(a), row(b));
	const rows: Row[] = [
		[
			{text: 'Compare', bold: true},
			{text: `   ${shared.events} events in common, the last is ${shared.seq}`, dim: true},
		],
		pair([{text: names[0], bold: true}], [{text: names[1], bold: true}]),
		both(({spend}) => [{text: money(spend), dim: true}]),
		both(({calls, failures, elapsedMs}) => [
			{text: `${calls} calls, ${failures} failed · ${duration(elapsedMs)}`, dim: true},
		]),
		[],
	];
	for (let at = 0; at < Math.max(a.turns.length, b.turns.length); at++) {
		const turns = [a.turns[at], b.turns[at]] as const;
		rows.push(
			pair(prompt(turns[0], half), prompt(turns[1], half)),
			pair(answer(turns[0], half), answer(turns[1], half)),
		);
	}
	const files = [...new Set([...a.files, ...b.files].map((file) => file.path))];
	if (files.length > 0) rows.push([], [{text: 'Edits', bold: true}]);
	for (const path of files) rows.push(both((branch) => edits(branch, path)));
	return rows;
}

function money(spend: Branch['spend']): string {
	const price = spend.unpriced === spend.calls ? '' : ` · ${dollars(spend.costUsd)}`;
	return `${count(spend.inputTokens + spend.outputTokens)} tokens in ${spend.calls} model calls${price}`;
}

function prompt(turn: BranchTurn | undefined, columns: number): Row {
	if (!turn) return [];
	return [{text: `❯ ${oneLine(turn.prompt || '(the question is in common)', columns - 2)}`, bold: true}];
}

function answer(turn: BranchTurn | undefined, columns: number): Row {
	return turn ? [{text: `  ${oneLine(turn.answer || '(no answer)', columns - 2)}`}] : [];
}

function edits({files}: Branch, path: string): Row {
	const file = files.find((each) => each.path === path);
	return file
		? [{text: `${oneLine(path, 60)}  +${file.added} −${file.removed} in ${file.edits}`}]
		: [{text: '—', dim: true}];
}
