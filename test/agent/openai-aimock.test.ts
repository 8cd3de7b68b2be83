import {LLMock} from '@copilotkit/aimock';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {openaiGateway} from '../../src/agent/openai.ts';
import {ask, question} from '../helpers/wire-play.ts';

const mock = new LLMock({port: 0, host: '127.0.0.1'});
beforeEach(() => mock.start());
afterEach(async () => {
	mock.clearFixtures();
	await mock.stop();
});

function play() {
	return ask(openaiGateway({baseURL: `${mock.url}/v1`, apiKey: 'test-key-1234'}), question);
}

test('text in pieces, with a usage', async () => {
	mock.onMessage('hello', {content: 'a longer answer in several pieces'}, {chunkSize: 3});
	expect(await play()).toMatchObject({text: 'a longer answer in several pieces', finish: 'stop', usage: {}});
});

test('parallel calls in fragments', async () => {
	const toolCalls = [
		{name: 'read', arguments: '{"path":"a long path"}'},
		{name: 'list', arguments: '{"path":"another path"}'},
	];
	mock.onMessage('hello', {content: 'look', toolCalls}, {chunkSize: 4});
	expect(await play()).toMatchObject({
		text: 'look',
		calls: ['read {"path":"a long path"}', 'list {"path":"another path"}'],
		finish: 'tool_calls',
	});
});

test('reasoning', async () => {
	mock.onMessage('hello', {content: 'hi', reasoning: 'let me think about it'}, {chunkSize: 4});
	expect(await play()).toMatchObject({text: 'hi', reasoning: 'let me think about it'});
});

test('an answer that is cut off', async () => {
	mock.onMessage(
		'hello',
		{content: 'a longer answer in several pieces'},
		{chunkSize: 3, truncateAfterChunks: 4},
	);
	expect((await play()).error).toMatchObject({kind: 'retry'});
});

test.each([
	['a drop', {dropRate: 1}, 'retry'],
	['garbage', {malformedRate: 1}, 'protocol'],
	['a disconnect', {disconnectRate: 1}, 'retry'],
	['a limit', {rateLimitRate: 1}, 'retry'],
])('chaos: %s', async (_name, chaos, kind) => {
	mock.onMessage('hello', {content: 'hi'}, {chaos});
	const outcome = await play();
	expect(outcome.error?.kind).toBe(kind);
});

test('errors', async () => {
	for (const [status, kind] of [
		[401, 'config'],
		[429, 'retry'],
		[500, 'retry'],
		[400, 'request'],
	] as const) {
		mock.nextRequestError(status, {message: 'no', type: 'x'});
		expect((await play()).error).toMatchObject({kind, status});
	}
});
