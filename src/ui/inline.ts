import type {Token, Tokens} from 'marked';
import {display, type Span, type Style} from './display.ts';
import {theme} from './theme.ts';

/** What stands inside of a paragraph, as spans. A line end stays one. */
export function inlineSpans(tokens: readonly Token[], style: Style = {}): Span[] {
	return tokens.flatMap((token): Span[] => {
		switch (token.type) {
			case 'strong':
				return inlineSpans(token.tokens ?? [], {...style, bold: true});
			case 'em':
				return inlineSpans(token.tokens ?? [], {...style, italic: true});
			case 'del':
				return inlineSpans(token.tokens ?? [], {...style, strike: true});
			case 'codespan':
				return span(token.text, {...style, color: theme.code});
			case 'link':
				return link(token as Tokens.Link, style);
			case 'image':
				return [...span(token.text || 'image', style), ...span(` (${token.href})`, {...style, dim: true})];
			case 'br':
				return span('\n', style);
			case 'checkbox':
				return [];
			case 'escape':
				return span(token.text, style);
			case 'text':
				return token.tokens ? inlineSpans(token.tokens, style) : span(decoded(token.text), style);
			default:
				// HTML is text here, and so is whatever a later marked may find.
				return span(token.raw, style);
		}
	});
}

/** A link says where it leads, unless it is its own name. No OSC 8: a terminal would hide the target. */
function link({href, text, tokens}: Tokens.Link, style: Style): Span[] {
	const label = inlineSpans(tokens, {...style, underline: true});
	const isOwnName = bare(href) === bare(text);
	return isOwnName ? label : [...label, ...span(` (${href})`, {...style, dim: true})];
}

function bare(address: string): string {
	return address.replace(/^(mailto:|https?:\/\/)/, '').replace(/\/$/, '');
}

/** What a text was fit for the terminal, an entity in it may not be: `&#27;` is ESC. */
function span(text: string, style: Style): Span[] {
	const fit = display(text);
	return fit === '' ? [] : [{...style, text: fit}];
}

const named: Readonly<Record<string, string>> = {
	amp: '&',
	lt: '<',
	gt: '>',
	quot: '"',
	apos: "'",
	nbsp: ' ',
	hellip: '…',
	mdash: '—',
	ndash: '–',
	rarr: '→',
	larr: '←',
	times: '×',
	copy: '©',
};

/** `&lt;` and its like; marked itself decodes those that are numbers. */
function decoded(text: string): string {
	if (!text.includes('&')) return text;
	return text.replace(/&([a-z]+);/g, (whole, name) => named[name] ?? whole);
}
