// Run under strace by states.test.ts: a new session, three turns, a fork and a turn in it. Each event that the agent calls logged is
// said on stdout at that moment, so the trace shows what was promised between which operations.
import {writeSync} from 'node:fs';
import {basename} from 'node:path';
import {Agent} from '../../src/agent/agent.ts';
import {scriptedGateway} from '../../src/agent/scripted.ts';
import {tools} from '../../src/tools/index.ts';

const [workspace = '', data = ''] = process.argv.slice(2);

const agent = new Agent({
	workspace,
	data,
	forbidden: [data],
	defaultModel: 'scripted',
	version: '0.1.0',
	tools,
	decide: () => ({allow: true}),
	gateway: scriptedGateway({
		name: 'crash',
		turns: [
			{
				prompt: 'look around',
				steps: [
					{
						say: 'Ich sehe nach: é你𝄞.',
						calls: [
							{name: 'read_file', args: {path: 'README.md'}},
							{name: 'read_file', args: {path: 'package.json'}},
						],
					},
					{say: 'It is a calculator.'},
				],
			},
			{
				prompt: 'write it down',
				steps: [
					{say: '', calls: [{name: 'write_file', args: {path: 'notes.txt', content: 'é你𝄞\n'}}]},
					{say: 'Written.'},
				],
			},
			{prompt: 'tell me more', steps: [{say: 'Es war einmal é你𝄞 … '.repeat(400)}]},
			{prompt: 'another way', steps: [{say: 'As you like.'}]},
		],
	}),
});

const promise = (seq: number) =>
	writeSync(1, `${JSON.stringify({id: basename(agent.path ?? '', '.jsonl'), seq})}\n`);

agent.subscribe((event) => {
	if (event.type === 'logged') promise(event.event.seq);
});

await agent.startNew();
for (const prompt of ['look around', 'write it down', 'tell me more']) await agent.submit(prompt);
const forked = await agent.fork();
if (!forked.ok) throw new Error(forked.reason);
promise(agent.events.at(-1)?.seq ?? 0);
await agent.submit('another way');
await agent.close();
