import {basename, dirname, join} from 'node:path';
import {ripgrep} from '../tools/ripgrep.ts';
import {isInside, isSensitive} from '../tools/workspace.ts';
import type {View} from './sandbox-args.ts';

type Entry = {name: string; isDirectory(): boolean; isFIFO(): boolean; isSymbolicLink(): boolean};
type Kind = {isDirectory(): boolean; isSymbolicLink(): boolean; mode: number; size: number};

/** The part of node:fs/promises that is needed to look around; it goes in from outside, as this room reads no disk. */
export type Disk = {
	realpath(path: string): Promise<string>;
	readdir(path: string): Promise<string[]>;
	readdir(path: string, options: {withFileTypes: true}): Promise<Entry[]>;
	readlink(path: string): Promise<string>;
	lstat(path: string): Promise<Kind>;
	readFile(path: string, encoding: 'utf8'): Promise<string>;
	/** Rejects where the path may not be read (mode 4) or, a folder, entered (1). */
	access(path: string, mode: number): Promise<void>;
};

type Bind = View['binds'][number];
type Base = Pick<View, 'links' | 'binds' | 'home'> & {hiddenFiles: string[]; hiddenFolders: string[]};

export type Place = {
	/** Real path. */
	workspace: string;
	/** mca's own folders and files. */
	forbidden: readonly string[];
	/** The person's home folders ($HOME, and what the system has), the first being the one that commands are told. */
	homes: readonly string[];
	PATH: string;
};

const systemFolders = [
	'/usr',
	'/bin',
	'/sbin',
	'/lib',
	'/lib32',
	'/lib64',
	'/libx32',
	'/etc',
	'/nix/store',
	'/gnu/store',
];

/** Not to be made visible whatever is on PATH: the kernel's own, and Windows, whose programs do not run in here. */
const neverVisible = /^\/(proc|sys|dev)(\/|$)|^\/mnt\/[a-z](\/|$)/;

/** Folders of a home that many programs keep things in, secrets too. A tool's own folder inside is another matter. */
const shared = ['.local', '.local/share', '.local/state', '.config', '.cache', 'snap', '.var'];

/** What is the same for every command in this workspace: system folders, tools on PATH, the home. */
export async function baseView(disk: Disk, place: Place): Promise<Base> {
	const {links, binds} = await systemView(disk);
	const home = place.homes.find((folder) => folder.startsWith('/')) ?? '/tmp';
	const hidesSystem =
		home === '/' || systemFolders.some((each) => isInside(each, home) || isInside(home, each));
	const tools = await toolFolders(disk, place);
	const masks = await unreadableByOthers(disk, '/etc');
	const shown = await Promise.all(tools.map((tool) => withoutSecrets(disk, tool, place)));
	return {
		home: hidesSystem ? null : home,
		links,
		binds: [...binds, ...shown.flatMap((tool) => tool.binds)],
		hiddenFiles: [...masks.files, ...shown.flatMap(({files}) => files)],
		hiddenFolders: [...masks.folders, ...shown.flatMap(({folders}) => folders)],
	};
}

/** What an installation is made of, whatever else lies beside it; `pkg` is Go's. */
const parts = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'include', 'pkg'];
/** Entries of a tool's folder that are looked at, and secrets in it that are hidden one by one. */
const MOST_ENTRIES = 30_000;
const MOST_TOOL_MASKS = 50;

