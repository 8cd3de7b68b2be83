import {basename} from 'node:path';
import {ledger, type Spend, spendOf, spendPerTurn} from '../session/audit.ts';
import {readEvents} from '../session/read.ts';
import {type Summary, summarise} from '../session/summary.ts';
import {count} from '../tools/amounts.ts';
import {plainLine} from '../tools/plain-text.ts';
import {dollars} from '../ui/display.ts';
import {allFolders, cannotRead, filesIn, placeOf, readablePath} from './place.ts';
import {price, spendCells, spendColumns} from './spend-cells.ts';
import {
	bar,
	type Column,
	localDay,
	onTerminal,
	print,
	printJson,
	printLine,
	table,
	tell,
	thousands,
} from './table.ts';

export type CostOptions = {folder?: string; all?: boolean; json?: boolean};

/** `mca cost`: of one session turn by turn, or of all sessions of a workspace (with --all of every one). */
export function cost(given: string | undefined, options: CostOptions): Promise<number> {
	return given === undefined ? costOfSessions(options) : costOfSession(given, options);
}

async function costOfSession(given: string, {json}: CostOptions): Promise<number> {
	const path = await readablePath(given);
	const {events} = await readEvents(path).catch(cannotRead(path));
	const id = basename(path, '.jsonl');
	const {own, inherited} = spendOf(events);
	const usages = events.flatMap((event) => (event.type === 'usage' ? [event] : []));
	const {models} = ledger([{id, workspace: '', usages, forks: []}], localDay);
	const turns = spendPerTurn(events);
	if (json) {
		await printJson({
			id,
			own,
			inherited,
			turns: turns.map(({spend, ...turn}) => ({...turn, ...spend})),
			models: named('model', models),
		});
		return 0;
	}
	// Money where every price is known, else tokens: one scale for all bars.
	const priced = inherited.unpriced + own.unpriced === 0;
	const weight = ({costUsd, inputTokens, outputTokens}: Spend) =>
		priced ? costUsd : inputTokens + outputTokens;
	const most = turns.reduce((sum, {spend}) => Math.max(sum, weight(spend)), 0);
	const columns: Column[] = [
		{title: 'turn', right: true},
		...spendColumns,
		...(onTerminal ? [{title: '', columns: 12, leave: 1}] : []),
		{title: 'prompt', rest: true},
	];
	const rows = turns.map(({turn, prompt, inherited: paid, spend}) => [
		`${turn}`,
		...spendCells(spend),
		...(onTerminal ? [{text: bar(weight(spend), most, 12), style: paid ? 'dim' : 'cyan'} as const] : []),
		paid ? {text: `(inherited) ${prompt}`, style: 'dim' as const} : prompt,
	]);
	await print(table(columns, rows));
	await print(
		`\n${table(
			[...spendColumns, {title: 'model', rest: true}],
			[...models].map(([model, spend]) => [...spendCells(spend), model]),
		)}`,
	);
	await printLine(`\nThis session: ${sentence(own)}.`);
	if (inherited.calls > 0) await printLine(`Inherited: ${sentence(inherited)}.`);
	await nameUnpriced(models);
	return 0;
}

async function costOfSessions(options: CostOptions): Promise<number> {
	const folders = options.all ? allFolders() : placeOf(options.folder).folders;
	const summaries: Summary[] = [];
	const unreadable: {path: string; problem: string}[] = [];
	for (const path of await filesIn(folders)) {
		await summarise(path).then(
			(summary) => summaries.push(summary),
			(error: Error) => unreadable.push({path, problem: error.message}),
		);
	}
	const book = ledger(summaries, localDay);
	const known = new Map(summaries.map((summary) => [summary.id, summary]));
	const sessions = [...book.sessions]
		.map(([id, spend]) => ({id, title: known.get(id)?.title ?? '', there: known.has(id), ...spend}))
		.sort((a, b) => (a.id < b.id ? 1 : -1));
	const days = new Map([...book.days].sort(([a], [b]) => (a < b ? 1 : -1)));
	if (options.json) {
		await printJson({
			total: book.total,
			sessions,
			models: named('model', book.models),
			days: named('day', days),
			workspaces: named('workspace', book.workspaces),
			unreadable,
		});
		return 0;
	}
	for (const {path, problem} of unreadable) tell(`${path} cannot be read: ${problem}`);
	if (book.total.calls === 0) {
		await printLine('Nothing was spent here yet.');
		return 0;
	}
	const sections: [string, [string, Spend][]][] = [
		[
			'session',
			sessions.map((each) => [
				`${each.id}  ${each.there ? each.title : '(this session is gone; its forks hold its lines)'}`,
				each,
			]),
		],
		['model', [...book.models]],
		['day', [...days]],
	];
	if (options.all) sections.push(['workspace', [...book.workspaces]]);
	for (const [title, rows] of sections) {
		await print(
			`${table(
				[...spendColumns, {title, rest: true}],
				rows.map(([name, spend]) => [...spendCells(spend), name]),
			)}\n`,
		);
	}
	await printLine(`Together: ${sentence(book.total)}.`);
	await nameUnpriced(book.models);
	return 0;
}

function sentence(spend: Spend): string {
	const about = spend.estimated ? 'about ' : '';
	return `${count(spend.calls, 'model call')}, ${about}${thousands(spend.inputTokens)} tokens in and ${thousands(spend.outputTokens)} out, ${priceWords(spend)}`;
}

function priceWords(spend: Spend): string {
	if (spend.unpriced === 0) return price(spend);
	return spend.unpriced === spend.calls
		? 'price unknown'
		: `${dollars(spend.costUsd)} and more that is not known`;
}

async function nameUnpriced(models: ReadonlyMap<string, Spend>): Promise<void> {
	for (const [model, {unpriced}] of models) {
		if (unpriced === 0) continue;
		await printLine(
			`The price of ${count(unpriced, 'call')} of ${plainLine(model)} is not known; it is in no sum.`,
		);
	}
}

function named(name: string, sums: ReadonlyMap<string, Spend>): object[] {
	return [...sums].map(([key, spend]) => ({[name]: key, ...spend}));
}
