import {readdirSync, readFileSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {basename} from 'node:path';
import * as fc from 'fast-check';
import {expect, test, vi} from 'vitest';
import {GatewayError, type StreamDelta} from '../../src/agent/gateway.ts';
import {buildBody} from '../../src/agent/request.ts';
import {type Charges, ledger, spendOf} from '../../src/session/audit.ts';
import type {Body, Event} from '../../src/session/events.ts';
import {fork, forkPoints, ownerOf} from '../../src/session/fork.ts';
import {SessionLog} from '../../src/session/log.ts';
import {readEvents} from '../../src/session/read.ts';
import {replay, unansweredCalls} from '../../src/session/replay.ts';
import {sessionFolder} from '../../src/session/sessions.ts';
import {saying, text} from '../helpers/agent.ts';
import {answer, call, line, result, splitLines, toolEnd, usage, user} from '../helpers/log-file.ts';
import {polyglotLines, recoveryWorld, refusals} from '../helpers/recover.ts';

// Thousands of sessions are made here. Whether they are synced is another test's question.
vi.hoisted(() => {
	process.env.MCA_FSYNC = '0';
});

// `npm test` plays the same cases each time; with CRASH_RUNS there are as many as it says, and others each time.
const runs = Number(process.env.CRASH_RUNS ?? 0);
const parameters = (few: number) => (runs > 0 ? {numRuns: runs} : {numRuns: few, seed: 20260907});

/** How the model answers a turn. */
type Shape = 'text' | 'calls' | 'failure' | 'nothing';
/** A line that somebody appends, whatever it does to the conversation. */
type Piece = 'user' | 'answer' | 'usage' | 'calls' | 'end' | 'result' | 'draft' | 'later';

type Step =
	| {do: 'turn'; session: number; shape: Shape}
	| {do: 'append'; session: number; pieces: Piece[]}
	| {do: 'cut'; session: number; at: number}
	| {do: 'zero'; session: number; at: number; length: number}
	| {do: 'spoil'; session: number; tail: string}
	/** At a clean boundary, or at any event there is and one more. */
	| {do: 'fork'; session: number; at: number; clean: boolean; before: boolean}
	| {do: 'look'; session: number};

const session = fc.nat(99);
const share = fc.nat(999).map((part) => part / 999);
const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('turn' as const),
			session,
			shape: fc.constantFrom<Shape>('text', 'text', 'calls', 'failure', 'nothing'),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('append' as const),
			session,
			pieces: fc.array(
				fc.constantFrom<Piece>(
					'user',
					'answer',
					'usage',
					'calls',
					'calls',
					'end',
					'result',
					'draft',
					'later',
				),
				{
					minLength: 1,
					maxLength: 5,
				},
			),
		}),
	},
	{weight: 3, arbitrary: fc.record({do: fc.constant('cut' as const), session, at: share})},
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant('zero' as const),
			session,
			at: share,
			length: fc.integer({min: 1, max: 400}),
		}),
	},
	{
		weight: 1,
		arbitrary: fc.record({
			do: fc.constant('spoil' as const),
			session,
			tail: fc.constantFrom('\0\0\0', '{"seq":', 'null\n', '\n', '\r', 'é'),
		}),
	},
	{
		weight: 4,
		arbitrary: fc.record({
			do: fc.constant('fork' as const),
			session,
			at: share,
			clean: fc.constantFrom(true, true, true, false),
			before: fc.constantFrom(false, false, true),
		}),
	},
	{weight: 1, arbitrary: fc.record({do: fc.constant('look' as const), session})},
);

/** What must stand in a file, and whether it still says whose its lines are. */
type Known = {bytes: Buffer; forks: number; lineage: boolean};

class Sessions {
	readonly world = recoveryWorld();
	readonly folder = sessionFolder(this.world.data, this.world.workspace);
	/** By path, in the order in which they were made. */
	readonly known = new Map<string, Known>();
	/** Which session paid for a call, by the number of its input tokens. */
	readonly payer = new Map<number, string>();
	#marker = 0;

