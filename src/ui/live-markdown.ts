import type {Token} from 'marked';
import {display, type Row} from './display.ts';
import {highlighter} from './highlight.ts';
import {endsBlank, isClosed, lex} from './lex.ts';
import {blockRows} from './markdown.ts';

/**
The rows of a Markdown text that grows. What stands before its last block is settled: it is lexed and wrapped once. The last
block is made anew each time, as if the marks that are open in it were closed.
*/
export function liveMarkdown(lexer: (text: string) => Token[] = lex) {
	let from = {text: '', columns: 0, version: 0};
	/** Units of the text that were taken: whole lines. */
	let taken = 0;
	/** What was taken and is not settled, fit for the terminal. */
	let open = '';
	let settled: Row[] = [];

	return function rows(text: string, columns: number): Row[] {
		const version = highlighter.version();
		if (columns !== from.columns || version !== from.version || !text.startsWith(from.text)) {
			taken = 0;
			open = '';
			settled = [];
		}
		from = {text, columns, version};
		// Nothing that is taken out of a text reaches over a line end, so it can be made fit line by line.
		const end = text.lastIndexOf('\n') + 1;
		if (end > taken) open += display(text.slice(taken, end));
		taken = Math.max(taken, end);
		const source = open + display(text.slice(taken));
		try {
			const tokens = lexer(source);
			const first = lastBlock(tokens, source);
			if (first.index > 0) {
				const done = blockRows(tokens.slice(0, first.index), columns);
				if (done.length > 0 && settled.length > 0) settled.push([]);
				for (const row of done) settled.push(row);
				open = open.slice(first.at);
			}
			const rest = tokens.slice(first.index);
			const last = source.slice(first.at);
			const closed = closeMarks(last, rest);
			const made = blockRows(closed === last ? rest : lexer(closed), columns);
			return made.length > 0 && settled.length > 0 ? [...settled, [], ...made] : [...settled, ...made];
		} catch (error) {
			if (!(error instanceof RangeError)) throw error;
			return [...settled, ...source.split('\n').map((line) => [{text: line.slice(0, columns)}])];
		}
	};
}

/**
Where the last block begins that what comes next may change. It follows an empty line, and its own first line is whole: `2` may
become `2. `, an item of the list before it.
*/
function lastBlock(tokens: readonly Token[], source: string): {index: number; at: number} {
	let at = source.length;
	for (let index = tokens.length - 1; index > 0; index--) {
		const token = tokens[index] as Token;
		at -= token.raw.length;
		const before = tokens[index - 1] as Token;
		if (token.type !== 'space' && endsBlank(before) && source.includes('\n', at)) {
			// A lexer that changed the text cannot be followed in it.
			const follows = source.startsWith(token.raw, at);
			return follows ? {index, at} : {index: 0, at: 0};
		}
	}
	return {index: 0, at: 0};
}

/** The innermost block at the end. */
function lastLeaf(tokens: readonly Token[]): Token | undefined {
	const last = tokens.at(-1);
	if (last?.type === 'list') return lastLeaf((last.items.at(-1)?.tokens ?? []) as Token[]);
	if (last?.type === 'blockquote') return lastLeaf(last.tokens ?? []);
	return last;
}

/** The block as it will probably be: a last line that is nothing but marks is not there yet, and what is open is closed. */
function closeMarks(block: string, tokens: readonly Token[]): string {
	const leaf = lastLeaf(tokens);
	if (!leaf || leaf.type === 'space' || leaf.type === 'html') return block;
	if (leaf.type === 'code' && leaf.codeBlockStyle !== 'indented' && !isClosed(leaf.raw)) {
		// The line that may become the closing fence.
		return block.replace(/\n[ >]*[`~]{1,2}$/, '');
	}
	const told = block.replace(/(^|\n)[\s>]*(?:[-+*=#`~|>]+|\d{1,9}[.)])[ \t]*(?:\[[ x]?\]?)?$/, '$1');
	if (told !== block) return told;
	if (!['paragraph', 'text', 'heading'].includes(leaf.type)) return block;
	return withMarksClosed(block, leaf.raw);
}

function withMarksClosed(block: string, inline: string): string {
	const open: string[] = [];
	let code = '';
	for (const {0: mark, index} of inline.matchAll(/\\[^`]|`+|\*\*|~~/g)) {
		if (mark.startsWith('\\')) continue;
		if (mark.startsWith('`')) {
			if (code === '') code = mark;
			else if (code === mark) code = '';
			continue;
		}
		if (code !== '') continue;
		if (open.includes(mark)) {
			if (/\S/.test(inline.charAt(index - 1))) open.splice(open.indexOf(mark), 1);
		} else if (/\S|^$/.test(inline.charAt(index + mark.length))) {
			open.push(mark);
		}
	}
	const closers = [...(code === '' ? [] : [code]), ...open.reverse()];
	const link = /!?\[([^\][\n]*)\]\([^()\s]*$/.exec(block);
	const begun = link && code === '' ? block.slice(0, link.index) + link[1] : block;
	return closers.reduce((text, mark) => {
		const trimmed = text.trimEnd();
		return trimmed.endsWith(mark) ? trimmed.slice(0, -mark.length) : trimmed + mark;
	}, begun);
}
