import {stat} from 'node:fs/promises';
import * as z from 'zod';
import {count} from './amounts.ts';
import {because} from './files.ts';
import {LIST_BYTES, LIST_FILES} from './limits.ts';
import {cancelled, failure} from './outcome.ts';
import {plainLine} from './plain-text.ts';
import {ripgrep} from './ripgrep.ts';
import {defineTool, type ToolContext, type ToolResult} from './tool.ts';
import {isForbidden, isSensitive, resolveForReading} from './workspace.ts';

export const listFiles = defineTool({
	name: 'list_files',
	description: `List the files below a folder, sorted, at most ${LIST_FILES}. What .gitignore names is left out, and so are .git and files that may hold secrets.`,
	readOnly: true,
	schema: z.object({
		path: z
			.string()
			.optional()
			.describe('The folder, relative to the workspace; the workspace itself if left out.'),
		glob: z
			.string()
			.optional()
			.describe('Only paths that match, as in .gitignore: `*.ts`, `src/**/*.test.ts`.'),
	}),
	label: ({path = '.', glob}) => (glob === undefined ? path : `${path} ${glob}`),
	paths: ({path = '.'}) => [path],
	run: ({path = '.', glob}, context) => list(path, glob, context),
});

async function list(given: string, glob: string | undefined, context: ToolContext): Promise<ToolResult> {
	const place = await resolveForReading(given, context);
	if (!place.ok) return failure(place.reason);
	const {path, display} = place;
	try {
		if (!(await stat(path)).isDirectory())
			return failure(`${display} is not a folder. read_file shows a file.`);
	} catch (error) {
		return failure(`The folder ${display} cannot be listed: ${because(error)}.`);
	}
	const lines: string[] = [];
	let bytes = 0;
	let total = 0;
	let sensitive = 0;
	const asked = isSensitive(display);
	const args = ['--files', '--null', ...globArgs(glob), '--', display];
	const limits = {separator: 0, maxRecordBytes: 64 * 1024};
	const ran = await ripgrep(args, {cwd: context.workspace, signal: context.signal, ...limits}, (record) => {
		const file = pathOf(record);
		if (isForbidden(file, context)) return true;
		if (!asked && isSensitive(file)) {
			sensitive++;
			return true;
		}
		total++;
		const line = plainLine(file);
		if (lines.length === LIST_FILES || bytes > LIST_BYTES) return true;
		lines.push(line);
		bytes += Buffer.byteLength(line) + 1;
		return true;
	});
	if (ran.at === 'cancelled') return cancelled();
	if (ran.at === 'failed') return failure(`The files of ${display} could not be listed: ${ran.reason}`);
	const notes: string[] = [];
	if (total === 0) notes.push(`No files in ${display}${glob === undefined ? '' : ` match ${glob}`}.`);
	if (total > lines.length) {
		notes.push(`The first ${lines.length} of ${total} files are shown. Give a narrower path or a glob.`);
	}
	if (sensitive > 0) notes.push(`${count(sensitive, 'file')} that may hold secrets left out.`);
	return {
		ok: true,
		content: [...lines, ...(lines.length > 0 && notes.length > 0 ? [''] : []), ...notes].join('\n'),
		summary: count(total, 'file'),
		truncated: total > lines.length,
	};
}

/** The last glob wins, so whatever is asked for, .git stays out. */
export function globArgs(glob: string | undefined): string[] {
	return [...(glob === undefined ? [] : [`--glob=${glob}`]), '--glob=!.git'];
}

/** As in the display of a place: ripgrep puts `./` before what is below `.`. */
export function pathOf(record: Buffer | null): string {
	const path = record === null ? '(a path that is too long)' : record.toString();
	return path.startsWith('./') ? path.slice(2) : path;
}
