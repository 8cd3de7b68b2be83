import {
	closeSync,
	constants,
	fdatasync,
	fstatSync,
	fsyncSync,
	linkSync,
	mkdirSync,
	openSync,
	readdirSync,
	readSync,
	rmSync,
	statSync,
	unlinkSync,
	writeSync,
} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {promisify} from 'node:util';
import type {Body, Event} from './events.ts';
import {type Holder, holderOf, type Lock, lockSession} from './lock.ts';
import {type End, growing, type LogRead, readEvents} from './read.ts';
import {nextId} from './sessions.ts';

/** A line above this is refused: one event must never make a log too heavy to read. */
export const maxEventBytes = 1 << 20;

/** Whole lines of another log that a new one begins with: `bytes` from its start, the last of them with `seq`. */
export type Prefix = {path: string; bytes: number; seq: number};

/** Whether lines are synced to disk before they count as written. */
export const syncing = process.env.MCA_FSYNC !== '0';

const syncData = promisify(fdatasync);

/** The log is closed: what was handed to `append` is not in it, or not for certain. `message` says why. */
export class NotSaved extends Error {
	constructor(id: string, why: string, cause?: unknown) {
		super(`Session ${id} is no longer being saved: ${why}`, {cause});
		this.name = 'NotSaved';
	}
}

/** One event is over `maxEventBytes`. The log is as it was and stays open. */
export class EventTooLarge extends Error {
	constructor(type: string, bytes: number) {
		super(
			`This ${type} is ${bytes} bytes long; a session keeps at most ${maxEventBytes} bytes in one event. Nothing was recorded.`,
		);
		this.name = 'EventTooLarge';
	}
}

/** What became of opening a session to go on with it. Whoever gets a lock releases it. */
export type Reopened =
	| {at: 'open'; log: SessionLog; read: LogRead}
	| {at: 'cut'; read: LogRead; end: Extract<End, {at: 'cut'}>; lock: Lock}
	| {at: 'held'; holder: Holder; read: LogRead};

/**
Read a log without wanting to write it. `holder` is who writes it meanwhile: then a last line without an end is not there yet,
and the log is whole so far. While nobody holds it, nobody can begin to.
*/
export async function readBeside(path: string): Promise<LogRead & {holder?: Holder}> {
	const locked = await lockSession(path);
	if (!locked.ok) return {...(await readGrowing(path)), holder: locked.holder};
	try {
		return await readEvents(path);
	} finally {
		await locked.lock.release();
	}
}

async function readGrowing(path: string): Promise<LogRead> {
	const read = await readEvents(path);
	return {...read, end: growing(read.end)};
}

/**
A session's file while this process writes it: the only thing in mca that writes session files, and `append` the one way they
grow.
*/
export class SessionLog {
	readonly path: string;
	readonly id: string;
	readonly #fd: number;
	readonly #lock: Lock;
	#seq: number;
	#bytes: number;
	#closed: NotSaved | undefined;
	/** Appends run one after the other, each when the one before it is on disk. */
	#last: Promise<unknown> = Promise.resolve();

	private constructor(path: string, lock: Lock, fd: number, seq: number, bytes: number) {
		this.path = path;
		this.#lock = lock;
		this.id = basename(path, '.jsonl');
		this.#fd = fd;
		this.#seq = seq;
		this.#bytes = bytes;
	}

	/**
	Bring a session into being, whole: a prefix of another log (for forks and recoveries), then `bodies`.

	All of it is written under a temporary name and synced before link(2) gives it its own, so a session either is there with its
	first prompt or is not there. link never replaces a file: where the name is taken, the next id is tried. `bodies` is told the
	id, because line 1 carries it.
	*/
	static async create(
		folder: string,
		bodies: (id: string) => Body[],
		prefix?: Prefix,
	): Promise<{log: SessionLog; events: Event[]}> {
		const made = mkdirSync(folder, {recursive: true, mode: 0o700});
		if (syncing && made) {
			// The very first session brings more folders with it than the two that are synced with every new one.
			for (let path = dirname(folder); path.length >= made.length; path = dirname(path)) {
				syncNames(dirname(path));
			}
		}
		await clearAbandoned(folder);
		for (;;) {
			const id = nextId(new Date(), readdirSync(folder));
			const path = join(folder, `${id}.jsonl`);
			const locked = await lockSession(path);
			if (!locked.ok) continue;
			try {
				const {fd, bytes, events} = place(path, bodies(id), prefix);
				const seq = events.at(-1)?.seq ?? prefix?.seq ?? 0;
				return {log: new SessionLog(path, locked.lock, fd, seq, bytes), events};
			} catch (error) {
				await locked.lock.release();
				if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
			}
		}
	}

