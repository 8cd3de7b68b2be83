import {createHash} from 'node:crypto';
import type {Edit} from './blame.ts';

/** Where a line of a file comes from. `edit` is an index into the edits. */
export type LineOrigin =
	| {from: 'edit'; edit: number}
	/** Some content in between is not known, but the words of this call hold such a line. */
	| {from: 'likely'; edit: number}
	/** It was there before the first recorded edit. */
	| {from: 'before'}
	/** Something that no log holds wrote it, after the edit with this index. */
	| {from: 'outside'; after: number}
	| {from: 'unknown'};

/**
Where each line of a file comes from.

The log keeps hashes and the model's words, not contents. What can be rebuilt is rebuilt, forwards from what write_file wrote
and backwards from the file as it is, and a content counts only where its sha256 is the recorded one. `now` is the file's text.
*/
export function lineOrigins(edits: readonly Edit[], now: string): LineOrigin[] {
	const texts = knownTexts(edits, now);
	let lines: Line[] | undefined;
	let state: string | null | undefined;
	for (const [index, {change}] of edits.entries()) {
		const before = change.before === null ? '' : texts.get(change.before);
		const after = change.after === null ? '' : texts.get(change.after);
		const gap: LineOrigin = index === 0 ? {from: 'before'} : {from: 'unknown'};
		if (state !== change.before || lines === undefined) {
			const origin: LineOrigin = lines === undefined ? gap : {from: 'outside', after: index - 1};
			lines = before === undefined ? undefined : carry(lines ?? [], split(before), origin);
		}
		if (after === undefined) lines = undefined;
		else lines = carry(lines ?? [], split(after), lines ? {from: 'edit', edit: index} : {from: 'unknown'});
		state = change.after;
	}
	const outside: LineOrigin =
		state === hash(now) || !lines ? {from: 'unknown'} : {from: 'outside', after: edits.length - 1};
	const writers = likelyWriters(edits);
	return carry(lines ?? [], split(now), outside).map(({text, origin}): LineOrigin => {
		const edit = origin.from === 'unknown' ? writers.get(text) : undefined;
		return edit === undefined ? origin : {from: 'likely', edit};
	});
}

type Line = {text: string; origin: LineOrigin};

/** The lines of a text without their ends; the last one only where it is not empty. */
export function split(text: string): string[] {
	const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
	if (lines.at(-1) === '') lines.pop();
	return lines;
}

/** The most cells a comparison of two middles may take; above it the whole middle counts as written anew. */
const maxCells = 4_000_000;

/** Lines of `now` that were there keep their origin, the others get `origin`: the longest common subsequence. */
function carry(before: readonly Line[], now: readonly string[], origin: LineOrigin): Line[] {
	const shorter = Math.min(before.length, now.length);
	let head = 0;
	while (head < shorter && before[head]?.text === now[head]) head++;
	let tail = 0;
	while (tail < shorter - head && before.at(-1 - tail)?.text === now.at(-1 - tail)) tail++;
	const old = before.slice(head, before.length - tail);
	const fresh = now.slice(head, now.length - tail);
	return [...before.slice(0, head), ...middle(old, fresh, origin), ...before.slice(before.length - tail)];
}

function middle(old: readonly Line[], fresh: readonly string[], origin: LineOrigin): Line[] {
	const anew = fresh.map((text): Line => ({text, origin}));
	const columns = fresh.length + 1;
	if (old.length === 0 || (old.length + 1) * columns > maxCells) return anew;
	const common = new Uint32Array((old.length + 1) * columns);
	const at = (i: number, j: number) => common[i * columns + j] ?? 0;
	for (let i = old.length - 1; i >= 0; i--) {
		for (let j = fresh.length - 1; j >= 0; j--) {
			const same = old[i]?.text === fresh[j];
			common[i * columns + j] = same ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
		}
	}
	for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
		const line = old[i];
		if (line && line.text === fresh[j]) {
			anew[j++] = line;
			i++;
		} else if (at(i + 1, j) >= at(i, j + 1)) i++;
		else j++;
	}
	return anew;
}

/**
The edit that most likely wrote a line, by the line: the newest that brought it in, where the old text of its replacement does
not hold it too, else the first that wrote it with the whole file. A blank line tells nothing.
*/
function likelyWriters(edits: readonly Edit[]): Map<string, number> {
	const writers = new Map<string, number>();
	for (const [index, edit] of edits.entries()) {
		const {content} = argsOf(edit);
		const whole = typeof content === 'string' ? split(content) : [];
		for (const line of whole) if (!writers.has(line)) writers.set(line, index);
		for (const {old_text, new_text} of replacements(edit)) {
			const old = new Set(split(old_text));
			for (const line of split(new_text)) if (!old.has(line)) writers.set(line, index);
		}
	}
	return new Map([...writers].filter(([line]) => line.trim() !== ''));
}

