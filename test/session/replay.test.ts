import {expect, test} from 'vitest';
import type {Body, Message} from '../../src/session/events.ts';
import {lostAnswers, owesAnswer, replay, unansweredCalls} from '../../src/session/replay.ts';
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

const contents = (messages: readonly Message[]) => messages.map((message) => message.content);

test('turn one replays 5 messages, leaves 3 events out, and counts its tokens', () => {
	const {messages, ...counts} = replay(events(turnOne));
	expect(messages.map((message) => message.role)).toEqual([
		'system',
		'user',
		'assistant',
		'tool',
		'assistant',
	]);
	expect(counts).toEqual({replayed: 5, leftOut: 3, tokens: 812 + 41 + 1204 + 60});
});

test('results of parallel calls stand in the order of the calls, however they ended', () => {
	const ended = [
		system,
		user('go'),
		call('a', 'b', 'c'),
		result('c', 'C'),
		result('a', 'A'),
		result('b', 'B'),
		answer('done'),
	];
	expect(contents(replay(events(ended)).messages).slice(3)).toEqual(['A', 'B', 'C', 'done']);
});

test('a result stands behind its call, even where a user message came between', () => {
	const typed = [system, user('go'), call('a'), user('hurry'), result('a', 'A')];
	expect(contents(replay(events(typed)).messages)).toEqual(['You are mca.', 'go', '', 'A', 'hurry']);
});

test('an id that comes again in a later message means the later call', () => {
	const again = [system, user('go'), call('x'), result('x', 'one'), call('x'), result('x', 'two')];
	expect(contents(replay(events(again)).messages).slice(2)).toEqual(['', 'one', '', 'two']);
});

test('events of unknown types count as left out', () => {
	const strange = {type: 'weather'} as unknown as Body;
	expect(replay(events([system, strange, user('go')]))).toMatchObject({replayed: 2, leftOut: 1});
});

test('a log that ends in the middle of a turn names the calls that nobody answered', () => {
	const half = events([
		system,
		user('go'),
		call('a', 'b', 'c'),
		toolEnd('b', 'exit 0'),
		result('b'),
		toolEnd('c', 'exit 3'),
	]);
	expect(unansweredCalls(half).map(({call: {id}, toolEnd: end}) => [id, end?.result.content])).toEqual([
		['a', undefined],
		['c', 'exit 3'],
	]);
});

test('lost calls are answered in call order: unknown where nothing is known, else with what was kept', () => {
	const bodies = lostAnswers(events([system, user('go'), call('a', 'b'), toolEnd('b', 'exit 3')]));
	expect(bodies).toEqual([
		expect.objectContaining({
			type: 'tool_end',
			id: 'a',
			stoppedBy: 'lost',
			result: {ok: false, content: 'outcome unknown'},
		}),
		result('a', 'outcome unknown: the process ended; check before repeating'),
		expect.objectContaining({message: expect.objectContaining({role: 'tool', toolCallId: 'b'})}),
	]);
	expect(JSON.stringify(bodies[2])).toContain('exit 3');
});

test('after the lost answers nothing is left unanswered', () => {
	const half = [system, user('go'), call('a', 'b'), toolEnd('a')];
	const whole = events([...half, ...lostAnswers(events(half))]);
	expect(unansweredCalls(whole)).toEqual([]);
	expect(lostAnswers(whole)).toEqual([]);
});

test('an old call without a result is not mistaken for a tool that ended later under the same id', () => {
	const log = events([system, user('go'), call('x'), user('again'), call('x'), toolEnd('x'), result('x')]);
	expect(unansweredCalls(log).map(({call: {id}, toolEnd: end}) => [id, end])).toEqual([['x', undefined]]);
});

test('an answer is owed after a question and in the middle of a turn, not after an answer', () => {
	const whole = events([...turnOne, ...turnTwo]);
	const owed = whole.filter((_, index) => owesAnswer(whole.slice(0, index + 1))).map((event) => event.seq);
	expect(owed).toEqual([2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
	expect(owesAnswer(events([system, usage()]))).toBe(false);
});
