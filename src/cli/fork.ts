import {basename} from 'node:path';
import {fork} from '../session/fork.ts';
import {sessionPath} from './setup.ts';
import {UsageError} from './usage-error.ts';

/** `mca fork`: prints the id of the new session. */
export async function forkSession(id: string, options: {at?: string; json?: boolean}): Promise<number> {
	const path = await sessionPath(id);
	if (options.at !== undefined && !/^\d+$/.test(options.at)) {
		throw new UsageError(`--at takes the number of an event, not ${options.at}.`);
	}
	const forked = await fork(path, options.at === undefined ? undefined : {seq: Number(options.at)});
	if (!forked.ok) throw new UsageError(forked.reason, forked.unsaved ? 1 : 2);
	const {log, atSeq} = forked;
	await log.close();
	const from = basename(path, '.jsonl');
	if (options.json) process.stdout.write(`${JSON.stringify({id: log.id, path: log.path, from, atSeq})}\n`);
	else process.stdout.write(`${log.id}\n`);
	process.stderr.write(`Forked ${from} at event ${atSeq}. Files of the workspace are as they were.\n`);
	return 0;
}
