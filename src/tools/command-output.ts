import {type FileHandle, mkdir, open} from 'node:fs/promises';
import {join} from 'node:path';
import type {Readable} from 'node:stream';
import {StringDecoder} from 'node:string_decoder';
import {bytesText, count} from './amounts.ts';
import {because} from './files.ts';
import {
	OUTPUT_HEAD_BYTES,
	OUTPUT_TAIL_BYTES,
	SCREEN_CHARS,
	SCREEN_MS,
	SPILL_BYTES,
	takeHead,
	takeTail,
} from './limits.ts';
import {plainText} from './plain-text.ts';

export type CommandOutput = {
	/** Read a pipe to its end, no faster than the spill file takes it. */
	take(stream: Readable): void;
	/** Nothing more is taken. Resolves when the spill file is complete. */
	close(): Promise<Shown>;
};

/** What is left of an output: `text` for the model, `spill` the path of all of it where `text` is not all. */
export type Shown = {text: string; truncated: boolean; note: string; spill?: string};

const WINDOW_BYTES = OUTPUT_HEAD_BYTES + OUTPUT_TAIL_BYTES;

type Options = {
	spillFolder: string;
	callId: string;
	/** For the screen: text as it comes, at most every SCREEN_MS and SCREEN_CHARS of it. */
	onOutput: ((text: string) => void) | undefined;
	/** Called once, when there is more than SPILL_BYTES. */
	onLimit: () => void;
};

/**
Take what a command writes with bounded memory: its beginning, its end, and a file with all of it.

The file is made when the window is full, and holds the text as it came: in UTF-8, with characters whole where the pipes take
turns in the middle of one. If it cannot be made or written, the output is shown all the same, and the note says why there is
no file.
*/
export function commandOutput({spillFolder, callId, onOutput, onLimit}: Options): CommandOutput {
	let head = '';
	let tail = '';
	let bytes = 0;
	let newlines = 0;
	let endsInNewline = true;
	let closed = false;
	/** All of it so far, until there is a file for it. */
	let pending: Buffer[] = [];
	let file: {handle: FileHandle; path: string} | null = null;
	let problem: string | null = null;
	let writing = Promise.resolve();
	const screen = screenFeed(onOutput);
	const decoders: StringDecoder[] = [];

	function addText(text: string) {
		screen.add(text);
		if (tail === '' && head.length < OUTPUT_HEAD_BYTES) {
			const room = OUTPUT_HEAD_BYTES - Buffer.byteLength(head);
			const first = takeHead(text, room);
			head += first;
			if (first.length === text.length) return;
			tail = text.slice(first.length);
		} else tail += text;
		// Cutting only when there is twice of what is needed makes it constant work for each character.
		if (tail.length > 2 * OUTPUT_TAIL_BYTES) tail = tail.slice(-OUTPUT_TAIL_BYTES);
	}

	async function spill(chunk: Buffer): Promise<void> {
		try {
			file ??= await makeFile(spillFolder, callId);
			const all = pending.length > 0 ? Buffer.concat([...pending, chunk]) : chunk;
			pending = [];
			await file.handle.writeFile(all);
		} catch (error) {
			problem = because(error);
			pending = [];
		}
	}

	/** What the stream that it came from has to wait for, if it has to. */
	function accept(text: string): Promise<void> | null {
		const wasWithin = bytes <= SPILL_BYTES;
		const encoded = Buffer.from(text);
		bytes += encoded.length;
		for (const byte of encoded) if (byte === 0x0a) newlines++;
		if (encoded.length > 0) endsInNewline = encoded.at(-1) === 0x0a;
		addText(text);
		if (wasWithin && bytes > SPILL_BYTES) onLimit();
		if (problem !== null || !wasWithin) return null;
		if (bytes <= WINDOW_BYTES) {
			pending.push(encoded);
			return null;
		}
		writing = writing.then(() => spill(encoded));
		return writing;
	}

	function take(stream: Readable) {
		const decoder = new StringDecoder('utf8');
		decoders.push(decoder);
		stream.on('error', () => {});
		stream.on('data', (chunk: Buffer) => {
			if (closed) return;
			const turn = accept(decoder.write(chunk));
			if (turn === null) return;
			stream.pause();
			turn.then(() => stream.resume());
		});
	}

	async function close(): Promise<Shown> {
		closed = true;
		for (const decoder of decoders) accept(decoder.end());
		screen.close();
		await writing;
		await file?.handle.close();
		const lines = newlines + (endsInNewline ? 0 : 1);
		if (bytes <= WINDOW_BYTES) return {text: plainText(head + tail), truncated: false, note: ''};
		const end = fromLineStart(takeTail(tail, OUTPUT_TAIL_BYTES));
		const left = bytes - Buffer.byteLength(head) - Buffer.byteLength(end);
		const spilled = bytes > SPILL_BYTES ? `Its first ${bytesText(SPILL_BYTES)}` : 'All of it';
		const where =
			file === null || problem !== null ? `It could not be kept: ${problem}.` : `${spilled}: ${file.path}`;
		return {
			text: `${plainText(head)}\n… ${bytesText(left)} left out …\n${plainText(end)}`,
			truncated: true,
			note: `The output is ${count(bytes, 'byte')} in ${count(lines, 'line')}; its first ${bytesText(OUTPUT_HEAD_BYTES)} and last ${bytesText(OUTPUT_TAIL_BYTES)} are shown. ${where}`,
			...(file !== null && problem === null ? {spill: file.path} : {}),
		};
	}

	return {take, close};
}

/** A new file named after the call. Providers reuse ids, so a name that is taken gets a number. */
async function makeFile(folder: string, callId: string): Promise<{handle: FileHandle; path: string}> {
	await mkdir(folder, {recursive: true, mode: 0o700});
	// The id comes from the provider: it must not name a folder.
	const name = callId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100) || 'call';
	for (let n = 1; ; n++) {
		const path = join(folder, n === 1 ? `${name}.log` : `${name}-${n}.log`);
		try {
			return {handle: await open(path, 'wx', 0o600), path};
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		}
	}
}

/** Without the rest of a line at the beginning, if that is not most of it. */
function fromLineStart(text: string): string {
	const start = text.indexOf('\n') + 1;
	return start > 0 && start < text.length / 2 ? text.slice(start) : text;
}

/** Hands on the newest text, no more often and no more of it than a screen can use. */
function screenFeed(onOutput: ((text: string) => void) | undefined) {
	let waiting = '';
	let last = Number.NEGATIVE_INFINITY;
	let timer: NodeJS.Timeout | undefined;

	function flush() {
		clearTimeout(timer);
		timer = undefined;
		if (waiting === '') return;
		last = performance.now();
		const text = plainText(takeTail(waiting, SCREEN_CHARS));
		waiting = '';
		onOutput?.(text);
	}

	return {
		add(text: string) {
			if (onOutput === undefined || text === '') return;
			waiting += text;
			if (waiting.length > 2 * SCREEN_CHARS) waiting = waiting.slice(-SCREEN_CHARS);
			timer ??= setTimeout(flush, Math.max(0, last + SCREEN_MS - performance.now()));
		},
		close: flush,
	};
}
