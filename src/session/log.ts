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
	unlinkSync,
	writeSync,
} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {promisify} from 'node:util';
import type {Body, Event} from './events.ts';
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

/**
A session's file while this process writes it: the only thing in mca that writes session files, and `append` the one way they
grow.
*/
export class SessionLog {
	readonly path: string;
	readonly id: string;
	readonly #fd: number;
	#seq: number;
	#bytes: number;
	#closed: NotSaved | undefined;
	/** Appends run one after the other, each when the one before it is on disk. */
	#last: Promise<unknown> = Promise.resolve();

	private constructor(path: string, fd: number, seq: number, bytes: number) {
		this.path = path;
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
	static create(
		folder: string,
		bodies: (id: string) => Body[],
		prefix?: Prefix,
	): {log: SessionLog; events: Event[]} {
		mkdirSync(folder, {recursive: true, mode: 0o700});
		clearAbandoned(folder);
		for (;;) {
			const id = nextId(new Date(), readdirSync(folder));
			const temporary = join(folder, `.new-${process.pid}-${id}`);
			const fd = openSync(
				temporary,
				constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND,
				0o600,
			);
			try {
				const copied = prefix ? copyPrefix(prefix, fd) : 0;
				const {events, data} = encode(bodies(id), prefix?.seq ?? 0);
				if (writeSync(fd, data) !== data.length) throw new Error('the disk took only a part of it');
				if (syncing) fsyncSync(fd);
				const path = join(folder, `${id}.jsonl`);
				linkSync(temporary, path);
				unlinkSync(temporary);
				if (syncing) syncFolder(folder);
				const seq = events.at(-1)?.seq ?? prefix?.seq ?? 0;
				return {log: new SessionLog(path, fd, seq, copied + data.length), events};
			} catch (error) {
				closeSync(fd);
				unlinkSync(temporary);
				if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
				throw error;
			}
		}
	}

	/**
	Go on with a log that was read to its end: `seq` of its last line and the bytes that were read. Only a whole log may be
	reopened, since anything appended behind a torn line is glued to it and lost at the next read.
	*/
	static reopen(path: string, at: {seq: number; bytes: number}): SessionLog {
		const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND);
		return new SessionLog(path, fd, at.seq, at.bytes);
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

	/** Waits for what is being appended, then lets go of the file. */
	async close(): Promise<void> {
		await this.#last;
		if (this.#closed) return;
		this.#closed = new NotSaved(this.id, 'it was closed.');
		closeSync(this.#fd);
	}

	async #write(bodies: Body[]): Promise<Event[]> {
		if (this.#closed) throw this.#closed;
		const {events, data} = encode(bodies, this.#seq);
		try {
			const {size} = fstatSync(this.#fd);
			if (size !== this.#bytes) {
				throw new Error(`its file is ${size} bytes long and not ${this.#bytes}: something else wrote to it.`);
			}
			const written = writeSync(this.#fd, data);
			if (written !== data.length) throw new Error(`the disk took ${written} of ${data.length} bytes.`);
			if (syncing) await syncData(this.#fd);
		} catch (error) {
			this.#closed = new NotSaved(this.id, error instanceof Error ? error.message : String(error), error);
			closeSync(this.#fd);
			throw this.#closed;
		}
		this.#bytes += data.length;
		this.#seq = events.at(-1)?.seq ?? this.#seq;
		return events;
	}
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

function copyPrefix(prefix: Prefix, to: number): number {
	const from = openSync(prefix.path, 'r');
	try {
		const chunk = Buffer.allocUnsafe(Math.min(prefix.bytes, 1 << 20) || 1);
		let copied = 0;
		while (copied < prefix.bytes) {
			const read = readSync(from, chunk, 0, Math.min(chunk.length, prefix.bytes - copied), copied);
			if (read === 0) throw new Error(`${prefix.path} ends at byte ${copied}, before byte ${prefix.bytes}`);
			if (writeSync(to, chunk, 0, read) !== read) throw new Error('the disk took only a part of it');
			copied += read;
		}
		return copied;
	} finally {
		closeSync(from);
	}
}

/** A new name is durable once the folder that holds it is. */
function syncFolder(folder: string): void {
	for (const path of [folder, dirname(folder)]) {
		const fd = openSync(path, 'r');
		try {
			fsyncSync(fd);
		} finally {
			closeSync(fd);
		}
	}
}

/** Temporary files whose writer died before it could link them. */
function clearAbandoned(folder: string): void {
	for (const name of readdirSync(folder)) {
		const pid = /^\.new-(\d+)-/.exec(name)?.[1];
		if (pid && !isAlive(Number(pid))) unlinkSync(join(folder, name));
	}
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}
