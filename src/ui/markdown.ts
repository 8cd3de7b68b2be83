import type {Token, Tokens} from 'marked';
import {diffLines} from './diff-rows.ts';
import {display, fit, type Row, type Span, wrap} from './display.ts';
import {highlight} from './highlight.ts';
import {inlineSpans} from './inline.ts';
import {endsBlank, isClosed, lex} from './lex.ts';
import {type Align, tableRows} from './table-rows.ts';
import {theme} from './theme.ts';

/** Text that is indented further than this leaves no room to be read in: it goes on at the left. */
const leastRoom = 6;

/** A Markdown text as rows of at most `columns`. Empty lines between blocks are as in the text, one at a time. */
export function markdownRows(text: string, columns: number): Row[] {
	const shown = display(text);
	try {
		return blockRows(lex(shown), columns);
	} catch (error) {
		// The lexer calls itself: a text may be nested deeper than the stack is.
		if (!(error instanceof RangeError)) throw error;
		return wrap([{text: shown}], columns);
	}
}

export function blockRows(tokens: readonly Token[], columns: number): Row[] {
	const rows: Row[] = [];
	let gap = false;
	for (const token of tokens) {
		const made = rowsOfBlock(token, columns);
		if (made.length > 0 && gap && rows.length > 0) rows.push([]);
		for (const row of made) rows.push(row);
		gap = endsBlank(token) || (gap && made.length === 0);
	}
	return rows;
}

function rowsOfBlock(token: Token, columns: number): Row[] {
	switch (token.type) {
		case 'space':
		case 'checkbox':
			return [];
		case 'heading':
			return wrap(inlineSpans(token.tokens ?? [], headingStyle(token.depth)), columns);
		case 'paragraph':
		case 'text':
			return wrap(inlineSpans(token.tokens ?? [token]), columns);
		case 'list':
			return listRows(token as Tokens.List, columns);
		case 'blockquote': {
			const indents = columns - 2 >= leastRoom;
			const content = blockRows(token.tokens ?? [], indents ? columns - 2 : columns);
			return indents ? behind(bar, bar, content) : content;
		}
		case 'code': {
			const indented = token.codeBlockStyle === 'indented';
			return codeRows(token.text, token.lang ?? '', !indented && isClosed(token.raw), columns);
		}
		case 'table':
			return tableOf(token as Tokens.Table, columns);
		case 'hr':
			return [[{text: '─'.repeat(Math.max(1, columns)), dim: true}]];
		case 'def':
			return wrap([{text: token.raw.trim(), dim: true}], columns, 2);
		default:
			// HTML is text here, and so is whatever a later marked may find.
			return wrap([{text: token.raw.replace(/\s+$/, '')}], columns);
	}
}

function headingStyle(depth: number) {
	return {bold: true, ...(depth === 1 ? {underline: true} : depth > 2 ? {italic: true} : {})};
}

const bar: Row = [{text: '│ ', dim: true}];

/** Rows with something before the first one and something as wide before the others. */
function behind(first: Row, others: Row, rows: readonly Row[]): Row[] {
	return rows.map((row, index) => [...(index === 0 ? first : others), ...row]);
}

function listRows(list: Tokens.List, columns: number): Row[] {
	const start = Number(list.start) || (list.start === 0 ? 0 : 1);
	const numberWide = String(start + list.items.length - 1).length;
	const rows: Row[] = [];
	let gap = false;
	for (const [index, item] of list.items.entries()) {
		const mark = list.ordered ? `${String(start + index).padStart(numberWide)}. ` : '- ';
		const marker: Span[] = [{text: mark, color: theme.accent}];
		if (item.task) marker.push(item.checked ? {text: '[x] ', color: theme.good} : {text: '[ ] '});
		const wide = mark.length + (item.task ? 4 : 0);
		const indents = columns - wide >= leastRoom;
		const content = blockRows(item.tokens, indents ? columns - wide : columns);
		const made: Row[] = !indents
			? [fit(marker, columns), ...content]
			: content.length === 0
				? [marker]
				: behind(marker, [{text: ' '.repeat(wide)}], content);
		if (gap) rows.push([]);
		for (const row of made) rows.push(row);
		gap = endsBlank(item);
	}
	return rows;
}

/** Code, two columns in. A line that is too long goes on further in than it begins, so that it is told from the next one. */
export function codeRows(code: string, info: string, closed: boolean, columns: number): Row[] {
	const language = /^[\w+#.-]*/.exec(info.trim())?.[0].toLowerCase() ?? '';
	const lines = code.split('\n');
	const spans =
		language === 'diff' || language === 'patch'
			? diffLines(lines)
			: ((closed ? highlight(code, language) : undefined) ??
				lines.map((text) => (text === '' ? [] : [{text}])));
	if (code === '') return [];
	return spans.flatMap((line) =>
		line.length === 0 ? [[]] : wrap(joined(line), columns, 4 + indentOf(line)),
	);
}

function indentOf([first]: readonly Span[]): number {
	return /^ */.exec(first?.text ?? '')?.[0].length ?? 0;
}

/** Two columns in; one span where there is one, which is what most lines are. */
function joined([first, ...rest]: readonly Span[]): Row {
	if (!first) return [];
	return rest.length === 0 ? [{...first, text: `  ${first.text}`}] : [{text: '  '}, first, ...rest];
}

function tableOf({header, rows, align}: Tokens.Table, columns: number): Row[] {
	const spans = (cell: Tokens.TableCell) =>
		inlineSpans(cell.tokens).map((span) => ({...span, text: span.text.replaceAll('\n', ' ')}));
	return tableRows(
		header.map(spans),
		align as readonly Align[],
		rows.map((row) => row.map(spans)),
		columns,
	);
}
