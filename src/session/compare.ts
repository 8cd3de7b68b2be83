import {isFailure, noSpend, type Spend, spend} from './audit.ts';
import type {Event} from './events.ts';

/** One question of a branch and what became of it. */
export type BranchTurn = {
	/** Counted from the start of the log, the shared part too. */
	turn: number;
	ts: string;
	prompt: string;
	/** The last thing the model said in it; '' where it said nothing. */
	answer: string;
	calls: number;
};

/** What one of two sessions did on its own. */
export type Branch = {
	turns: BranchTurn[];
	/** Edits per file, in the order the files were first touched. */
	files: {path: string; edits: number; added: number; removed: number}[];
	calls: number;
	/** Calls that failed or were stopped, and errors of the model. */
	failures: number;
	spend: Spend;
	/** ms between the first and the last line of its own; 0 without one. */
	elapsedMs: number;
};

export type Comparison = {
	/** The lines that both have; `seq` of the last one, 0 where they share none. */
	shared: {events: number; seq: number; turns: number};
	branches: [Branch, Branch];
};

/** Two logs from the line on where they part. Forks copy lines byte for byte, so lines that say the same are the same. */
export function compare(a: readonly Event[], b: readonly Event[]): Comparison {
	let events = 0;
	while (events < a.length && JSON.stringify(a[events]) === JSON.stringify(b[events])) events++;
	const turns = a.slice(0, events).filter(isPrompt).length;
	return {
		shared: {events, seq: a[events - 1]?.seq ?? 0, turns},
		branches: [branch(a.slice(events), turns), branch(b.slice(events), turns)],
	};
}

function isPrompt(event: Event): boolean {
	return event.type === 'message' && event.message.role === 'user';
}

function branch(events: readonly Event[], sharedTurns: number): Branch {
	const turns: BranchTurn[] = [];
	const files = new Map<string, Branch['files'][number]>();
	let calls = 0;
	// Forked at a prompt, the answer to it belongs to a turn whose question is shared.
	const turnOf = (event: Event): BranchTurn => {
		const open = turns.at(-1) ?? {turn: sharedTurns, ts: event.ts, prompt: '', answer: '', calls: 0};
		if (turns.length === 0) turns.push(open);
		return open;
	};
	for (const event of events) {
		if (event.type === 'message' && event.message.role === 'user') {
			const {content} = event.message;
			turns.push({
				turn: sharedTurns + turns.filter(({prompt}) => prompt !== '').length + 1,
				ts: event.ts,
				prompt: content,
				answer: '',
				calls: 0,
			});
		}
		if (event.type === 'message' && event.message.role === 'assistant') {
			const turn = turnOf(event);
			const {content, toolCalls = []} = event.message;
			if (content !== '') turn.answer = content;
			turn.calls += toolCalls.length;
			calls += toolCalls.length;
		}
		for (const {path, added, removed} of (event.type === 'tool_end' && event.files) || []) {
			const file = files.get(path) ?? {path, edits: 0, added: 0, removed: 0};
			files.set(path, {
				path,
				edits: file.edits + 1,
				added: file.added + added,
				removed: file.removed + removed,
			});
		}
	}
	// Neither the forking nor a naming is work, and a name may be given a month later.
	const own = events.filter(({type}) => type !== 'fork' && type !== 'name');
	const elapsed = Date.parse(own.at(-1)?.ts ?? '') - Date.parse(own[0]?.ts ?? '');
	return {
		turns,
		files: [...files.values()],
		calls,
		failures: events.filter(isFailure).length,
		spend: events.reduce(spend, noSpend),
		elapsedMs: Number.isNaN(elapsed) ? 0 : elapsed,
	};
}
