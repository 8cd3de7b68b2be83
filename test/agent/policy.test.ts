import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import type {Terms} from '../../src/agent/agent.ts';
import type {Question} from '../../src/agent/agent-event.ts';
import type {StreamDelta} from '../../src/agent/gateway.ts';
import type {Event} from '../../src/session/events.ts';
import {agentWorld, questions, run, saying, scripted, text} from '../helpers/agent.ts';

const terms = (more: Partial<Terms> = {}) => ({
	termsOf: async () => ({forbidden: [], instructions: '', rules: [], refused: [], ...more}),
});
const asked = () => {
	const seen: Question[] = [];
	return {
		seen,
		decide: (question: Question) => {
			seen.push(question);
			return {allow: false} as const;
		},
	};
};
const edit = (old_text: string, new_text: string) => ({
	name: 'edit_file',
	args: {path: 'src/calc.js', edits: [{old_text, new_text}]},
});

test('in mode edits a change passes without a question, and says so in the log', async () => {
	const {seen, decide} = asked();
	const world = agentWorld({
		gateway: scripted({calls: [edit('return a + b;', 'return b + a;')]}, {say: 'ok'}),
		mode: 'edits',
		decide,
	});
	await world.agent.submit('go');
	expect(seen).toEqual([]);
	expect(readFileSync(join(world.workspace, 'src/calc.js'), 'utf8')).toContain('return b + a;');
	expect((await world.log()).events[4]).toMatchObject({verdict: {state: 'allow', by: 'builtin'}});
});

test('an edit whose text is not there to the letter is asked whatever the mode, with the diff, and made only then', async () => {
	const near = edit(
		'export  function add(a, b) {\n    return a + b;',
		'export function add(a, b) {\n  return b + a;',
	);
	const {seen, decide} = asked();
	const refused = agentWorld({gateway: scripted({calls: [near]}, {say: 'ok'}), mode: 'edits', decide});
	await refused.agent.submit('go');
	expect(seen).toMatchObject([
		{kind: 'tool', why: expect.stringContaining('lines 1 to 2'), preview: {kind: 'diff'}},
	]);
	expect(readFileSync(join(refused.workspace, 'src/calc.js'), 'utf8')).toContain('return a + b;');

	const allowed = agentWorld({
		gateway: scripted({calls: [near]}, {say: 'ok'}),
		mode: 'edits',
		decide: () => ({allow: true}),
	});
	const before = readFileSync(join(allowed.workspace, 'src/calc.js'), 'utf8');
	await allowed.agent.submit('go');
	expect(readFileSync(join(allowed.workspace, 'src/calc.js'), 'utf8')).toBe(
		before.replace('return a + b;', 'return b + a;'),
	);
});

test('a file that changes between the question and the answer is left alone', async () => {
	const world = agentWorld({
		gateway: scripted({calls: [edit('return a + b;', 'return b + a;')]}, {say: 'ok'}),
	});
	const file = join(world.workspace, 'src/calc.js');
	const {agent} = world.another({decide: undefined as never});
	const gate = questions(agent);
	const resting = agent.submit('go');
	const question = await gate.next();
	writeFileSync(file, '// somebody else was here\nreturn a + b;\n');
	agent.answer(question.id, {allow: true});
	await resting;
	expect(readFileSync(file, 'utf8')).toBe('// somebody else was here\nreturn a + b;\n');
});

test('a command that is remembered runs unasked from then on, to the letter, and in this folder only where it is kept', async () => {
	const world = agentWorld({
		gateway: scripted(
			{calls: [run('echo one')]},
			{calls: [run('echo one')]},
			{calls: [run('echo two')]},
			{say: 'ok'},
		),
	});
	const kept: string[][] = [];
	const {agent} = world.another({
		decide: undefined as never,
		keepRule: (workspace, command) => kept.push([workspace, command]),
	});
	const gate = questions(agent);
	const resting = agent.submit('go');
	const first = await gate.next();
	expect(first).toMatchObject({kind: 'tool', command: 'echo one'});
	agent.answer(first.id, {allow: true, remember: {command: 'echo one', keep: true}});
	const second = await gate.next();
	expect(second).toMatchObject({kind: 'tool', command: 'echo two'});
	agent.answer(second.id, {allow: false});
	await resting;
	expect(kept).toEqual([[world.workspace, 'echo one']]);
	expect(agent.rules).toEqual(['echo one']);
	agent.removeRule('echo one');
	expect(agent.rules).toEqual([]);
});

test('a resumed session starts in the mode of this run, whatever the log says', async () => {
	const world = agentWorld({gateway: saying(text('hi')), mode: 'edits'});
	await world.agent.submit('go');
	const path = world.agent.path ?? '';
	await world.agent.close();
	const {agent, view} = world.another({mode: 'ask'});
	await agent.open(path);
	expect(view().place.mode).toBe('ask');
});

test('what a trusted folder says goes into line 1 of new sessions', async () => {
	const gateway = saying(text('hi'));
	const world = agentWorld({gateway, ...terms({instructions: 'Use tabs.'})});
	await world.agent.submit('go');
	expect(gateway.requests[0]?.messages[0]?.content).toMatch(/as the workspace says:\n\nUse tabs\.$/);
});

