import {LLMock} from '@copilotkit/aimock';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {openaiGateway} from '../../src/agent/openai.ts';
import {agentWorld} from '../helpers/agent.ts';
import {problemsOf} from '../helpers/wire-rules.ts';

const mock = new LLMock({port: 0, host: '127.0.0.1'});
beforeEach(() => mock.start());
afterEach(async () => {
	mock.clearFixtures();
	await mock.stop();
});

function world() {
	return agentWorld({
		gateway: openaiGateway({baseURL: `${mock.url}/v1`, apiKey: 'test-key-1234'}),
		chosenModel: 'gpt-5-mini',
	});
}

/** Whatever was sent, a strict provider would have taken it. */
function expectSoundRequests() {
	const sent = mock.getRequests().map((request) => request.body as never);
	expect(sent.length).toBeGreaterThan(0);
	expect(sent.flatMap(problemsOf)).toEqual([]);
}

test('a turn of several steps with parallel calls, and a second turn on top', async () => {
	const toolCalls = [
		{name: 'read_file', arguments: '{"path":"src/calc.js"}', id: 'call_a'},
		{name: 'list_files', arguments: '{}', id: 'call_b'},
		{name: 'run_command', arguments: '{"command":"echo from the shell"}', id: 'call_c'},
	];
	mock.onToolResult('call_c', {content: 'I have seen the file, the folder and the shell.'}, {chunkSize: 5});
	mock.onMessage('look around', {content: 'Looking.', toolCalls}, {chunkSize: 4});
	mock.onMessage('and then?', {content: 'That was all.'});
	const {agent, log} = world();
	expect(await agent.submit('look around')).toEqual({why: 'done'});
	expect(await agent.submit('and then?')).toEqual({why: 'done'});
	const {events} = await log();
	const said = events.flatMap((event) => (event.type === 'message' ? [event.message] : []));
	expect(said.map((message) => message.role)).toEqual([
		...['system', 'user', 'assistant', 'tool', 'tool', 'tool', 'assistant'],
		...['user', 'assistant'],
	]);
	expect(
		said.filter((message) => message.role === 'tool').some((each) => each.content.includes('from the shell')),
	).toBe(true);
	expect(events.filter((event) => event.type === 'usage').every((event) => event.inputTokens > 0)).toBe(true);
	expectSoundRequests();
});

test('an answer that is truncated is tried again, told each time, and never made a message', async () => {
	mock.onMessage(
		'go',
		{content: 'a longer answer in several pieces'},
		{chunkSize: 3, truncateAfterChunks: 4},
	);
	const {agent, log} = world();
	expect(await agent.submit('go')).toMatchObject({why: 'failed'});
	const {events} = await log();
	expect(events.slice(2).map((event) => event.type === 'error' && event.did)).toEqual([
		'retried',
		'retried',
		'gaveUp',
	]);
	expectSoundRequests();
});

test('where one try in three is lost, the turns come through, and no request is unsound', async () => {
	const toolCalls = [{name: 'list_files', arguments: '{}', id: 'call_l'}];
	const chaos = {dropRate: 0.34};
	mock.onToolResult('call_l', {content: 'There are files.'}, {chaos});
	mock.onMessage('list', {content: '', toolCalls}, {chaos});
	const {agent} = agentWorld({
		gateway: openaiGateway({baseURL: `${mock.url}/v1`, apiKey: 'test-key-1234'}),
		retry: {tries: 40, baseMs: 1, capMs: 2, budgetMs: 60_000, longestAskedMs: 1000, random: () => 1},
	});
	for (let turn = 0; turn < 4; turn++) expect(await agent.submit('list')).toEqual({why: 'done'});
	expectSoundRequests();
});

test('a key that is not accepted is told at once', async () => {
	mock.onMessage('go', {
		error: {
			message: 'Incorrect API key provided: sk-abcdefghijklmnopqrstuvwx',
			type: 'invalid_request_error',
			code: 'invalid_api_key',
		},
		status: 401,
	});
	const {agent, log} = world();
	const rest = await agent.submit('go');
	expect(rest).toMatchObject({
		why: 'failed',
		message: expect.stringContaining('does not accept the API key'),
	});
	expect(JSON.stringify((await log()).events)).not.toContain('abcdefghijklmnop');
	expect(mock.getRequests().length).toBe(1);
});
