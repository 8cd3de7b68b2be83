import {appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {GatewayError} from '../../src/agent/gateway.ts';
import type {Event} from '../../src/session/events.ts';
import {emptyView, reduce} from '../../src/ui/view.ts';
import {agentWorld, questions, run, saying, scripted, text} from '../helpers/agent.ts';

const kinds = (events: readonly Event[]) =>
	events.map((event) => (event.type === 'message' ? event.message.role : event.type));

const tool = (events: readonly Event[]) =>
	events.flatMap((event) =>
		event.type === 'message' && event.message.role === 'tool' ? [event.message.content] : [],
	);

test('a turn with a call is eight events in the order in which they happened', async () => {
	const world = agentWorld({
		gateway: scripted({say: 'Let me look.', calls: [run('echo hi')]}, {say: 'Done.'}),
	});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	const {events, end} = await world.log();
	expect(end).toEqual({at: 'whole'});
	expect(kinds(events)).toEqual([
		'system',
		'user',
		'usage',
		'assistant',
		'tool_end',
		'tool',
		'usage',
		'assistant',
	]);
	expect(events[4]).toMatchObject({
		name: 'run_command',
		result: {ok: true, content: expect.stringContaining('exit 0')},
		verdict: {state: 'allow', by: 'headless'},
	});
});

test('every event is on disk when the screen is told of it', async () => {
	const world = agentWorld({gateway: scripted({say: 'a', calls: [run('true')]}, {say: 'b'})});
	const missing: number[] = [];
	world.agent.subscribe((event) => {
		if (event.type !== 'logged') return;
		const path = world.agent.path ?? '';
		if (!readFileSync(path, 'utf8').includes(`"seq":${event.event.seq},`)) missing.push(event.event.seq);
	});
	await world.agent.submit('go');
	expect(missing).toEqual([]);
});

test('no session exists before the first prompt', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.startNew();
	expect(await world.files()).toEqual([]);
	await world.agent.submit('go');
	expect((await world.files()).length).toBe(1);
});

test('a prompt is kept when the model never answers', async () => {
	const world = agentWorld({gateway: saying(new GatewayError('config', 'The key was not accepted.'))});
	expect(await world.agent.submit('go')).toEqual({why: 'failed', message: 'The key was not accepted.'});
	const {events} = await world.log();
	expect(kinds(events)).toEqual(['system', 'user', 'error']);
});

test('a resumed screen equals the one that was left', async () => {
	const world = agentWorld({
		gateway: scripted(
			{say: 'x', calls: [run('echo hi'), {name: 'read_file', args: {path: 'README.md'}}]},
			{say: 'y'},
		),
	});
	await world.agent.startNew();
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	const {agent, view} = world.another();
	await agent.open(path);
	expect(view()).toEqual(world.view());
});

test('a read-only call runs unasked, a command and a change are asked', async () => {
	const change = {name: 'write_file', args: {path: 'new.txt', content: 'x'}};
	const read = {name: 'read_file', args: {path: 'README.md'}};
	const asked: string[] = [];
	const world = agentWorld({
		gateway: scripted({say: '', calls: [read, change, run('echo hi')]}, {say: 'done'}),
		decide: (question) => {
			asked.push(question.kind === 'tool' ? question.tool : question.kind);
			return {allow: true};
		},
	});
	await world.agent.submit('go');
	expect(asked).toEqual(['write_file', 'run_command']);
});

test('a refusal is a tool result that carries the reason, and the turn goes on', async () => {
	const world = agentWorld({
		gateway: scripted({say: '', calls: [run('touch made'), run('echo hi')]}, {say: 'done'}),
		decide: (question) =>
			question.kind === 'tool' && question.label.startsWith('touch')
				? {allow: false, reason: 'not in this folder'}
				: {allow: true},
	});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	const {events} = await world.log();
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
	expect(tool(events)[0]).toContain('not in this folder');
	expect(events.find((event) => event.type === 'tool_end')).toMatchObject({
		stoppedBy: 'gate',
		verdict: {state: 'deny', by: 'headless'},
	});
	expect(tool(events)[1]).toContain('hi');
});

