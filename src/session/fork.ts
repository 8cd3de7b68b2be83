import {basename, dirname} from 'node:path';
import type {Body, Cut, Event, EventOf, Message} from './events.ts';
import {type Prefix, SessionLog} from './log.ts';
import {forEachEvent} from './read.ts';
import {Conversation} from './replay.ts';

/** A clean boundary: everything before it is answered, and the conversation can go on from here. */
export type ForkPoint = {seq: number; message: Extract<Message, {role: 'user' | 'assistant'}>};

/**
The clean boundaries, in order: user messages and assistant messages without tool calls, where everything before is answered.
Elsewhere a fork would begin with a call that has no result, which every provider rejects, or with a question that the model
had not yet seen when the tool ran.
*/
export function forkPoints(events: readonly Event[]): ForkPoint[] {
	const conversation = new Conversation();
	const points: ForkPoint[] = [];
	for (const event of events) {
		if (event.type !== 'message') continue;
		const {message} = event;
		conversation.add(message);
		if (message.role !== 'user' && message.role !== 'assistant') continue;
		if (conversation.settled) points.push({seq: event.seq, message});
	}
	return points;
}

/** Why a fork cannot be made there, as sentences that list where it can. */
export function whyNotForkPoint(events: readonly Event[], seq: number): string {
	const points = forkPoints(events).map((point) => point.seq);
	const where =
		points.length > 0 ? `Fork points are ${list(points)}.` : 'This session has no fork point yet.';
	return `Event ${seq} is not a fork point: ${reason(events, seq)}. ${where}`;
}

function reason(events: readonly Event[], seq: number): string {
	const event = events.find((each) => each.seq === seq);
	if (!event) return 'there is no such event';
	if (event.type !== 'message') return `it is a ${event.type} event, which is not part of the conversation`;
	const {message} = event;
	if (message.role === 'system') return 'it is the system message, before anything was asked';
	if (message.role === 'tool') return 'it is the result of a tool call, which the model has not answered yet';
	if (message.role === 'assistant' && message.toolCalls?.length)
		return 'its tool calls have no results at that point';
	return 'a tool call before it was not answered yet';
}

function list(numbers: readonly number[]): string {
	if (numbers.length < 2) return numbers.join('');
	return `${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
}

/** `reason` is a sentence; `unsaved` where the point was right and the disk said no. */
export type ForkResult =
	| {ok: true; log: SessionLog; atSeq: number}
	| {ok: false; reason: string; unsaved?: true};

/**
Fork a session into a new file: the lines with seq ≤ `at.seq` byte for byte, then the fork event. Without `at`, at the last
fork point. `before: true` leaves the user message at that point out, so that it can be asked differently. The parent is only
read. No file of the workspace is touched: those are as the last turn left them, wherever the fork is.
*/
export async function fork(path: string, at?: {seq: number; before?: boolean}): Promise<ForkResult> {
	const events: Event[] = [];
	const ends: number[] = [];
	try {
		await forEachEvent(path, (event, endOfLine) => {
			events.push(event);
			ends.push(endOfLine);
		});
	} catch (error) {
		return {ok: false, reason: `The session cannot be read: ${(error as Error).message}`};
	}
	const points = forkPoints(events);
	const seq = at?.seq ?? points.at(-1)?.seq;
	if (seq === undefined)
		return {ok: false, reason: 'This session has no fork point: no question has been asked in it yet.'};
	const point = points.find((each) => each.seq === seq);
	if (!point) return {ok: false, reason: whyNotForkPoint(events, seq)};
	if (at?.before && point.message.role !== 'user') {
		return {ok: false, reason: `Event ${seq} is not a user message, so there is nothing to ask differently.`};
	}
	const last = events.findIndex((event) => event.seq === seq) - (at?.before ? 1 : 0);
	const lastEvent = events[last];
	const bytes = ends[last];
	if (!lastEvent || !bytes) return {ok: false, reason: `There is nothing before event ${seq} to keep.`};
	const prefix = {path, bytes, seq: lastEvent.seq};
	const lineage = forkEvent(path, events, lastEvent.seq, {kind: 'fork'});
	try {
		const {log} = await SessionLog.create(dirname(path), () => [lineage], prefix);
		return {ok: true, log, atSeq: lastEvent.seq};
	} catch (error) {
		// The disk may be full: that is no bug, and the parent is as it was.
		return {ok: false, reason: `The fork cannot be saved: ${(error as Error).message}`, unsaved: true};
	}
}

/**
Go on from a log that cannot be appended to, in a new session: its whole lines byte for byte, a fork event of kind recovery that
names the cut if there is one, then `bodies`. The old file is only read.
*/
export function recover(
	path: string,
	read: {events: readonly Event[]; bytes: number; cut?: Cut},
	bodies: readonly Body[],
): Promise<{log: SessionLog; events: Event[]}> {
	const seq = read.events.at(-1)?.seq ?? 0;
	const prefix: Prefix = {path, bytes: read.bytes, seq};
	const lineage = forkEvent(path, read.events, seq, {
		kind: 'recovery',
		...(read.cut ? {cut: read.cut} : {}),
	});
	return SessionLog.create(dirname(path), () => [lineage, ...bodies], prefix);
}

function forkEvent(
	path: string,
	events: readonly Event[],
	atSeq: number,
	more: Pick<EventOf<'fork'>, 'kind' | 'cut'>,
): Body {
	const from = basename(path, '.jsonl');
	return {type: 'fork', from, atSeq, origin: ownerOf(events, from, atSeq), ...more};
}

/** The session that wrote event `seq` of the file `id`: lines up to a fork event's `atSeq` came from its origin. */
export function ownerOf(events: readonly Event[], id: string, seq: number): string {
	for (const event of events) if (event.type === 'fork' && event.atSeq >= seq) return event.origin;
	return id;
}
