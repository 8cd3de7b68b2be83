import {existsSync, mkdirSync, renameSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {type Holder, lockSession} from './lock.ts';

export type Trashed = {ok: true; path: string} | {ok: false; holder: Holder};

/**
Move a session and its spilled output out of the lists into `<data>/trash/<workspace key>/`, byte for byte. Moving the file
back brings it back. Not while somebody has it open. Throws where the file system refuses.
*/
export async function moveToTrash(path: string): Promise<Trashed> {
	const locked = await lockSession(path);
	if (!locked.ok) return locked;
	try {
		const folder = dirname(path);
		const data = dirname(dirname(folder));
		const id = basename(path, '.jsonl');
		const trash = join(data, 'trash', basename(folder));
		mkdirSync(trash, {recursive: true, mode: 0o700});
		const to = free(join(trash, `${id}.jsonl`));
		renameSync(path, to);
		const spill = join(data, 'spill', id);
		if (existsSync(spill)) renameSync(spill, free(join(trash, id)));
		return {ok: true, path: to};
	} finally {
		await locked.lock.release();
	}
}

/** A session that was brought back and is removed again must not replace what lies there. */
function free(path: string): string {
	let name = path;
	for (let n = 2; existsSync(name); n++) name = `${path}.${n}`;
	return name;
}
