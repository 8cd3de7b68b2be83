import {expect, test} from 'vitest';
import {GatewayError} from '../../src/agent/gateway.ts';
import {nextTry, patient} from '../../src/agent/retry.ts';
import {agentWorld, impatient, saying, text} from '../helpers/agent.ts';

const busy = (retryAfterMs?: number) =>
	new GatewayError('retry', 'Busy.', retryAfterMs === undefined ? {} : {retryAfterMs});
const fixed = {...patient, random: () => 1};
const minute = 60_000;

test.each(['config', 'request', 'protocol'] as const)('a %s error is not tried again', (kind) => {
	expect(nextTry(new GatewayError(kind, 'No.'), 1, 0, fixed)).toEqual({again: false});
});

test('waits double up to a minute, each drawn from its whole range', () => {
	const longest = [1, 2, 3, 4, 5].map((failed) => nextTry(busy(), failed, 0, {...fixed, tries: 99}));
	expect(longest.map((next) => next.again && next.waitMs)).toEqual([1000, 2000, 4000, 8000, 16_000]);
	expect(nextTry(busy(), 20, 0, {...fixed, tries: 99})).toEqual({again: true, waitMs: minute});
	expect(nextTry(busy(), 5, 0, {...fixed, random: () => 0})).toEqual({again: true, waitMs: 0});
});

test('what the server asks for is waited, with a little on top so that not all come back at once', () => {
	expect(nextTry(busy(30_000), 1, 0, {...fixed, random: () => 0})).toEqual({again: true, waitMs: 30_000});
	expect(nextTry(busy(30_000), 1, 0, fixed)).toEqual({again: true, waitMs: 30_100});
	expect(nextTry(busy(15 * minute), 1, 0, fixed)).toMatchObject({again: true});
});

test('a longer wait than a quarter of an hour is told and not waited', () => {
	expect(nextTry(busy(60 * minute), 1, 0, fixed)).toEqual({
		again: false,
		why: 'The server asks to wait 60 minutes; ask again then.',
	});
});

test('after six tries, or half an hour of waiting, it is over', () => {
	expect(nextTry(busy(), 6, 0, fixed)).toMatchObject({again: false, why: 'It was tried 6 times.'});
	expect(nextTry(busy(10 * minute), 3, 25 * minute, fixed)).toMatchObject({again: false});
});

test('a try that fails is told, waited out, and the next one answers', async () => {
	const world = agentWorld({gateway: saying(busy(1), text('here'))});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	const {events} = await world.log();
	expect(events.map((event) => (event.type === 'message' ? event.message.role : event.type))).toEqual([
		'system',
		'user',
		'error',
		'usage',
		'assistant',
	]);
	const waits = world.emitted.flatMap((event) => (event.type === 'retry' ? [event.wait?.why ?? null] : []));
	expect(waits).toEqual(['Busy.', null]);
});

test('a wait ends at once when the person is in a hurry, and when the turn is stopped', async () => {
	const slow = {...impatient, random: () => 1, baseMs: minute};
	const hurried = agentWorld({gateway: saying(busy(), text('here')), retry: slow});
	hurried.agent.subscribe((event) => {
		if (event.type === 'retry' && event.wait) setImmediate(() => hurried.agent.retryNow());
	});
	expect(await hurried.agent.submit('go')).toEqual({why: 'done'});
	const stopped = agentWorld({gateway: saying(busy(), text('never')), retry: slow});
	stopped.agent.subscribe((event) => {
		if (event.type === 'retry' && event.wait) setImmediate(() => stopped.agent.cancel());
	});
	expect(await stopped.agent.submit('go')).toEqual({why: 'cancelled'});
});

test('a request that will never be accepted names the point before it', async () => {
	const world = agentWorld({
		gateway: saying(text('fine'), new GatewayError('request', 'It does not accept this.')),
	});
	await world.agent.submit('one');
	const rest = await world.agent.submit('poison');
	expect(rest).toMatchObject({
		why: 'failed',
		message: expect.stringContaining('/fork 4 goes on from before it'),
	});
	expect((await world.agent.fork({seq: 4})).ok).toBe(true);
});

test('a conversation that is too long points at the earlier points', async () => {
	const tooLong = new GatewayError('request', 'The conversation is too long.', {isTooLong: true});
	const world = agentWorld({gateway: saying(text('fine'), tooLong)});
	await world.agent.submit('one');
	expect(await world.agent.submit('two')).toMatchObject({
		message: expect.stringContaining('/fork shows the points'),
	});
});
