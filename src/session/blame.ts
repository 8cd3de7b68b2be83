import {basename} from 'node:path';
import type {Event, EventOf, FileChange, ToolCall} from './events.ts';
import {ownerOf} from './fork.ts';
import {forEachEvent} from './read.ts';

/** One recorded change of one file. */
export type Edit = {
	/** The session that made it, and the seq of its tool_end there. */
	session: string;
	seq: number;
	ts: string;
	turn: number;
	prompt: string;
	model: string;
	/** The call as the model made it; undefined where the log does not hold it. */
	call: ToolCall | undefined;
	tool: string;
	change: FileChange;
};

/** The edits that a session's log holds, those it inherited too, each named by the session that made it. */
export async function editsIn(path: string, wanted: (path: string) => boolean): Promise<Edit[]> {
	const forks: EventOf<'fork'>[] = [];
	const edits: Edit[] = [];
	const calls = new Map<string, ToolCall>();
	let turn = 0;
	let prompt = '';
	let model = '';
	await forEachEvent(path, (event) => {
		if (event.type === 'usage') model = event.model;
		if (event.type === 'fork') forks.push(event);
		if (event.type === 'message') {
			const {message} = event;
			if (event.session) model = event.session.model;
			if (message.role === 'user') {
				turn++;
				prompt = message.content;
			}
			if (message.role === 'assistant') {
				calls.clear();
				for (const call of message.toolCalls ?? []) calls.set(call.id, call);
			}
		}
		if (event.type !== 'tool_end') return;
		for (const change of event.files ?? []) {
			if (!wanted(change.path)) continue;
			const call = calls.get(event.id);
			const tool = event.name ?? call?.name ?? 'tool';
			edits.push({session: '', seq: event.seq, ts: event.ts, turn, prompt, model, call, tool, change});
		}
	});
	const id = basename(path, '.jsonl');
	for (const edit of edits) edit.session = ownerOf(forks as Event[], id, edit.seq);
	return edits;
}

/** Edits of several logs as one list, oldest first, each once however many forks hold its line. */
export function merged(lists: Iterable<readonly Edit[]>): Edit[] {
	const edits = new Map<string, Edit>();
	for (const list of lists) {
		for (const edit of list) edits.set(`${edit.session} ${edit.seq} ${edit.change.path}`, edit);
	}
	return [...edits.values()].sort(
		(a, b) => compare(a.ts, b.ts) || compare(a.session, b.session) || a.seq - b.seq,
	);
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

/** What became of what an edit left: it is the file now, a later edit started from it, or something that no log holds changed it. */
export type Since =
	| {is: 'the file now'}
	| {is: 'edited'; session: string; seq: number}
	| {is: 'changed outside'};

/** For each edit of one file, oldest first, what changed it since. `now` is the sha256 of the file, null where there is none. */
export function since(edits: readonly Edit[], now: string | null): Since[] {
	return edits.map((edit, index): Since => {
		const next = edits[index + 1];
		if (next) {
			const isBase = next.change.before === edit.change.after;
			return isBase ? {is: 'edited', session: next.session, seq: next.seq} : {is: 'changed outside'};
		}
		return edit.change.after === now ? {is: 'the file now'} : {is: 'changed outside'};
	});
}