test('a path outside the workspace is denied without a question', async () => {
	const world = agentWorld({
		gateway: scripted({say: '', calls: [{name: 'read_file', args: {path: '../data/secret'}}]}, {say: 'done'}),
		decide: () => {
			throw new Error('asked');
		},
	});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	expect((await world.log()).events[4]).toMatchObject({
		verdict: {state: 'deny', by: 'builtin'},
		stoppedBy: 'gate',
	});
});

test('a file that may hold secrets is asked even for reading', async () => {
	const asked: string[] = [];
	const world = agentWorld({
		gateway: scripted({say: '', calls: [{name: 'read_file', args: {path: '.env'}}]}, {say: 'done'}),
		decide: (question) => {
			asked.push(question.kind === 'tool' ? question.why : '');
			return {allow: false};
		},
	});
	writeFileSync(join(world.workspace, '.env'), 'KEY=1');
	await world.agent.submit('go');
	expect(asked).toEqual(['.env may hold secrets']);
});

const unrunnable: [name: string, call: object, told: RegExp][] = [
	[
		'arguments that are not JSON',
		{name: 'run_command', args: '{"command":'},
		/not valid JSON, so nothing was run/,
	],
	['arguments that do not fit', {name: 'run_command', args: '{"command":7}'}, /do not fit.*command/],
	['a tool that there is not', {name: 'launch', args: '{}'}, /no tool called launch.*read_file/],
];

test.each(unrunnable)('%s: the call is never run and the model is told', async (_name, call, told) => {
	const gateway = saying(
		[
			{type: 'call', index: 0, id: 'a', ...call},
			{type: 'finish', reason: 'tool_calls'},
		],
		text('ok'),
	);
	const world = agentWorld({gateway});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	expect(tool((await world.log()).events)[0]).toMatch(told);
});

test('calls of an answer that was cut at its length are never run', async () => {
	const gateway = saying(
		[
			{type: 'call', index: 0, id: 'a', name: 'run_command', args: '{"command":"touch made"}'},
			{type: 'finish', reason: 'length'},
		],
		text('ok'),
	);
	const world = agentWorld({gateway});
	await world.agent.submit('go');
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
	expect(tool((await world.log()).events)[0]).toMatch(/length limit/);
});

test('an answer that broke off is an error with what came of it, never a message', async () => {
	const half = [{type: 'text', text: 'half an ans'} as const];
	const world = agentWorld({gateway: saying(half, half, half)});
	expect(await world.agent.submit('go')).toMatchObject({
		why: 'failed',
		message: expect.stringContaining('tried 3 times'),
	});
	const {events} = await world.log();
	expect(kinds(events)).toEqual(['system', 'user', 'error', 'error', 'error']);
	expect(events.slice(2)).toMatchObject([
		{did: 'retried', partial: 'half an ans'},
		{did: 'retried', partial: 'half an ans'},
		{did: 'gaveUp', partial: 'half an ans'},
	]);
});

test('an empty answer is an error, never a message', async () => {
	const world = agentWorld({
		gateway: saying([
			{type: 'reasoning', text: 'hm'},
			{type: 'finish', reason: 'stop'},
		]),
	});
	expect(await world.agent.submit('go')).toMatchObject({
		why: 'failed',
		message: expect.stringContaining('nothing'),
	});
	expect(kinds((await world.log()).events)).toEqual(['system', 'user', 'error']);
});

test('cancel while a command runs: it is gone, every call is answered, and the turn ends', async () => {
	const gateway = scripted(
		{say: '', calls: [run('echo begun; sleep 600'), run('touch made')]},
		{say: 'never'},
	);
	const world = agentWorld({gateway});
	world.agent.subscribe((event) => {
		if (event.type === 'tool_output') world.agent.cancel();
	});
	expect(await world.agent.submit('go')).toEqual({why: 'cancelled'});
	const {events} = await world.log();
	expect(kinds(events).slice(4)).toEqual(['tool_end', 'tool', 'tool_end', 'tool']);
	expect(tool(events)[1]).toBe('cancelled by the user; stop and wait');
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
});