/**
A tool's folder and what to hide in it. It may be a project, whose `bin` is on PATH: so it is looked through, and where it is too
large for that, or holds too much to hide, only its parts are shown. A dot folder of the home is a tool's (`~/.cargo`,
`~/.pyenv`), and keeps what is secret at its top.
*/
async function withoutSecrets(
	disk: Disk,
	{from, to}: Bind,
	{homes}: Place,
): Promise<{binds: Bind[]; files: string[]; folders: string[]}> {
	const isTool = homes.some((home) => isInside(home, from) && from.slice(home.length).startsWith('/.'));
	const files: string[] = [];
	const secretFolders: string[] = [];
	let entries = 0;
	let level = [''];
	const isTooMuch = () => entries > MOST_ENTRIES || files.length + secretFolders.length > MOST_TOOL_MASKS;
	while (level.length > 0 && !isTooMuch()) {
		const deeper: string[] = [];
		for (const folder of level) {
			const inIt = await disk.readdir(join(from, folder), {withFileTypes: true}).catch(() => []);
			const secret: string[] = [];
			entries += inIt.length;
			for (const entry of inIt) {
				const path = join(folder, entry.name);
				if (entry.isSymbolicLink()) continue;
				// Its name is not UTF-8, so what is in it cannot be hidden.
				if (entry.name.includes('\ufffd')) entries = Number.POSITIVE_INFINITY;
				if (isSensitive(join(to, path))) (entry.isDirectory() ? secretFolders : secret).push(path);
				else if (entry.isDirectory() && !isPublished(path)) deeper.push(path);
			}
			if (secret.length > MOST_IN_FOLDER && folder !== '') secretFolders.push(folder);
			else files.push(...secret);
			if (isTooMuch()) break;
		}
		level = isTool ? [] : deeper;
	}
	const isWhole = isTool || !isTooMuch();
	const isShown = (path: string) => isWhole || parts.some((part) => isInside(part, path));
	const most = isWhole ? Number.POSITIVE_INFINITY : MOST_TOOL_MASKS;
	const inside = (paths: string[]) => paths.filter(isShown).slice(0, most);
	return {
		binds: isWhole ? [{from, to}] : parts.map((part) => ({from: join(from, part), to: join(to, part)})),
		files: inside(files).map((path) => join(to, path)),
		folders: inside(secretFolders).map((path) => join(to, path)),
	};
}

async function systemView(disk: Disk): Promise<Pick<View, 'links' | 'binds'>> {
	const links = [];
	const binds = [];
	for (const folder of systemFolders) {
		const kind = await disk.lstat(folder).catch(() => null);
		if (kind?.isSymbolicLink()) links.push({target: await disk.readlink(folder), at: folder});
		else if (kind) binds.push({from: folder, to: folder});
	}
	return {links, binds};
}

/** As root, or in a group of its own, the person may read what is a secret to others. */
async function unreadableByOthers(disk: Disk, folder: string): Promise<{files: string[]; folders: string[]}> {
	const found = {files: [] as string[], folders: [] as string[]};
	await Promise.all(
		(await disk.readdir(folder).catch(() => [])).map(async (name) => {
			const path = join(folder, name);
			const kind = await disk.lstat(path).catch(() => null);
			if (!kind || kind.isSymbolicLink()) return;
			// Each thing to hide costs every command some of a millisecond, so none that is kept from it anyway.
			if (!kind.isDirectory()) {
				const isSecret = (kind.mode & 0o004) === 0 && kind.size > 0;
				if (isSecret && (await mayAccess(disk, path, 4))) found.files.push(path);
			} else if ((kind.mode & 0o005) !== 0o005) {
				// Who may not list a folder may still open what is in it by name.
				if (await mayAccess(disk, path, 1)) found.folders.push(path);
			} else {
				const deeper = await unreadableByOthers(disk, path);
				found.files.push(...deeper.files);
				found.folders.push(...deeper.folders);
			}
		}),
	);
	return found;
}

async function mayAccess(disk: Disk, path: string, mode: number): Promise<boolean> {
	return disk.access(path, mode).then(
		() => true,
		() => false,
	);
}

