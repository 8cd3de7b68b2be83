import {existsSync} from 'node:fs';
import {basename} from 'node:path';
import {readBeside} from '../session/log.ts';
import {sessionPath} from './setup.ts';
import {UsageError} from './usage-error.ts';

/** `mca verify`: whether logs are whole. Exit status 3 where one is cut. */
export async function verify(sessions: string[], {json}: {json?: boolean}): Promise<number> {
	let status = 0;
	for (const session of sessions) {
		const path = existsSync(session) ? session : await sessionPath(session);
		const {events, end, bytes, holder} = await readBeside(path).catch((error) => {
			throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
		});
		if (end.at === 'cut') status = 3;
		const id = basename(path, '.jsonl');
		if (json) {
			process.stdout.write(
				`${JSON.stringify({id, path, events: events.length, bytes, end, ...(holder ? {holder} : {})})}\n`,
			);
		} else if (end.at === 'whole') {
			const so = holder ? ' so far; another process is writing it' : '';
			process.stdout.write(`Session ${id} is whole${so}: ${events.length} events, ${bytes} bytes.\n`);
		} else {
			process.stdout.write(`${cutSentence(id, end)}\n`);
		}
	}
	return status;
}

/** Where a log stops and why; the same words wherever it is said. */
export function cutSentence(id: string, end: {line: number; reason: string; ignoredBytes: number}): string {
	return `Session ${id} stops at line ${end.line}: ${end.reason}. ${end.ignoredBytes} bytes from there on are ignored and left as they are.`;
}
