import {existsSync, readFileSync, realpathSync, statSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import * as z from 'zod';
import {isInside, isSensitive} from '../tools/workspace.ts';
import {UsageError} from './usage-error.ts';

/** All of it together, bytes; what is over is left out, and the model is told. */
const maxBytes = 32 * 1024;

/** What the folder says about how to work in it. `text` is for the system message, '' where there is nothing. */
export type Instructions = {text: string; files: {path: string; bytes: number}[]};

/** Commands that the workspace refuses, and the mode it wants at the most. It can only tighten what the person chose. */
export type Settings = {refuse: string[]; mode?: 'ask' | 'plan'};

const settings = z.strictObject({
	refuse: z.array(z.string()).optional(),
	mode: z.enum(['ask', 'plan']).optional(),
});

/** Whether there is anything in the folder that trusting it would make a difference to. */
export function hasSomethingToTrust(workspace: string): string[] {
	return [
		...instructionFiles(workspace).map((file) => relative(workspace, file) || file),
		...settingsFile(workspace),
	];
}

/** AGENTS.md of the repository's root and of every folder down to the workspace; where one is missing, CLAUDE.md. */
export function readInstructions(workspace: string): Instructions {
	const files: Instructions['files'] = [];
	const parts: string[] = [];
	let room = maxBytes;
	for (const path of instructionFiles(workspace)) {
		const bytes = readFileSync(path);
		const shown = bytes.subarray(0, room).toString('utf8').toWellFormed();
		const name = relative(workspace, path);
		files.push({path: name, bytes: bytes.length});
		const cut = bytes.length > room ? '\n(The rest is left out: it is too long.)' : '';
		parts.push(`From ${name}:\n${shown.trim()}${cut}`);
		room = Math.max(0, room - bytes.length);
	}
	return {text: parts.join('\n\n'), files};
}

/** `.mca.json` of the workspace. A bad one is a UsageError: it may have been meant to refuse something. */
export function readSettings(workspace: string): Settings {
	const path = join(workspace, '.mca.json');
	if (!existsSync(path)) return {refuse: []};
	let value: unknown;
	try {
		value = JSON.parse(readFileSync(path, 'utf8'));
	} catch (error) {
		throw new UsageError(`${path} is not JSON: ${(error as Error).message}`);
	}
	const checked = settings.safeParse(value);
	if (!checked.success) {
		const [issue] = checked.error.issues;
		throw new UsageError(
			`${path} does not fit: ${issue?.path.join('.')}: ${issue?.message}. Its fields are refuse and mode.`,
		);
	}
	const {refuse = [], mode} = checked.data;
	return {refuse, ...(mode ? {mode} : {})};
}

function settingsFile(workspace: string): string[] {
	return existsSync(join(workspace, '.mca.json')) ? ['.mca.json'] : [];
}

function instructionFiles(workspace: string): string[] {
	const root = repositoryOf(workspace);
	const folders: string[] = [];
	for (let folder = workspace; ; folder = dirname(folder)) {
		folders.unshift(folder);
		if (folder === root) break;
	}
	return folders.flatMap((folder) => {
		const found = ['AGENTS.md', 'CLAUDE.md'].map((name) => join(folder, name)).find(isFile);
		if (!found) return [];
		// A link must not carry another file of the disk to the model under this name.
		const real = realpathSync(found);
		return isInside(root, real) && !isSensitive(real) ? [found] : [];
	});
}

/** The folder with `.git` that the workspace lies in, or the workspace itself. */
function repositoryOf(workspace: string): string {
	for (let folder = workspace; ; folder = dirname(folder)) {
		if (existsSync(join(folder, '.git'))) return folder;
		if (folder === dirname(folder)) return workspace;
	}
}

function isFile(path: string): boolean {
	try {
		return statSync(path).isFile();
	} catch {
		return false;
	}
}
