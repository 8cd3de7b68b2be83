import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import type {Span, Style} from './display.ts';
import {syntax} from './theme.ts';

const languages = {
	bash,
	c,
	cpp,
	css,
	go,
	java,
	javascript,
	json,
	python,
	rust,
	sql,
	typescript,
	xml,
	yaml,
};

/** Takes what highlight.js finds as spans; its own way is HTML. */
class Spans {
	readonly spans: Span[] = [];
	private readonly styles: Style[] = [];

	addText(text: string): void {
		if (text !== '') this.spans.push({...this.styles.at(-1), text});
	}
	openNode(scope: string): void {
		this.styles.push(styleOf(scope) ?? this.styles.at(-1) ?? {});
	}
	closeNode(): void {
		this.styles.pop();
	}
	startScope(scope: string): void {
		this.openNode(scope);
	}
	endScope(): void {
		this.closeNode();
	}
	__addSublanguage({spans}: Spans): void {
		this.spans.push(...spans);
	}
	finalize(): void {}
	toHTML(): string {
		return '';
	}
}

function styleOf(scope: string): Style | undefined {
	for (let name = scope; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
		const style = syntax[name];
		if (style) return style;
	}
	return undefined;
}

for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.configure({__emitter: Spans as never});

/** The code in the colours of its language, by its name or one of its short names; undefined where that is not known. */
export function spansOf(code: string, language: string): Span[] | undefined {
	if (!hljs.getLanguage(language)) return undefined;
	const {_emitter} = hljs.highlight(code, {language, ignoreIllegals: true});
	return (_emitter as unknown as Spans).spans;
}
