import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryFolder} from '../helpers/log-file.ts';

type Said = {text?: string; call?: string; usage?: boolean};

/** A server that lists a model and says what it is told to, one answer a request. */
async function server(status: number, ...answers: Said[]) {
	let asked = 0;
	const http = createServer((request, response) => {
		if (status !== 200)
			return void response.writeHead(status).end('{"error":{"message":"no","code":"invalid_api_key"}}');
		if (request.method === 'GET')
			return void response.end(JSON.stringify({data: [{id: 'small'}, {id: 'large'}]}));
		request.resume();
		response.writeHead(200, {'content-type': 'text/event-stream'});
		const {text, call, usage} = answers[asked++] ?? {};
		const send = (value: object) => response.write(`data: ${JSON.stringify(value)}\n\n`);
		for (const piece of text?.match(/\S+ ?/g) ?? []) send({choices: [{index: 0, delta: {content: piece}}]});
		if (call)
			send({
				choices: [
					{index: 0, delta: {tool_calls: [{index: 0, id: 'c', function: {name: 'add', arguments: call}}]}},
				],
			});
		send({choices: [{index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop'}]});
		if (usage) send({choices: [], usage: {prompt_tokens: 10, completion_tokens: 5}});
		response.end('data: [DONE]\n\n');
	});
	http.listen(0, '127.0.0.1');
	await once(http, 'listening');
	onTestFinished(() => {
		http.closeAllConnections();
		http.close();
	});
	return `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`;
}

async function doctor(env: Record<string, string>) {
	const {OPENAI_API_KEY, OPENAI_BASE_URL, MCA_MODEL, ...inherited} = process.env;
	const main = join(import.meta.dirname, '../../dist/main.js');
	const child = spawn(process.execPath, [main, 'doctor', '--json'], {
		env: {...inherited, MCA_HOME: temporaryFolder(), ...env},
	});
	let out = '';
	child.stdout.on('data', (data) => {
		out += data;
	});
	const [status] = await once(child, 'close');
	const findings: {check: string; state: string; says: string}[] = JSON.parse(out);
	return {status, findings, of: (check: string) => findings.find((finding) => finding.check === check)};
}

test('a server that does all it should passes every check', async () => {
	const OPENAI_BASE_URL = await server(
		200,
		{text: 'one two three', usage: true},
		{call: '{"a":17,"b":25}', usage: true},
	);
	const {status, of} = await doctor({OPENAI_BASE_URL, MCA_MODEL: 'small'});
	expect(status).toBe(0);
	for (const check of ['reachable', 'model', 'streams', 'usage', 'tools'])
		expect(of(check)).toMatchObject({state: 'ok'});
});

test('a model that calls no tool fails, one without usage is only noted', async () => {
	const OPENAI_BASE_URL = await server(200, {text: 'one two three'}, {text: 'the sum is 42'});
	const {status, of} = await doctor({OPENAI_BASE_URL, MCA_MODEL: 'small'});
	expect(status).toBe(1);
	expect(of('tools')).toMatchObject({state: 'failed', says: expect.stringContaining('the sum is 42')});
	expect(of('usage')).toMatchObject({state: 'note', says: expect.stringContaining('≈')});
});

test('a model that the server does not list is told with those that it has', async () => {
	const OPENAI_BASE_URL = await server(200, {text: 'one two'}, {call: '{"a":17,"b":25}'});
	const {of} = await doctor({OPENAI_BASE_URL, MCA_MODEL: 'huge'});
	expect(of('model')).toEqual({
		check: 'model',
		state: 'note',
		says: 'huge is not in its list; there are small, large',
	});
});

test('a key that is not accepted is told, and nothing more is asked', async () => {
	const {status, of} = await doctor({
		OPENAI_BASE_URL: await server(401),
		OPENAI_API_KEY: 'sk-wrong',
		MCA_MODEL: 'small',
	});
	expect(status).toBe(1);
	expect(of('reachable')).toMatchObject({
		state: 'failed',
		says: expect.stringContaining('does not accept the API key'),
	});
	expect(of('streams')).toBeUndefined();
});

test('with nothing configured it says so, and that is no failure', async () => {
	const {status, of} = await doctor({});
	expect(status).toBe(0);
	expect(of('provider')).toMatchObject({state: 'note'});
	expect(of('data')).toMatchObject({state: 'ok'});
});

test('a config.json that does not fit is one finding, a failure', async () => {
	const MCA_HOME = temporaryFolder();
	writeFileSync(join(MCA_HOME, 'config.json'), '{"model": 7}');
	const {status, findings} = await doctor({MCA_HOME});
	expect(status).toBe(1);
	expect(findings.filter(({check}) => check === 'config')).toEqual([
		{check: 'config', state: 'failed', says: expect.stringContaining('model: ')},
	]);
});

test('an answer without any text is a failure', async () => {
	const OPENAI_BASE_URL = await server(200, {}, {call: '{"a":17,"b":25}'});
	const {status, of} = await doctor({OPENAI_BASE_URL, MCA_MODEL: 'small'});
	expect(status).toBe(1);
	expect(of('streams')).toMatchObject({state: 'failed', says: expect.stringContaining('no text')});
});
