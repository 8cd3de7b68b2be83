import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync} from 'node:fs';
import {basename, join} from 'node:path';
import {forkPoints} from '../../src/session/fork.ts';
import {type LogRead, readEvents} from '../../src/session/read.ts';
import {splitLines} from '../helpers/log-file.ts';
import {type Process, randomFrom, startProcess, type Told} from '../helpers/processes.ts';
import type {Order} from './kill-worker.ts';

export type Tally = {
	kills: number;
	/** Kills that tore a line, that came before the writer had the session, and that left a half-made session behind. */
	torn: number;
	early: number;
	halfMade: number;
	/** Sessions by how they came into being. */
	created: number;
	recovered: number;
	forked: number;
	/** Lines: acknowledged; found; found although the writer died before it could acknowledge them. */
	acknowledged: number;
	found: number;
	unsaid: number;
	megabytes: number;
};

/** A session file as it was when it was last looked at. */
type Look = LogRead & {path: string; data: Buffer};

/** A session above this is left for a new one, so that reading does not become what is measured. */
const fullBytes = 4 << 20;
/** Older files of the lineage are read a last time and make room. */
const keptFiles = 8;

const sha = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

/**
Kill a writer at a random moment, check the disk, let the next one go on from there, `rounds` times; then let two go on to
their end.

After each kill: every acknowledged line is there as it was acknowledged; every line that is there was issued, in that order, or
is a line of the parent, byte for byte; a log that is gone on with only grew, and any other file is as it was. The next writer
has the session at once. Throws at the first of these that does not hold.
*/
export async function killLineage(
	worker: string,
	folder: string,
	{rounds, seed, onRound}: {rounds: number; seed: number; onRound?: (tally: Tally) => void},
): Promise<Tally> {
	const random = randomFrom(seed);
	const lineage = new Lineage(join(folder, 'sessions'));
	const start = () => startProcess([process.execPath, worker]);
	let next = start();
	for (let round = 1; round <= rounds + 2; round++) {
		const writer = next;
		// The one after it starts beside it, and waits for its order.
		next = start();
		try {
			const toTheEnd = round > rounds;
			const order = lineage.nextOrder(random, round);
			if (toTheEnd) Object.assign(order, {do: round === rounds + 1 ? 'goOn' : 'create', events: 10});
			await writer.next('ready');
			if (!toTheEnd) killSomewhere(writer, random, order);
			writer.send(order);
			const {status, signal, stderr} = await writer.ended;
			const expected = toTheEnd ? {status: 0, signal: null} : {status: null, signal: 'SIGKILL'};
			assert.deepEqual({status, signal, stderr}, {...expected, stderr: ''});
			await lineage.check(order, writer.said);
			if (!toTheEnd) lineage.tally.kills++;
			onRound?.(lineage.tally);
		} catch (error) {
			next.signal('SIGKILL');
			const {message} = error as Error;
			throw new Error(`Round ${round} of the lineage with seed ${seed}: ${message}`, {cause: error});
		}
	}
	next.signal('SIGKILL');
	lineage.finish();
	return lineage.tally;
}

/** In the middle of a write, or at the order, at an issued or at an acknowledged line and then up to some milliseconds later. */
function killSomewhere(writer: Process, random: () => number, order: Order): void {
	const at = random();
	const share = random();
	let left = Math.floor(random() * 8);
	const kill = (bytes: number) => {
		// A line of 1 MiB takes milliseconds on its way to the disk, a small one a fraction of one.
		spinUntil(() => false, share * (0.3 + (bytes / 2 ** 20) * 12));
		writer.signal('SIGKILL');
	};
	if (at < 0.1) {
		// A writer needs some milliseconds to get hold of its session.
		setImmediate(kill, 2 ** 20);
	} else if (at < 0.45) {
		left %= 2;
		// No clock can aim at a write of a fraction of a millisecond, but its file shows when it has begun.
		let path = order.path;
		writer.onTold((told) => {
			if (told.told === 'took') path = String(told.path);
			if (told.told !== 'issued' || Number(told.bytes) < 2 ** 16 || !existsSync(path) || left-- > 0) return;
			const {size} = statSync(path);
			spinUntil(() => statSync(path).size > size, 50);
			writer.signal('SIGKILL');
		});
	} else {
		const kind = at < 0.8 ? 'issued' : 'acked';
		writer.onTold((told) => told.told === kind && left-- === 0 && kill(Number(told.bytes ?? 0)));
	}
}

function spinUntil(reached: () => boolean, atMostMs: number): void {
	const until = performance.now() + atMostMs;
	while (!reached() && performance.now() < until);
}

class Lineage {
	readonly tally: Tally = {
		kills: 0,
		torn: 0,
		early: 0,
		halfMade: 0,
		created: 0,
		recovered: 0,
		forked: 0,
		acknowledged: 0,
		found: 0,
		unsaid: 0,
		megabytes: 0,
	};
	readonly #folder: string;
	#current: Look | undefined;
	/** Sessions that nobody goes on with any more. */
	#left: {path: string; mark: string; hash: string}[] = [];
	readonly #names = new Set<string>();
	/** What writers said that they would append: its place in the order of saying. */
	readonly #issued = new Map<string, number>();

	constructor(folder: string) {
		this.#folder = folder;
		mkdirSync(folder);
	}

