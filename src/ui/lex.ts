import {Lexer, type Token, type TokensList} from 'marked';

/** Quotes and lists that are nested deeper, and single paragraphs that are longer, are text: what they cost grows with the square. */
const deepest = 16;
const longest = 10_000;

class BoundedLexer extends Lexer {
	private depth = 0;

	override blockTokens(src: string, tokens: Token[] = [], clipped?: boolean): TokensList {
		if (this.depth >= deepest) {
			tokens.push({type: 'text', raw: src, text: src, escaped: true});
			return tokens as TokensList;
		}
		this.depth++;
		const made = super.blockTokens(src, tokens, clipped);
		this.depth--;
		return made as TokensList;
	}

	override inlineTokens(src: string, tokens: Token[] = []): Token[] {
		if (src.length <= longest) return super.inlineTokens(src, tokens);
		tokens.push({type: 'text', raw: src, text: src, escaped: true});
		return tokens;
	}
}

/** The blocks of a Markdown text, which is fit for the terminal already. One after the other, their `raw` is the text. */
export function lex(text: string): Token[] {
	return new BoundedLexer().lex(text);
}

/** Whether a block is followed by an empty line. */
export function endsBlank(token: Token): boolean {
	return token.type === 'space' || /\n[ \t]*\n$/.test(token.raw);
}

/** Of a fenced block of code whether its fence is closed. */
export function isClosed(raw: string): boolean {
	const [, fence] = /^ {0,3}(`{3,}|~{3,})/.exec(raw) ?? [];
	if (!fence) return true;
	const last = raw.trimEnd().split('\n').slice(1).at(-1)?.trim() ?? '';
	return last.length >= fence.length && last === fence.charAt(0).repeat(last.length);
}
