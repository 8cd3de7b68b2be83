import {lstat, readlink, realpath} from 'node:fs/promises';
import {basename, dirname, isAbsolute, join, parse, relative, sep} from 'node:path';
import {because} from './files.ts';
import type {ToolContext} from './tool.ts';

/** Where a path of the model's leads. */
export type Place =
	/** `path` is real, but for the end that does not exist yet; `display` is relative to the workspace, with `/` (`.` is the workspace). */
	| {ok: true; path: string; display: string}
	/** A sentence for the model. */
	| {ok: false; reason: string};

type Folders = Pick<ToolContext, 'workspace' | 'forbidden'>;

/**
Follow a path as the kernel would, through every symlink and `..`, and say whether tools may go there.

It need not exist: a dangling link is followed to what it names. What is decided is true when it is decided; the file tools
open the real path without following a link in its last part.
*/
export async function resolveInside(given: string, {workspace, forbidden}: Folders): Promise<Place> {
	if (given === '') return refuse('The path is empty. Give a path relative to the workspace.');
	if (given.includes('\0')) return refuse('The path holds a NUL character. Give it without.');
	if (given === '~' || given.startsWith('~/')) {
		return refuse(`"${given}" starts with ~, which is not expanded. Give a path relative to the workspace.`);
	}
	let path: string;
	try {
		path = await canonical(await followLinks(isAbsolute(given) ? given : `${workspace}${sep}${given}`));
	} catch (error) {
		return refuse(`"${given}" cannot be followed: ${because(error)}.`);
	}
	const leads = path === given ? 'is' : `leads to ${path}, which is`;
	if (forbidden.some((folder) => isInside(folder, path))) {
		return refuse(`"${given}" ${leads} in a folder that mca keeps for itself. No tool may go there.`);
	}
	if (!isInside(workspace, path)) {
		return refuse(`"${given}" ${leads} outside the workspace ${workspace}. Tools work inside it only.`);
	}
	const display = relative(workspace, path).split(sep).join('/');
	return {ok: true, path, display: display === '' ? '.' : display};
}

/**
The same for what only reads: it may also look into the session's own spilled output, which the model has seen a part of.
The display of such a path is the path.
*/
export async function resolveForReading(
	given: string,
	context: Folders & Pick<ToolContext, 'spillFolder'>,
): Promise<Place> {
	const place = await resolveInside(given, context);
	if (place.ok || !isAbsolute(given)) return place;
	const spill = await canonical(context.spillFolder).catch(() => null);
	if (spill === null) return place;
	const within = await resolveInside(given, {workspace: spill, forbidden: []});
	return within.ok ? {...within, display: within.path} : place;
}

/** Whether `path` is `folder` or below it; both real. */
export function isInside(folder: string, path: string): boolean {
	const way = relative(folder, path);
	return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether the display of a place inside the workspace is in a folder that mca keeps for itself. */
export function isForbidden(display: string, {workspace, forbidden}: Folders): boolean {
	return forbidden.some((folder) => isInside(folder, join(workspace, display)));
}

const sensitiveNames = [
	/^\.env($|[._-]|rc$)/,
	/\.env$/,
	/\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|keychain|keychain-db)$/,
	/^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
	/^\.(npmrc|pypirc|pgpass|my\.cnf|git-credentials|dockercfg|htpasswd|vault-token|terraformrc)$/,
	/^[._]netrc$/,
	/^credentials(\.(json|toml|ya?ml|db|csv))?$/,
	/^secrets?\.(json|toml|ya?ml)$/,
	/^(service-account|client_secret).*\.json$/,
];
const sensitiveFolders = [
	'.ssh',
	'.gnupg',
	'.aws',
	'.azure',
	'.password-store',
	'.git/hooks',
	'.config/gcloud',
];
const sensitiveFiles = ['.docker/config.json', '.kube/config', '.config/gh/hosts.yml', '.gem/credentials'];
const harmless = /^\.env[._-](example|sample|template|dist|defaults)$|^(example|sample|template)\.env$/;

/**
Whether a path names what is likely to hold a secret, or what git would run. Asked before it is read, and left out of lists.

It goes by the name alone, real or relative, in any case (`.ENV` is `.env` on some disks).
*/
export function isSensitive(path: string): boolean {
	const whole = `/${path.split(sep).join('/').toLowerCase()}`;
	const name = basename(whole);
	if (harmless.test(name)) return false;
	return (
		sensitiveNames.some((pattern) => pattern.test(name)) ||
		sensitiveFolders.some((folder) => `${whole}/`.includes(`/${folder}/`)) ||
		sensitiveFiles.some((file) => whole.endsWith(`/${file}`)) ||
		/\/\.git\/(.*\/)?(config|config\.worktree|hooks(\/.*)?)$/.test(whole)
	);
}

/** More links than any sane tree has; Linux gives up at the same number. */
const MAX_LINKS = 40;
const separators = sep === '\\' ? /[\\/]+/ : /\/+/;

/** What does not exist is taken as it is written. Throws what lstat and readlink throw. */
async function followLinks(start: string): Promise<string> {
	let at = parse(start).root;
	const todo = start.slice(at.length).split(separators).reverse();
	let links = 0;
	for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
		if (part === '' || part === '.') continue;
		if (part === '..') {
			at = dirname(at);
			continue;
		}
		const next = join(at, part);
		const target = await linkTarget(next);
		if (target === null) {
			at = next;
			continue;
		}
		if (++links > MAX_LINKS) throw Object.assign(new Error('too many links'), {code: 'ELOOP'});
		if (isAbsolute(target)) at = parse(target).root;
		todo.push(
			...target
				.slice(isAbsolute(target) ? at.length : 0)
				.split(separators)
				.reverse(),
		);
	}
	return at;
}

async function linkTarget(path: string): Promise<string | null> {
	try {
		return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
	} catch (error) {
		if (isMissing(error)) return null;
		throw error;
	}
}

/** The one spelling of a path on disks that know several (letter case, short names). */
async function canonical(path: string): Promise<string> {
	try {
		return await realpath(path);
	} catch (error) {
		const folder = dirname(path);
		if (!isMissing(error) || folder === path) throw error;
		return join(await canonical(folder), basename(path));
	}
}

function isMissing(error: unknown): boolean {
	const {code} = error as NodeJS.ErrnoException;
	return code === 'ENOENT' || code === 'ENOTDIR';
}

function refuse(reason: string): Place {
	return {ok: false, reason};
}
