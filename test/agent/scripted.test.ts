import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {accumulator} from '../../src/agent/accumulate.ts';
import {type Script, scriptedGateway} from '../../src/agent/scripted.ts';
import type {Message} from '../../src/session/events.ts';
import {replay} from '../../src/session/replay.ts';
import {events, result, turnOne, user} from '../helpers/log-file.ts';

const script: Script = JSON.parse(
	readFileSync(join(import.meta.dirname, '../../fixtures/scripts/calculator.json'), 'utf8'),
);

async function answerTo(messages: readonly Message[]) {
	const answer = accumulator();
	const request = {model: 'scripted', messages, tools: []};
	for await (const delta of scriptedGateway(script).stream(request, new AbortController().signal))
		answer.add(delta);
	return answer.end();
}

const conversation = (...more: Parameters<typeof events>[0]) =>
	replay(events([...turnOne, ...more])).messages;

test('the same request gets the same answer', async () => {
	expect(await answerTo(conversation(user('which case failed?')))).toEqual(
		await answerTo(conversation(user('which case failed?'))),
	);
});

test('its place in the script comes from the messages: the prompt names the turn, the answers after it the step', async () => {
	const first = await answerTo(conversation(user('then fix it')));
	expect(first.message.toolCalls?.map((call) => call.name)).toEqual(['edit_file']);
	const next = [...conversation(user('then fix it')), first.message];
	expect((await answerTo(next)).message.toolCalls?.map((call) => call.name)).toEqual(['run_command']);
});

test('it quotes what a tool printed earlier in the conversation', async () => {
	const {message} = await answerTo(conversation(user('Which case failed')));
	expect(message.content).toBe('The case that failed was “divide by zero”.');
});

test('where nothing was replayed there is nothing to quote, and it says so', async () => {
	const {message} = await answerTo(replay(events([user('which case failed?')])).messages);
	expect(message.content).toMatch(/nothing to quote/);
});

test.each([
	['spec', '✔ adds (0.4ms)\n✖ divide by zero (0.43ms)\nℹ pass 3\n\n✖ failing tests:\n'],
	['tap', 'ok 1 - adds\nnot ok 4 - divide by zero\n# pass 3\n'],
])('the failing case is found in what node --test prints as %s', async (_reporter, printed) => {
	const asked = events([...turnOne.slice(0, 5), result('c1', printed), user('which case failed?')]);
	expect((await answerTo(replay(asked).messages)).message.content).toContain('“divide by zero”');
});

test('a prompt that it does not know is answered with those that it knows', async () => {
	const {message} = await answerTo(conversation(user('write a poem')));
	for (const {prompt} of script.turns) expect(message.content).toContain(`“${prompt}”`);
});