	async take(step: Step): Promise<void> {
		const paths = [...this.known.keys()];
		const path = paths[step.session % (paths.length + (step.do === 'turn' ? 1 : 0)) || 0];
		if (step.do === 'turn') return this.#turn(path, step.shape);
		if (path === undefined) return;
		const {bytes} = this.#at(path);
		switch (step.do) {
			case 'append':
				return this.#append(path, step.pieces);
			case 'cut':
				truncateSync(path, Math.floor(bytes.length * step.at));
				return this.#damaged(path);
			case 'zero': {
				const from = Math.floor(bytes.length * step.at);
				writeFileSync(path, Buffer.from(bytes).fill(0, from, Math.min(from + step.length, bytes.length)));
				return this.#damaged(path);
			}
			case 'spoil':
				writeFileSync(path, Buffer.concat([bytes, Buffer.from(step.tail)]));
				return this.#damaged(path);
			case 'fork':
				return this.#fork(path, step);
			case 'look': {
				const agent = this.world.agent();
				await agent.open(path);
				return agent.close();
			}
		}
	}

	/** Resume (or begin) through the agent: what it calls logged is what must stand behind the lines that were whole. */
	async #turn(path: string | undefined, shape: Shape): Promise<void> {
		const markers = [this.#newMarker(), this.#newMarker()] as const;
		const [first, second] = markers.map(
			(inputTokens): StreamDelta => ({type: 'usage', usage: {inputTokens, outputTokens: 1}}),
		) as [StreamDelta, StreamDelta];
		const called: StreamDelta = {type: 'call', index: 0, id: 'a', name: 'read_file', args: '{}'};
		const answers = {
			text: [[first, ...text('Understood.')]],
			calls: [
				[first, called, {type: 'finish', reason: 'tool_calls'} as const],
				[second, ...text('Done.')],
			],
			failure: [new GatewayError('config', 'The key was not accepted.')],
			nothing: [[{type: 'finish', reason: 'stop'} as const]],
		}[shape];
		const gateway = saying(...answers);
		const agent = this.world.agent(gateway);
		const opened = path ? await agent.open(path) : undefined;
		const before = [...agent.events];
		const logged: Event[] = [];
		agent.subscribe((event) => {
			if (event.type === 'logged') logged.push(event.event);
		});
		const prompt = `prompt ${markers[0]}`;
		const rest = await agent.submit(prompt);
		const now = agent.path ?? '';
		await agent.close();
		expect(rest.why).toBe(shape === 'text' || shape === 'calls' ? 'done' : 'failed');
		for (const marker of markers) this.payer.set(marker, basename(now, '.jsonl'));

		const whole = path && before.length > 0 ? this.#whole(path) : Buffer.alloc(0);
		const stays = opened?.end.at === 'whole' && before.length > 0;
		expect(now === path).toBe(stays);
		const grown = Buffer.concat([whole, ...logged.map((event) => Buffer.from(line(event)))]);
		const parent = path && before.length > 0 ? this.#at(path) : undefined;
		this.known.set(now, {
			bytes: grown,
			forks: forksIn([...before, ...logged]),
			lineage: parent?.lineage ?? true,
		});

		const [request] = gateway.requests;
		if (!request) throw new Error('The model was not asked.');
		expect(refusals(buildBody(request).messages)).toEqual([]);
		expect(prompts(request.messages.map((message) => ({message})))).toEqual([...prompts(before), prompt]);
	}

	async #append(path: string, pieces: readonly Piece[]): Promise<void> {
		const opened = await SessionLog.reopen(path);
		const {end} = await readEvents(path);
		expect(opened.at).toBe(end.at === 'whole' ? 'open' : 'cut');
		if (opened.at === 'cut') return opened.lock.release();
		if (opened.at !== 'open') throw new Error('Somebody holds it.');
		const {log, read} = opened;
		// An agent begins a new session where nothing stands yet.
		if (read.events.length === 0) return log.close();
		const added = await log.append(...pieces.map((piece) => this.#body(piece, log.id)));
		await log.close();
		const known = this.#at(path);
		known.bytes = Buffer.concat([known.bytes, ...added.map((event) => Buffer.from(line(event)))]);
		expect(added[0]?.seq).toBe((read.events.at(-1)?.seq ?? 0) + 1);
	}

	#body(piece: Piece, id: string): Body {
		switch (piece) {
			case 'user':
				return user('typed: é你𝄞');
			case 'answer':
				return answer('said: é你𝄞');
			case 'usage': {
				const marker = this.#newMarker();
				this.payer.set(marker, id);
				return usage(marker, 1, 0.25);
			}
			case 'calls':
				return call('a', 'b');
			case 'end':
				return toolEnd('a', 'exit 0 · 你');
			case 'result':
				return result('a', 'found 𝄞');
			case 'draft':
				return {type: 'draft', text: 'é'};
			case 'later':
				return {type: 'weather', sky: '𝄞'} as unknown as Body;
		}
	}

