import {expect, test} from 'vitest';
import type {AgentEvent} from '../../src/agent/agent-event.ts';
import {spendOf} from '../../src/session/audit.ts';
import type {Body, Event} from '../../src/session/events.ts';
import {emptyView, reduce, type View} from '../../src/ui/view.ts';
import {
	answer,
	call,
	events,
	result,
	system,
	toolEnd,
	turnOne,
	turnTwo,
	usage,
	user,
} from '../helpers/log-file.ts';

const place = {...emptyView.place, workspace: '/home/me/calculator', model: 'scripted'};
const session = {id: 's-20260907-100000-ab12', path: '/data/s-20260907-100000-ab12.jsonl'};
const whole = {at: 'whole'} as const;

const opened = (
	of: readonly Event[],
	more: Partial<Extract<AgentEvent, {type: 'opened'}>> = {},
): AgentEvent => ({
	type: 'opened',
	session,
	place,
	events: of,
	end: whole,
	...more,
});
const after = (...given: AgentEvent[]): View => given.reduce(reduce, emptyView);
const logged = (...bodies: Body[]): AgentEvent[] => events(bodies).map((event) => ({type: 'logged', event}));
const question = {
	kind: 'tool',
	id: 'c1',
	tool: 'run_command',
	label: 'ls',
	preview: {kind: 'command', text: 'ls'},
	why: 'commands are asked',
} as const;

test('a session that is opened looks as it did live', () => {
	const all = events([...turnOne, ...turnTwo]);
	const live = after(
		opened([], {session: null}),
		{type: 'start'},
		{type: 'moved', session},
		...all.slice(0, 3).map((event): AgentEvent => ({type: 'logged', event})),
		{type: 'draft', text: 'Let me', reasoning: 'hm'},
		...all.slice(3, 4).map((event): AgentEvent => ({type: 'logged', event})),
		{type: 'gate', question},
		{type: 'answered', id: 'c1'},
		{type: 'tool_start', id: 'c1', name: 'run_command', label: 'node --test'},
		{type: 'tool_output', id: 'c1', text: 'ok'},
		...all.slice(4).map((event): AgentEvent => ({type: 'logged', event})),
		{type: 'rest', rest: {why: 'done'}},
	);
	expect(live).toEqual(after(opened(all)));
});

test('messages and calls are items, everything else is activity', () => {
	const view = after(opened(events(turnOne)));
	expect(view.items.map((item) => [item.seq, item.kind])).toEqual([
		[2, 'user'],
		[4, 'call'],
		[8, 'assistant'],
	]);
	expect(view.activity.map((event) => [event.seq, event.type])).toEqual([
		[3, 'usage'],
		[5, 'tool_end'],
		[7, 'usage'],
	]);
	expect(view.items[1]).toMatchObject({end: {seq: 5, result: {content: 'exit 1'}}});
});

test('of two calls with one id the newest without an end is meant', () => {
	const view = after(
		...logged(call('0'), toolEnd('0', 'first'), result('0'), call('0'), toolEnd('0', 'second'), result('0')),
	);
	expect(view.items.map((item) => item.kind === 'call' && item.end?.result.content)).toEqual([
		'first',
		'second',
	]);
});

test('an event of a later version is activity', () => {
	const later = {seq: 1, ts: '2026-09-07T10:00:00.000Z', type: 'mood', good: true} as unknown as Event;
	const view = after(opened([later]));
	expect(view.activity).toEqual([later]);
	expect(view.items).toEqual([]);
});

test('what is inherited is not counted as own', () => {
	const fork: Body = {type: 'fork', from: session.id, atSeq: 8, origin: session.id, kind: 'fork'};
	const all = events([...turnOne, fork, user('again'), usage(10, 20)]);
	const {own, inherited} = after(opened(all));
	expect({own, inherited}).toEqual(spendOf(all));
	expect([own.inputTokens, inherited.inputTokens]).toEqual([10, 2016]);
});

test('a cut is remembered with its line, reason, bytes and the session that goes on from it', () => {
	const end = {at: 'cut', line: 3, reason: 'the line does not end', ignoredBytes: 31} as const;
	const cut = after(opened(events([system, user('hi')]), {end, recoveredBy: 's-20260907-100001-cd34'}));
	expect(cut.cut).toEqual({...session, end, recoveredBy: 's-20260907-100001-cd34'});
	const next = {id: 's-20260907-110000-ef56', path: '/data/s-20260907-110000-ef56.jsonl'};
	const moved = reduce(cut, {type: 'moved', session: next});
	expect(moved.session).toEqual(next);
	expect(moved.cut).toMatchObject({id: session.id, movedTo: next.id});
});