/** The folders that the entries of PATH belong to, and those that their links lead to. */
async function toolFolders(disk: Disk, place: Place): Promise<Bind[]> {
	const {workspace} = place;
	const binds: Bind[] = [];
	const isVisible = (path: string) =>
		isInside(workspace, path) ||
		systemFolders.some((folder) => isInside(folder, path)) ||
		binds.some(({to}) => isInside(to, path));
	const show = (from: string, to = from) => {
		if (!isVisible(to)) binds.push({from, to});
	};
	/** The installation that a program is part of, or where it is part of none, itself. */
	const showProgram = (path: string) => {
		const prefix = prefixOf(dirname(path));
		if (basename(dirname(path)) === 'bin' && maySee(prefix, place)) show(prefix);
		else if (maySee(path, place) && !isSensitive(path)) show(path);
	};
	for (const entry of new Set(place.PATH.split(':'))) {
		if (!entry.startsWith('/')) continue;
		const real = await disk.realpath(entry).catch(() => null);
		if (real === null || isInside(workspace, real)) continue;
		for (const [from, to] of [
			[real, entry],
			[real, real],
		] as const) {
			if (isVisible(to)) continue;
			const prefix = prefixOf(from);
			const prefixTo = prefixOf(to);
			// As a whole it can be shown in both places only if the entry has the same place in it.
			const isWhole = from === to || from.slice(prefix.length) === to.slice(prefixTo.length);
			if (isWhole && maySee(prefix, place) && maySee(prefixTo, place)) {
				show(prefix, prefixTo);
				// What cargo's programs start lies beside it.
				if (prefix.endsWith('/.cargo')) show(join(dirname(prefix), '.rustup'));
			} else if (maySee(from, place) && maySee(to, place)) {
				show(from, to);
				const libraries = join(dirname(from), 'lib');
				if (from.endsWith('/.local/bin') && maySee(libraries, place)) show(libraries);
			}
		}
		if (!binds.some(({to}) => isInside(to, real))) continue;
		for (const name of await disk.readdir(real).catch(() => [])) {
			const target = await linkTarget(disk, join(real, name));
			if (target !== null && !isVisible(target)) showProgram(target);
		}
	}
	const exist = await Promise.all(binds.map(({from}) => disk.lstat(from).catch(() => null)));
	return binds.filter((_, at) => exist[at]);
}

/**
The Python installation that a virtual environment in the workspace is made of. The workspace may be anybody's work, so its links
are followed to a Python interpreter only.
*/
export async function environmentFolders(disk: Disk, place: Place): Promise<Bind[]> {
	const {workspace, PATH} = place;
	const folders = new Set([
		join(workspace, '.venv/bin'),
		join(workspace, 'venv/bin'),
		...PATH.split(':').filter((entry) => entry.startsWith('/') && isInside(workspace, entry)),
	]);
	const prefixes = new Set<string>();
	for (const folder of folders) {
		const target = await linkTarget(disk, join(folder, 'python'));
		if (target === null || !/\/bin\/python[\d.]*$/.test(target) || isInside(workspace, target)) continue;
		const prefix = prefixOf(dirname(target));
		if (!systemFolders.some((each) => isInside(each, prefix)) && maySee(prefix, place)) prefixes.add(prefix);
	}
	return [...prefixes].flatMap((prefix) =>
		parts.map((part) => ({from: join(prefix, part), to: join(prefix, part)})),
	);
}

async function linkTarget(disk: Disk, path: string): Promise<string | null> {
	const kind = await disk.lstat(path).catch(() => null);
	return kind?.isSymbolicLink() ? disk.realpath(path).catch(() => null) : null;
}

function prefixOf(folder: string): string {
	return ['bin', 'sbin', 'shims', '.bin'].includes(basename(folder)) ? dirname(folder) : folder;
}

/** Whether a tool's folder may be made visible: it is nobody's home, holds none, and holds nothing but the tool. */
function maySee(path: string, {workspace, forbidden, homes}: Place): boolean {
	return (
		![...homes, workspace, '/tmp', '/var/tmp', '/run'].some((folder) => isInside(path, folder)) &&
		!homes.some((home) => shared.some((name) => path === join(home, name))) &&
		!forbidden.some((folder) => isInside(folder, path)) &&
		!neverVisible.test(path) &&
		!isSensitive(join(path, 'x')) &&
		path.split('/').length > 2
	);
}

