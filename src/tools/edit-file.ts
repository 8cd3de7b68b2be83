import * as z from 'zod';
import {count} from './amounts.ts';
import {applyChange, type Before, type Planned, previewChange} from './change-file.ts';
import {EDITS} from './limits.ts';
import {dominantEnding, type LfView, lfView, lineOf, toLf, withEnding} from './line-endings.ts';
import {locate, nearMatch} from './near-match.ts';
import {defineTool} from './tool.ts';

type Edit = {old_text: string; new_text: string};
/** A replacement in the text as it is on disk: indexes are of UTF-16 units, `end` is behind the last. */
type Splice = {start: number; end: number; text: string};
/** Where an edit's old text was found in the view. */
type Found = {start: number; end: number; edit: Edit; name: string};

export const editFile = defineTool({
	name: 'edit_file',
	description:
		'Change a file by replacing pieces of text. Each old_text must occur exactly once in the file as it is now, spaces and indentation included (line endings do not matter); give enough lines around it. All edits of a call are looked up in the same content, and are made together or not at all. No other byte of the file changes.',
	readOnly: false,
	schema: z.object({
		path: z.string().describe('The file, relative to the workspace.'),
		edits: z
			.array(
				z.object({
					old_text: z
						.string()
						.min(1, 'is empty; write_file creates a file')
						.describe('The text to replace, as read_file shows it but without line numbers.'),
					new_text: z.string().describe('What to put there; empty to delete.'),
				}),
			)
			.min(1)
			.max(EDITS),
	}),
	label: ({path}) => path,
	paths: ({path}) => [path],
	preview: ({path, edits}, context) =>
		previewChange(path, context, (before, display, mayGuess) => plan(edits, before, display, mayGuess)),
	run: ({path, edits}, context) =>
		applyChange(path, context, (before, display, mayGuess) => plan(edits, before, display, mayGuess), {
			diffInResult: true,
		}),
});

function plan(edits: Edit[], before: Before | null, display: string, mayGuess: boolean): Planned {
	if (before === null) {
		return {
			ok: false,
			reason: `${display} does not exist. list_files shows what there is, write_file creates a file.`,
		};
	}
	const view = lfView(before.text);
	const found: Found[] = [];
	const guesses: string[] = [];
	for (const [i, raw] of edits.entries()) {
		const edit = {old_text: lfWithoutMark(raw.old_text), new_text: lfWithoutMark(raw.new_text)};
		const name = edits.length === 1 ? 'old_text' : `old_text of edit ${i + 1}`;
		const near =
			mayGuess && !view.text.includes(edit.old_text) ? locate(view.text, edit.old_text) : undefined;
		if (near && edit.old_text !== edit.new_text && raw.new_text.isWellFormed()) {
			const {start, end, first, last} = near;
			guesses.push(first === last ? `line ${first}` : `lines ${first} to ${last}`);
			const isWhole = edit.old_text.endsWith('\n') && view.text[end] === '\n';
			const old_text = view.text.slice(start, isWhole ? end + 1 : end);
			found.push({start, end: start + old_text.length, edit: {old_text, new_text: edit.new_text}, name});
			continue;
		}
		const problem = whyNot(edit, raw, view, name, display);
		if (problem !== null) return {ok: false, reason: problem};
		const start = view.text.indexOf(edit.old_text);
		found.push({start, end: start + edit.old_text.length, edit, name});
	}
	found.sort((a, b) => a.start - b.start);
	for (const [i, {start, name}] of found.entries()) {
		const previous = found[i - 1];
		if (previous && start < previous.end) {
			const reason = `In ${display}, ${previous.name} and ${name} overlap at line ${lineOf(view.text, start)}, so nothing was written. Make them one edit.`;
			return {ok: false, reason};
		}
	}
	const fileEnding = dominantEnding(before.text) ?? '\n';
	const splices = found.map(({start, end, edit}): Splice => {
		const matched = before.text.slice(view.original(start), view.original(end));
		const [head, tail] = unchanged(edit.old_text, edit.new_text);
		const text = edit.new_text.slice(head, edit.new_text.length - tail);
		return {
			start: view.original(start + head),
			end: view.original(end - tail),
			text: withEnding(text, dominantEnding(matched) ?? fileEnding),
		};
	});
	const after = splice(before, splices);
	const did = `Edited ${display}: ${count(edits.length, 'replacement')}.`;
	if (guesses.length === 0) return {ok: true, after, did};
	const where = guesses.join(', ');
	return {
		ok: true,
		after,
		did: `${did} The text was matched approximately, at ${where}.`,
		approximate: `the text is not there to the letter; ${where} ${guesses.length > 1 || where.startsWith('lines') ? 'are' : 'is'} taken for it`,
	};
}

