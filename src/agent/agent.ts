import {basename, dirname, join} from 'node:path';
import type {Body, Event, Verdict} from '../session/events.ts';
import {type ForkResult, fork, forkPoints, recover} from '../session/fork.ts';
import type {Holder, Lock} from '../session/lock.ts';
import {canWrite, EventTooLarge, NotSaved, SessionLog} from '../session/log.ts';
import {type End, readEvents} from '../session/read.ts';
import {Conversation, lostAnswers, owesAnswer} from '../session/replay.ts';
import {findRecovery, sessionFolder} from '../session/sessions.ts';
import type {Sandbox} from '../tools/process-group.ts';
import type {Tool} from '../tools/tool.ts';
import type {AgentEvent, Answer, Place, Question, Remember, Rest, SessionRef} from './agent-event.ts';
import type {Mode} from './gate.ts';
import type {Gateway, GatewayError} from './gateway.ts';
import {runTurn} from './loop.ts';
import {contextWindowOf, costOf, type OwnModels} from './prices.ts';
import {systemPrompt} from './prompt.ts';
import type {RetryPolicy} from './retry.ts';

export type AgentOptions = {
	/** Real path of the folder that tools work in. */
	workspace: string;
	/** mca's data folder. */
	data: string;
	/** Folders that no tool may touch, as real paths. */
	forbidden: readonly string[];
	gateway: Gateway;
	/** Prices and context windows that the user's config gives. */
	models?: OwnModels;
	/** For tests: how patient a model call is, and how often a streaming answer is kept. */
	retry?: RetryPolicy;
	draftMs?: number;
	/** What a flag or the environment asks for; a resumed session without it keeps the model that it used last. */
	chosenModel?: string;
	defaultModel: string;
	/** mca's own version, for line 1. */
	version: string;
	tools: readonly Tool[];
	/** Model calls in a turn before the person is asked to go on. */
	maxSteps?: number;
	/** The mode to begin with; a session that is resumed never brings one along. */
	mode?: Mode;
	/** What holds in a folder that tools are to work in. Rejects with a sentence where the folder cannot be understood. Absent: everything is asked, and there is no sandbox. */
	termsOf?(workspace: string): Promise<Terms>;
	/** A rule that a person made, or took back, is to outlast the session. */
	keepRule?(workspace: string, command: string): void;
	dropRule?(workspace: string, command: string): void;
	/** No model call is begun once this much was spent in this run, US dollars. */
	maxCostUsd?: number;
	/** Answers every question where there is no person; without it `answer` does. */
	decide?: (question: Question) => Answer;
};

/** What holds in one folder, by the person's decisions and by what the folder says where it is trusted. */
export type Terms = {
	/** Folders and files that no tool may touch, as real paths. */
	forbidden: readonly string[];
	/** For the system message of new sessions; '' for nothing. */
	instructions: string;
	/** Commands that are allowed there, to the letter. */
	rules: readonly string[];
	/** Commands that the folder's settings refuse, to the letter. */
	refused: readonly string[];
	/** Absent where there is none, or where it is off: then every command is asked. */
	sandbox?: Sandbox;
	/** Environment variables that no command may see, since they hold the key of a provider. */
	hiddenVariables?: readonly string[];
};

/** How a session was found: `recoveredBy` is the newest that went on from this cut before, `holder` who writes it meanwhile. */
export type Opened = {end: End; recoveredBy?: string; holder?: Holder};

/** What the agent holds of a session. */
type Held =
	/** Nothing yet: the next prompt begins one. */
	| {at: 'none'}
	/** Its log, which it may append to. */
	| {at: 'open'; log: SessionLog}
	/** One that did not end whole: the next prompt goes on in a new one. */
	| {at: 'cut'; path: string; bytes: number; end: Extract<End, {at: 'cut'}>; lock: Lock}
	/** One that another process writes: it can be read and forked. */
	| {at: 'held'; path: string; holder: Holder}
	/** One whose log is closed: what is on disk stays, and a new session can go on from it once the disk takes writes again. */
	| {at: 'unsaved'; log: SessionLog};

