import {performance} from 'node:perf_hooks';
import type {
	AssistantMessage,
	Body,
	Event,
	FileChange,
	Message,
	ToolCall,
	Verdict,
} from '../session/events.ts';
import {NotSaved} from '../session/log.ts';
import type {Sandbox} from '../tools/process-group.ts';
import type {PreparedCall, Preview, Tool, ToolContext, ToolResult} from '../tools/tool.ts';
import {accumulator} from './accumulate.ts';
import type {AgentEvent, Answer, Question, Rest} from './agent-event.ts';
import {judge, type Policy} from './gate.ts';
import {type Gateway, GatewayError, type StreamDelta, type Usage} from './gateway.ts';
import {nextTry, patient, type RetryPolicy} from './retry.ts';

/** What one turn needs. The caller holds the conversation; the loop only asks for it and appends to it. */
export type Turn = {
	gateway: Gateway;
	model: string;
	tools: readonly Tool[];
	workspace: string;
	forbidden: readonly string[];
	spillFolder: string;
	/** The conversation as the log has it at this moment. */
	messages(): readonly Message[];
	/** Resolves when the events are on disk; rejects when the log is closed, which ends the turn before any further effect. */
	append(...bodies: Body[]): Promise<Event[]>;
	emit(event: AgentEvent): void;
	/** Waits for a person. Where there is none, answers no at once. */
	ask(question: Question): Promise<Answer & {by?: Verdict['by']}>;
	signal: AbortSignal;
	/** Model calls before the person is asked to go on. */
	maxSteps: number;
	/** As it is now: a person may change it while the turn runs. */
	policy(): Policy;
	/** Where commands run that are allowed for the sandbox only. */
	sandbox?: Sandbox;
	/** Environment variables that no command may see. */
	hiddenVariables?: readonly string[];
	/** What the tools know of the files that the model has seen. */
	seen?: Map<string, string>;
	/** Why no further model call may be paid for, if that is so. */
	overBudget(): string | undefined;
	/** What the call cost, US dollars; null where the price is not known. */
	price(usage: Usage): Promise<number | null>;
	/** Waits, visibly; less where the person is in a hurry, and no longer than until the signal aborts. */
	wait(ms: number, why: string): Promise<void>;
	/** A sentence on how to go on after an error that asking again does not mend, or ''. */
	wayOut(error: GatewayError): string;
	retry?: RetryPolicy;
	/** Between two draft events, ms; 2 s where nothing is said. */
	draftMs?: number;
};

type Said = {message: AssistantMessage; usage: Usage | undefined; finish: string | undefined; ms: number};
type Ended = {call: ToolCall; result: ToolResult; verdict: Verdict; ms: number; stoppedBy?: StoppedBy};
type StoppedBy = 'gate' | 'loop' | 'cancel' | 'timeout' | 'limit';

const cancelledByUser = 'cancelled by the user; stop and wait';

/**
One turn: ask the model, record what it said, pass the gate, run, record, until no call is left.

Every call gets an answer whatever happens, since a conversation with an unanswered call is rejected by every provider.
Rejects only with what `append` rejects with.
*/
export async function runTurn(turn: Turn): Promise<Rest> {
	const repeated = repetition();
	for (let step = 1; ; step++) {
		if (step > 1 && (step - 1) % turn.maxSteps === 0) {
			const answer = await turn.ask({kind: 'steps', id: `steps-${step}`, steps: step - 1});
			if (turn.signal.aborted) return {why: 'cancelled'};
			if (!answer.allow) return {why: 'limit', message: `The turn stopped after ${step - 1} model calls.`};
		}
		const broke = turn.overBudget();
		if (broke !== undefined) return {why: 'limit', message: broke};
		const said = await askModel(turn);
		if ('rest' in said) return said.rest;
		const {message} = said;
		await turn.append(await usageOf(turn, said), {type: 'message', message});
		if (!message.toolCalls) return {why: 'done'};
		await runCalls(turn, message.toolCalls, said.finish, repeated);
		if (turn.signal.aborted) return {why: 'cancelled'};
		const stuck = repeated.stuck();
		if (!stuck) continue;
		const answer = await turn.ask({kind: 'repeat', id: `repeat-${step}`, ...stuck});
		if (turn.signal.aborted) return {why: 'cancelled'};
		if (!answer.allow)
			return {
				why: 'limit',
				message: `The turn stopped: ${stuck.tool} was called ${stuck.times} times with the same result.`,
			};
	}
}

