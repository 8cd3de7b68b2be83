import {basename} from 'node:path';
import {ledger, type Spend, spendOf, spendPerTurn, type TurnSpend} from '../../session/audit.ts';
import type {Event, EventOf, SessionHead, ToolCall} from '../../session/events.ts';
import type {End} from '../../session/read.ts';
import {localDay} from '../table.ts';
import {type Hidden, joinDrafts, redactor} from './redact.ts';

/** A session as it is exported, in whichever format: what is hidden is hidden here, before anything is written. */
export type ExportedSession = {
	id: string;
	title: string;
	head: SessionHead | undefined;
	end: End;
	lineage: EventOf<'fork'>[];
	events: Event[];
	own: Spend;
	inherited: Spend;
	turns: TurnSpend[];
	models: {model: string; spend: Spend}[];
	/** What was hidden; undefined where nothing was looked for. */
	hidden: Hidden[] | undefined;
};

export function exportedSession(
	path: string,
	read: {events: readonly Event[]; end: End},
	{redact}: {redact: boolean},
): ExportedSession {
	const redacting = redactor();
	const events = redact ? joinDrafts(read.events).map(redacting.event) : [...read.events];
	const first = events[0];
	const id = basename(path, '.jsonl');
	const turns = spendPerTurn(events);
	const named = events.findLast((event) => event.type === 'name');
	const usages = events.flatMap((event) => (event.type === 'usage' ? [event] : []));
	const {models} = ledger([{id, workspace: '', usages, forks: []}], localDay);
	return {
		id,
		title: named?.type === 'name' ? named.title : (turns[0]?.prompt ?? ''),
		head: first?.type === 'message' ? first.session : undefined,
		end: read.end,
		lineage: events.flatMap((event) => (event.type === 'fork' ? [event] : [])),
		events,
		...spendOf(events),
		turns,
		models: [...models].map(([model, spend]) => ({model, spend})),
		hidden: redact ? redacting.hidden() : undefined,
	};
}

/** A piece of the conversation as people read it: a call stands with its outcome and its result. */
export type Part =
	| {kind: 'system' | 'user'; seq: number; ts: string; text: string}
	| {kind: 'assistant'; seq: number; ts: string; text: string; reasoning: string}
	| {
			kind: 'call';
			seq: number;
			call: ToolCall;
			end: EventOf<'tool_end'> | undefined;
			result: string | undefined;
	  }
	| {kind: 'error'; seq: number; event: EventOf<'error'>}
	| {kind: 'fork'; seq: number; event: EventOf<'fork'>}
	/** What a process that was killed had streamed of its answer. */
	| {kind: 'draft'; seq: number; text: string};

type CallPart = Extract<Part, {kind: 'call'}>;

export function partsOf(events: readonly Event[]): Part[] {
	const parts: Part[] = [];
	const open = new Map<string, CallPart>();
	let streamed = '';
	const interrupted = (seq: number) => {
		if (streamed !== '') parts.push({kind: 'draft', seq, text: streamed});
		streamed = '';
	};
	for (const event of events) {
		const {seq, ts} = event;
		// What streamed became an answer or is told by its error; anything else went on without it.
		if (event.type === 'usage' || event.type === 'error') streamed = '';
		else if (event.type !== 'draft') interrupted(seq);
		if (event.type === 'error') parts.push({kind: 'error', seq, event});
		if (event.type === 'fork') parts.push({kind: 'fork', seq, event});
		if (event.type === 'draft') streamed += event.text;
		if (event.type === 'tool_end') {
			const part = open.get(event.id);
			if (part) part.end = event;
		}
		if (event.type !== 'message') continue;
		const {message} = event;
		switch (message.role) {
			case 'system':
			case 'user':
				parts.push({kind: message.role, seq, ts, text: message.content});
				break;
			case 'assistant':
				if (message.content !== '' || message.reasoning)
					parts.push({kind: 'assistant', seq, ts, text: message.content, reasoning: message.reasoning ?? ''});
				for (const call of message.toolCalls ?? []) {
					const part: CallPart = {kind: 'call', seq, call, end: undefined, result: undefined};
					open.set(call.id, part);
					parts.push(part);
				}
				break;
			case 'tool': {
				const part = open.get(message.toolCallId);
				if (part) part.result = message.content;
			}
		}
	}
	interrupted(events.at(-1)?.seq ?? 0);
	return parts;
}
