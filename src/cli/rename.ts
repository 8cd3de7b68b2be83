import {heldSentence} from '../agent/agent.ts';
import {SessionLog} from '../session/log.ts';
import {plainLine} from '../tools/plain-text.ts';
import {cannotRead} from './place.ts';
import {sessionPath} from './setup.ts';
import {printJson, printLine} from './table.ts';
import {UsageError} from './usage-error.ts';
import {cutSentence} from './verify.ts';

/** `mca rename`: appends the name to the session, where the newest one counts. */
export async function rename(id: string, words: string[], options: {json?: boolean}): Promise<number> {
	const path = await sessionPath(id);
	const title = plainLine(words.join(' ')).trim();
	if (title === '') throw new UsageError('A name needs a character that can be seen.');
	const opened = await SessionLog.reopen(path).catch(cannotRead(path));
	if (opened.at === 'held') throw new UsageError(heldSentence(path, opened.holder), 1);
	if (opened.at === 'cut') {
		await opened.lock.release();
		throw new UsageError(
			`${cutSentence(id, opened.end)} Nothing is appended to it, so it keeps its name.`,
			1,
		);
	}
	const appended = opened.log.append({type: 'name', title}).finally(() => opened.log.close());
	const [event] = await appended.catch((error: Error) => {
		throw new UsageError(error.message, 1);
	});
	await (options.json
		? printJson({id, title, seq: event?.seq})
		: printLine(`${id} is now named “${title}”.`));
	return 0;
}