	nextOrder(random: () => number, round: number): Order {
		const current = this.#current;
		const order = {seed: Math.floor(random() * 2 ** 32), folder: this.#folder, path: current?.path ?? ''};
		if (!current || current.bytes > fullBytes) return {...order, do: 'create'};
		return {...order, do: round % 12 === 0 ? 'fork' : 'goOn'};
	}

	async check(order: Order, said: readonly Told[]): Promise<void> {
		const acknowledged = new Map<string, unknown>();
		for (const told of said) {
			if (told.told === 'issued') this.#issued.set(String(told.sha), this.#issued.size);
			if (told.told === 'acked') acknowledged.set(`${told.session} ${told.seq}`, told.sha);
			if (told.told === 'opened') assert.equal(told.at, this.#current?.end.at === 'cut' ? 'cut' : 'open');
		}
		this.tally.acknowledged += acknowledged.size;
		if (!said.some((told) => told.told === 'took')) this.tally.early++;

		const parent = this.#current;
		const names = readdirSync(this.#folder);
		if (names.some((name) => !name.endsWith('.jsonl'))) this.tally.halfMade++;
		const fresh = names.filter((name) => name.endsWith('.jsonl') && !this.#names.has(name));
		assert.ok(fresh.length < 2, `one order made ${fresh}`);
		const [made] = fresh;
		if (made) {
			this.#names.add(made);
			const child = await look(join(this.#folder, made));
			this.#checkLines(child, this.#checkBirth(order, child, parent), acknowledged);
			if (parent) this.#leave(parent);
			this.#current = child;
		} else if (parent) {
			const now = await look(parent.path);
			if (order.do === 'goOn' && parent.end.at === 'whole') {
				assert.ok(now.data.subarray(0, parent.data.length).equals(parent.data), 'a log only grows');
				this.#checkLines(now, parent.events.length, acknowledged);
			} else {
				assert.ok(now.data.equals(parent.data), 'a file that is not gone on with stays as it is');
			}
			this.#current = now;
		}
		if (this.#current !== parent && this.#current?.end.at === 'cut') {
			if (made || parent?.end.at !== 'cut') this.tally.torn++;
		}
		assert.deepEqual([...acknowledged.keys()], [], 'every acknowledged line is found');
		for (const file of this.#left) assert.equal(mark(file.path), file.mark, `${file.path} is left alone`);
	}

	/** How a new session begins: with its parent's bytes and a lineage, or with a system line and a prompt. Its lines of others. */
	#checkBirth(order: Order, child: Look, parent: Look | undefined): number {
		if (order.do === 'create' || !parent) {
			this.tally.created++;
			assert.ok(child.events.length >= 2, 'a session has its first prompt from the start');
			return 0;
		}
		const from = basename(parent.path, '.jsonl');
		const atSeq = order.do === 'fork' ? forkPoints(parent.events).at(-1)?.seq : parent.events.at(-1)?.seq;
		const count = parent.events.findIndex((event) => event.seq === atSeq) + 1;
		const lines = splitLines(parent.data).slice(0, count);
		const inherited = Buffer.concat(lines);
		assert.ok(child.data.subarray(0, inherited.length).equals(inherited), 'the parent’s bytes come first');
		const {seq, ts, origin, ...lineage} = child.events[count] as unknown as Record<string, unknown>;
		const {at, ...cut} = parent.end as {at: string};
		assert.deepEqual(
			lineage,
			order.do === 'fork'
				? {type: 'fork', from, atSeq, kind: 'fork'}
				: {type: 'fork', from, atSeq, kind: 'recovery', cut},
		);
		if (order.do === 'fork') this.tally.forked++;
		else this.tally.recovered++;
		return count + 1;
	}

	/** The lines from `first` on are this writer's: what it issued, in order, and among them what it acknowledged. */
	#checkLines(file: Look, first: number, acknowledged: Map<string, unknown>): void {
		const id = basename(file.path, '.jsonl');
		let previous = -1;
		for (const [index, line] of splitLines(file.data.subarray(0, file.bytes)).entries()) {
			const event = file.events[index];
			assert.equal(event?.seq, index + 1);
			const key = `${id} ${index + 1}`;
			const known = acknowledged.get(key);
			if (known !== undefined) assert.equal(sha(line), known, `event ${key} is as it was acknowledged`);
			acknowledged.delete(key);
			if (index < first) continue;
			const {seq, ts, ...body} = event as typeof event & object;
			const place = this.#issued.get(sha(JSON.stringify(body))) ?? -1;
			assert.ok(place > previous, `event ${key} was issued, after the one before it`);
			previous = place;
			if (known === undefined) this.tally.unsaid++;
			this.tally.found++;
			this.tally.megabytes += line.length / 2 ** 20;
		}
	}

	#leave({path, data}: Look): void {
		this.#left.push({path, mark: mark(path), hash: sha(data)});
		while (this.#left.length > keptFiles) {
			const [oldest] = this.#left.splice(0, 1);
			if (!oldest) return;
			assert.equal(sha(readFileSync(oldest.path)), oldest.hash, `${oldest.path} is as it was left`);
			rmSync(oldest.path);
		}
	}

	finish(): void {
		for (const {path, hash} of this.#left)
			assert.equal(sha(readFileSync(path)), hash, `${path} is as it was left`);
		assert.equal(this.#current?.end.at, 'whole');
		const halfMade = readdirSync(this.#folder).filter((name) => !name.endsWith('.jsonl'));
		assert.deepEqual(halfMade, [], 'the last session that was made cleared what others left half made');
		this.tally.megabytes = Math.round(this.tally.megabytes);
	}
}

async function look(path: string): Promise<Look> {
	return {path, data: readFileSync(path), ...(await readEvents(path))};
}

/** Changes with every write, for a look that costs nothing. */
function mark(path: string): string {
	const {size, mtimeNs, ino} = statSync(path, {bigint: true});
	return `${size} ${mtimeNs} ${ino}`;
}
