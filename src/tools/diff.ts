import {FILE_HEADERS_ONLY, formatPatch, type StructuredPatch, structuredPatch} from 'diff';
import {DIFF_MS} from './limits.ts';
import {dominantEnding, hasOneEnding, toLf} from './line-endings.ts';

/** A unified diff, and how many lines it adds and removes. */
export type Diff = {text: string; added: number; removed: number};

const CONTEXT_LINES = 3;

/** `before` is null where there is no file. Line endings show in it where they change. */
export function diffOf(display: string, before: string | null, after: string): Diff {
	const old = before ?? '';
	const sameEndings =
		before === null ||
		(hasOneEnding(old) &&
			hasOneEnding(after) &&
			(dominantEnding(old) ?? dominantEnding(after)) === (dominantEnding(after) ?? dominantEnding(old)));
	const [from, to] = sameEndings ? [toLf(old), toLf(after)] : [old, after];
	const names = [before === null ? '/dev/null' : `a/${display}`, `b/${display}`] as const;
	const patch =
		structuredPatch(...names, from, to, undefined, undefined, {context: CONTEXT_LINES, timeout: DIFF_MS}) ??
		blockPatch(names, from, to);
	const lines = patch.hunks.flatMap((hunk) => hunk.lines);
	return {
		text: formatPatch(patch, FILE_HEADERS_ONLY),
		added: lines.filter((line) => line.startsWith('+')).length,
		removed: lines.filter((line) => line.startsWith('-')).length,
	};
}

/** One block from the first line that differs to the last: what has to do where a small diff takes too long. */
function blockPatch(names: readonly [string, string], from: string, to: string): StructuredPatch {
	const old = linesOf(from);
	const now = linesOf(to);
	const shorter = Math.min(old.length, now.length);
	let head = 0;
	while (head < shorter && old[head] === now[head]) head++;
	let tail = 0;
	while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
	const start = Math.max(0, head - CONTEXT_LINES);
	const marked = (mark: string, lines: string[]) =>
		lines.flatMap((line) =>
			line.endsWith('\n') ? [mark + line.slice(0, -1)] : [mark + line, '\\ No newline at end of file'],
		);
	const after = old.slice(old.length - tail, old.length - tail + CONTEXT_LINES);
	const context = head - start + after.length;
	return {
		oldFileName: names[0],
		newFileName: names[1],
		oldHeader: undefined,
		newHeader: undefined,
		hunks: [
			{
				oldStart: start + 1,
				oldLines: old.length - head - tail + context,
				newStart: start + 1,
				newLines: now.length - head - tail + context,
				lines: [
					...marked(' ', old.slice(start, head)),
					...marked('-', old.slice(head, old.length - tail)),
					...marked('+', now.slice(head, now.length - tail)),
					...marked(' ', after),
				],
			},
		],
	};
}

/** Each with its line end. */
function linesOf(text: string): string[] {
	return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
