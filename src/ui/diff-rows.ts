import type {Span, Style} from './display.ts';
import {theme} from './theme.ts';

/**
The lines of a unified diff in its colours. What a hunk counts belongs to it: a removed line that begins with `-- ` is no header.
Where nothing is counted, as in what a model writes by hand, `---` is one if `+++` follows.
*/
export function diffLines(lines: readonly string[]): Span[][] {
	let old = 0;
	let now = 0;
	return lines.map((text, index) => {
		const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(text);
		if (hunk) {
			old = Number(hunk[1] ?? 1);
			now = Number(hunk[2] ?? 1);
		}
		const counted = old > 0 || now > 0;
		if (!hunk && counted) {
			if (!text.startsWith('+') && !text.startsWith('\\')) old--;
			if (!text.startsWith('-') && !text.startsWith('\\')) now--;
		}
		const header =
			!counted &&
			((text.startsWith('--- ') && lines[index + 1]?.startsWith('+++ ')) ||
				(text.startsWith('+++ ') && lines[index - 1]?.startsWith('--- ')));
		return text === '' ? [] : [{text, ...styleOf(text, header ?? false)}];
	});
}

function styleOf(line: string, header: boolean): Style {
	if (header || /^(diff --git |index |Index: |=====|\\ )/.test(line)) return {dim: true};
	if (line.startsWith('@@')) return {color: theme.accent, dim: true};
	if (line.startsWith('+')) return {color: theme.good};
	if (line.startsWith('-')) return {color: theme.bad};
	return {};
}
