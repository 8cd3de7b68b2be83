import {basename} from 'node:path';
import {type Audited, auditor, isFailure} from '../session/audit.ts';
import type {Event, FileChange, Verdict} from '../session/events.ts';
import {follow} from '../session/follow.ts';
import {holderOf} from '../session/lock.ts';
import {type End, forEachEvent, growing} from '../session/read.ts';
import {tools} from '../tools/index.ts';
import {dollars, duration, size} from '../ui/display.ts';
import {labelOf} from '../ui/rows.ts';
import {cannotRead, readablePath} from './place.ts';
import {
	type Cell,
	type ColumnOf,
	fitted,
	heading,
	localDay,
	localTime,
	onTerminal,
	printJson,
	printLine,
	styled,
	tableRow,
	tell,
	thousands,
} from './table.ts';
import {UsageError} from './usage-error.ts';
import {cutSentence} from './verify.ts';

export type LogOptions = {
	type?: string[];
	tool?: string[];
	turn?: string;
	file?: string;
	errors?: boolean;
	since?: string;
	follow?: boolean;
	json?: boolean;
};

/** `mca log`: one row an event, in the order of the file. Exit status 3 where the log is cut. */
export async function log(given: string, options: LogOptions): Promise<number> {
	const path = await readablePath(given);
	const wanted = filterOf(options);
	const read = auditor();
	const printer = options.json ? printRow : tablePrinter();
	// Rows are printed in order, each when the one before it is out.
	let printed: Promise<boolean> = Promise.resolve(true);
	const visit = (event: Event, endOfLine: number): unknown => {
		const audited = read(event, endOfLine);
		if (wanted(audited)) printed = printed.then((going) => going && printer(rowOf(audited)));
		// Whoever waits for it in the end is told; until then it is nobody's.
		printed.catch(() => {});
		return printed;
	};
	const end = options.follow ? await followed(path, visit) : await readOnce(path, visit);
	await printed;
	if (end.at === 'whole') return 0;
	tell(cutSentence(basename(path, '.jsonl'), end));
	return 3;
}

async function readOnce(path: string, visit: (event: Event, endOfLine: number) => unknown): Promise<End> {
	const {end} = await forEachEvent(path, (event, endOfLine) => {
		visit(event, endOfLine);
	}).catch(cannotRead(path));
	return (await holderOf(path)) ? growing(end) : end;
}

/** Until the person has seen enough, or nobody reads any more. */
async function followed(path: string, visit: (event: Event, endOfLine: number) => unknown): Promise<End> {
	const stop = new AbortController();
	const abort = () => stop.abort();
	process.once('SIGINT', abort).once('SIGTERM', abort);
	try {
		return await follow(
			path,
			async (event, endOfLine) => {
				if (!(await visit(event, endOfLine))) abort();
			},
			stop.signal,
		).catch(cannotRead(path));
	} finally {
		process.off('SIGINT', abort).off('SIGTERM', abort);
	}
}

// --- which rows ---

function filterOf(options: LogOptions): (audited: Audited) => boolean {
	const types = options.type?.flatMap((each) => each.split(','));
	const names = options.tool?.flatMap((each) => each.split(','));
	const turn = options.turn === undefined ? undefined : Number(options.turn);
	if (turn !== undefined && !/^\d+$/.test(options.turn ?? '')) {
		throw new UsageError(`--turn takes the number of a turn, not ${options.turn}.`);
	}
	const from = options.since === undefined ? undefined : sinceMs(options.since);
	return ({event, turn: own, calls}) =>
		(types === undefined || types.includes(event.type) || types.includes(roleOf(event) ?? '')) &&
		(names === undefined || calls.some(({name}) => names.includes(name))) &&
		(turn === undefined || own === turn) &&
		(options.file === undefined || touches({event, calls}, options.file)) &&
		(!options.errors || isFailure(event)) &&
		(from === undefined || Date.parse(event.ts) >= from);
}

function roleOf(event: Event): string | undefined {
	return event.type === 'message' ? event.message.role : undefined;
}

