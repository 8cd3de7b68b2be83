import {statSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import type {Holder} from '../session/lock.ts';
import type {End} from '../session/read.ts';
import {glance, inspect, recordedWorkspace, startOf} from '../session/sessions.ts';
import {age, size} from '../ui/display.ts';
import {allFolders, filesIn, placeOf} from './place.ts';
import {
	type Cell,
	type Column,
	type ColumnOf,
	fitted,
	heading,
	print,
	printJson,
	printLine,
	table,
	tableRow,
	thousands,
} from './table.ts';

export type SessionsOptions = {folder?: string; all?: boolean; stats?: boolean; json?: boolean};

/** `mca sessions`: newest id first, each as soon as it was read. A file that cannot be read is a row that says so. */
export async function sessions(options: SessionsOptions): Promise<number> {
	const folders = options.all || options.stats ? allFolders() : placeOf(options.folder).folders;
	const paths = await filesIn(folders);
	if (options.stats) return stats(paths, options);
	const workspaces = new WorkspaceNames();
	const columns = columnsHere(options.all === true);
	if (!options.json && paths.length > 0) await printLine(heading(columns));
	for (const path of paths) {
		const row = await readRow(path, workspaces);
		const going = options.json
			? await printJson(row)
			: await printLine(
					tableRow(
						columns,
						columns.map(({cell}) => cell(row)),
					),
				);
		if (!going) break;
	}
	if (!options.json && paths.length === 0) await printLine('There is no session here yet.');
	return 0;
}

type SessionRow = {
	id: string;
	path: string;
	workspace: string | null;
	title: string;
	begun: string | null;
	lastActivity: string | null;
	bytes: number;
	turns: number | null;
	fork: {from: string; atSeq: number; kind: string} | null;
	end: End | null;
	holder: Holder | null;
	problem: string | null;
};

async function readRow(path: string, workspaces: WorkspaceNames): Promise<SessionRow> {
	const seen = await glance(path);
	const detail = seen.problem === undefined ? await inspect(path) : undefined;
	const {from, atSeq, kind} = detail?.fork ?? {};
	return {
		id: seen.id,
		path,
		workspace: await workspaces.of(path),
		title: seen.title,
		begun: startOf(seen.id)?.toISOString() ?? null,
		lastActivity: seen.lastActivity?.toISOString() ?? null,
		bytes: seen.size,
		turns: detail?.turns ?? null,
		fork: from !== undefined && atSeq !== undefined && kind ? {from, atSeq, kind} : null,
		end: detail?.end ?? null,
		holder: detail?.holder ?? null,
		problem: seen.problem ?? (detail ? null : 'This session cannot be read to its end.'),
	};
}

/** The workspace is for lists of several. */
function columnsHere(all: boolean): ColumnOf<SessionRow>[] {
	return fitted(sessionColumns.filter(({title}) => all || title !== 'workspace'));
}

const sessionColumns: readonly ColumnOf<SessionRow>[] = [
	{title: 'session', columns: 22, cell: ({id}) => id},
	{title: 'last', right: true, columns: 10, leave: 3, cell: lastCell},
	{title: 'size', right: true, columns: 8, leave: 2, cell: ({bytes}) => size(bytes)},
	{
		title: 'turns',
		right: true,
		columns: 5,
		leave: 1,
		cell: ({turns}) => (turns === null ? '' : thousands(turns)),
	},
	{title: 'state', columns: 8, cell: stateCell},
	{
		title: 'workspace',
		columns: 16,
		leave: 4,
		cell: ({workspace}) => ({text: basename(workspace ?? ''), style: 'dim'}),
	},
	{
		title: 'title',
		rest: true,
		cell: ({problem, title, bytes}) => problem ?? (title || (bytes === 0 ? '(empty)' : '(no title)')),
	},
];

function lastCell({lastActivity, begun}: SessionRow): Cell {
	const last = lastActivity ?? begun;
	return {text: last === null ? '' : age(new Date(last), new Date()), style: 'dim'};
}

function stateCell({problem, holder, end, fork}: SessionRow): Cell {
	if (problem !== null) return {text: 'problem', style: 'red'};
	if (holder !== null) return {text: 'open', style: 'green'};
	if (end?.at === 'cut') return {text: `cut @${end.line}`, style: 'yellow'};
	return {text: fork?.kind ?? '', style: 'dim'};
}

/** `--stats`: what the sessions of each workspace take, and which are the largest. */
async function stats(paths: readonly string[], options: SessionsOptions): Promise<number> {
	const workspaces = new WorkspaceNames();
	const folders = new Map<
		string,
		{workspace: string | null; folder: string; sessions: number; bytes: number}
	>();
	const files: {id: string; path: string; bytes: number}[] = [];
	for (const path of paths) {
		const bytes = statSync(path, {throwIfNoEntry: false})?.size ?? 0;
		const folder = dirname(path);
		const sum = folders.get(folder) ?? {workspace: await workspaces.of(path), folder, sessions: 0, bytes: 0};
		folders.set(folder, {...sum, sessions: sum.sessions + 1, bytes: sum.bytes + bytes});
		files.push({id: basename(path, '.jsonl'), path, bytes});
	}
	const byBytes = (a: {bytes: number}, b: {bytes: number}) => b.bytes - a.bytes;
	const answer = {
		sessions: files.length,
		bytes: files.reduce((sum, {bytes}) => sum + bytes, 0),
		workspaces: [...folders.values()].sort(byBytes),
		largest: files.sort(byBytes).slice(0, 10),
	};
	if (options.json) {
		await printJson(answer);
		return 0;
	}
	await printLine(`${thousands(answer.sessions)} sessions, ${size(answer.bytes)}.`);
	const numbers: Column[] = [
		{title: 'sessions', right: true},
		{title: 'bytes', right: true},
	];
	if (answer.sessions === 0) return 0;
	await print(
		`\n${table(
			[...numbers, {title: 'workspace', rest: true}],
			answer.workspaces.map((each) => [
				thousands(each.sessions),
				thousands(each.bytes),
				each.workspace ?? each.folder,
			]),
		)}`,
	);
	await print(
		`\n${table(
			[
				{title: 'largest', right: true},
				{title: 'session', rest: true},
			],
			answer.largest.map((each) => [thousands(each.bytes), each.id]),
		)}`,
	);
	return 0;
}

/** The workspace that the sessions of a folder were recorded for, asked once a folder: its name is made from it. */
export class WorkspaceNames {
	readonly #known = new Map<string, string>();

	async of(path: string): Promise<string | null> {
		const folder = dirname(path);
		const known = this.#known.get(folder);
		if (known !== undefined) return known;
		const recorded = (await recordedWorkspace(path))?.path;
		if (recorded !== undefined) this.#known.set(folder, recorded);
		return recorded ?? null;
	}
}