/** Contents by their sha256, as many as can be rebuilt. */
function knownTexts(edits: readonly Edit[], now: string): Map<string, string> {
	const texts = new Map([[hash(now), now]]);
	const learn = (sha256: string | null, candidates: Iterable<string>): boolean => {
		if (sha256 === null || texts.has(sha256)) return false;
		for (const text of candidates) {
			if (hash(text) !== sha256) continue;
			texts.set(sha256, text);
			return true;
		}
		return false;
	};
	for (const edit of edits) learn(edit.change.after, contents(edit));
	for (let more = true; more; ) {
		more = false;
		for (const edit of edits) {
			const {before, after} = edit.change;
			const old = before === null ? undefined : texts.get(before);
			const made = after === null ? undefined : texts.get(after);
			if (old !== undefined && made === undefined) more = learn(after, applied(edit, old)) || more;
			if (made !== undefined && old === undefined) more = learn(before, undone(edit, made)) || more;
		}
	}
	return texts;
}

function hash(text: string): string {
	return createHash('sha256').update(text).digest('hex');
}

type Replacement = {old_text: string; new_text: string};

/** What the arguments of a call say, as far as they are a tool of mca's. Another version's may not be. */
function argsOf({call}: Edit): {content?: unknown; edits?: unknown} {
	try {
		const args: unknown = JSON.parse(call?.args ?? '{}');
		return typeof args === 'object' && args !== null ? args : {};
	} catch {
		return {};
	}
}

function replacements(edit: Edit): Replacement[] {
	const {edits} = argsOf(edit);
	if (!Array.isArray(edits)) return [];
	return edits.flatMap((each) =>
		typeof each?.old_text === 'string' && typeof each?.new_text === 'string'
			? [{old_text: toLf(each.old_text), new_text: toLf(each.new_text)}]
			: [],
	);
}

/** What write_file may have left: it keeps the line ends and the byte order mark of the file that was there. */
function* contents(edit: Edit): Generator<string> {
	const {content} = argsOf(edit);
	if (typeof content !== 'string') return;
	yield content;
	const own = toLf(content);
	for (const text of [own, own.replaceAll('\n', '\r\n')]) {
		yield text;
		yield `\ufeff${text}`;
	}
}

/** What edit_file made of `before`. */
function* applied(edit: Edit, before: string): Generator<string> {
	const view = toLf(before);
	const places = replacements(edit).map((each) => ({...each, start: view.indexOf(each.old_text)}));
	if (places.length === 0 || places.some(({start}) => start === -1)) return;
	yield likeIts(
		before,
		spliced(
			view,
			places.map(({start, old_text, new_text}) => ({start, old: old_text, now: new_text})),
		),
	);
}

/** The most contents that are tried for one undoing, and the most characters of them together. */
const maxTries = 4096;
const maxTried = 64_000_000;

/** What edit_file may have started from: each way to put the old texts back where the new ones are. */
function* undone(edit: Edit, after: string): Generator<string> {
	const view = toLf(after);
	const all = replacements(edit);
	if (all.length === 0) return;
	let tries = Math.min(maxTries, Math.ceil(maxTried / (view.length + 1)));
	function* choose(index: number, places: Place[]): Generator<string> {
		const each = all[index];
		if (!each) {
			tries--;
			yield likeIts(after, spliced(view, places));
			return;
		}
		for (const start of positions(view, each.new_text)) {
			if (tries <= 0) return;
			const end = start + each.new_text.length;
			if (places.some((other) => start < other.start + other.old.length && other.start < end)) continue;
			yield* choose(index + 1, [...places, {start, old: each.new_text, now: each.old_text}]);
		}
	}
	yield* choose(0, []);
}

/** Where a text is; where it is empty, it was taken out of a line's beginning or end more likely than out of its middle. */
function* positions(view: string, text: string): Generator<number> {
	if (text !== '') {
		for (let at = view.indexOf(text); at !== -1; at = view.indexOf(text, at + 1)) yield at;
		return;
	}
	yield 0;
	for (let at = view.indexOf('\n'); at !== -1; at = view.indexOf('\n', at + 1)) {
		yield at + 1;
		yield at;
	}
	yield view.length;
}

type Place = {start: number; old: string; now: string};

function spliced(text: string, places: readonly Place[]): string {
	let result = '';
	let copied = 0;
	for (const {start, old, now} of [...places].sort((a, b) => a.start - b.start)) {
		result += text.slice(copied, start) + now;
		copied = start + old.length;
	}
	return result + text.slice(copied);
}

/** With the line ends that `model` has, as edit_file keeps them. A file of both kinds is not told apart, and its hash says so. */
function likeIts(model: string, text: string): string {
	return model.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

function toLf(text: string): string {
	return text.replaceAll('\r\n', '\n');
}
