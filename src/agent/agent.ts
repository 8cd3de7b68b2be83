import {basename, join} from 'node:path';
import type {Body, Event, Verdict} from '../session/events.ts';
import {type ForkResult, fork, recover} from '../session/fork.ts';
import {EventTooLarge, NotSaved, SessionLog} from '../session/log.ts';
import {type End, type LogRead, readEvents} from '../session/read.ts';
import {Conversation, lostAnswers} from '../session/replay.ts';
import {findRecovery, sessionFolder} from '../session/sessions.ts';
import type {Tool} from '../tools/tool.ts';
import type {AgentEvent, Answer, Question, Rest, SessionRef} from './agent-event.ts';
import type {Gateway} from './gateway.ts';
import {runTurn} from './loop.ts';
import {systemPrompt} from './prompt.ts';

export type AgentOptions = {
	/** Real path of the folder that tools work in. */
	workspace: string;
	/** mca's data folder. */
	data: string;
	/** Folders that no tool may touch, as real paths. */
	forbidden: readonly string[];
	gateway: Gateway;
	/** What a flag or the environment asks for; a resumed session without it keeps the model that it used last. */
	chosenModel?: string;
	defaultModel: string;
	/** mca's own version, for line 1. */
	version: string;
	tools: readonly Tool[];
	/** Model calls in a turn before the person is asked to go on. */
	maxSteps?: number;
	/** Answers every question where there is no person; without it `answer` does. */
	decide?: (question: Question) => Answer;
};

/** What the agent holds: nothing yet, a log that it may append to, or one that ended in the middle of a line. */
type Held =
	| {at: 'none'}
	| {at: 'open'; log: SessionLog}
	| {at: 'cut'; path: string; bytes: number; end: Extract<End, {at: 'cut'}>};

/** Holds one session and one turn. Everything that happens leaves through `subscribe`. */
export class Agent {
	readonly #options: AgentOptions;
	readonly #listeners = new Set<(event: AgentEvent) => void>();
	#workspace: string;
	#model: string;
	#held: Held = {at: 'none'};
	#events: Event[] = [];
	#conversation = new Conversation();
	#turn: AbortController | undefined;
	#question: {id: string; resolve: (answer: Answer) => void} | undefined;
	#lastAnswer: Promise<unknown> = Promise.resolve();

	constructor(options: AgentOptions) {
		this.#options = options;
		this.#workspace = options.workspace;
		this.#model = options.chosenModel ?? options.defaultModel;
	}