test('a whole log has no cut, and a new session has none to move from', () => {
	expect(after(opened(events(turnOne))).cut).toBeNull();
	expect(after(opened([], {session: null}), {type: 'moved', session}).cut).toBeNull();
});

test('opening shows nothing of the session before', () => {
	const before = after(
		opened(events(turnOne)),
		{type: 'notice', text: 'x'},
		{type: 'draft', text: 'y', reasoning: ''},
	);
	expect(reduce(before, opened([], {session: null}))).toEqual(after(opened([], {session: null})));
});

test('the draft grows, and is gone when its message is on disk', () => {
	const live = after(
		{type: 'start'},
		{type: 'draft', text: '', reasoning: 'let me '},
		{type: 'draft', text: '', reasoning: 'think'},
		{type: 'draft', text: 'It ', reasoning: ''},
		{type: 'draft', text: 'is', reasoning: ''},
	);
	expect(live.draft).toEqual({text: 'It is', reasoning: 'let me think'});
	expect(live.items).toEqual([]);
	expect(logged(answer('It is')).reduce(reduce, live).draft).toBeNull();
});

test('an error ends the draft and keeps what came of it', () => {
	const view = after(
		{type: 'draft', text: 'It', reasoning: ''},
		...logged({type: 'error', message: 'stopped by the user', did: 'cancelled', partial: 'It'}),
	);
	expect(view.draft).toBeNull();
	expect(view.items).toMatchObject([{kind: 'error', seq: 1, text: 'stopped by the user', partial: 'It'}]);
});

test('a question stands until it is answered, or the turn rests', () => {
	const asked = after({type: 'gate', question});
	expect(asked.question).toBe(question);
	expect(reduce(asked, {type: 'answered', id: 'another'}).question).toBe(question);
	expect(reduce(asked, {type: 'answered', id: 'c1'}).question).toBeNull();
	expect(reduce(asked, {type: 'rest', rest: {why: 'cancelled'}}).question).toBeNull();
});

test('of a running call only the last of its output is kept', () => {
	let view = after(...logged(call('c1', 'c2')), {
		type: 'tool_start',
		id: 'c1',
		name: 'run_command',
		label: 'yes',
	});
	for (let i = 0; i < 100; i++)
		view = reduce(view, {type: 'tool_output', id: 'c1', text: `${i} `.repeat(100)});
	expect(view.running.c1?.length).toBeLessThanOrEqual(4000);
	expect(view.running.c1?.endsWith('99 99 ')).toBe(true);
	expect(view.running.c2).toBeUndefined();
});

test('a call that ended runs no more, the others do', () => {
	const view = after(
		...logged(call('c1', 'c2')),
		{type: 'tool_start', id: 'c1', name: 'run_command', label: 'a'},
		{type: 'tool_start', id: 'c2', name: 'run_command', label: 'b'},
		{type: 'logged', event: {...events([toolEnd('c1')])[0], seq: 2} as Event},
	);
	expect(view.running).toEqual({c2: ''});
});

test('rest says why, unless it is as asked, and a start forgets it', () => {
	const failed = {why: 'failed', message: 'The key was not accepted.'} as const;
	expect(after({type: 'start'}, {type: 'rest', rest: {why: 'done'}})).toEqual(emptyView);
	const rested = after({type: 'start'}, {type: 'notice', text: 'waiting'}, {type: 'rest', rest: failed});
	expect(rested).toMatchObject({busy: false, rest: failed, notice: 'waiting'});
	expect(reduce(rested, {type: 'start'})).toMatchObject({busy: true, rest: null, notice: null});
});

test('when the disk takes writes again the screen knows, until the next turn', () => {
	const unsaved = after(
		{type: 'rest', rest: {why: 'unsaved', message: 'The disk is full.'}},
		{type: 'writable'},
	);
	expect(unsaved).toMatchObject({rest: {why: 'unsaved'}, writable: true});
	expect(reduce(unsaved, {type: 'start'}).writable).toBe(false);
});

test('a session that another process writes names its holder', () => {
	const holder = {pid: 4711, since: '2026-09-07T10:00:00.000Z'};
	const view = after(opened(events(turnOne), {holder: holder as never}));
	expect(view.holder).toEqual(holder);
});

test('the view that was is never changed', () => {
	const view = after(opened(events(turnOne)));
	const copy = structuredClone(view);
	for (const event of [
		...logged(user('x'), toolEnd('c1')),
		{type: 'tool_start', id: 'z', name: 'x', label: ''} as const,
	]) {
		reduce(view, event);
	}
	expect(view).toEqual(copy);
});