	/**
	Open a session to go on with it: take its lock, then read it.

	Only a whole log may be appended to, since anything behind a torn line is glued to it and lost at the next read: a cut one
	comes with its lock and no log. Without the lock somebody else is writing, so a last line without an end is not a cut but one
	that is still being written, and nothing is said of it.
	*/
	static async reopen(path: string): Promise<Reopened> {
		const locked = await lockSession(path);
		if (!locked.ok) return {at: 'held', holder: locked.holder, read: await readGrowing(path)};
		const {lock} = locked;
		try {
			const read = await readEvents(path);
			if (read.end.at === 'cut') return {at: 'cut', read, end: read.end, lock};
			const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND);
			const log = new SessionLog(path, lock, fd, read.events.at(-1)?.seq ?? 0, read.bytes);
			return {at: 'open', log, read};
		} catch (error) {
			await lock.release();
			throw error;
		}
	}

	/**
	Append events in one write and return them as they stand in the file.

	Resolves after they are synced to disk, so whatever is shown to the user has been kept. Rejects with NotSaved after a failed
	or short write or a failed sync: the log is closed from then on, every later call rejects likewise, and nothing is retried
	into the file. Rejects with EventTooLarge for one event over 1 MiB; nothing is written and the log stays open.
	*/
	append(...bodies: Body[]): Promise<Event[]> {
		const appended = this.#last.then(() => this.#write(bodies));
		this.#last = appended.catch(() => {});
		return appended;
	}

	/** Waits for what is being appended, then lets go of the file and of the lock. */
	async close(): Promise<void> {
		await this.#last;
		if (!this.#closed) {
			this.#closed = new NotSaved(this.id, 'it was closed.');
			closeAnyway(this.#fd);
		}
		await this.#lock.release();
	}

	async #write(bodies: Body[]): Promise<Event[]> {
		if (this.#closed) throw this.#closed;
		const {events, data} = encode(bodies, this.#seq);
		try {
			const {size, dev, ino} = fstatSync(this.#fd);
			const named = statSync(this.path, {throwIfNoEntry: false});
			if (!named) throw new Error(`its file, ${this.path}, was deleted or moved away.`);
			if (named.dev !== dev || named.ino !== ino) {
				throw new Error(`its file, ${this.path}, was replaced by another one.`);
			}
			if (size !== this.#bytes) {
				throw new Error(`its file is ${size} bytes long and not ${this.#bytes}: something else wrote to it.`);
			}
			writeWhole(this.#fd, data);
			if (syncing) await syncData(this.#fd);
		} catch (error) {
			this.#closed = new NotSaved(this.id, error instanceof Error ? error.message : String(error), error);
			closeAnyway(this.#fd);
			throw this.#closed;
		}
		this.#bytes += data.length;
		this.#seq = events.at(-1)?.seq ?? this.#seq;
		return events;
	}
}

/** Names of sessions that are being made: never listed, since they do not end in .jsonl. */
const temporaryPrefix = '.new-';

/** Write a session under a temporary name and put it in place. Throws with EEXIST where the name is taken. */
function place(
	path: string,
	bodies: readonly Body[],
	prefix?: Prefix,
): {fd: number; bytes: number; events: Event[]} {
	const temporary = join(dirname(path), `${temporaryPrefix}${basename(path, '.jsonl')}`);
	const {O_WRONLY, O_CREAT, O_EXCL, O_APPEND} = constants;
	const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0o600);
	let linked = false;
	try {
		const copied = prefix ? copyPrefix(prefix, fd) : 0;
		const {events, data} = encode(bodies, prefix?.seq ?? 0);
		writeWhole(fd, data);
		if (syncing) fsyncSync(fd);
		linkSync(temporary, path);
		linked = true;
		unlinkSync(temporary);
		if (syncing) syncFolder(dirname(path));
		return {fd, bytes: copied + data.length, events};
	} catch (error) {
		closeAnyway(fd);
		rmSync(temporary, {force: true});
		// Its maker is told that it is not there, and would make it a second time.
		if (linked) rmSync(path, {force: true});
		throw error;
	}
}

/** What counts as written is synced, so a close that fails loses nothing; thrown, it would hide why the log was closed. */
function closeAnyway(fd: number): void {
	try {
		closeSync(fd);
	} catch {
		// The descriptor is gone all the same.
	}
}

/** One write. A full disk takes a part without a word, so the length is the word. */
function writeWhole(fd: number, data: Uint8Array): void {
	const written = writeSync(fd, data);
	if (written !== data.length) throw new Error(`the disk took ${written} of ${data.length} bytes.`);
}

function encode(bodies: readonly Body[], lastSeq: number): {events: Event[]; data: Buffer} {
	const ts = new Date().toISOString();
	const lines = bodies.map((body, index) => {
		const line = toLine({seq: lastSeq + 1 + index, ts, ...body});
		const bytes = Buffer.byteLength(line) + 1;
		if (bytes > maxEventBytes) throw new EventTooLarge(body.type, bytes);
		return line;
	});
	return {
		events: lines.map((line) => JSON.parse(line) as Event),
		data: Buffer.from(lines.map((line) => `${line}\n`).join('')),
	};
}

/** JSON text with every string well-formed: a lone surrogate in the log would make each later request fail. */
function toLine(event: object): string {
	const line = JSON.stringify(event);
	// JSON.stringify writes a lone surrogate as an escape, so a line without one needs no second pass.
	if (!/\\ud[89a-f]/.test(line)) return line;
	return JSON.stringify(event, (_key, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}

/** Whether a folder takes a synced write now. */
export function canWrite(folder: string): boolean {
	const path = join(folder, `${temporaryPrefix}test-${process.pid}`);
	try {
		const fd = openSync(path, 'w', 0o600);
		try {
			writeWhole(fd, Buffer.alloc(64 * 1024));
			fsyncSync(fd);
			return true;
		} finally {
			closeSync(fd);
			rmSync(path, {force: true});
		}
	} catch {
		return false;
	}
}

function copyPrefix(prefix: Prefix, to: number): number {
	const from = openSync(prefix.path, 'r');
	try {
		const chunk = Buffer.allocUnsafe(Math.min(prefix.bytes, 1 << 20) || 1);
		let copied = 0;
		while (copied < prefix.bytes) {
			const read = readSync(from, chunk, 0, Math.min(chunk.length, prefix.bytes - copied), copied);
			if (read === 0) throw new Error(`${prefix.path} ends at byte ${copied}, before byte ${prefix.bytes}`);
			writeWhole(to, chunk.subarray(0, read));
			copied += read;
		}
		return copied;
	} finally {
		closeSync(from);
	}
}

/** A new name is durable once the folder that holds it is; the folder may be new too. */
function syncFolder(folder: string): void {
	for (const path of [folder, dirname(folder)]) syncNames(path);
}

function syncNames(folder: string): void {
	const fd = openSync(folder, 'r');
	try {
		fsyncSync(fd);
	} finally {
		closeSync(fd);
	}
}

/** Temporary files whose writer died before it could link them: nobody holds the session that they were to be. */
async function clearAbandoned(folder: string): Promise<void> {
	for (const name of readdirSync(folder)) {
		if (!name.startsWith(temporaryPrefix)) continue;
		const path = join(folder, `${name.slice(temporaryPrefix.length)}.jsonl`);
		if ((await holderOf(path)) === undefined) rmSync(join(folder, name), {force: true});
	}
}