/** Which model was asked, and where, if that is known. */
type Asked = {model: string; provider?: string | undefined};

/** How often a disk that refused a write is tried again, ms. */
const diskLookMs = 2000;

/** Holds one session and one turn. Everything that happens leaves through `subscribe`. */
export class Agent {
	readonly #options: AgentOptions;
	readonly #listeners = new Set<(event: AgentEvent) => void>();
	#workspace: string;
	#model: string;
	#gateway: Gateway;
	#contextWindow: number | undefined;
	#mode: Mode;
	/** What holds in the workspace, from when it is entered. */
	#terms: Promise<Terms> | undefined;
	/** The terms once they are known. */
	#known: Terms;
	/** Commands that were allowed in this session, beside the rules of the folder. */
	#allowed = new Set<string>();
	/** What the tools know of the files that the model has seen since the session was opened. */
	readonly #seen = new Map<string, string>();
	#spent: {usd: number; unpriced: boolean} = {usd: 0, unpriced: false};
	#held: Held = {at: 'none'};
	#events: Event[] = [];
	#conversation = new Conversation();
	#turn: AbortController | undefined;
	/** Resolves when the turn rests. */
	#running: Promise<unknown> = Promise.resolve();
	#question: {id: string; resolve: (answer: Answer) => void} | undefined;
	#lastAnswer: Promise<unknown> = Promise.resolve();
	#diskTimer: NodeJS.Timeout | undefined;
	/** Ends the wait before the next try. */
	#hurry: (() => void) | undefined;

	constructor(options: AgentOptions) {
		this.#options = options;
		this.#workspace = options.workspace;
		this.#model = options.chosenModel ?? options.defaultModel;
		this.#gateway = options.gateway;
		this.#mode = options.mode ?? 'ask';
		this.#known = {forbidden: options.forbidden, instructions: '', rules: [], refused: []};
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
		switch (this.#held.at) {
			case 'none':
				return undefined;
			case 'open':
			case 'unsaved':
				return this.#held.log.path;
			default:
				return this.#held.path;
		}
	}

	get busy(): boolean {
		return this.#turn !== undefined;
	}

	/**
	Show a session and go on with it at the next prompt. Nothing is written. `workspace` is where its tools will work. One that
	another process holds is shown as far as it has come.
	*/
	open(path: string, workspace = this.#options.workspace): Promise<Opened> {
		return this.#open(path, workspace, (events) => this.#chooseModel(lastAsked(events)));
	}