	subscribe(listener: (event: AgentEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Every event of the session so far. */
	get events(): readonly Event[] {
		return this.#events;
	}

	get session(): SessionRef | null {
		const path = this.path;
		if (!path) return null;
		return {id: basename(path, '.jsonl'), path};
	}

	get path(): string | undefined {
		if (this.#held.at === 'open') return this.#held.log.path;
		return this.#held.at === 'cut' ? this.#held.path : undefined;
	}

	get busy(): boolean {
		return this.#turn !== undefined;
	}

	/** Show a session and go on with it at the next prompt. Nothing is written. `workspace` is where its tools will work. */
	async open(path: string, workspace = this.#options.workspace): Promise<LogRead> {
		const read = await readEvents(path);
		await this.#letGo();
		this.#workspace = workspace;
		this.#model = this.#options.chosenModel ?? lastModel(read.events) ?? this.#options.defaultModel;
		this.#held =
			read.end.at === 'whole'
				? {at: 'open', log: SessionLog.reopen(path, {seq: read.events.at(-1)?.seq ?? 0, bytes: read.bytes})}
				: {at: 'cut', path, bytes: read.bytes, end: read.end};
		const recovered =
			read.end.at === 'cut' ? await findRecovery(path, {events: read.events, cut: read.end}) : undefined;
		this.#show(read.events, read.end, recovered && basename(recovered, '.jsonl'));
		return read;
	}

	/** Start afresh: the next prompt begins a new session. */
	async startNew(): Promise<void> {
		await this.#letGo();
		this.#workspace = this.#options.workspace;
		this.#model = this.#options.chosenModel ?? this.#options.defaultModel;
		this.#show([], {at: 'whole'});
	}

	/** Fork the session and go on in the child. Refused with a sentence where that is not a clean boundary. */
	async fork(at?: {seq: number; before?: boolean}): Promise<ForkResult> {
		const path = this.path;
		if (!path) return {ok: false, reason: 'There is nothing to fork yet: no question has been asked.'};
		const forked = await fork(path, at);
		if (!forked.ok) return forked;
		await forked.log.close();
		await this.open(forked.log.path, this.#workspace);
		return forked;
	}

	/** Send a prompt, or with '' ask the model for the answer it owes. Resolves when the turn rests. Never rejects for a full disk. */
	async submit(prompt: string): Promise<Rest> {
		if (this.#turn) throw new Error('A turn is running.');
		this.#turn = new AbortController();
		this.#emit({type: 'start'});
		const rest = await this.#run(prompt, this.#turn.signal);
		this.#turn = undefined;
		this.#emit({type: 'rest', rest});
		return rest;
	}

	/** Stop the turn. Every pending call still gets its answer, then the turn rests. */
	cancel(): void {
		this.#turn?.abort();
		this.#settle({allow: false});
	}

	/** Answer the question with this id. One that is over is ignored. */
	answer(id: string, answer: Answer): void {
		if (this.#question?.id === id) this.#settle(answer);
	}

	/** A sentence for the person that comes from outside the turn. */
	tell(text: string): void {
		this.#emit({type: 'notice', text});
	}

	async close(): Promise<void> {
		this.cancel();
		await this.#letGo();
	}

	async #run(prompt: string, signal: AbortSignal): Promise<Rest> {
		let begun = false;
		try {
			await this.#begin(prompt);
			begun = true;
			return await runTurn({
				gateway: this.#options.gateway,
				model: this.#model,
				tools: this.#options.tools,
				workspace: this.#workspace,
				forbidden: this.#options.forbidden,
				spillFolder: join(this.#options.data, 'spill', this.session?.id ?? 'none'),
				messages: () => this.#conversation.messages(),
				append: (...bodies) => this.#append(bodies),
				emit: (event) => this.#emit(event),
				ask: (question) => this.#ask(question, signal),
				signal,
				maxSteps: this.#options.maxSteps ?? 50,
			});
		} catch (error) {
			const unsent = begun || prompt === '' ? {} : {unsent: prompt};
			if (error instanceof EventTooLarge) return {why: 'failed', message: error.message, ...unsent};
			if (error instanceof NotSaved) return {why: 'unsaved', message: error.message, ...unsent};
			// Before the first line is in place there is no session yet: the disk said no, and the prompt is still here.
			if (!begun)
				return {
					why: 'unsaved',
					message: `The session cannot be saved: ${(error as Error).message}`,
					...unsent,
				};
			throw error;
		}
	}

	/** Put the prompt on disk: in a new session, at the end of this one, or in the one that recovers this one. */
	async #begin(prompt: string): Promise<void> {
		const user: Body[] = prompt === '' ? [] : [{type: 'message', message: {role: 'user', content: prompt}}];
		const bodies = [...lostAnswers(this.#events), ...user];
		const held = this.#held;
		if (held.at === 'open' && this.#events.length > 0) {
			if (bodies.length > 0) await this.#append(bodies);
			return;
		}
		if (held.at === 'cut' && this.#events.length > 0) {
			const read = {events: this.#events, bytes: held.bytes, cut: withoutAt(held.end)};
			const {log, events} = recover(held.path, read, bodies);
			this.#hold(log, events);
			return;
		}
		const {log, events} = SessionLog.create(sessionFolder(this.#options.data, this.#workspace), (id) => [
			{
				type: 'message',
				message: {role: 'system', content: systemPrompt(this.#workspace)},
				session: {
					id,
					workspace: this.#workspace,
					model: this.#model,
					version: this.#options.version,
					format: 1,
				},
			},
			...user,
		]);
		await this.#letGo();
		this.#hold(log, events);
	}

	#hold(log: SessionLog, events: readonly Event[]): void {
		this.#held = {at: 'open', log};
		const session = this.session;
		if (session) this.#emit({type: 'moved', session});
		this.#logged(events);
	}

	async #append(bodies: Body[]): Promise<Event[]> {
		if (this.#held.at !== 'open') throw new Error('There is no open log.');
		const events = await this.#held.log.append(...bodies);
		this.#logged(events);
		return events;
	}

	#logged(events: readonly Event[]): void {
		for (const event of events) {
			this.#events.push(event);
			if (event.type === 'message') this.#conversation.add(event.message);
			this.#emit({type: 'logged', event});
		}
	}

	#show(events: Event[], end: End, recoveredBy?: string): void {
		this.#events = events;
		this.#conversation = new Conversation();
		for (const event of events) if (event.type === 'message') this.#conversation.add(event.message);
		this.#emit({
			type: 'opened',
			session: this.session,
			place: {workspace: this.#workspace, model: this.#model},
			events: [...events],
			end,
			...(recoveredBy ? {recoveredBy} : {}),
		});
	}

	async #letGo(): Promise<void> {
		if (this.#held.at === 'open') await this.#held.log.close();
		this.#held = {at: 'none'};
	}

	/** One question at a time: parallel calls wait for each other here. */
	#ask(question: Question, signal: AbortSignal): Promise<Answer & {by?: Verdict['by']}> {
		const answered = this.#lastAnswer.then(async () => {
			if (signal.aborted) return {allow: false} as const;
			this.#emit({type: 'gate', question});
			const decided = this.#options.decide?.(question);
			const answer = decided
				? {...decided, by: 'headless' as const}
				: await new Promise<Answer>((resolve) => {
						this.#question = {id: question.id, resolve};
					});
			this.#emit({type: 'answered', id: question.id});
			return answer;
		});
		this.#lastAnswer = answered;
		return answered;
	}

	#settle(answer: Answer): void {
		const question = this.#question;
		this.#question = undefined;
		question?.resolve(answer);
	}

	#emit(event: AgentEvent): void {
		for (const listener of this.#listeners) listener(event);
	}
}

function lastModel(events: readonly Event[]): string | undefined {
	const last = events.findLast((event) => event.type === 'usage');
	if (last?.type === 'usage') return last.model;
	const first = events[0];
	return first?.type === 'message' ? first.session?.model : undefined;
}

function withoutAt({line, reason, ignoredBytes}: Extract<End, {at: 'cut'}>) {
	return {line, reason, ignoredBytes};
}
