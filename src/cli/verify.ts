import {existsSync} from 'node:fs';
import {basename} from 'node:path';
import {readBeside} from '../session/log.ts';
import {readablePath} from './place.ts';
import {UsageError} from './usage-error.ts';

/** `mca verify`: whether logs are whole. Exit status 3 where one is cut, whatever there is to say of the others. */
export async function verify(sessions: string[], {json}: {json?: boolean}): Promise<number> {
	let status = 0;
	for (const session of sessions) status = Math.max(status, await verifyOne(session, json));
	return status;
}

async function verifyOne(session: string, json = false): Promise<number> {
	try {
		const path = existsSync(session) ? session : await readablePath(session);
		const {events, end, bytes, holder} = await readBeside(path).catch((error) => {
			throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
		});
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
		return end.at === 'cut' ? 3 : 0;
	} catch (error) {
		if (!(error instanceof UsageError)) throw error;
		process.stderr.write(`mca: ${error.message}\n`);
		return error.status;
	}
}

/** Where a log stops and why; the same words wherever it is said. */
export function cutSentence(id: string, end: {line: number; reason: string; ignoredBytes: number}): string {
	return `Session ${id} stops at line ${end.line}: ${end.reason}. ${end.ignoredBytes} bytes from there on are ignored and left as they are.`;
}