	/** `choose` settles which model is asked, and says so where that is a surprise. */
	async #open(
		path: string,
		workspace: string,
		choose: (events: readonly Event[]) => string | undefined,
	): Promise<Opened> {
		await this.#letGo();
		const opened = await SessionLog.reopen(path).catch(async (error) => {
			// The session before is let go of: none of it may stay on the screen or go into the next one.
			await this.startNew();
			throw error;
		});
		const {read} = opened;
		this.#enter(workspace);
		const surprise = choose(read.events);
		this.#held =
			opened.at === 'open'
				? {at: 'open', log: opened.log}
				: opened.at === 'held'
					? {at: 'held', path, holder: opened.holder}
					: {at: 'cut', path, bytes: read.bytes, end: opened.end, lock: opened.lock};
		const recovered =
			opened.at === 'cut' ? await findRecovery(path, {events: read.events, cut: opened.end}) : undefined;
		const more = {
			...(recovered ? {recoveredBy: basename(recovered, '.jsonl')} : {}),
			...(opened.at === 'held' ? {holder: opened.holder} : {}),
		};
		this.#show(read.events, read.end, more);
		if (surprise !== undefined) this.tell(surprise);
		return {end: read.end, ...more};
	}

	/** Start afresh: the next prompt begins a new session. */
	async startNew(): Promise<void> {
		await this.#letGo();
		this.#enter(this.#options.workspace);
		this.#chooseModel();
		this.#show([], {at: 'whole'});
	}

	/** The model that a flag or the environment asks for, else the one that was asked last, else what is configured. */
	#chooseModel(last?: Asked): string | undefined {
		const {gateway, chosenModel, defaultModel} = this.#options;
		// A model of another provider is not known to this one.
		const isElsewhere = last?.provider !== undefined && last.provider !== gateway.name;
		this.#gateway = gateway;
		this.#model = chosenModel ?? (isElsewhere ? undefined : last?.model) ?? defaultModel;
		if (!isElsewhere || chosenModel || last.model === this.#model) return undefined;
		return `${last.model} at ${last.provider} was asked before; from now on it is ${this.#model} at ${gateway.name}. /model changes that.`;
	}

	/** Give the session a name. Answers with a sentence where that cannot be. */
	async rename(title: string): Promise<string | undefined> {
		if (this.#held.at !== 'open' || this.#events.length === 0) {
			return 'Only a session that is being saved can take a name.';
		}
		try {
			await this.#append([{type: 'name', title}]);
			return undefined;
		} catch (error) {
			if (error instanceof EventTooLarge) return error.message;
			if (!(error instanceof NotSaved)) throw error;
			this.#watchDisk();
			this.#emit({type: 'rest', rest: {why: 'unsaved', message: error.message}});
			return error.message;
		}
	}

	/** Fork the session and go on in the child. Refused with a sentence where that is not a clean boundary, or the disk says no. */
	async fork(at?: {seq: number; before?: boolean}): Promise<ForkResult> {
		const path = this.path;
		if (!path) return {ok: false, reason: 'There is nothing to fork yet: no question has been asked.'};
		const forked = await fork(path, at);
		if (!forked.ok) return forked;
		await forked.log.close();
		await this.#open(forked.log.path, this.#workspace, () => undefined);
		return forked;
	}

	get mode(): Mode {
		return this.#mode;
	}

	/** From the next call on. A session that is resumed never brings its mode along. */
	useMode(mode: Mode): void {
		this.#mode = mode;
		this.#emit({type: 'placed', place: this.#place()});
	}

	/** The commands that are allowed to the letter. */
	get rules(): readonly string[] {
		return [...new Set([...this.#known.rules, ...this.#allowed])];
	}

	removeRule(command: string): void {
		this.#allowed.delete(command);
		this.#known = {...this.#known, rules: this.#known.rules.filter((rule) => rule !== command)};
		this.#terms = Promise.resolve(this.#known);
		this.#options.dropRule?.(this.#workspace, command);
	}

	/** From the next model call on ask another model, of the same or another provider. */
	useModel(model: string, gateway: Gateway = this.#gateway): void {
		this.#model = model;
		this.#gateway = gateway;
		this.#emit({type: 'placed', place: this.#place()});
		this.#learnModel();
	}

	/** Send a prompt, or with '' ask the model for the answer it owes. Resolves when the turn rests. Never rejects for a full disk. */
	async submit(prompt: string): Promise<Rest> {
		if (this.#turn) throw new Error('A turn is running.');
		// Whoever had it may have gone meanwhile: then it is ours.
		if (this.#held.at === 'held') await this.#open(this.#held.path, this.#workspace, () => undefined);
		if (this.#held.at === 'held') {
			const rest: Rest = {why: 'failed', message: heldSentence(this.#held.path, this.#held.holder)};
			if (prompt !== '') rest.unsent = prompt;
			this.#emit({type: 'rest', rest});
			return rest;
		}
		this.#turn = new AbortController();
		this.#emit({type: 'start'});
		const running = this.#run(prompt, this.#turn.signal);
		this.#running = running.catch(() => {});
		const rest = await running;
		this.#turn = undefined;
		this.#emit({type: 'rest', rest});
		return rest;
	}

	/** Stop the turn. Every pending call still gets its answer, then the turn rests. */
	cancel(): void {
		this.#turn?.abort();
		this.#settle({allow: false});
	}

	/** Try again now instead of waiting for it. */
	retryNow(): void {
		this.#hurry?.();
	}

	/** Answer the question with this id. One that is over is ignored. */
	answer(id: string, answer: Answer): void {
		if (this.#question?.id === id) this.#settle(answer);
	}

	/** A sentence for the person that comes from outside the turn. */
	tell(text: string): void {
		this.#emit({type: 'notice', text});
	}

	/** Stop the turn, wait until every call of it is answered, and let go of the session. What it was can still be asked. */
	async close(): Promise<void> {
		this.cancel();
		await this.#running;
		await this.#release();
	}

	async #run(prompt: string, signal: AbortSignal): Promise<Rest> {
		if (!this.#terms) this.#enter(this.#workspace);
		try {
			if (this.#terms) this.#known = await this.#terms;
		} catch (error) {
			// Looked at afresh with the next prompt: until then it may be mended.
			this.#terms = undefined;
			return {why: 'failed', message: (error as Error).message, ...(prompt === '' ? {} : {unsent: prompt})};
		}
		let begun = false;
		try {
			await this.#begin(prompt);
			begun = true;
			// The line that could not be synced may have been the answer, which the new session then has.
			if (prompt === '' && !owesAnswer(this.#events)) return {why: 'done'};
			return await runTurn({
				gateway: this.#gateway,
				model: this.#model,
				tools: this.#options.tools,
				workspace: this.#workspace,
				forbidden: this.#known.forbidden,
				spillFolder: join(this.#options.data, 'spill', this.session?.id ?? 'none'),
				messages: () => this.#conversation.messages(),
				append: (...bodies) => this.#append(bodies),
				emit: (event) => this.#emit(event),
				ask: (question) => this.#ask(question, signal),
				signal,
				maxSteps: this.#options.maxSteps ?? 50,
				price: (usage) =>
					costOf(usage, {model: this.#model, baseURL: this.#gateway.baseURL}, this.#options.models ?? {}),
				wait: (ms, why) => this.#wait(ms, why, signal),
				wayOut: (error) => wayOut(error, this.#events),
				policy: () => ({
					mode: this.#mode,
					rules: this.rules,
					refused: this.#known.refused,
					hasSandbox: this.#known.sandbox !== undefined,
				}),
				...(this.#known.sandbox ? {sandbox: this.#known.sandbox} : {}),
				...(this.#known.hiddenVariables ? {hiddenVariables: this.#known.hiddenVariables} : {}),
				seen: this.#seen,
				overBudget: () => this.#overBudget(),
				...(this.#options.retry ? {retry: this.#options.retry} : {}),
				...(this.#options.draftMs === undefined ? {} : {draftMs: this.#options.draftMs}),
			});
		} catch (error) {
			const unsent = begun || prompt === '' ? {} : {unsent: prompt};
			if (error instanceof EventTooLarge) return {why: 'failed', message: error.message, ...unsent};
			// Before the first line is in place there is no session yet: the disk said no, and the prompt is still here.
			if (error instanceof NotSaved || !begun) {
				this.#watchDisk();
				const message =
					error instanceof NotSaved
						? error.message
						: `The session cannot be saved: ${(error as Error).message}.`;
				return {why: 'unsaved', message, ...unsent};
			}
			throw error;
		}
	}

	/** The log closed itself, or the session that was to go on from it could not be made: see when the disk takes writes again. */
	#watchDisk(): void {
		if (this.#held.at === 'open') this.#held = {at: 'unsaved', log: this.#held.log};
		if (this.#held.at !== 'unsaved') return;
		const folder = dirname(this.#held.log.path);
		const look = () => {
			if (canWrite(folder)) this.#emit({type: 'writable'});
			else this.#diskTimer = setTimeout(look, diskLookMs).unref();
		};
		clearTimeout(this.#diskTimer);
		this.#diskTimer = setTimeout(look, 0).unref();
	}

	/** Put the prompt on disk: in a new session, at the end of this one, or in the one that goes on from this one. */
	async #begin(prompt: string): Promise<void> {
		const user: Body[] = prompt === '' ? [] : [{type: 'message', message: {role: 'user', content: prompt}}];
		const bodies = [...lostAnswers(this.#events), ...user];
		const held = this.#held;
		if (held.at === 'unsaved') return this.#goOnElsewhere(held.log, prompt);
		if (held.at === 'open' && this.#events.length > 0) {
			if (bodies.length > 0) await this.#append(bodies);
			return;
		}
		if (held.at === 'cut' && this.#events.length > 0) {
			const read = {events: this.#events, bytes: held.bytes, cut: cutOf(held.end)};
			const {log, events} = await recover(held.path, read, bodies);
			await held.lock.release();
			this.#hold(log, events);
			return;
		}
		const {log, events} = await SessionLog.create(
			sessionFolder(this.#options.data, this.#workspace),
			(id) => [
				{
					type: 'message',
					message: {role: 'system', content: systemPrompt(this.#workspace, this.#known.instructions)},
					session: {
						id,
						workspace: this.#workspace,
						model: this.#model,
						version: this.#options.version,
						format: 1,
					},
				},
				...user,
			],
		);
		await this.#letGo();
		this.#hold(log, events);
	}

	/** From a log that was closed by a failed write into a new session: what the disk has of it, whole line by whole line. */
	async #goOnElsewhere(closed: SessionLog, prompt: string): Promise<void> {
		const {events, end, bytes} = await readEvents(closed.path).catch((error: NodeJS.ErrnoException) => {
			if (error.code === 'ENOENT') return {events: [], end: {at: 'whole'} as const, bytes: 0};
			throw error;
		});
		if (events.length === 0) {
			// Somebody deleted the file or cut it down to nothing, so there is nothing to go on from.
			await this.#letGo();
			this.#show([], {at: 'whole'});
			this.#emit({type: 'start'});
			return this.#begin(prompt);
		}
		const cut = end.at === 'cut' ? {cut: cutOf(end)} : {};
		const user: Body[] =
			prompt === '' || this.#isThere(prompt, events)
				? []
				: [{type: 'message', message: {role: 'user', content: prompt}}];
		const {log, events: added} = await recover(closed.path, {events, bytes, ...cut}, [
			...lostAnswers(events),
			...user,
		]);
		await this.#letGo();
		this.#held = {at: 'open', log};
		this.#show([...events, ...added], {at: 'whole'});
		this.#emit({type: 'start'});
	}

	/** A prompt whose sync failed came back unsent, and can be on disk all the same: it is not asked twice. */
	#isThere(prompt: string, onDisk: readonly Event[]): boolean {
		const last = onDisk.at(-1);
		return (
			onDisk.length > this.#events.length &&
			last?.type === 'message' &&
			last.message.role === 'user' &&
			last.message.content === prompt.toWellFormed()
		);
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
			if (event.type === 'usage') {
				const {usd, unpriced} = this.#spent;
				const cost = event.costUsd ?? null;
				this.#spent = {usd: usd + (cost ?? 0), unpriced: unpriced || cost === null};
			}
			this.#emit({type: 'logged', event});
		}
	}

	#show(events: Event[], end: End, more: Omit<Opened, 'end'> = {}): void {
		this.#events = events;
		this.#conversation = new Conversation();
		for (const event of events) if (event.type === 'message') this.#conversation.add(event.message);
		this.#learnModel();
		this.#emit({
			type: 'opened',
			session: this.session,
			place: this.#place(),
			events: [...events],
			end,
			...more,
		});
	}

	async #letGo(): Promise<void> {
		const released = this.#release();
		this.#held = {at: 'none'};
		await released;
	}

	async #release(): Promise<void> {
		const held = this.#held;
		clearTimeout(this.#diskTimer);
		if (held.at === 'open' || held.at === 'unsaved') await held.log.close();
		if (held.at === 'cut') await held.lock.release();
	}

	/** Work in a folder from now on. What holds there is found out while the screen is drawn already. */
	#enter(workspace: string): void {
		this.#workspace = workspace;
		this.#allowed.clear();
		this.#seen.clear();
		const terms = this.#options.termsOf?.(workspace);
		if (!terms) return;
		this.#terms = terms;
		terms.then(
			(known) => {
				if (this.#terms !== terms) return;
				this.#known = known;
				this.#emit({type: 'placed', place: this.#place()});
			},
			(error: Error) => {
				if (this.#terms === terms) this.tell(error.message);
			},
		);
	}

	#place(): Place {
		const known = this.#contextWindow === undefined ? {} : {contextWindow: this.#contextWindow};
		return {
			workspace: this.#workspace,
			model: this.#model,
			provider: this.#gateway.name,
			mode: this.#mode,
			sandbox: this.#known.sandbox !== undefined,
			...known,
		};
	}

	#overBudget(): string | undefined {
		const {maxCostUsd} = this.#options;
		if (maxCostUsd === undefined) return undefined;
		const {usd, unpriced} = this.#spent;
		if (unpriced)
			return `The turn stopped: the price of ${this.#model} is not known, so the limit of $${maxCostUsd} cannot be kept. Set prices in config.json.`;
		if (usd >= maxCostUsd) return `The turn stopped at $${usd.toFixed(4)}, the limit being $${maxCostUsd}.`;
		return undefined;
	}

	/** The catalogue is loaded behind the screen's back: what it says of the model comes when it comes. */
	#learnModel(): void {
		const model = this.#model;
		this.#contextWindow = undefined;
		contextWindowOf({model, baseURL: this.#gateway.baseURL}, this.#options.models ?? {}).then(
			(tokens) => {
				if (tokens === undefined || model !== this.#model) return;
				this.#contextWindow = tokens;
				this.#emit({type: 'placed', place: this.#place()});
			},
			() => {},
		);
	}

	async #wait(ms: number, why: string, signal: AbortSignal): Promise<void> {
		this.#emit({type: 'retry', wait: {until: Date.now() + ms, why}});
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, ms);
			this.#hurry = () => {
				clearTimeout(timer);
				resolve();
			};
			signal.addEventListener('abort', this.#hurry, {once: true});
			if (signal.aborted) this.#hurry();
		});
		this.#hurry = undefined;
		this.#emit({type: 'retry', wait: null});
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
			if (answer.allow && answer.remember) this.#remember(answer.remember);
			return answer;
		});
		this.#lastAnswer = answered;
		return answered;
	}

	#remember({command, keep}: Remember): void {
		this.#allowed.add(command);
		if (keep) this.#options.keepRule?.(this.#workspace, command);
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

/** What to say to the second one who wants to go on with a session. */
export function heldSentence(path: string, holder: Holder): string {
	const id = basename(path, '.jsonl');
	const who =
		holder === 'unknown'
			? 'another process, which does not answer'
			: `process ${holder.pid} since ${localTime(holder.since)}`;
	return `Session ${id} is open in ${who}. It can be read here, and forked to go on in a copy.`;
}

/**
How to go on after a request that will fail each time. What came since the last answer has not been accepted yet, so the fork
point before it is where the conversation was still good.
*/
export function wayOut(error: GatewayError, events: readonly Event[]): string {
	if (error.kind !== 'request') return '';
	if (error.isTooLong) return 'Esc Esc or /fork shows the points there are.';
	const lastAnswer = events.findLast(
		(event) => event.type === 'message' && event.message.role === 'assistant',
	);
	const suspect = events.find((event) => event.type === 'message' && event.seq > (lastAnswer?.seq ?? 1));
	const good = forkPoints(events).findLast((point) => point.seq < (suspect?.seq ?? 0));
	return good
		? `If it fails each time, /fork ${good.seq} goes on from before it.`
		: '/new begins a new session.';
}

/** The reader's own day and time, to the second. */
function localTime(iso: string): string {
	const date = new Date(iso);
	if (Number.isNaN(date.getTime())) return iso;
	const two = (number: number) => String(number).padStart(2, '0');
	const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
	return `${day} ${date.toTimeString().slice(0, 8)}`;
}

function lastAsked(events: readonly Event[]): Asked | undefined {
	const last = events.findLast((event) => event.type === 'usage');
	if (last?.type === 'usage') return last;
	const first = events[0];
	return first?.type === 'message' && first.session ? {model: first.session.model} : undefined;
}

function cutOf({line, reason, ignoredBytes}: Extract<End, {at: 'cut'}>) {
	return {line, reason, ignoredBytes};
}
