import {stat} from 'node:fs/promises';
import * as z from 'zod';
import {count} from './amounts.ts';
import {because} from './files.ts';
import {
	SEARCH_BYTES,
	SEARCH_CONTEXT_LINES,
	SEARCH_FILE_BYTES,
	SEARCH_LINE_CHARS,
	SEARCH_MATCHES,
	SEARCH_RECORD_BYTES,
	windowAround,
} from './limits.ts';
import {globArgs, pathOf} from './list-files.ts';
import {cancelled, failure} from './outcome.ts';
import {plainLine, plainText} from './plain-text.ts';
import {ripgrep} from './ripgrep.ts';
import {defineTool, type ToolContext, type ToolResult} from './tool.ts';
import {isForbidden, isSensitive, resolveForReading} from './workspace.ts';

const schema = z.object({
	pattern: z
		.string()
		.min(1, 'is empty')
		.describe('A regular expression (Rust syntax), matched within one line.'),
	path: z.string().optional().describe('A folder or file, relative to the workspace; all of it if left out.'),
	glob: z.string().optional().describe('Only files that match, as in .gitignore: `*.ts`.'),
	literal: z.boolean().optional().describe('Take the pattern as plain text.'),
	ignore_case: z.boolean().optional(),
	context_lines: z
		.number()
		.int()
		.min(0)
		.max(SEARCH_CONTEXT_LINES)
		.optional()
		.describe('Lines to show around a match.'),
});
type Args = z.infer<typeof schema>;

export const search = defineTool({
	name: 'search',
	description: `Search file contents with ripgrep. Shows at most ${SEARCH_MATCHES} matching lines, as line number and text below each path. What .gitignore names is left out, and so are .git, binaries and files that may hold secrets.`,
	readOnly: true,
	schema,
	label: ({pattern, path}) => (path === undefined ? pattern : `${pattern} in ${path}`),
	paths: ({path = '.'}) => [path],
	run: find,
});

async function find(args: Args, context: ToolContext): Promise<ToolResult> {
	const place = await resolveForReading(args.path ?? '.', context);
	if (!place.ok) return failure(place.reason);
	const {path, display} = place;
	let folder: boolean;
	try {
		const stats = await stat(path);
		folder = stats.isDirectory();
		if (!folder && !stats.isFile())
			return failure(`${display} is not a folder or a regular file, so it is not searched.`);
	} catch (error) {
		return failure(`${display} cannot be searched: ${because(error)}.`);
	}
	const found = collector(context, isSensitive(display), (args.context_lines ?? 0) > 0);
	const limits = {separator: 0x0a, maxRecordBytes: SEARCH_RECORD_BYTES};
	const ran = await ripgrep(
		flags(args, folder, display),
		{cwd: context.workspace, signal: context.signal, ...limits},
		found.add,
	);
	if (ran.at === 'cancelled') return cancelled();
	if (ran.at === 'failed') return failure(`The search for ${args.pattern} failed: ${ran.reason}`);
	const {lines, matches, files, sensitive, tooLong} = found.result();
	const notes: string[] = [];
	if (matches === 0 && tooLong === 0)
		notes.push(`No matches for ${args.pattern} in ${display}${args.glob ? ` (${args.glob})` : ''}.`);
	if (ran.stopped)
		notes.push(
			`Only the first ${count(matches, 'match', 'matches')} are shown; there are more. Narrow the pattern, the path or the glob.`,
		);
	if (tooLong > 0) notes.push(`${count(tooLong, 'match', 'matches')} in a line too long to show.`);
	if (sensitive > 0)
		notes.push(`${count(sensitive, 'file')} with matches left out, since they may hold secrets.`);
	return {
		ok: true,
		content: [...lines, ...(lines.length > 0 && notes.length > 0 ? [''] : []), ...notes].join('\n'),
		summary: `${ran.stopped ? 'first ' : ''}${count(matches, 'match', 'matches')} in ${count(files, 'file')}`,
		truncated: ran.stopped || tooLong > 0,
	};
}

function flags(args: Args, folder: boolean, display: string): string[] {
	return [
		'--json',
		`--max-columns=${SEARCH_LINE_CHARS}`,
		'--max-columns-preview',
		...(folder ? [`--max-filesize=${SEARCH_FILE_BYTES}`] : []),
		...(args.literal ? ['--fixed-strings'] : []),
		...(args.ignore_case ? ['--ignore-case'] : []),
		...(args.context_lines ? [`--context=${args.context_lines}`] : []),
		...globArgs(args.glob),
		`--regexp=${args.pattern}`,
		'--',
		display,
	];
}

/** Text of a file or a path: `bytes` (base64) where it is not UTF-8. */
type Data = {text: string} | {bytes: string};
/** The records of `rg --json` that matter here; offsets are of bytes in the line. */
type Row = {path: Data; lines: Data; line_number: number; submatches: {start: number; end: number}[]};
type RgRecord = {type: 'match' | 'context'; data: Row} | {type: 'begin' | 'end' | 'summary'};

/**
Turns records into the lines of the answer, until there are enough.

`asked`: what may hold secrets was named itself. `apart`: lines that do not follow each other are set apart.
*/
function collector(context: ToolContext, asked: boolean, apart: boolean) {
	const lines: string[] = [];
	const leftOut = new Set<string>();
	let file = '';
	let lastLine = 0;
	let files = 0;
	let matches = 0;
	let tooLong = 0;
	let bytes = 0;

	function add(raw: Buffer | null): boolean {
		if (raw === null) {
			tooLong++;
			return true;
		}
		const record = JSON.parse(raw.toString()) as RgRecord;
		if (record.type !== 'match' && record.type !== 'context') return true;
		const row = record.data;
		const path = pathOf(bytesOf(row.path));
		if (isForbidden(path, context)) return true;
		if (!asked && isSensitive(path)) {
			leftOut.add(path);
			return true;
		}
		const isMatch = record.type === 'match';
		if (bytes > SEARCH_BYTES || (isMatch && matches === SEARCH_MATCHES)) return false;
		if (path !== file) {
			push(lines.length > 0 ? `\n${plainLine(path)}` : plainLine(path));
			file = path;
			files++;
		} else if (apart && row.line_number > lastLine + 1) {
			push('--');
		}
		lastLine = row.line_number;
		if (isMatch) matches++;
		push(`${row.line_number}${isMatch ? ':' : '-'} ${shownLine(row)}`);
		return true;
	}

	function push(line: string) {
		lines.push(line);
		bytes += Buffer.byteLength(line) + 1;
	}

	return {add, result: () => ({lines, matches, files, tooLong, sensitive: leftOut.size})};
}

function shownLine({lines, submatches}: Row): string {
	const bytes = bytesOf(lines);
	const text = bytes
		.toString()
		.replace(/\r?\n$/, '')
		.replaceAll('\r', ' ');
	if (text.length <= SEARCH_LINE_CHARS) return plainText(text);
	const {start = 0, end = 0} = submatches[0] ?? {};
	const from = bytes.toString('utf8', 0, start).length;
	const to = from + bytes.toString('utf8', start, end).length;
	return plainText(windowAround(text, from, to, SEARCH_LINE_CHARS));
}

function bytesOf(data: Data): Buffer {
	return 'text' in data ? Buffer.from(data.text) : Buffer.from(data.bytes, 'base64');
}