/** Why a workspace cannot be shown to commands, as a sentence. */
export function whyNot({workspace, forbidden, homes}: Place): string | null {
	const home = homes.find((folder) => isInside(workspace, folder));
	if (home !== undefined) {
		return `The workspace ${workspace} holds the home folder ${home}, and the keys in it. Start mca in a project's folder.`;
	}
	if (neverVisible.test(workspace) || workspace === '/' || /^\/run(\/user(\/\d+)?)?$/.test(workspace)) {
		return `The workspace ${workspace} is the system's own. Start mca in a project's folder.`;
	}
	if (isSensitive(join(workspace, 'x'))) {
		return `The workspace ${workspace} is a folder of secrets. Start mca in a project's folder.`;
	}
	const own = forbidden.find((folder) => isInside(folder, workspace));
	if (own !== undefined) return `The workspace ${workspace} lies in ${own}, which mca keeps for itself.`;
	return null;
}

/** Files that are hidden one by one, files of a folder before all of the folder is hidden, and files shown rewritten. */
const MOST_MASKS = 200;
const MOST_IN_FOLDER = 16;
const MOST_REWRITTEN = 16;
/** How long (ms) the workspace may be looked through before each command. */
const LOOK_MS = 3000;

/**
What was installed there is published already, and TLS libraries fail without the certificates in it (certifi's cacert.pem).
*/
const published = ['node_modules', 'site-packages', 'dist-packages', '.git/objects'];

function isPublished(folder: string): boolean {
	return published.some((each) => `/${folder}`.endsWith(`/${each}`));
}

export type Secrets = Pick<View, 'hiddenFiles' | 'hiddenFolders' | 'rewritten'> & {
	/** No secrets, but hidden too: what is written to a pipe arrives at whoever reads it, read-only or not. */
	pipes: string[];
};

/** Paths that are not sensitive. To find that out takes longer than all else in a scan, and most are there at the next one. */
const harmless = new Set<string>();
const MOST_HARMLESS = 50_000;

