import {isUtf8} from 'node:buffer';
import {open} from 'node:fs/promises';
import {type Cut, type Event, parseLine} from './events.ts';

/** How a log ends. `whole`: every byte belongs to a line that was read. */
export type End = {at: 'whole'} | ({at: 'cut'} & Cut);

export type LogRead = {
	events: Event[];
	end: End;
	/** Length of the lines that were read, newlines included: where a fork copies to and an append goes on. */
	bytes: number;
};

const unfinished = 'the line does not end';

/** How a log ends while somebody writes it: a last line without its newline is not cut, it is not there yet. */
export function growing(end: End): End {
	return end.at === 'cut' && end.reason === unfinished ? {at: 'whole'} : end;
}

/** Enough for a whole session of ordinary length, or for the first lines of a long one. */
const firstChunkBytes = 64 * 1024;
const chunkBytes = 1 << 20;
const newline = 0x0a;

/**
Read a log from its first line up to the first that is not whole.

The one reader: resume, picker, verify, fork and export all come here, so that they agree on where a log ends. It never skips
and never repairs. Rejects only where the file cannot be opened or read.
*/
export async function readEvents(path: string): Promise<LogRead> {
	const events: Event[] = [];
	const {end, bytes} = await forEachEvent(path, (event) => {
		events.push(event);
	});
	return {events, end, bytes};
}

/** How far a log was read: bytes and lines behind the reader, and the seq of the last of them. */
export type Position = {bytes: number; line: number; seq: number};

const start: Position = {bytes: 0, line: 0, seq: 0};

/**
The same reading without keeping the events, from the start or from where an earlier reading came to. `visit` is told where its
line ends, in bytes from the start of the file; when it returns false, nothing after that line is looked at and the end is `whole`.
*/
export async function forEachEvent(
	path: string,
	visit: (event: Event, endOfLine: number) => unknown,
	from: Position = start,
): Promise<{end: End} & Position> {
	const file = await open(path, 'r');
	try {
		let chunk = Buffer.allocUnsafe(firstChunkBytes);
		/** The start of a line that goes over the end of a chunk, in pieces: joined once, however long the line is. */
		let pieces: Buffer[] = [];
		let {bytes, line, seq} = from;
		let position = bytes;
		const stopAt = async (reason: string) => {
			const {size} = await file.stat();
			const end = {at: 'cut', line: line + 1, reason, ignoredBytes: Math.max(0, size - bytes)} as const;
			return {end, bytes, line, seq};
		};
		for (;;) {
			const {bytesRead} = await file.read(chunk, 0, chunk.length, position);
			if (bytesRead === 0) break;
			position += bytesRead;
			const data = chunk.subarray(0, bytesRead);
			let begin = 0;
			// A newline never stands inside a character: where the lines behind the first are UTF-8 together, each of them is.
			const first = data.indexOf(newline);
			const areUtf8 = isUtf8(data.subarray(first + 1, data.lastIndexOf(newline) + 1));
			for (let at = first; at !== -1; at = data.indexOf(newline, begin)) {
				let text: string;
				let length = at - begin;
				if (at > first && areUtf8) {
					text = data.toString('utf8', begin, at);
				} else {
					const joined = Buffer.concat([...pieces, data.subarray(begin, at)]);
					pieces = [];
					if (!isUtf8(joined)) return await stopAt('the line is not valid UTF-8');
					text = joined.toString('utf8');
					length = joined.length;
				}
				begin = at + 1;
				const parsed = parseLine(text, seq);
				if (!parsed.ok) return await stopAt(parsed.reason);
				line++;
				bytes += length + 1;
				seq = parsed.event.seq;
				if (visit(parsed.event, bytes) === false) return {end: {at: 'whole'}, bytes, line, seq};
			}
			if (begin < bytesRead) pieces.push(Buffer.from(data.subarray(begin)));
			if (chunk.length < chunkBytes) chunk = Buffer.allocUnsafe(chunkBytes);
		}
		// The writer may have died here, in the middle of its write: the end of the log, and no other damage is implied.
		if (pieces.length > 0) return await stopAt(unfinished);
		return {end: {at: 'whole'}, bytes, line, seq};
	} finally {
		await file.close();
	}
}
