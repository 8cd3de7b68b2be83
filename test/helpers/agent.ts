import {cpSync, mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {Agent, type AgentOptions} from '../../src/agent/agent.ts';
import type {AgentEvent, Answer, Question} from '../../src/agent/agent-event.ts';
import type {Gateway, Request, StreamDelta} from '../../src/agent/gateway.ts';
import {patient, type RetryPolicy} from '../../src/agent/retry.ts';
import {type Script, scriptedGateway} from '../../src/agent/scripted.ts';
import {readEvents} from '../../src/session/read.ts';
import {sessionFiles, sessionFolder} from '../../src/session/sessions.ts';
import {tools} from '../../src/tools/index.ts';
import {emptyView, reduce} from '../../src/ui/view.ts';
import {temporaryFolder} from './log-file.ts';

/** An agent in a folder of its own, with every event that left it, and another one that can go on from its log. */
export function agentWorld(options: Partial<AgentOptions> & {gateway: Gateway}) {
	const root = temporaryFolder();
	const workspace = join(root, 'repo');
	const data = join(root, 'data');
	cpSync(join(import.meta.dirname, '../../fixtures/repo'), workspace, {recursive: true});
	mkdirSync(data);
	const start = (more: Partial<AgentOptions> = {}) => {
		const agent = new Agent({
			workspace,
			data,
			forbidden: [data],
			defaultModel: 'scripted',
			version: '0.1.0',
			tools,
			decide: () => ({allow: true}),
			retry: impatient,
			...options,
			...more,
		});
		const emitted: AgentEvent[] = [];
		agent.subscribe((event) => emitted.push(event));
		return {agent, emitted, view: () => emitted.reduce(reduce, emptyView)};
	};
	return {
		root,
		workspace,
		data,
		...start(),
		/** The same folders, as another process would find them. */
		another: start,
		files: () => sessionFiles(sessionFolder(data, workspace)),
		/** What stands in the newest session file. */
		async log() {
			const [newest] = await sessionFiles(sessionFolder(data, workspace));
			if (!newest) throw new Error('there is no session');
			return readEvents(newest);
		},
	};
}

/** Three tries, a moment apart. */
export const impatient: RetryPolicy = {...patient, tries: 3, baseMs: 2};

/** Plays steps for one prompt, `go`. */
export function scripted(...steps: Script['turns'][number]['steps']): Gateway {
	return scriptedGateway({name: 'test', turns: [{prompt: 'go', steps}]});
}

export const run = (command: string) => ({name: 'run_command', args: {command}});

/** A gateway that says exactly these deltas, one list a request, and keeps the requests. */
export function saying(...answers: (readonly StreamDelta[] | Error)[]): Gateway & {requests: Request[]} {
	const requests: Request[] = [];
	return {
		name: 'saying',
		requests,
		async *stream(request) {
			const answer = answers[requests.length];
			requests.push({...request, messages: [...request.messages]});
			if (answer instanceof Error) throw answer;
			yield* answer ?? [];
		},
	};
}

export const text = (content: string): StreamDelta[] => [
	{type: 'text', text: content},
	{type: 'finish', reason: 'stop'},
];

/** A person at the gate: resolves with each question as it comes. */
export function questions(agent: Agent) {
	const waiting: ((question: Question) => void)[] = [];
	const asked: Question[] = [];
	agent.subscribe((event) => {
		if (event.type !== 'gate') return;
		const next = waiting.shift();
		if (next) next(event.question);
		else asked.push(event.question);
	});
	return {
		next: () =>
			new Promise<Question>((resolve) => {
				const question = asked.shift();
				if (question) resolve(question);
				else waiting.push(resolve);
			}),
		async answer(answer: Answer) {
			const question = await this.next();
			agent.answer(question.id, answer);
			return question;
		},
	};
}
