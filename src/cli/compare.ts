import {basename} from 'node:path';
import {type Branch, compare as compareLogs} from '../session/compare.ts';
import {readEvents} from '../session/read.ts';
import {count} from '../tools/amounts.ts';
import {duration} from '../ui/display.ts';
import {cannotRead, readablePath} from './place.ts';
import {price} from './spend-cells.ts';
import {
	type Cell,
	type Column,
	onTerminal,
	print,
	printJson,
	printLine,
	table,
	terminalColumns,
	thousands,
} from './table.ts';

export type CompareOptions = {json?: boolean};

/** `mca compare`: where two sessions part, then what each did on its own, side by side. */
export async function compare(a: string, b: string, options: CompareOptions): Promise<number> {
	const paths = [await readablePath(a), await readablePath(b)] as const;
	const [one, two] = await Promise.all(paths.map((path) => readEvents(path).catch(cannotRead(path))));
	const {shared, branches} = compareLogs(one?.events ?? [], two?.events ?? []);
	const ids = paths.map((path) => basename(path, '.jsonl'));
	if (options.json) {
		await printJson({shared, branches: branches.map((branch, index) => ({id: ids[index], ...branch}))});
		return 0;
	}
	await printLine(
		shared.events === 0
			? 'They share no line: here is all of both.'
			: `They part after event ${shared.seq}: ${count(shared.events, 'event')} and ${count(shared.turns, 'turn')} are the same.`,
	);
	const half = onTerminal
		? {columns: Math.max(12, Math.floor((terminalColumns() - labelColumns - 4) / 2))}
		: {};
	const columns: Column[] = [
		{title: '', columns: labelColumns},
		{title: ids[0] ?? '', ...half},
		{title: ids[1] ?? '', rest: true},
	];
	await print(`\n${table(columns, rowsOf(branches))}`);
	return 0;
}

const labelColumns = 10;

function rowsOf([a, b]: [Branch, Branch]): Cell[][] {
	const both = (label: string, cell: (branch: Branch) => string): Cell[] => [
		{text: label, style: 'dim'},
		cell(a),
		cell(b),
	];
	const turns = Math.max(a.turns.length, b.turns.length);
	const paths = [...new Set([...a.files, ...b.files].map(({path}) => path))];
	return [
		...Array.from({length: turns}, (_, index) => [
			both(`turn ${(a.turns[index] ?? b.turns[index])?.turn}`, ({turns}) => promptOf(turns[index])),
			both('answer', ({turns}) => turns[index]?.answer ?? ''),
		]).flat(),
		both('calls', ({calls}) => thousands(calls)),
		both('failures', ({failures}) => thousands(failures)),
		both(
			'tokens',
			({spend}) =>
				`${spend.estimated ? '≈' : ''}${thousands(spend.inputTokens)} → ${thousands(spend.outputTokens)}`,
		),
		both('cost', ({spend}) => (spend.calls === 0 ? '$0.000' : price(spend))),
		both('time', ({elapsedMs}) => duration(elapsedMs)),
		...paths.map((path) => both('edits', ({files}) => editsOf(path, files))),
	];
}

function promptOf(turn: Branch['turns'][number] | undefined): string {
	if (!turn) return '';
	return turn.prompt === '' ? '(asked before they part)' : turn.prompt;
}

function editsOf(path: string, files: Branch['files']): string {
	const file = files.find((each) => each.path === path);
	return file ? `${path}  +${file.added} −${file.removed} in ${file.edits}` : '';
}
