import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Gateway, StreamDelta} from '../../src/agent/gateway.ts';
import {openDraft} from '../../src/session/replay.ts';
import {agentWorld, saying, text} from '../helpers/agent.ts';
import {events, system, usage, user} from '../helpers/log-file.ts';

const words = (...pieces: string[]): StreamDelta[] => pieces.map((piece) => ({type: 'text', text: piece}));

test('a long answer leaves drafts in the log while it streams, and is a message in the end', async () => {
	const gateway = saying([...words('one ', 'two ', 'three'), {type: 'finish', reason: 'stop'}]);
	const world = agentWorld({gateway, draftMs: 0});
	await world.agent.submit('go');
	const {events: log} = await world.log();
	expect(log.flatMap((event) => (event.type === 'draft' ? [event.text] : []))).toEqual([
		'one ',
		'two ',
		'three',
	]);
	expect(log.at(-1)).toMatchObject({message: {role: 'assistant', content: 'one two three'}});
	expect(openDraft(log)).toBeUndefined();
	expect(world.view().interrupted).toBeNull();
});

test('an answer that is quicker than two seconds leaves none', async () => {
	const world = agentWorld({gateway: saying(text('quick'))});
	await world.agent.submit('go');
	expect((await world.log()).events.some((event) => event.type === 'draft')).toBe(false);
});

test('what a killed process had streamed is there after a resume, and the next prompt leaves it out of the conversation', async () => {
	const gateway = saying([...words('half ', 'an answer'), {type: 'finish', reason: 'stop'}]);
	const world = agentWorld({gateway, draftMs: 0});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	const lines = readFileSync(path, 'utf8').split('\n');
	writeFileSync(path, `${lines.slice(0, 4).join('\n')}\n`);
	const next = saying(text('again'));
	const {agent, view} = world.another({gateway: next});
	await agent.open(path);
	expect(view().interrupted?.text).toBe('half an answer');
	await agent.submit('go on');
	expect(view().interrupted).toBeNull();
	// It stays to be read where it was, though it is no message.
	expect(view().items.map((item) => item.kind)).toEqual(['user', 'error', 'user', 'assistant']);
	expect(view().items[1]).toMatchObject({partial: 'half an answer'});
	expect(next.requests[0]?.messages.map((message) => message.content).slice(1)).toEqual(['go', 'go on']);
});

test('open text is what the draft lines after the last other line say', () => {
	const draft = (said: string, reasoning?: string) =>
		({type: 'draft', text: said, ...(reasoning ? {reasoning} : {})}) as const;
	expect(
		openDraft(events([system, user('a'), draft('old'), usage(), draft('new ', 'hm'), draft('er')])),
	).toEqual({
		text: 'new er',
		reasoning: 'hm',
	});
	expect(openDraft(events([system, user('a')]))).toBeUndefined();
});

test('an answer that would not fit into one event is cut as at its length limit', async () => {
	const piece = 'x'.repeat(100_000);
	const world = agentWorld({
		gateway: saying([...words(...Array(12).fill(piece)), {type: 'finish', reason: 'stop'}]),
	});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	const {events: log} = await world.log();
	expect(log.at(-2)).toMatchObject({type: 'usage', finish: 'length', estimated: true});
	const last = log.at(-1);
	expect(last?.type === 'message' && last.message.content.length).toBe(900_000);
});

test('what streamed is on disk although the model says nothing more, or goes on to a call', async () => {
	for (const then of [
		[],
		[{type: 'call', index: 0, id: 'c', name: 'read_file', args: '{'}],
	] as StreamDelta[][]) {
		const gateway: Gateway = {
			name: 'stalling',
			async *stream(_request, signal) {
				yield* words('PLAN: ', 'first');
				yield* then;
				await new Promise((resolve) => signal.addEventListener('abort', resolve, {once: true}));
			},
		};
		const world = agentWorld({gateway, draftMs: 20});
		const drafted = new Promise<void>((resolve) => {
			world.agent.subscribe((event) => {
				if (event.type === 'logged' && event.event.type === 'draft') resolve();
			});
		});
		const turn = world.agent.submit('go');
		await drafted;
		expect(openDraft((await world.log()).events)?.text).toBe('PLAN: first');
		world.agent.cancel();
		expect(await turn).toEqual({why: 'cancelled'});
	}
});

test('opaque fields count: an answer that they make too long is cut, and is kept without them', async () => {
	const block = (index: number): StreamDelta => ({
		type: 'extra',
		extra: {reasoning_details: [{type: 'reasoning.encrypted', index, data: 'x'.repeat(40_000)}]},
	});
	const gateway = saying([
		...words('hi'),
		...Array.from({length: 40}, (_, index) => block(index)),
		{type: 'finish', reason: 'stop'},
	]);
	const world = agentWorld({gateway});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	const last = (await world.log()).events.at(-1);
	expect(last).toMatchObject({message: {role: 'assistant', content: 'hi'}});
	expect(last?.type === 'message' && 'extra' in last.message).toBe(false);
});

test('a long call in small pieces is not taken for longer than it is', async () => {
	const content = 'abcd'.repeat(25_000);
	const args = JSON.stringify({path: 'long.txt', content});
	const pieces = args.match(/.{1,4}/g) ?? [];
	const gateway = saying(
		[
			...pieces.map(
				(piece): StreamDelta => ({type: 'call', index: 0, id: 'c1', name: 'write_file', args: piece}),
			),
			{type: 'finish', reason: 'tool_calls'},
		],
		text('done'),
	);
	const world = agentWorld({gateway});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	expect(readFileSync(join(world.workspace, 'long.txt'), 'utf8')).toBe(content);
});