/** The files of the workspace that are likely to hold a secret, and the named pipes, as they are now. */
export async function findSecrets(
	disk: Disk,
	workspace: string,
	signal: AbortSignal,
): Promise<{at: 'found'; secrets: Secrets} | {at: 'failed'; reason: string}> {
	const files: string[] = [];
	const folders = new Set<string>();
	const late = AbortSignal.timeout(LOOK_MS);
	const inTime = AbortSignal.any([signal, late]);
	const walk = findPipes(disk, workspace, inTime);
	if (harmless.size >= MOST_HARMLESS) harmless.clear();
	const ran = await ripgrep(
		[
			'--files',
			'--no-ignore',
			'--sort=none',
			'--null',
			...published.flatMap((folder) => ['--glob', `!**/${folder}`]),
			'.',
		],
		{cwd: workspace, signal: inTime, separator: 0, maxRecordBytes: 8192},
		(record) => {
			const path = record?.toString().replace(/^\.\//, '');
			if (path === undefined || harmless.has(path)) return true;
			if (!isSensitive(path)) {
				if (harmless.size < MOST_HARMLESS) harmless.add(path);
				return true;
			}
			const folder = sensitiveFolder(path);
			if (folder === null) files.push(path);
			else folders.add(folder);
			return files.length + folders.size < 50 * MOST_MASKS;
		},
	);
	const found = await walk;
	const unnamed = [...files, ...found].find((file) => file.includes('\ufffd'));
	if (unnamed !== undefined) {
		return {
			at: 'failed',
			reason: `holds a file whose name is not UTF-8 (${unnamed}), so the sandbox cannot hide it`,
		};
	}
	if (ran.at === 'cancelled' || inTime.aborted) {
		const reason = late.aborted
			? `was not looked through for secrets within ${LOOK_MS / 1000} s`
			: 'was not looked through';
		return {at: 'failed', reason};
	}
	if (ran.at === 'failed')
		return {at: 'failed', reason: `could not be looked through for secrets: ${ran.reason}`};
	const byFolder = Map.groupBy(files, dirname);
	const hiddenFiles: string[] = [];
	const rewritten: {path: string; text: string}[] = [];
	for (const [folder, inIt] of byFolder) {
		if (inIt.length > MOST_IN_FOLDER && folder !== '.') {
			folders.add(folder);
			continue;
		}
		for (const file of inIt) {
			const path = join(workspace, file);
			if (!isGitConfig(file) || rewritten.length === MOST_REWRITTEN) hiddenFiles.push(path);
			else rewritten.push({path, text: publicGitConfig(await disk.readFile(path, 'utf8').catch(() => ''))});
		}
	}
	const hiddenFolders = outermost([...folders]).map((folder) => join(workspace, folder));
	const isHidden = (path: string) => hiddenFolders.some((folder) => isInside(folder, path));
	const secrets = {
		hiddenFolders,
		hiddenFiles: hiddenFiles.filter((path) => !isHidden(path)),
		rewritten: rewritten.filter(({path}) => !isHidden(path)),
		pipes: found.map((path) => join(workspace, path)).filter((path) => !isHidden(path)),
	};
	const count = secrets.hiddenFiles.length + secrets.pipes.length + hiddenFolders.length;
	if (ran.stopped || count > MOST_MASKS) {
		return {
			at: 'failed',
			reason: `holds more than ${MOST_MASKS} files that may hold secrets or are named pipes, too many to hide`,
		};
	}
	return {at: 'found', secrets};
}

/**
The named pipes of the workspace, relative. ripgrep lists none, as nothing can be searched in them. Sockets and devices need no
hiding: the filter keeps connections from being made, and no mount in there lets a device be opened.
*/
async function findPipes(disk: Disk, workspace: string, signal: AbortSignal): Promise<string[]> {
	const pipes: string[] = [];
	let folders = [''];
	while (folders.length > 0 && !signal.aborted) {
		const deeper: string[] = [];
		const lookIn = async (folder: string) => {
			const entries = await disk.readdir(join(workspace, folder), {withFileTypes: true}).catch(() => []);
			for (const entry of entries) {
				const path = join(folder, entry.name);
				if (entry.isFIFO()) pipes.push(path);
				else if (entry.isDirectory() && !isPublished(path)) deeper.push(path);
			}
		};
		await Promise.all(folders.map(lookIn));
		folders = deeper;
	}
	return pipes;
}

/** The outermost folder of a path whose every file is sensitive, null where it is the file alone. */
function sensitiveFolder(path: string): string | null {
	const parts = path.split('/');
	for (let count = 1; count < parts.length; count++) {
		const folder = parts.slice(0, count).join('/');
		if (isSensitive(`${folder}/x`)) return folder;
	}
	return null;
}

/** Without the folders that lie in another one. */
export function outermost(folders: readonly string[]): string[] {
	return [...new Set(folders)].filter(
		(folder) => !folders.some((other) => other !== folder && isInside(other, folder)),
	);
}

function isGitConfig(path: string): boolean {
	return /(^|\/)\.git\/(.*\/)?config(\.worktree)?$/.test(path);
}

const plainKeys: Record<string, RegExp> = {
	core: /^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|worktree|autocrlf|eol|safecrlf|sparsecheckout|sparsecheckoutcone)$/,
	extensions: /^\w+$/,
	branch: /^(remote|merge|rebase)$/,
	remote: /^(url|fetch)$/,
	submodule: /^(active|url)$/,
};
const plainUrl = /^((https?|ssh|git):\/\/)?(git@)?[\w.-]+(:\d+)?[:/][\w./~-]+$/;

/**
What git needs to read a repository. Without, it would not know the repository's format, or see every file as changed; but a
remote's address or a header may hold a token.
*/
export function publicGitConfig(text: string): string {
	const kept: string[] = [];
	let keys: RegExp | undefined;
	for (const line of text.split('\n')) {
		const section = /^\s*\[\s*([\w-]+)(\s+"[^"\\]*")?\s*\]\s*$/.exec(line);
		if (section) {
			keys = plainKeys[section[1]?.toLowerCase() ?? ''];
			if (keys) kept.push(line.trim());
			continue;
		}
		if (line.trimStart().startsWith('[')) keys = undefined;
		const [, key = '', value = ''] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
		if (!keys?.test(key.toLowerCase()) || value.endsWith('\\')) continue;
		if (key.toLowerCase() === 'url' && !plainUrl.test(value)) continue;
		kept.push(`\t${key} = ${value}`);
	}
	return kept.map((line) => `${line}\n`).join('');
}
