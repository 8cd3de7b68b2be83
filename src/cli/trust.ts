import {readFileSync, renameSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {makeFolder} from './setup.ts';

/** A folder is known by its place and by what the disk calls it: another one put there later is not trusted for it. */
type Trusted = {path: string; dev: number; ino: number; trusted?: boolean};

/** Whether a person has trusted this folder (a real path): only then are the instructions and settings in it read. */
export function isTrusted(data: string, folder: string): boolean {
	return answerOf(data, folder) === true;
}

/** What a person said of this folder; undefined where nobody was asked yet. */
export function answerOf(data: string, folder: string): boolean | undefined {
	const {dev, ino} = statSync(folder, {throwIfNoEntry: false}) ?? {};
	const said = readTrusted(data).find((each) => each.path === folder && each.dev === dev && each.ino === ino);
	return said && said.trusted !== false;
}

/** Remember the answer. Kept in the user's own data, never in the folder. */
export function trust(data: string, folder: string, trusted = true): void {
	const {dev, ino} = statSync(folder);
	const others = readTrusted(data).filter((each) => each.path !== folder);
	makeFolder(data);
	const path = join(data, 'trust.json');
	const temporary = `${path}.${process.pid}`;
	writeFileSync(
		temporary,
		`${JSON.stringify([...others, {path: folder, dev, ino, trusted}], null, '\t')}\n`,
		{
			mode: 0o600,
		},
	);
	renameSync(temporary, path);
}

function readTrusted(data: string): Trusted[] {
	try {
		const list: unknown = JSON.parse(readFileSync(join(data, 'trust.json'), 'utf8'));
		return Array.isArray(list) ? list.filter((each) => typeof each?.path === 'string') : [];
	} catch {
		// No file, or one that is no list: then nothing is trusted yet, which is the safe reading.
		return [];
	}
}
