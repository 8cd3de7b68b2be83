import {createHash} from 'node:crypto';
import type {FileHandle} from 'node:fs/promises';
import * as z from 'zod';
import {bytesText, count} from './amounts.ts';
import {because, binaryKind, openFile, sha256} from './files.ts';
import {
	CHANGE_FILE_BYTES,
	cutLine,
	READ_BYTES,
	READ_COUNT_BYTES,
	READ_LINE_CHARS,
	READ_LINES,
} from './limits.ts';
import {cancelled, failure} from './outcome.ts';
import {plainText} from './plain-text.ts';
import {defineTool, type ToolContext, type ToolResult} from './tool.ts';
import {resolveForReading} from './workspace.ts';

export const readFile = defineTool({
	name: 'read_file',
	description: `Read a text file. Each line comes after its number and a tab; at most ${READ_LINES} lines or ${bytesText(READ_BYTES)} at once, further ones with offset.`,
	readOnly: true,
	schema: z.object({
		path: z.string().describe('The file, relative to the workspace.'),
		offset: z.number().int().min(1).optional().describe('The first line to read, from 1.'),
		limit: z.number().int().min(1).optional().describe('How many lines.'),
	}),
	label: ({path, offset}) => (offset === undefined ? path : `${path} from line ${offset}`),
	paths: ({path}) => [path],
	run: ({path, offset = 1, limit = READ_LINES}, context) =>
		read(path, offset, Math.min(limit, READ_LINES), context),
});

async function read(given: string, offset: number, limit: number, context: ToolContext): Promise<ToolResult> {
	const place = await resolveForReading(given, context);
	if (!place.ok) return failure(place.reason);
	const {display} = place;
	const opened = await openFile(place.path, display);
	if (opened.at !== 'file') return failure(opened.reason);
	const {handle, stats} = opened;
	try {
		const start = Buffer.alloc(8192);
		const {bytesRead} = await handle.read(start, 0, start.length, 0);
		if (bytesRead === 0) {
			context.seen?.set(place.path, sha256(Buffer.alloc(0)));
			return {ok: true, content: `${display} is empty.`, summary: 'empty'};
		}
		const kind = binaryKind(start.subarray(0, bytesRead));
		if (kind?.startsWith('text in UTF-16') && stats.size <= READ_COUNT_BYTES) {
			const text = new TextDecoder(kind.slice('text in '.length)).decode(await handle.readFile());
			const found = linesFrom(offset, limit);
			found.add(text);
			return answer(found.end(), display, offset, [
				`It is ${kind}; edit_file and write_file do not take it.`,
			]);
		}
		if (kind !== null)
			return failure(`${display} is ${kind} of ${bytesText(stats.size)}, so it is not shown.`);
		const found = await scan(handle, offset, limit, context.signal, stats.size <= CHANGE_FILE_BYTES);
		if (found === null) return cancelled();
		const notes = found.utf8
			? []
			: ['It is not UTF-8: what could not be decoded shows as \ufffd, and edit_file does not take it.'];
		const result = answer(found, display, offset, notes);
		if (result.ok && found.sha256 !== null) context.seen?.set(place.path, found.sha256);
		return result;
	} catch (error) {
		return failure(`${display} cannot be read: ${because(error)}.`);
	} finally {
		await handle.close();
	}
}

/** `total` is null where the file was not read to its end. `odd`: numbers of shown lines that are not shown as they are. */
type Window = {lines: string[]; odd: number[]; total: number | null; whole: boolean};

/**
Reads on after the window to count the lines, but not for ever. Null if cancelled. `sha256` is that of the whole file, null
where it is not wanted.
*/
async function scan(
	handle: FileHandle,
	offset: number,
	limit: number,
	signal: AbortSignal,
	isHashed: boolean,
): Promise<(Window & {utf8: boolean; sha256: string | null}) | null> {
	const hash = isHashed ? createHash('sha256') : null;
	const decoder = new TextDecoder('utf-8');
	const found = linesFrom(offset, limit);
	const chunk = Buffer.alloc(256 * 1024);
	let position = 0;
	let utf8 = true;
	for (;;) {
		if (signal.aborted) return null;
		const {bytesRead} = await handle.read(chunk, 0, chunk.length, position);
		if (bytesRead === 0) break;
		position += bytesRead;
		const bytes = chunk.subarray(0, bytesRead);
		hash?.update(bytes);
		const text = decoder.decode(bytes, {stream: true});
		if (text.includes('\ufffd') && !bytes.includes('\ufffd')) utf8 = false;
		found.add(text);
		if (found.full() && position > READ_COUNT_BYTES) return {...found.end(), total: null, utf8, sha256: null};
	}
	const rest = decoder.decode();
	found.add(rest);
	return {...found.end(), utf8: utf8 && rest === '', sha256: hash?.digest('hex') ?? null};
}

/** Takes text in pieces and keeps the lines of the window, with bounded memory whatever the lines are like. */
function linesFrom(offset: number, limit: number) {
	const lines: string[] = [];
	const odd: number[] = [];
	let bytes = 0;
	let number = 1;
	/** What is known of the line that is not complete: its beginning, and how long it is by now. */
	let line = '';
	let length = 0;
	let endsInCr = false;
	let closed = false;
	let whole = true;

	const full = () => closed || lines.length === limit;

	function endLine() {
		if (number >= offset && !full()) {
			const plain = plainText(line);
			const shown = cutLine(plain, READ_LINE_CHARS, length > READ_LINE_CHARS ? length : plain.length);
			bytes += Buffer.byteLength(shown) + 1;
			if (bytes > READ_BYTES && lines.length > 0) closed = true;
			else {
				if (plain !== line) odd.push(number);
				if (length > READ_LINE_CHARS) whole = false;
				lines.push(shown);
			}
		}
		number++;
		line = '';
		length = 0;
	}

	function add(text: string) {
		const all = endsInCr ? `\r${text}` : text;
		endsInCr = all.endsWith('\r');
		const pieces = (endsInCr ? all.slice(0, -1) : all).split(/\r\n?|\n/);
		for (const [i, piece] of pieces.entries()) {
			if (i > 0) endLine();
			length += piece.length;
			if (line.length < READ_LINE_CHARS + 2) line += piece.slice(0, READ_LINE_CHARS + 2 - line.length);
		}
	}

	function end(): Window {
		if (endsInCr) endLine();
		if (length > 0) endLine();
		return {lines, odd, total: number - 1, whole};
	}

	return {add, end, full};
}

function answer(
	{lines, odd, total, whole}: Window,
	display: string,
	offset: number,
	notes: string[],
): ToolResult {
	if (lines.length === 0)
		return failure(`${display} has ${count(total ?? 0, 'line')}; there is no line ${offset}.`);
	const last = offset + lines.length - 1;
	const rest = total === null || last < total;
	if (rest) notes.push(`Lines ${offset}–${last} of ${total ?? 'many'}; read on with offset ${last + 1}.`);
	if (odd.length > 0) {
		const where = odd.slice(0, 10).join(', ') + (odd.length > 10 ? ', …' : '');
		notes.push(
			`Control or invisible characters are not shown, in ${odd.length === 1 ? 'line' : 'lines'} ${where}.`,
		);
	}
	const numbered = lines.map((line, i) => `${offset + i}\t${line}`).join('\n');
	return {
		ok: true,
		content: notes.length > 0 ? `${numbered}\n\n(${notes.join(' ')})` : numbered,
		summary: count(lines.length, 'line'),
		truncated: rest || !whole,
	};
}
