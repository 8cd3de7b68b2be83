import type {Span} from './display.ts';
import {lru} from './lru.ts';

/** Longer code stays plain: 80 lines take as long as a frame. */
const longest = 20_000;

type Lines = readonly (readonly Span[])[];

let spansOf: ((code: string, language: string) => Span[] | undefined) | undefined;
let loading: Promise<void> | undefined;
const listeners = new Set<() => void>();
const cache = lru<string, Lines | 'plain'>(64);

/** The languages come after the first code that needs them was drawn without: a start does not wait for them. */
export const highlighter = {
	/** Changes when rows that were made of code would look otherwise now. */
	version: () => (spansOf ? 1 : 0),
	subscribe(listener: () => void): () => void {
		listeners.add(listener);
		return () => listeners.delete(listener);
	},
	load(): Promise<void> {
		loading ??= import('./languages.ts').then(
			(languages) => {
				spansOf = languages.spansOf;
				for (const listener of listeners) listener();
			},
			// A program that was replaced while it ran finds its pieces no more: code stays plain.
			() => {},
		);
		return loading;
	},
};

/** The lines of code in colours; undefined where it is plain: of an unknown language, too long, or not loaded yet. */
export function highlight(code: string, language: string): Lines | undefined {
	if (language === '' || code.length > longest) return undefined;
	if (!spansOf) {
		// Not now: what is being drawn comes first.
		if (!loading) setTimeout(highlighter.load, 0).unref();
		return undefined;
	}
	const key = `${language}\n${code}`;
	let lines = cache.get(key);
	if (!lines) {
		const spans = spansOf(code, language);
		lines = spans ? linesOf(spans) : 'plain';
		cache.set(key, lines);
	}
	return lines === 'plain' ? undefined : lines;
}

function linesOf(spans: readonly Span[]): Span[][] {
	const lines: Span[][] = [[]];
	for (const span of spans) {
		for (const [index, text] of span.text.split('\n').entries()) {
			if (index > 0) lines.push([]);
			if (text !== '') lines.at(-1)?.push({...span, text});
		}
	}
	return lines;
}