/**
Ask the model until it answers, or until it makes no sense to ask again. Every failed try is an error event with what came of
it. Only an answer that the model finished becomes a message.
*/
async function askModel(turn: Turn): Promise<Said | {rest: Rest}> {
	const policy = turn.retry ?? patient;
	let waitedMs = 0;
	for (let tries = 1; ; tries++) {
		const tried = await tryOnce(turn);
		if (tried.at === 'said') return tried.said;
		const partial = tried.partial === '' ? {} : {partial: cutToFit(tried.partial)};
		if (tried.at === 'cancelled') {
			await turn.append({type: 'error', message: 'stopped by the user', did: 'cancelled', ...partial});
			return {rest: {why: 'cancelled'}};
		}
		const next = nextTry(tried.error, tries, waitedMs, policy);
		if (!next.again) {
			const message = [tried.error.message, next.why, turn.wayOut(tried.error)].filter(Boolean).join(' ');
			await turn.append({type: 'error', message, did: 'gaveUp', ...partial});
			return {rest: {why: 'failed', message}};
		}
		await turn.append({type: 'error', message: tried.error.message, did: 'retried', ...partial});
		await turn.wait(next.waitMs, tried.error.message);
		waitedMs += next.waitMs;
		if (turn.signal.aborted) return {rest: {why: 'cancelled'}};
	}
}

type Tried =
	| {at: 'said'; said: Said}
	| {at: 'cancelled'; partial: string}
	| {at: 'failed'; error: GatewayError; partial: string};

/** One request and its answer. What streams is kept in draft events meanwhile, so that a kill does not lose it. */
async function tryOnce(turn: Turn): Promise<Tried> {
	const begun = performance.now();
	const answer = accumulator();
	const drafts = draftKeeper(turn);
	const signal = AbortSignal.any([turn.signal, drafts.failed]);
	const partial = () => answer.end().message.content;
	const sizeOf = sizer();
	let bytes = 0;
	let isCut = false;
	try {
		const request = {model: turn.model, messages: turn.messages(), tools: turn.tools};
		for await (const delta of turn.gateway.stream(request, signal)) {
			// An answer must fit into one event. What goes on beyond that is no answer any more.
			bytes += sizeOf(delta);
			isCut = bytes > maxAnswerBytes;
			if (isCut) break;
			answer.add(delta);
			if (delta.type === 'text' || delta.type === 'reasoning') {
				const piece = {text: '', reasoning: '', [delta.type]: delta.text};
				turn.emit({type: 'draft', ...piece});
				await drafts.keep(piece);
			}
			if (signal.aborted) break;
		}
		await drafts.end();
		if (turn.signal.aborted) return {at: 'cancelled', partial: partial()};
		const {usage, message, finish = isCut ? 'length' : undefined} = answer.end();
		// What only the server can read is of no use to it in part.
		if (isCut) delete message.extra;
		if (finish === undefined)
			throw new GatewayError('retry', 'The answer broke off before the model was done.');
		if (message.content === '' && !message.toolCalls) {
			const what = isCut ? 'The answer is too long to be kept' : 'The model answered with nothing';
			throw new GatewayError('request', `${what}. Ask again, or choose another model.`);
		}
		const ms = Math.round(performance.now() - begun);
		return {at: 'said', said: {message, usage, finish, ms}};
	} catch (error) {
		// Throws what was wrong with the disk, which is graver than what the stream says of being stopped for it.
		await drafts.end();
		if (turn.signal.aborted && !(error instanceof NotSaved)) return {at: 'cancelled', partial: partial()};
		if (!(error instanceof GatewayError)) throw error;
		return {at: 'failed', error, partial: partial()};
	}
}

/** Of an answer as JSON: leaves room in its event for the rest of it. */
const maxAnswerBytes = 900_000;
/** Of a partial text in an error event, UTF-16 units. */
const maxPartial = 50_000;

/** Bytes that each delta adds to the answer's event. Text is most of it, but calls and opaque fields count as well. */
function sizer(): (delta: StreamDelta) => number {
	const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
	let lastCall = '';
	return (delta) => {
		switch (delta.type) {
			case 'text':
			case 'reasoning':
				return bytesOf(delta.text) - '""'.length;
			case 'call': {
				const {index, id = '', name = '', args = '', extra} = delta;
				const call = `${index} ${id} ${name}`;
				// Some servers say id and name with every piece.
				const begun = (id || name) && call !== lastCall ? bytesOf({id, name, args: ''}) : 0;
				if (id || name) lastCall = call;
				return begun + bytesOf(args) - '""'.length + (extra ? bytesOf(extra) : 0);
			}
			case 'extra':
				return bytesOf(delta.extra);
			default:
				return 0;
		}
	};
}

function cutToFit(text: string): string {
	return text.length <= maxPartial ? text : `${text.slice(0, maxPartial).toWellFormed()}…`;
}

