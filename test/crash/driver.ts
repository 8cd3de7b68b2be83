// The journey that faults are put into: a new session, three turns, a fork, a turn in the fork, with the real agent and its real
// tools. Where the session can no longer be saved it does what the screen offers: it waits until the disk takes writes and goes on.
// It says every step on stdout with a synchronous write, so that a kill cannot take back a word.
import {readFileSync, writeSync} from 'node:fs';
import {Agent} from '../../src/agent/agent.ts';
import {scriptedGateway} from '../../src/agent/scripted.ts';
import {owesAnswer} from '../../src/session/replay.ts';
import {tools} from '../../src/tools/index.ts';
import {script} from './driver-script.ts';

function tell(told: string, more: object = {}): void {
	writeSync(1, `${JSON.stringify({told, ...more})}\n`);
}

const [workspace = '', data = ''] = process.argv.slice(2);
const agent = new Agent({
	workspace,
	data,
	forbidden: [data],
	gateway: scriptedGateway(script),
	defaultModel: 'scripted',
	version: '0.1.0',
	tools,
	decide: () => ({allow: true}),
});
let writable = () => {};
agent.subscribe((event) => {
	if (event.type === 'logged') tell('acked', {path: agent.path, event: event.event});
	if (event.type === 'tool_start') tell('effect', {id: event.id});
	if (event.type === 'writable') writable();
});

async function turn(prompt: string): Promise<void> {
	// Keeps this process alive: the agent's own look at the disk does not.
	const alive = setInterval(() => {}, 1000);
	const again = new Promise<void>((resolve) => {
		writable = resolve;
	});
	const rest = await agent.submit(prompt);
	tell('rest', {rest});
	if (rest.why === 'unsaved') {
		if (agent.session) await again;
		const unsent = rest.unsent ?? '';
		if (unsent !== '' || owesAnswer(agent.events)) tell('rest', {rest: await agent.submit(unsent)});
	}
	clearInterval(alive);
}

async function fork(): Promise<void> {
	const path = agent.path ?? '';
	tell('forking', {path, bytes: readFileSync(path, 'utf8')});
	let forked = await agent.fork();
	if (!forked.ok) {
		tell('noFork', {reason: forked.reason, path: agent.path});
		forked = await agent.fork();
	}
	tell('forked', {ok: forked.ok, path: agent.path});
}

await turn('one');
await turn('two');
await turn('three');
await fork();
await turn('four');
tell('end', {path: agent.path});
await agent.close();
