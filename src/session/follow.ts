import {type FSWatcher, watch} from 'node:fs';
import {stat} from 'node:fs/promises';
import type {Event} from './events.ts';
import {type End, forEachEvent, growing, type Position} from './read.ts';

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
	const changes = changesOf(path, signal);
	let position: Position = {bytes: 0, line: 0, seq: 0};
	try {
		while (!signal.aborted) {
			const {size} = await stat(path);
			if (size < position.bytes) {
				return {at: 'cut', line: position.line + 1, reason: 'the file became shorter', ignoredBytes: 0};
			}
			const read = await forEachEvent(path, (event, end) => !signal.aborted && visit(event, end), position);
			position = read;
			const end = growing(read.end);
			if (end.at === 'cut') return end;
			await changes.next();
		}
		return {at: 'whole'};
	} finally {
		changes.close();
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