test('cancel while a question waits: nothing runs and the call is answered', async () => {
	const world = agentWorld({gateway: scripted({say: '', calls: [run('touch made')]}, {say: 'never'})});
	const {agent} = world.another({decide: undefined as never});
	const {next} = questions(agent);
	const resting = agent.submit('go');
	await next();
	agent.cancel();
	expect(await resting).toEqual({why: 'cancelled'});
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
	expect(tool((await world.log()).events)).toEqual(['cancelled by the user; stop and wait']);
});

test('cancel while the model streams: what came is kept with the error, and no message is made of it', async () => {
	const endless = saying();
	endless.stream = async function* (_request, signal) {
		yield {type: 'text', text: 'once upon'};
		await new Promise((resolve) => signal.addEventListener('abort', resolve));
	};
	const world = agentWorld({gateway: endless});
	world.agent.subscribe((event) => {
		if (event.type === 'draft') world.agent.cancel();
	});
	expect(await world.agent.submit('go')).toEqual({why: 'cancelled'});
	expect((await world.log()).events.at(-1)).toMatchObject({
		type: 'error',
		did: 'cancelled',
		partial: 'once upon',
	});
});

test('after a cancel the next prompt goes on with the session', async () => {
	const world = agentWorld({gateway: scripted({say: '', calls: [run('sleep 600')]}, {say: 'never'})});
	world.agent.subscribe((event) => {
		if (event.type === 'tool_start') world.agent.cancel();
	});
	await world.agent.submit('go');
	expect(await world.agent.submit('and now?')).toEqual({why: 'done'});
	expect((await world.files()).length).toBe(1);
});

test('at the soft limit the person is asked; a no ends the turn, a yes goes on', async () => {
	const endless = saying();
	let step = 0;
	endless.stream = async function* () {
		step++;
		yield {type: 'call', index: 0, id: `c${step}`, name: 'list_files', args: '{}'};
		yield {type: 'finish', reason: 'tool_calls'};
	};
	const asked: number[] = [];
	const world = agentWorld({
		gateway: endless,
		maxSteps: 3,
		decide: (question) => {
			if (question.kind !== 'steps') return {allow: true};
			asked.push(question.steps);
			return asked.length < 2 ? {allow: true} : {allow: false};
		},
	});
	expect(await world.agent.submit('go')).toMatchObject({why: 'limit'});
	expect(asked).toEqual([3, 6]);
	const {events} = await world.log();
	expect(events.filter((event) => event.type === 'usage').length).toBe(6);
});

test('parallel read-only calls end in any order, each with its result beside it, and are replayed in order', async () => {
	const reads = ['README.md', 'package.json', 'src/calc.js'].map((path) => ({
		name: 'read_file',
		args: {path},
	}));
	const world = agentWorld({gateway: scripted({say: '', calls: reads}, {say: 'done'})});
	await world.agent.submit('go');
	const {events} = await world.log();
	expect(kinds(events).slice(4, 10)).toEqual(['tool_end', 'tool', 'tool_end', 'tool', 'tool_end', 'tool']);
	for (const at of [4, 6, 8]) {
		const [end, message] = [events[at], events[at + 1]];
		expect(end?.type === 'tool_end' && end.id).toBe(
			message?.type === 'message' && message.message.role === 'tool' && message.message.toolCallId,
		);
	}
});

test('what line 1 says is what is sent as system message, also after a resume', async () => {
	const world = agentWorld({gateway: saying(text('hi'))});
	await world.agent.submit('one');
	const path = world.agent.path ?? '';
	await world.agent.close();
	writeFileSync(path, readFileSync(path, 'utf8').replace('You are mca', 'You are Ada'));
	const gateway = saying(text('again'));
	const {agent} = world.another({gateway});
	await agent.open(path);
	await agent.submit('two');
	expect(gateway.requests[0]?.messages[0]?.content).toMatch(/^You are Ada/);
});