/** Whether it changed that file, or is about a call that names it: the path as recorded, or its end. */
function touches({event, calls}: Pick<Audited, 'event' | 'calls'>, file: string): boolean {
	const given = file.replace(/^\.\//, '');
	const changed = event.type === 'tool_end' ? (event.files ?? []).map(({path}) => path) : [];
	const named = calls.flatMap(({name, args}) => {
		const prepared = tools.find((tool) => tool.name === name)?.prepare(args);
		return prepared?.ok ? prepared.call.paths : [];
	});
	return [...changed, ...named]
		.map((path) => path.replace(/^\.\//, ''))
		.some((path) => path === given || path.endsWith(`/${given}`) || given.endsWith(`/${path}`));
}

const unitMs = {s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000};

/** `2h` before now, or a date (of the reader's own zone) with or without a time. */
function sinceMs(given: string): number {
	const span = /^(\d+)([smhd])$/.exec(given);
	if (span) return Date.now() - Number(span[1]) * unitMs[span[2] as keyof typeof unitMs];
	const time = Date.parse(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00` : given);
	if (!Number.isNaN(time)) return time;
	throw new UsageError(
		`--since takes a span such as 30m, 2h or 1d, or a date such as 2026-09-07, not ${given}.`,
	);
}

// --- what a row says ---

type LogRow = {
	seq: number;
	ts: string;
	/** Since the line before. */
	elapsedMs: number | null;
	turn: number;
	type: string;
	role: string | null;
	tool: string | null;
	what: string;
	outcome: string;
	ok: boolean;
	/** Of the line in the file. */
	bytes: number;
	tokens: {input: number; output: number; estimated: boolean} | null;
	costUsd: number | null;
	verdict: Verdict | null;
	files: FileChange[];
};

function rowOf({event, turn, elapsedMs, bytes, calls}: Audited): LogRow {
	const usage = event.type === 'usage' ? event : undefined;
	const ended = event.type === 'tool_end' ? event : undefined;
	const [what, outcome] = wordsOf(event, calls);
	return {
		seq: event.seq,
		ts: event.ts,
		elapsedMs,
		turn,
		type: event.type,
		role: roleOf(event) ?? null,
		tool: ended?.name ?? (roleOf(event) === 'tool' ? (calls[0]?.name ?? null) : null),
		what,
		outcome,
		ok: !isFailure(event),
		bytes,
		tokens: usage
			? {input: usage.inputTokens, output: usage.outputTokens, estimated: usage.estimated ?? false}
			: null,
		costUsd: usage?.costUsd ?? null,
		verdict: ended?.verdict ?? null,
		files: ended?.files ?? [],
	};
}

function wordsOf(event: Event, calls: Audited['calls']): [what: string, outcome: string] {
	const asked = calls.map((call) => `${call.name} ${labelOf(call)}`).join(', ');
	switch (event.type) {
		case 'message': {
			const {message} = event;
			if (message.role === 'tool') return [asked, `${thousands(message.content.length)} characters`];
			if (message.role === 'assistant' && asked !== '')
				return [[message.content, asked].filter(Boolean).join(' → '), 'calls'];
			return [message.content, ''];
		}
		case 'tool_end':
			return [asked || (event.name ?? event.id), event.result.content];
		case 'usage':
			return [event.model, event.finish ?? ''];
		case 'draft':
			return [event.text, `${thousands(event.text.length)} characters`];
		case 'error':
			return [event.message, event.did];
		case 'fork':
			return [`${event.from} at ${event.atSeq}`, event.kind];
		case 'name':
			return [event.title, ''];
		default:
			return ['not known to this version', ''];
	}
}

// --- how it is printed ---

function printRow(row: LogRow): Promise<boolean> {
	return printJson(row);
}

function tablePrinter(): (row: LogRow) => Promise<boolean> {
	const columns = columnsHere();
	let started = false;
	let day = '';
	return async (row) => {
		if (!started) await printLine(heading(columns));
		started = true;
		// On a terminal the rows have the time only, and a line of its own says when the day is another one.
		if (onTerminal && localDay(row.ts) !== day) {
			day = localDay(row.ts);
			await printLine(styled(day, 'dim'));
		}
		return printLine(
			tableRow(
				columns,
				columns.map(({cell}) => cell(row)),
			),
		);
	};
}

/** In a pipe the words, which are as long as they are, come last, so that everything before them is in line. */
function columnsHere(): readonly ColumnOf<LogRow>[] {
	if (onTerminal) return fitted(logColumns);
	return logColumns.toSorted((a, b) => Number(a.rest ?? false) - Number(b.rest ?? false));
}

const logColumns: readonly ColumnOf<LogRow>[] = [
	{title: 'seq', right: true, columns: 5, cell: ({seq}) => ({text: String(seq), style: 'dim'})},
	{
		title: 'time',
		columns: onTerminal ? 8 : 19,
		cell: ({ts}) => ({text: onTerminal ? localTime(ts).slice(11) : localTime(ts), style: 'dim'}),
	},
	{
		title: 'elapsed',
		leave: 2,
		right: true,
		columns: 7,
		cell: ({elapsedMs}) => (elapsedMs === null ? '' : {text: duration(elapsedMs), style: 'dim'}),
	},
	{title: 'event', columns: 9, cell: eventCell},
	{title: 'what', rest: true, cell: ({what}) => what},
	{
		title: 'outcome',
		columns: 16,
		cell: ({ok, outcome}) => (ok ? outcome : {text: outcome, style: 'red'}),
	},
	{title: 'size', right: true, columns: 8, leave: 1, cell: ({bytes}) => size(bytes)},
	{
		title: 'tokens',
		leave: 3,
		right: true,
		columns: 14,
		cell: ({tokens}) =>
			tokens ? `${tokens.estimated ? '≈' : ''}${thousands(tokens.input)} → ${thousands(tokens.output)}` : '',
	},
	{
		title: 'cost',
		leave: 4,
		right: true,
		columns: 7,
		cell: ({tokens, costUsd}) =>
			tokens ? (costUsd === null ? {text: '?', style: 'yellow'} : dollars(costUsd)) : '',
	},
	{
		title: 'verdict',
		leave: 5,
		columns: 8,
		cell: ({verdict}) =>
			verdict
				? {
						text: verdict.state === 'allow' ? verdict.by : `${verdict.state} ${verdict.by}`,
						style: verdict.state === 'deny' ? 'red' : 'dim',
					}
				: '',
	},
];

function eventCell({type, role, ok}: LogRow): Cell {
	if (!ok) return {text: type, style: 'red'};
	if (role === 'user') return {text: role, style: 'bold'};
	if (role === 'assistant') return {text: role, style: 'cyan'};
	return {text: role ?? type, style: 'dim'};
}