/** A sentence, or null where the edit can be made. */
function whyNot(edit: Edit, raw: Edit, view: LfView, name: string, display: string): string | null {
	if (!raw.new_text.isWellFormed()) {
		return `The new_text for ${display} holds half a character (a lone surrogate). Send it again without.`;
	}
	if (edit.old_text === edit.new_text) {
		const only = raw.old_text === raw.new_text ? '' : ' but for line endings, which edit_file keeps';
		return `${name} and its new_text are the same${only}, so there is nothing to change in ${display}.`;
	}
	const lines = occurrences(view.text, edit.old_text);
	if (lines.length === 1) return null;
	if (lines.length > 1) {
		const times = lines.length > MAX_LINES_NAMED ? `more than ${MAX_LINES_NAMED}` : lines.length;
		const shown = lines.slice(0, MAX_LINES_NAMED).join(', ');
		return `${name} occurs ${times} times in ${display}, at lines ${shown}. Nothing was written. Add lines around it until it is unique.`;
	}
	return `${name} does not occur in ${display}, so nothing was written. ${nearMatch(view.text, edit.old_text)}`;
}

/** Of an old_text that occurs more than once. */
const MAX_LINES_NAMED = 10;

/** The lines of the first places where `part` begins, overlapping ones too: two that overlap are not unique either. */
function occurrences(text: string, part: string): number[] {
	const lines: number[] = [];
	let line = 1;
	let counted = 0;
	for (
		let at = text.indexOf(part);
		at !== -1 && lines.length <= MAX_LINES_NAMED;
		at = text.indexOf(part, at + 1)
	) {
		line += lineOf(text.slice(counted, at), at - counted) - 1;
		counted = at;
		lines.push(line);
	}
	return lines;
}

/** How many units at the beginning and at the end of a match stay as they are, so that their bytes are not touched. */
function unchanged(old: string, now: string): [head: number, tail: number] {
	const shorter = Math.min(old.length, now.length);
	let head = 0;
	while (head < shorter && old[head] === now[head]) head++;
	if (/[\ud800-\udbff]/.test(old[head - 1] ?? '')) head--;
	let tail = 0;
	while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
	if (tail > 0 && /[\udc00-\udfff]/.test(old.at(-tail) ?? '')) tail--;
	return [head, tail];
}

/** Works on the bytes themselves: what is between the splices is copied, not decoded and encoded. */
function splice(before: Before, splices: readonly Splice[]): Buffer {
	const pieces: Buffer[] = [];
	let byte = before.bom ? 3 : 0;
	let copied = 0;
	let unit = 0;
	for (const {start, end, text} of splices) {
		byte += Buffer.byteLength(before.text.slice(unit, start));
		pieces.push(before.bytes.subarray(copied, byte), Buffer.from(text));
		byte += Buffer.byteLength(before.text.slice(start, end));
		copied = byte;
		unit = end;
	}
	return Buffer.concat([...pieces, before.bytes.subarray(copied)]);
}

function lfWithoutMark(text: string): string {
	return toLf(text.startsWith('\ufeff') ? text.slice(1) : text);
}