	async #fork(
		path: string,
		{at, clean, before}: {at: number; clean: boolean; before: boolean},
	): Promise<void> {
		const {events, bytes} = await readEvents(path);
		const points = cleanPoints(events);
		const any = Math.round(at * ((events.at(-1)?.seq ?? 0) + 1));
		const seq = (clean ? points[Math.floor(at * points.length * 0.999)] : undefined) ?? any;
		const made = await fork(path, {seq, before});
		const last = events.findIndex((event) => event.seq === seq) - (before ? 1 : 0);
		const point = events.find((event) => event.seq === seq);
		expect(made.ok).toBe(points.includes(seq) && last >= 0 && (!before || isUser(point)));
		if (!made.ok) return;
		await made.log.close();
		const kept = splitLines(readFileSync(path).subarray(0, bytes)).slice(0, last + 1);
		const file = readFileSync(made.log.path);
		const lineage = splitLines(file).at(-1) as Buffer;
		expect(JSON.parse(lineage.toString())).toMatchObject({
			seq: made.atSeq + 1,
			type: 'fork',
			from: basename(path, '.jsonl'),
			atSeq: events[last]?.seq,
			kind: 'fork',
		});
		this.known.set(made.log.path, {
			bytes: Buffer.concat([...kept, lineage]),
			forks: forksIn(events.slice(0, last + 1)) + 1,
			lineage: this.#at(path).lineage,
		});
	}

	/** Every file is what it has to be, and what is read of it agrees with itself. */
	async check(): Promise<void> {
		expect(readdirSync(this.folder).sort()).toEqual(
			[...this.known.keys()].map((path) => basename(path)).sort(),
		);
		const paid = new Map<string, number>();
		const charges: Charges[] = [];
		for (const [path, {bytes, lineage}] of this.known) {
			const id = basename(path, '.jsonl');
			expect(readFileSync(path).equals(bytes), `bytes of ${id}`).toBe(true);
			const read = await readEvents(path);
			const {events} = read;
			const lines = wholeLines(bytes);
			expect(events).toEqual(lines);
			expect(read.bytes + (read.end.at === 'cut' ? read.end.ignoredBytes : 0)).toBe(bytes.length);

			const messages = events.filter((event) => event.type === 'message').length;
			const {replayed, leftOut, messages: conversation} = replay(events);
			expect([replayed, leftOut, conversation.length]).toEqual([
				messages,
				events.length - messages,
				messages,
			]);
			expect(forkPoints(events).map(({seq}) => seq)).toEqual(cleanPoints(events));
			for (const {seq} of forkPoints(events)) {
				expect(unansweredCalls(events.filter((event) => event.seq <= seq))).toEqual([]);
			}

			if (!lineage) continue;
			const usages = events.filter((event) => event.type === 'usage');
			charges.push({id, workspace: '', usages, forks: events.filter((event) => event.type === 'fork')});
			let own = 0;
			for (const event of usages) {
				const owner = ownerOf(events, id, event.seq);
				expect(owner, `who paid for event ${event.seq} of ${id}`).toBe(this.payer.get(event.inputTokens));
				const key = `${owner} ${event.seq}`;
				expect(paid.get(key) ?? event.inputTokens, key).toBe(event.inputTokens);
				paid.set(key, event.inputTokens);
				if (owner === id) own += event.inputTokens;
			}
			expect(spendOf(events).own.inputTokens).toBe(own);
		}
		// Each call was paid for once, however many files have its line.
		expect(new Set(paid.values()).size).toBe(paid.size);
		const sum = [...paid.values()].reduce((total, tokens) => total + tokens, 0);
		expect(ledger(charges, () => '').total).toMatchObject({calls: paid.size, inputTokens: sum});
	}

	#at(path: string): Known {
		const known = this.known.get(path);
		if (!known) throw new Error(`${path} is not known`);
		return known;
	}

	#whole(path: string): Buffer {
		return Buffer.from(wholeLines(this.#at(path).bytes).map(line).join(''));
	}

	/**
	What no crash does, since those lines were synced, but a person can: a file without the line that says where it came from does
	not know that its first lines are not its own, and one that ends whole before lines it once had uses their seq again.
	*/
	#damaged(path: string): void {
		const known = this.#at(path);
		const [before, now] = [known.bytes, readFileSync(path)];
		const [had, has] = [wholeLines(before), wholeLines(now)];
		const shorter = has.length < had.length && now.length === Buffer.from(has.map(line).join('')).length;
		if (forksIn(has) < known.forks || shorter) known.lineage = false;
		known.bytes = now;
		known.forks = forksIn(has);
	}

	#newMarker(): number {
		this.#marker += 1;
		return 1_000_000 + this.#marker;
	}
}

