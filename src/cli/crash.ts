import {appendFileSync, rmSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {dataFolder} from '../session/sessions.ts';
import {plainLine} from '../tools/plain-text.ts';
import {packageVersion} from './package-folder.ts';
import {makeFolder} from './setup.ts';

const mostBytes = 1_000_000;

let restore = () => {};

/** What has to happen before a bug is told: as long as the screen is up, a sentence would be wiped with it. */
export function beforeCrash(doing: () => void): void {
	restore = doing;
}

/**
A bug was met that nobody caught. Tells it in a sentence, and what belongs to it in a file: a stack of the bundle says nothing to
the person at the keyboard. Returns the exit status.
*/
export function crashed(error: unknown): number {
	try {
		restore();
	} catch {
		// What is broken may be the screen itself.
	}
	// Whoever read this is gone: `mca log | head`, or a terminal that was closed. That is no bug.
	const {code, syscall} = error as NodeJS.ErrnoException;
	if ((code === 'EPIPE' || code === 'EIO') && (syscall === 'write' || syscall === 'read')) return 1;
	const what = plainLine(error instanceof Error ? error.message : String(error)).slice(0, 500);
	const end = /[.!?]$/.test(what) ? '' : '.';
	process.stderr.write(`mca: this is a bug in mca: ${what}${end} ${kept(error)}\n`);
	return 1;
}

function kept(error: unknown): string {
	const path = join(dataFolder(), 'crash.log');
	const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
	const cause = error instanceof Error && error.cause ? `\ncause: ${String(error.cause)}` : '';
	const about = `mca ${packageVersion()}, Node ${process.version}, ${process.platform}`;
	try {
		makeFolder(dataFolder());
		if ((statSync(path, {throwIfNoEntry: false})?.size ?? 0) > mostBytes) rmSync(path);
		appendFileSync(path, `${new Date().toISOString()} ${about}\n${stack}${cause}\n\n`, {mode: 0o600});
	} catch (problem) {
		return `Its details could not be kept: ${(problem as Error).message}.`;
	}
	return `Its details are in ${path}; what the session's log has is safe.`;
}