const again = (id: string): StreamDelta[] => [
	{type: 'call', index: 0, id, name: 'list_files', args: '{}'},
	{type: 'finish', reason: 'tool_calls'},
];

test('the same call with the same result is told to the model at the third time, and asked at the fifth', async () => {
	const gateway = saying(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(again), text('enough'));
	const seen: Question[] = [];
	const world = agentWorld({
		gateway,
		decide: (question) => {
			seen.push(question);
			return {allow: true};
		},
	});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	expect(seen).toMatchObject([{kind: 'repeat', tool: 'list_files', times: 5}]);
	const results = gateway.requests.at(-1)?.messages.filter((message) => message.role === 'tool') ?? [];
	expect(results.map((message) => message.content.includes('mca: this call'))).toEqual([
		false,
		false,
		true,
		true,
		true,
		true,
		true,
	]);
});

test('a no to that ends the turn', async () => {
	const gateway = saying(...['a', 'b', 'c', 'd', 'e', 'f'].map(again));
	const world = agentWorld({gateway, decide: () => ({allow: false})});
	expect(await world.agent.submit('go')).toMatchObject({why: 'limit'});
	expect(gateway.requests.length).toBe(5);
});

test('twenty calls that differ are legitimate work', async () => {
	const calls = Array.from({length: 20}, (_, n): StreamDelta[] => [
		{type: 'call', index: 0, id: `c${n}`, name: 'search', args: JSON.stringify({pattern: `word${n}`})},
		{type: 'finish', reason: 'tool_calls'},
	]);
	const {seen, decide} = asked();
	const world = agentWorld({gateway: saying(...calls, text('done')), decide});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	expect(seen).toEqual([]);
});

test('no model call is begun once the limit of dollars is reached', async () => {
	const usage: StreamDelta = {type: 'usage', usage: {inputTokens: 1_000_000, outputTokens: 0}};
	const gateway = saying(
		[...again('a').slice(0, 1), usage, {type: 'finish', reason: 'tool_calls'}],
		text('never'),
	);
	const models = {scripted: {price: {input: 2, output: 2}}};
	const world = agentWorld({gateway, models, maxCostUsd: 1});
	expect(await world.agent.submit('go')).toMatchObject({
		why: 'limit',
		message: expect.stringContaining('$2.0000'),
	});
	expect(gateway.requests.length).toBe(1);
});

test('where no price is known a limit of dollars cannot be kept, and it says so instead of going on', async () => {
	const gateway = saying(again('a'), text('never'));
	const world = agentWorld({gateway, maxCostUsd: 1});
	expect(await world.agent.submit('go')).toMatchObject({
		why: 'limit',
		message: expect.stringContaining('price of scripted is not known'),
	});
});

test('what the gate denies never runs, and no file of it appears', async () => {
	const world = agentWorld({
		gateway: scripted({calls: [run('touch made')]}, {say: 'ok'}),
		...terms({refused: ['touch made']}),
	});
	await world.agent.submit('go');
	expect(existsSync(join(world.workspace, 'made'))).toBe(false);
});

test('a variable that holds the key of a provider is seen by no command, whatever it is called', async () => {
	vi.stubEnv('WORK_LLM', 'sk-of-the-work');
	onTestFinished(() => void vi.unstubAllEnvs());
	const show = run('echo "[$WORK_LLM]"');
	const gateway = () => scripted({calls: [show]}, {say: 'ok'});
	const open = agentWorld({gateway: gateway(), ...terms()});
	await open.agent.submit('go');
	expect(JSON.stringify((await open.log()).events)).toContain('[sk-of-the-work]');
	const hidden = agentWorld({gateway: gateway(), ...terms({hiddenVariables: ['WORK_LLM']})});
	await hidden.agent.submit('go');
	expect(JSON.stringify((await hidden.log()).events)).not.toContain('[sk-of-the-work]');
});

test('a file that a command changed is read again before it is overwritten; another session knows nothing of it', async () => {
	const read = {name: 'read_file', args: {path: 'src/calc.js'}};
	const write = {name: 'write_file', args: {path: 'src/calc.js', content: 'export {};\n'}};
	const change = run('echo "// mine" >> src/calc.js');
	const gateway = scripted({calls: [read]}, {calls: [change]}, {calls: [write]}, {say: 'ok'});
	const results = (events: readonly Event[]) =>
		events.flatMap((event) => (event.type === 'tool_end' ? [`${event.name} ${event.result.ok}`] : []));
	const world = agentWorld({gateway});
	await world.agent.submit('go');
	expect(results(world.agent.events)).toEqual(['read_file true', 'run_command true', 'write_file false']);
	expect(readFileSync(join(world.workspace, 'src/calc.js'), 'utf8')).toMatch(/mine\n$/);
	await world.agent.startNew();
	world.agent.useModel('scripted', scripted({calls: [write]}, {say: 'ok'}));
	await world.agent.submit('go');
	expect(results(world.agent.events)).toEqual(['write_file true']);
});