test('a session killed between a call and its result goes on: the call is answered as unknown, nothing runs again', async () => {
	const world = agentWorld({gateway: scripted({say: '', calls: [run('echo x >> count')]}, {say: 'done'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	const lines = readFileSync(path, 'utf8').split('\n');
	writeFileSync(path, `${lines.slice(0, 4).join('\n')}\n`);
	const gateway = saying(text('I see.'));
	const {agent} = world.another({gateway});
	await agent.open(path);
	await agent.submit('go on');
	expect(readFileSync(join(world.workspace, 'count'), 'utf8')).toBe('x\n');
	expect(kinds((await world.log()).events).slice(4)).toEqual([
		'tool_end',
		'tool',
		'user',
		'usage',
		'assistant',
	]);
	expect(gateway.requests[0]?.messages.map((message) => message.role)).toEqual([
		'system',
		'user',
		'assistant',
		'tool',
		'user',
	]);
});

test('opening and closing a session changes no byte of it', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	const before = readFileSync(path);
	const {agent} = world.another();
	await agent.open(path);
	await agent.close();
	expect(readFileSync(path)).toEqual(before);
});

test('a cut session goes on in a new file, again and again, and no damaged file changes', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	await world.agent.close();
	for (let round = 0; round < 3; round++) {
		const [damaged = ''] = await world.files();
		truncateSync(damaged, readFileSync(damaged).length - 5);
		const before = readFileSync(damaged);
		const {agent, emitted} = world.another();
		await agent.open(damaged);
		expect(emitted.at(-1)).toMatchObject({type: 'opened', end: {at: 'cut', reason: 'the line does not end'}});
		await agent.submit(`round ${round}`);
		await agent.close();
		expect(readFileSync(damaged)).toEqual(before);
	}
	const {events, end} = await world.log();
	expect(end).toEqual({at: 'whole'});
	const prompts = events.flatMap((event) =>
		event.type === 'message' && event.message.role === 'user' ? [event.message.content] : [],
	);
	expect(prompts).toEqual(['go', 'round 0', 'round 1', 'round 2']);
});

test('where no line is whole, the next prompt opens a new session', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	writeFileSync(path, '{"seq":1,"ts":"2026');
	const {agent} = world.another();
	await agent.open(path);
	await agent.submit('hello');
	const {events} = await world.log();
	expect(kinds(events).slice(0, 2)).toEqual(['system', 'user']);
	expect(readFileSync(path, 'utf8')).toBe('{"seq":1,"ts":"2026');
});

test('an empty file is an empty session: the next prompt begins a new one', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	writeFileSync(path, '');
	const {agent} = world.another();
	await agent.open(path);
	expect(await agent.submit('hello')).toEqual({why: 'done'});
	expect((await world.log()).end).toEqual({at: 'whole'});
});

test('when the file changes under the session, the turn stops before any effect and the prompt comes back', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	appendFileSync(world.agent.path ?? '', 'x');
	const rest = await world.agent.submit('go');
	expect(rest).toMatchObject({
		why: 'unsaved',
		unsent: 'go',
		message: expect.stringContaining('no longer being saved'),
	});
});

test('a log that closes in the middle of a turn stops it: the next call does not run', async () => {
	const world = agentWorld({
		gateway: scripted({say: '', calls: [run('echo first'), run('touch made')]}, {say: 'never'}),
	});
	world.agent.subscribe((event) => {
		if (event.type === 'tool_start') appendFileSync(world.agent.path ?? '', 'x');
	});
	expect(await world.agent.submit('go')).toMatchObject({why: 'unsaved'});
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
});

