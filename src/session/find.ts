import {basename} from 'node:path';
import type {Event, EventOf} from './events.ts';
import {ownerOf} from './fork.ts';
import {forEachEvent} from './read.ts';

/** What is looked for: a text, or /a pattern/ with its flags. The reason is a sentence. */
export function patternOf(given: string): {ok: true; pattern: RegExp} | {ok: false; reason: string} {
	const regex = /^\/(.+)\/([a-z]*)$/s.exec(given);
	if (!regex) {
		// All in small letters means any case, as in most editors.
		const flags = given === given.toLowerCase() ? 'iu' : 'u';
		return {ok: true, pattern: new RegExp(given.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), flags)};
	}
	try {
		const pattern = new RegExp(regex[1] ?? '', (regex[2] ?? '').replace(/[gy]/g, ''));
		return {ok: true, pattern};
	} catch (error) {
		return {ok: false, reason: `${given} is not a pattern: ${(error as Error).message}.`};
	}
}

export type Hit = {
	/** The session that wrote the line, which is another one where a fork holds a copy. */
	owner: string;
	seq: number;
	ts: string;
	turn: number;
	/** Whose words: a role, a tool's name for its arguments, `title` or `error`. */
	in: string;
	/** The first line that matches, where in it, and its neighbours. */
	line: string;
	at: number;
	length: number;
	before: string;
	after: string;
	/** Lines of this event that match. */
	matches: number;
};

/** The events of a log that match, in order; at most one hit an event. Rejects where the file cannot be read. */
export async function hitsIn(path: string, pattern: RegExp): Promise<Hit[]> {
	const hits: Hit[] = [];
	const forks: EventOf<'fork'>[] = [];
	let turn = 0;
	await forEachEvent(path, (event) => {
		if (event.type === 'fork') forks.push(event);
		if (event.type === 'message' && event.message.role === 'user') turn++;
		for (const [where, text] of texts(event)) {
			const found = search(text, pattern);
			if (!found) continue;
			hits.push({owner: '', seq: event.seq, ts: event.ts, turn, in: where, ...found});
			break;
		}
	});
	const id = basename(path, '.jsonl');
	for (const hit of hits) hit.owner = ownerOf(forks, id, hit.seq);
	return hits;
}

/** What a person may remember of an event. The system message is in every session and found in none. */
function texts(event: Event): [where: string, text: string][] {
	if (event.type === 'name') return [['title', event.title]];
	if (event.type === 'error') return [['error', event.message]];
	if (event.type !== 'message' || event.message.role === 'system') return [];
	const {message} = event;
	const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
	return [
		[message.role, message.content],
		...calls.map(({name, args}): [string, string] => [name, readable(args)]),
	];
}

/** The strings of a call's arguments as they are, not as JSON writes them: a line break is one, and `"` is `"`. */
function readable(args: string): string {
	const strings: string[] = [];
	try {
		JSON.parse(args, (_key, value) => {
			if (typeof value === 'string') strings.push(value);
			return value;
		});
	} catch {
		return args;
	}
	return strings.join('\n');
}

/** UTF-16 units of a line that are kept on each side of a match: a whole program may be one line. */
const maxAround = 500;

function search(text: string, pattern: RegExp) {
	// Nearly every text holds no match at all, and is not taken apart to learn it.
	const first = pattern.exec(text);
	if (!first) return undefined;
	const lines = text.split('\n');
	const index = lines.findIndex((line) => pattern.test(line));
	// A pattern over line ends matches the text and none of its lines.
	const start = index === -1 ? text.slice(0, first.index).split('\n').length - 1 : index;
	const line = lines[start] ?? '';
	const match = pattern.exec(line);
	const at = match?.index ?? 0;
	const length = match?.[0].length ?? line.length;
	const from = Math.max(0, at - maxAround);
	return {
		line: line.slice(from, at + length + maxAround),
		at: at - from,
		length,
		before: (lines[start - 1] ?? '').slice(-maxAround),
		after: (lines[start + 1] ?? '').slice(0, maxAround),
		matches: index === -1 ? 1 : lines.filter((each) => pattern.test(each)).length,
	};
}
