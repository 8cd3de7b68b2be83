import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {accumulator} from '../../src/agent/accumulate.ts';
import {Agent} from '../../src/agent/agent.ts';
import {openaiGateway} from '../../src/agent/openai.ts';
import {mb, type Row, sideBySide, timed} from './table.ts';

/** What the agent's side of the wire costs: the gateway and the accumulator against the least that parsing a stream can be. */
export async function wire(folder: string): Promise<Row[]> {
	const short = answer(20_000, 'word ');
	const long = answer(10_000, 'x'.repeat(1000));
	const server = createServer((request, response) => {
		request.resume();
		response.writeHead(200, {'content-type': 'text/event-stream'});
		response.end(request.url?.startsWith('/long') ? long : short);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	try {
		const times = await sideBySide(
			7,
			() => turn(folder, `${url}/v1`),
			() => parseOnly(`${url}/v1/chat/completions`),
		);
		await play(`${url}/long/v1`);
		globalThis.gc?.();
		const before = process.memoryUsage().rss;
		let highest = before;
		const timer = setInterval(() => {
			highest = Math.max(highest, process.memoryUsage().rss);
		}, 5);
		const length = await play(`${url}/long/v1`);
		clearInterval(timer);
		const grown = Math.max(0, highest - before);
		return [
			timed('20,000 deltas through gateway, accumulator and loop; against parsing the same stream', times),
			{
				what: 'memory that an answer of 10 MB takes while it comes; against 4 times its text',
				ours: mb(grown),
				against: mb(length * 4),
				ratio: grown / (length * 4),
				reach: 1,
			},
		];
	} finally {
		server.closeAllConnections();
		server.close();
	}
}

/** A whole turn of the agent: the loop, the drafts, the log. */
async function turn(folder: string, baseURL: string): Promise<void> {
	const gateway = openaiGateway({baseURL, apiKey: 'none'});
	const agent = new Agent({
		workspace: folder,
		data: folder,
		forbidden: [],
		gateway,
		defaultModel: 'm',
		version: '0',
		tools: [],
	});
	const rest = await agent.submit('go');
	await agent.close();
	if (rest.why !== 'done') throw new Error(`the turn rests: ${JSON.stringify(rest)}`);
}

async function play(baseURL: string): Promise<number> {
	const gateway = openaiGateway({baseURL, apiKey: 'none'});
	const joined = accumulator();
	const request = {model: 'm', messages: [{role: 'user', content: 'go'} as const], tools: []};
	for await (const delta of gateway.stream(request, new AbortController().signal)) joined.add(delta);
	return joined.end().message.content.length;
}

/** Split at blank lines, JSON.parse each, join the text: no slots, no usage, no watchdog. */
async function parseOnly(url: string): Promise<string> {
	const response = await fetch(url, {method: 'POST', body: '{}'});
	let text = '';
	let rest = '';
	for await (const bytes of response.body ?? []) {
		rest += Buffer.from(bytes).toString('utf8');
		const lines = rest.split('\n\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			if (line === 'data: [DONE]') continue;
			text += JSON.parse(line.slice(6)).choices[0].delta.content ?? '';
		}
	}
	return text;
}

function answer(count: number, content: string): string {
	const chunk = (delta: object, finish_reason: string | null) =>
		`data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{index: 0, delta, finish_reason}]})}\n\n`;
	return `${chunk({content}, null).repeat(count)}${chunk({}, 'stop')}data: [DONE]\n\n`;
}