/**
Writes a draft event of what streamed since the last one, at most every `draftMs`, and no later than that after it came, also
where the model has gone on to something else or says nothing more. A short answer needs none.
*/
function draftKeeper(turn: Turn) {
	const every = turn.draftMs ?? draftMs;
	const failed = new AbortController();
	let last = performance.now();
	let text = '';
	let reasoning = '';
	let timer: NodeJS.Timeout | undefined;
	let writing: Promise<unknown> = Promise.resolve();

	function write(): Promise<unknown> {
		clearTimeout(timer);
		timer = undefined;
		last = performance.now();
		const thought = reasoning === '' ? {} : {reasoning: cutToFit(reasoning)};
		const body: Body = {type: 'draft', text: cutToFit(text), ...thought};
		text = '';
		reasoning = '';
		writing = turn.append(body);
		// Nobody may be waiting for it: the stream is stopped, and whoever ends it is told.
		writing.catch(() => failed.abort());
		return writing;
	}

	return {
		/** Aborts when a draft could not be written; `end` says why. */
		failed: failed.signal,
		async keep(piece: {text: string; reasoning: string}) {
			text += piece.text;
			reasoning += piece.reasoning;
			const due = every - (performance.now() - last);
			if (due <= 0) await write();
			else timer ??= setTimeout(write, due);
		},
		/** Waits for what is being written. Rejects with what `append` rejects with. */
		async end() {
			clearTimeout(timer);
			await writing;
		},
	};
}

const draftMs = 2000;

async function usageOf(turn: Turn, {message, usage, finish, ms}: Said): Promise<Body> {
	const counted = usage ?? {
		inputTokens: estimate(JSON.stringify(turn.messages())),
		outputTokens: estimate(JSON.stringify(message)),
	};
	return {
		type: 'usage',
		model: turn.model,
		provider: turn.gateway.name,
		...counted,
		estimated: usage === undefined,
		ms,
		finish: finish ?? '',
		costUsd: await turn.price(counted),
	};
}

/** Roughly four characters make a token. */
function estimate(text: string): number {
	return Math.ceil(text.length / 4);
}

/** Read-only calls that stand side by side run at the same time, the others in their order, each after the ones before it. */
async function runCalls(
	turn: Turn,
	calls: readonly ToolCall[],
	finish: string | undefined,
	repeated: Repetition,
): Promise<void> {
	const prepared = calls.map((call) => ({call, ...prepare(turn.tools, call, finish)}));
	for (let at = 0; at < prepared.length; ) {
		const batch = [];
		do {
			batch.push(prepared[at++]);
		} while (isReadOnly(batch[0]) && isReadOnly(prepared[at]));
		const ends = await Promise.allSettled(
			batch.map(async (each) => {
				if (each) await record(turn, repeated.note(await runCall(turn, each.call, each), each));
			}),
		);
		// Thrown only when nothing of the batch runs any more.
		for (const end of ends) if (end.status === 'rejected') throw end.reason;
	}
}

type Prepared = {ok: true; call: PreparedCall} | {ok: false; reason: string};

function isReadOnly(each: {call: ToolCall; prepared: Prepared} | undefined): boolean {
	return each?.prepared.ok === true && each.prepared.call.tool.readOnly;
}

function prepare(tools: readonly Tool[], call: ToolCall, finish: string | undefined): {prepared: Prepared} {
	const tool = tools.find((each) => each.name === call.name);
	if (finish === 'length') {
		const reason =
			'Your answer was cut off at its length limit, so nothing was run. Make the call again in smaller pieces.';
		return {prepared: {ok: false, reason}};
	}
	if (!tool) {
		const names = tools.map((each) => each.name).join(', ');
		return {prepared: {ok: false, reason: `There is no tool called ${call.name}. The tools are ${names}.`}};
	}
	return {prepared: tool.prepare(call.args)};
}