/** The same reading in the plainest words: whole lines of JSON whose seq rises. The damages made here need no more. */
function wholeLines(bytes: Buffer): Event[] {
	const found: Event[] = [];
	for (const each of splitLines(bytes)) {
		if (each.at(-1) !== 0x0a) break;
		try {
			const event = JSON.parse(each.toString());
			if (!(event.seq > (found.at(-1)?.seq ?? 0))) break;
			found.push(event);
		} catch {
			break;
		}
	}
	return found;
}

function cleanPoints(events: readonly Event[]): number[] {
	const open: string[] = [];
	return events.flatMap((event) => {
		if (event.type !== 'message') return [];
		const {message} = event;
		if (message.role === 'tool' && open.includes(message.toolCallId))
			open.splice(open.indexOf(message.toolCallId), 1);
		if (message.role === 'assistant') open.push(...(message.toolCalls ?? []).map(({id}) => id));
		const speaks = message.role === 'user' || message.role === 'assistant';
		return speaks && open.length === 0 ? [event.seq] : [];
	});
}

function isUser(event: Event | undefined): boolean {
	return event?.type === 'message' && event.message.role === 'user';
}

function forksIn(events: readonly Event[]): number {
	return events.filter((event) => event.type === 'fork').length;
}

function prompts(events: readonly unknown[]): string[] {
	return (events as {message?: {role: string; content: string}}[]).flatMap(({message}) =>
		message?.role === 'user' ? [message.content] : [],
	);
}

test('any sequence of turns, appends, cuts, forks and resumes keeps every promise of the log', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, {minLength: 1, maxLength: 14}), async (steps) => {
			const sessions = new Sessions();
			for (const each of [{do: 'turn', session: 0, shape: 'calls'} as const, ...steps]) {
				await sessions.take(each);
				await sessions.check();
			}
			rmSync(sessions.world.root, {recursive: true});
		}),
		parameters(100),
	);
});

test('any bytes in place of any part of a log: what is read is whole, is read the same alone, and begins as it did', async () => {
	const lines = polyglotLines();
	const whole = Buffer.concat(lines);
	const world = recoveryWorld();
	const path = world.place(whole);
	const {events: original} = await readEvents(path);
	const place = fc.nat(whole.length);
	const bytes = fc.oneof(
		fc.uint8Array({maxLength: 40}),
		fc
			.constantFrom('\n', '}\n', '}\n{', '"}', '\r\n', '\0', ' ', '\\ud800', 'é')
			.map((each) => Buffer.from(each)),
	);
	await fc.assert(
		fc.asyncProperty(place, fc.oneof(fc.nat(30), place), bytes, async (from, length, put) => {
			const damaged = Buffer.concat([whole.subarray(0, from), put, whole.subarray(from + length)]);
			writeFileSync(path, damaged);
			const read = await readEvents(path);
			const untouched = splitLines(whole.subarray(0, from)).filter((each) => each.at(-1) === 0x0a).length;
			expect(read.events.slice(0, untouched)).toEqual(original.slice(0, untouched));
			expect(read.bytes + (read.end.at === 'cut' ? read.end.ignoredBytes : 0)).toBe(damaged.length);
			expect(read.end.at === 'cut' ? read.end.line : read.events.length + 1).toBe(read.events.length + 1);
			expect(read.events.every(({seq}, at) => seq > (read.events[at - 1]?.seq ?? 0))).toBe(true);
			writeFileSync(path, damaged.subarray(0, read.bytes));
			expect(await readEvents(path)).toEqual({events: read.events, end: {at: 'whole'}, bytes: read.bytes});
		}),
		parameters(600),
	);
});