test('a fork at a question waits for an answer; asking for it adds no second question', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const forked = await world.agent.fork({seq: 2});
	expect(forked.ok).toBe(true);
	expect(await world.agent.submit('')).toEqual({why: 'done'});
	expect(kinds((await world.log()).events)).toEqual(['system', 'user', 'fork', 'usage', 'assistant']);
});

test('a resumed session keeps its last model unless another is chosen', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'}), chosenModel: 'big'});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	const open = async (more: object) => {
		const {agent, view} = world.another({chosenModel: undefined as never, ...more});
		await agent.open(path);
		return view().place.model;
	};
	expect([await open({}), await open({chosenModel: 'small'})]).toEqual(['big', 'small']);
});

test('a session that another one holds is shown, takes no prompt, and can be forked', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	const before = readFileSync(path);
	const {agent, emitted} = world.another();
	await agent.open(path);
	expect(emitted.at(-1)).toMatchObject({type: 'opened', holder: {pid: process.pid}, end: {at: 'whole'}});
	const rest = await agent.submit('me too');
	expect(rest).toMatchObject({
		why: 'failed',
		unsent: 'me too',
		message: expect.stringContaining(`open in process ${process.pid}`),
	});
	expect(readFileSync(path)).toEqual(before);
	expect((await agent.fork()).ok).toBe(true);
	expect(await agent.submit('go')).toEqual({why: 'done'});
	expect(readFileSync(path)).toEqual(before);
});

test('after a failed write the next prompt goes on in a new session, from what the disk has', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	appendFileSync(path, '{"seq":6,"ts":"2026');
	const damaged = readFileSync(path);
	expect(await world.agent.submit('lost?')).toMatchObject({why: 'unsaved', unsent: 'lost?'});
	expect(await world.agent.submit('lost?')).toEqual({why: 'done'});
	const {events, end} = await world.log();
	expect(end).toEqual({at: 'whole'});
	expect(kinds(events)).toEqual([
		'system',
		'user',
		'usage',
		'assistant',
		'fork',
		'user',
		'usage',
		'assistant',
	]);
	expect(events[4]).toMatchObject({kind: 'recovery', cut: {line: 5, reason: 'the line does not end'}});
	expect(readFileSync(path)).toEqual(damaged);
	expect(world.view().events).toEqual(events);
});

test('a view folded event by event equals one folded at once', async () => {
	const world = agentWorld({gateway: scripted({say: 'x', calls: [run('false')]}, {say: 'y'})});
	await world.agent.submit('go');
	const {events} = await world.log();
	const session = world.agent.session;
	const opened = (some: readonly Event[]) =>
		reduce(emptyView, {type: 'opened', session, place: world.view().place, events: some, end: {at: 'whole'}});
	const oneByOne = events.reduce((view, event) => reduce(view, {type: 'logged', event}), opened([]));
	expect(oneByOne).toEqual(opened(events));
});

test('a session that was held is taken with the next prompt once its holder has gone', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	const {agent, emitted} = world.another();
	await agent.open(path);
	expect(await agent.submit('me too')).toMatchObject({why: 'failed', unsent: 'me too'});
	await world.agent.close();
	expect(await agent.submit('me too')).toEqual({why: 'done'});
	expect(emitted.some((event) => event.type === 'opened' && !event.holder)).toBe(true);
	expect((await world.log()).events.filter((event) => event.type === 'message').length).toBe(5);
});

test('opening a session says what holds in its folder', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	const asked: string[] = [];
	const {agent, view} = world.another({
		termsOf: async (workspace) => {
			asked.push(workspace);
			const wrap = async () => ({ok: false, reason: 'not here'}) as const;
			return {forbidden: [], instructions: '', rules: ['npm test'], refused: [], sandbox: {workspace, wrap}};
		},
	});
	await agent.open(path);
	await new Promise(setImmediate);
	expect(asked).toEqual([world.workspace]);
	expect(view().place.sandbox).toBe(true);
	expect(agent.rules).toEqual(['npm test']);
});