/** Run one call, or say why it did not run: a refusal leaves by the same door as a failure. */
async function runCall(turn: Turn, call: ToolCall, {prepared}: {prepared: Prepared}): Promise<Ended> {
	/** When the tool itself began: how long a person thought about it is not its doing. */
	let begun: number | undefined;
	const end = (result: ToolResult, verdict: Verdict, stoppedBy?: StoppedBy): Ended => {
		const ms = begun === undefined ? 0 : Math.round(performance.now() - begun);
		return {call, result, verdict, ms, ...(stoppedBy ? {stoppedBy} : {})};
	};
	const refused = (content: string, summary: string): ToolResult => ({ok: false, content, summary});
	if (!prepared.ok) {
		return end(
			refused(prepared.reason, 'not run'),
			{state: 'deny', by: 'builtin', why: prepared.reason},
			'loop',
		);
	}
	const asked: Verdict = {state: 'ask', by: 'person', why: 'the turn was stopped first'};
	if (turn.signal.aborted) return end(refused(cancelledByUser, 'cancelled'), asked, 'cancel');

	const context: ToolContext = {
		workspace: turn.workspace,
		forbidden: turn.forbidden,
		spillFolder: turn.spillFolder,
		callId: call.id,
		signal: turn.signal,
		onOutput: (text) => turn.emit({type: 'tool_output', id: call.id, text}),
		...(turn.hiddenVariables ? {hiddenVariables: turn.hiddenVariables} : {}),
		...(turn.seen ? {seen: turn.seen} : {}),
	};
	const {acts} = prepared.call;
	const judged = await judge(prepared.call, turn, turn.policy());
	let {verdict} = judged;
	let preview: Preview | undefined;
	if (verdict.state === 'allow' && acts.kind === 'change') {
		preview = await prepared.call.preview(context);
		const guess = preview.kind === 'diff' ? preview.approximate : undefined;
		if (guess) verdict = {state: 'ask', by: 'builtin', why: guess};
	}
	if (verdict.state === 'ask') {
		preview ??= await prepared.call.preview(context);
		// What would fail anyway is not worth a question: the model is told, and nothing was changed.
		if (preview.kind === 'fails') return end(refused(preview.text, 'failed'), verdict, 'loop');
		const answer = await turn.ask({
			kind: 'tool',
			id: call.id,
			tool: call.name,
			label: prepared.call.label,
			preview,
			why: (preview.kind === 'diff' && preview.approximate) || verdict.why,
			...(acts.kind === 'command' ? {command: acts.command} : {}),
		});
		if (turn.signal.aborted) return end(refused(cancelledByUser, 'cancelled'), asked, 'cancel');
		const by = answer.by ?? 'person';
		verdict = answer.allow
			? {state: 'allow', by, why: by === 'person' ? 'allowed when asked' : 'allowed by --yes'}
			: {state: 'deny', by, why: answer.reason ?? 'refused when asked'};
		if (preview.kind === 'diff') context.approvedBasis = preview.basis;
	}
	if (verdict.state === 'deny') {
		const content =
			verdict.by === 'person'
				? `The user refused this call${verdict.why === 'refused when asked' ? '.' : `: ${verdict.why}`}`
				: `This call is not allowed: ${verdict.why}`;
		return end(refused(content, 'refused'), verdict, 'gate');
	}
	if (judged.sandboxed && turn.sandbox) context.sandbox = turn.sandbox;
	begun = performance.now();
	turn.emit({type: 'tool_start', id: call.id, name: call.name, label: prepared.call.label});
	try {
		const result = await prepared.call.run(context);
		return end(result, verdict, result.stoppedBy);
	} catch (error) {
		const content = `${call.name} failed: ${error instanceof Error ? error.message : String(error)}`;
		return end(refused(content, 'failed'), verdict);
	}
}

/** The end of a call and its answer: always side by side, in one write. */
async function record(turn: Turn, {call, result, verdict, ms, stoppedBy}: Ended): Promise<void> {
	const optional: {stoppedBy?: StoppedBy; files?: FileChange[]; spill?: string} = {};
	if (stoppedBy) optional.stoppedBy = stoppedBy;
	if (result.files) optional.files = result.files;
	if (result.spill) optional.spill = result.spill;
	await turn.append(
		{
			type: 'tool_end',
			id: call.id,
			name: call.name,
			result: {ok: result.ok, content: result.summary},
			ms,
			chars: result.content.length,
			truncated: result.truncated ?? false,
			verdict,
			...optional,
		},
		{type: 'message', message: {role: 'tool', toolCallId: call.id, content: result.content}},
	);
}

type Repetition = ReturnType<typeof repetition>;

/** How often the same call may have the same result before the model is told, and before the person is asked. */
const tellAfter = 3;
const askAfter = 5;

/** Counts, in one turn, calls that are alike and end alike. Looking again after a change gives another result, and is none. */
function repetition() {
	const counts = new Map<string, number>();
	let stuck: {tool: string; label: string; times: number} | undefined;
	return {
		/** The end of a call, with a word to the model where it keeps happening. */
		note(ended: Ended, {prepared}: {prepared: Prepared}): Ended {
			const {call, result} = ended;
			const key = JSON.stringify([call.name, call.args, withoutTimes(result.content)]);
			const times = (counts.get(key) ?? 0) + 1;
			counts.set(key, times);
			if (times % askAfter === 0)
				stuck = {tool: call.name, label: prepared.ok ? prepared.call.label : call.args, times};
			if (times < tellAfter) return ended;
			const told = `${result.content}\n\n(mca: this call has now had this same result ${times} times in this turn. Try something else, or say what is in the way.)`;
			return {...ended, result: {...result, content: told}};
		},
		/** Once for each time that it has come that far. */
		stuck() {
			const now = stuck;
			stuck = undefined;
			return now;
		},
	};
}

/** How long something took is never the same twice. */
function withoutTimes(content: string): string {
	return content.replace(/\b\d+(?:\.\d+)? ?(?:ms|s|min)\b/g, '');
}
