import {isUtf8} from 'node:buffer';
import {type FSWatcher, watch} from 'node:fs';
import {open} from 'node:fs/promises';
import {type Event, parseLine} from './events.ts';
import type {End} from './read.ts';

/** Looked at this often too, ms: not every file system tells of a change. */
const lookMs = 500;

/**
Read a log and go on as it grows, until `signal` is aborted. Only reads. A last line without its newline is not there yet; a
line that is not whole ends the reading as everywhere, and so does a file that became shorter.
*/
export async function follow(
	path: string,
	visit: (event: Event, endOfLine: number) => unknown,
	signal: AbortSignal,
): Promise<End> {
	const file = await open(path, 'r');
	const changes = changesOf(path, signal);
	try {
		const chunk = Buffer.allocUnsafe(1 << 20);
		let rest: Buffer = Buffer.alloc(0);
		let [bytes, line, seq] = [0, 0, 0];
		const cut = async (reason: string): Promise<End> => {
			const {size} = await file.stat();
			return {at: 'cut', line: line + 1, reason, ignoredBytes: Math.max(0, size - bytes)};
		};
		while (!signal.aborted) {
			const {bytesRead} = await file.read(chunk, 0, chunk.length, bytes + rest.length);
			if (bytesRead === 0) {
				if ((await file.stat()).size < bytes + rest.length) return await cut('the file became shorter');
				await changes.next();
				continue;
			}
			const data = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
			let start = 0;
			for (let at = data.indexOf(0x0a); at !== -1; at = data.indexOf(0x0a, start)) {
				const text = data.subarray(start, at);
				if (!isUtf8(text)) return await cut('the line is not valid UTF-8');
				const parsed = parseLine(text.toString('utf8'), seq);
				if (!parsed.ok) return await cut(parsed.reason);
				bytes += at + 1 - start;
				start = at + 1;
				line++;
				seq = parsed.event.seq;
				await visit(parsed.event, bytes);
			}
			rest = data.subarray(start);
		}
		return {at: 'whole'};
	} finally {
		changes.close();
		await file.close();
	}
}

/** `next` resolves when the file may have changed since it was last asked, and when the following ends. */
function changesOf(path: string, signal: AbortSignal) {
	let changed = false;
	let wake = () => {};
	const look = () => {
		changed = true;
		wake();
	};
	const watcher = watcherOf(path, look);
	const timer = setInterval(look, lookMs);
	signal.addEventListener('abort', look);
	return {
		async next(): Promise<void> {
			if (!changed) await new Promise<void>((resolve) => (wake = resolve));
			changed = false;
		},
		close() {
			watcher?.close();
			clearInterval(timer);
			signal.removeEventListener('abort', look);
		},
	};
}

/** undefined where the system has no watcher left to give: then the looking has to do. */
function watcherOf(path: string, look: () => void): FSWatcher | undefined {
	try {
		return watch(path, look).on('error', () => {});
	} catch {
		return undefined;
	}
}
