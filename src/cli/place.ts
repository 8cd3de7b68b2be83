import {existsSync, readdirSync, realpathSync, statSync} from 'node:fs';
import {basename, join, resolve, sep} from 'node:path';
import {dataFolder, isId, sessionFiles, sessionFolder} from '../session/sessions.ts';
import {configFolder, readConfig} from './config.ts';
import {packageFolder} from './package-folder.ts';
import {chooseProvider} from './provider.ts';
import {demoFolder, sessionPath} from './setup.ts';
import {UsageError} from './usage-error.ts';

const env = process.env;

/** Where a command that only reads looks: no model is needed for it, and nothing is made. */
export type Place = {
	/** Real path of the folder that is asked about. */
	workspace: string;
	/** The folders of session files that belong to it; some may not be there. */
	folders: string[];
};

/** The place of `-C DIR` or of the current folder. Where mca would play the demo, that is the demo's repository, as in `setUp`. */
export function placeOf(folder: string | undefined): Place {
	const here = realFolder(folder ?? process.cwd());
	const demo = join(demoFolder(), 'repo');
	const played = folder === undefined && playsDemo(here) && existsSync(demo) ? realpathSync(demo) : undefined;
	const workspaces = played ? [played, here] : [here];
	return {
		workspace: played ?? here,
		folders: workspaces.flatMap((each) => dataFolders().map((data) => sessionFolder(data, each))),
	};
}

/** Every folder of session files, of all workspaces and of the demo. */
export function allFolders(): string[] {
	return dataFolders().flatMap((data) => {
		const root = join(data, 'sessions');
		if (!existsSync(root)) return [];
		return readdirSync(root, {withFileTypes: true})
			.filter((entry) => entry.isDirectory())
			.map((entry) => join(root, entry.name));
	});
}

/** The session files of folders as one list, newest id first. */
export async function filesIn(folders: readonly string[]): Promise<string[]> {
	const lists = await Promise.all(folders.map(sessionFiles));
	return lists.flat().sort((a, b) => (basename(a) < basename(b) ? 1 : -1));
}

/** What a command that only reads was given: an id, or the path of a session file wherever it lies. */
export async function readablePath(given: string): Promise<string> {
	if (isId(given)) return sessionPath(given);
	if (existsSync(given) && statSync(given).isFile()) return resolve(given);
	if (given.includes(sep) || given.endsWith('.jsonl')) throw new UsageError(`There is no file ${given}.`);
	return sessionPath(given);
}

/** For a promise that reads `path`: what the system says becomes a sentence. */
export function cannotRead(path: string): (error: Error) => never {
	return (error) => {
		throw new UsageError(`${path} cannot be read: ${error.message}`, 1);
	};
}

function dataFolders(): string[] {
	return [dataFolder(env), join(demoFolder(), 'data')];
}

/** As `setUp` decides it; a configuration that it would refuse is one, and no reason to read nothing. */
function playsDemo(here: string): boolean {
	if (env.MOCK === '1') return here === realpathSync(packageFolder());
	try {
		return chooseProvider(undefined, env, readConfig(configFolder(env))) === undefined;
	} catch {
		return false;
	}
}

function realFolder(folder: string): string {
	if (existsSync(folder) && statSync(folder).isDirectory()) return realpathSync(folder);
	throw new UsageError(`${folder} is not a folder. -C takes the folder whose sessions are meant.`);
}
