import type {Token} from 'marked';
import {plainText} from '../tools/plain-text.ts';
import {lex} from './lex.ts';
import {labelOf, outcome} from './rows.ts';
import type {Item} from './view.ts';

/** Takes a text to the clipboard of the machine; resolves to the name of the program that did, or to undefined where none could. */
export type Clipboard = (text: string) => Promise<string | undefined>;

/** What `/copy` is asked for. */
export type Part = 'answer' | 'code' | 'all';

/** Characters of base64 that terminals take in one sequence. */
const mostEncoded = 100_000;

/** The text of a part as its Markdown; undefined where there is none. Nothing in it acts on a terminal that it is pasted into. */
export function copyOf(items: readonly Item[], part: Part): string | undefined {
	const text = part === 'all' ? transcript(items) : part === 'code' ? lastCode(items) : lastAnswer(items);
	return text ? plainText(text.toWellFormed()) : undefined;
}

function lastAnswer(items: readonly Item[]): string | undefined {
	const last = items.findLast((item) => item.kind === 'assistant' && item.text !== '');
	return last?.kind === 'assistant' ? last.text.trim() : undefined;
}

function lastCode(items: readonly Item[]): string | undefined {
	for (const item of items.toReversed()) {
		if (item.kind !== 'assistant') continue;
		const code = codeIn(lex(item.text)).at(-1);
		if (code !== undefined) return code;
	}
	return undefined;
}

function codeIn(tokens: readonly Token[]): string[] {
	return tokens.flatMap((token): string[] => {
		if (token.type === 'code') return [token.text];
		if (token.type === 'list') return codeIn(token.items);
		return token.type === 'blockquote' || token.type === 'list_item' ? codeIn(token.tokens ?? []) : [];
	});
}

function transcript(items: readonly Item[]): string {
	return items
		.map(asMarkdown)
		.filter((part) => part !== '')
		.join('\n\n');
}

function asMarkdown(item: Item): string {
	switch (item.kind) {
		case 'user':
			return `## You\n\n${item.text.trim()}`;
		case 'assistant':
			return item.text === '' ? '' : `## mca\n\n${item.text.trim()}`;
		case 'call':
			return `- ${item.call.name} ${labelOf(item.call).replace(/\s+/g, ' ')}${item.end ? ` → ${outcome(item.end)}` : ''}`;
		case 'error':
			return `> ${item.text.replace(/\n/g, '\n> ')}`;
	}
}

/** The sequence that asks the terminal to take a text to its clipboard; undefined where it is more than terminals take. */
export function osc52(text: string): string | undefined {
	const encoded = Buffer.from(text).toString('base64');
	return encoded.length > mostEncoded ? undefined : `\x1b]52;c;${encoded}\x07`;
}

/** Copy a part, and say how that went. The terminal is asked too: over ssh it is the only one that has the person's clipboard. */
export async function copyPart(
	items: readonly Item[],
	part: Part,
	write: (sequence: string) => void,
	clipboard?: Clipboard,
): Promise<string> {
	const text = copyOf(items, part);
	if (text === undefined) {
		return part === 'code' ? 'No answer holds a block of code yet.' : 'There is nothing to copy yet.';
	}
	const sequence = osc52(text);
	if (sequence) write(sequence);
	const program = await clipboard?.(text).catch(() => undefined);
	const what = {answer: 'the last answer', code: 'the last block of code', all: 'the conversation'}[part];
	const much = `${what} (${text.length.toLocaleString('en')} characters)`;
	if (program) return `Copied ${much} with ${program}.`;
	if (sequence) return `Copied ${much}, if the terminal takes OSC 52.`;
	return `No terminal takes ${much}. mca export writes it to a file.`;
}
