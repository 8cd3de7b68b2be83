import {basename} from 'node:path';
import {sessionPath} from './setup.ts';
import {printJson, printLine} from './table.ts';

/** `mca path`: where the file of a session is. */
export async function path(id: string, options: {json?: boolean}): Promise<number> {
	const found = await sessionPath(id);
	await (options.json ? printJson({id: basename(found, '.jsonl'), path: found}) : printLine(found));
	return 0;
}
