import {createHash, randomInt} from 'node:crypto';
import {type Dirent, existsSync, realpathSync} from 'node:fs';
import {open, readdir, stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {basename, join, resolve, sep} from 'node:path';
import {noSpend, type Spend, spend} from './audit.ts';
import {type Event, type EventOf, parseLine} from './events.ts';
import {type Holder, holderOf} from './lock.ts';
import {type End, forEachEvent, growing, readEvents} from './read.ts';
import {moveToTrash} from './trash.ts';

const idPattern = /^s-(\d{8})-(\d{6})-([0-9a-z]{4})$/;
const namePattern = /^s-\d{8}-\d{6}-[0-9a-z]{4}\.jsonl$/;
const suffixes = 36 ** 4;

/**
An id that sorts after every id with the same second among `names`: its suffix is drawn above theirs. Past `zzzz` the second
moves on, so that sorting by name stays sorting by time.
*/
export function nextId(now: Date, names: readonly string[]): string {
	for (let second = now.getTime(); ; second += 1000) {
		const stamp = new Date(second).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
		let highest = -1;
		for (const name of names) {
			if (!name.startsWith(`s-${stamp}-`) || !isSessionName(name)) continue;
			highest = Math.max(highest, Number.parseInt(name.slice(-'zzzz.jsonl'.length, -'.jsonl'.length), 36));
		}
		const room = suffixes - 1 - highest;
		if (room <= 0) continue;
		// The first of a second leaves room above it; the others stay close, so that a second holds hundreds of them.
		const suffix = highest < 0 ? randomInt(suffixes / 2) : highest + 1 + randomInt(Math.min(room, 1024));
		return `s-${stamp}-${suffix.toString(36).padStart(4, '0')}`;
	}
}

function isSessionName(name: string): boolean {
	return namePattern.test(name);
}

export function isId(text: string): boolean {
	return idPattern.test(text);
}

/** When the session with this id was begun. */
export function startOf(id: string): Date | undefined {
	const match = idPattern.exec(id);
	if (!match?.[1] || !match[2]) return undefined;
	const [date, time] = [match[1], match[2]];
	return new Date(
		`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`,
	);
}

/** Where mca keeps its data: `$MCA_HOME`, else the platform's own place. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
	if (env.MCA_HOME) return resolve(env.MCA_HOME);
	if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, 'mca');
	if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'mca');
	if (platform === 'win32')
		return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'mca', 'data');
	return join(homedir(), '.local', 'share', 'mca');
}

/** The folder of a workspace's sessions: its base name for people and a hash of its real path for certainty. */
export function sessionFolder(data: string, workspace: string): string {
	const real = realPlace(workspace);
	const name = basename(real).replace(/[^\w.-]/g, '_') || 'root';
	const hash = createHash('sha256').update(real).digest('hex').slice(0, 8);
	return join(data, 'sessions', `${name}-${hash}`);
}

/** The real path of a folder, or, where it is gone, the path as it was called. */
function realPlace(folder: string): string {
	try {
		return realpathSync(folder);
	} catch {
		return resolve(folder);
	}
}

/** Paths of the session files in a folder, newest id first. File names decide; no log is opened, no mtime is asked. */
export async function sessionFiles(folder: string): Promise<string[]> {
	let entries: Dirent[];
	try {
		entries = await readdir(folder, {withFileTypes: true});
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
		throw error;
	}
	const names = entries.flatMap((entry) =>
		isSessionName(entry.name) && !entry.isDirectory() ? [entry.name] : [],
	);
	// Joined by hand: with ten thousand names it is the joining that would take the time.
	return names
		.sort()
		.reverse()
		.map((name) => `${folder}${sep}${name}`);
}

/** The session files of every workspace, newest id first. */
export async function allSessionFiles(data: string): Promise<string[]> {
	const root = join(data, 'sessions');
	const folders = await readdir(root).catch(() => []);
	const files = await Promise.all(folders.map((folder) => sessionFiles(join(root, folder)).catch(() => [])));
	const byId = (path: string) => basename(path, '.jsonl');
	return files.flat().sort((a, b) => (byId(a) < byId(b) ? 1 : -1));
}

/** The file of an id, whichever workspace it belongs to. A workspace may have been moved or renamed since. */
export async function findSession(data: string, id: string): Promise<string | undefined> {
	if (!isId(id)) return undefined;
	const root = join(data, 'sessions');
	let folders: string[];
	try {
		folders = await readdir(root);
	} catch {
		return undefined;
	}
	return folders.map((folder) => join(root, folder, `${id}.jsonl`)).find((path) => existsSync(path));
}

/** A session as a row of the picker shows it, before its log has been read. */
export type SessionGlance = {
	id: string;
	path: string;
	/** Bytes. */
	size: number;
	/** The name it was given, else its first prompt, else ''. As it stands in the file: not fit for a terminal yet. */
	title: string;
	/** When its last line was written; undefined where that line cannot be read. */
	lastActivity?: Date;
	/** A file that could not be opened: the sentence. */
	problem?: string;
};

const glanceBytes = 64 * 1024;

/** Look at the head and the tail of one session file. Never rejects: one bad file does not hide the others. */
export async function glance(path: string): Promise<SessionGlance> {
	const id = basename(path, '.jsonl');
	try {
		const file = await open(path, 'r');
		try {
			const {size} = await file.stat();
			const piece = Buffer.allocUnsafe(Math.min(size, glanceBytes));
			const head = await file.read(piece, 0, piece.length, 0);
			const headLines = soundLines(
				piece.subarray(0, head.bytesRead).toString('utf8').split('\n').slice(0, -1),
			);
			let title = headLines.reduce(titled, '');
			const tail = await file.read(piece, 0, piece.length, size - piece.length);
			const text = piece.subarray(0, tail.bytesRead).toString('utf8').split('\n');
			const tailLines = soundLines(text.slice(size > piece.length ? 1 : 0, -1));
			for (const event of tailLines) if (event.type === 'name') title = event.title;
			const last = tailLines.at(-1);
			const result: SessionGlance = {id, path, size, title};
			if (last && !Number.isNaN(Date.parse(last.ts))) result.lastActivity = new Date(last.ts);
			return result;
		} finally {
			await file.close();
		}
	} catch (error) {
		return {
			id,
			path,
			size: 0,
			title: '',
			problem: `This session cannot be read: ${(error as Error).message}`,
		};
	}
}

/** The sound lines at the end of a file, for a preview of it. */
export async function tail(path: string): Promise<Event[]> {
	const file = await open(path, 'r');
	try {
		const {size} = await file.stat();
		const piece = Buffer.allocUnsafe(Math.min(size, glanceBytes));
		const {bytesRead} = await file.read(piece, 0, piece.length, size - piece.length);
		const lines = piece.subarray(0, bytesRead).toString('utf8').split('\n');
		return soundLines(lines.slice(size > piece.length ? 1 : 0, -1));
	} finally {
		await file.close();
	}
}

/** Only for a glance: what cannot be parsed is passed over here, since nothing is rebuilt from it. */
function soundLines(lines: readonly string[]): Event[] {
	return lines.flatMap((line) => {
		const parsed = parseLine(line, 0);
		return parsed.ok ? [parsed.event] : [];
	});
}

function titled(title: string, event: Event): string {
	if (event.type === 'name') return event.title;
	if (title === '' && event.type === 'message' && event.message.role === 'user') return event.message.content;
	return title;
}

/**
The newest session that was made to recover this cut of this file, if there is one. Recoveries are newer than the file, in its
folder, and begin with its first line, so most files are ruled out by their name or their head.
*/
export async function findRecovery(
	path: string,
	read: {events: readonly Event[]; cut: {line: number; reason: string; ignoredBytes: number}},
): Promise<string | undefined> {
	// Where no line is whole nothing can have gone on from it, and a file that cannot be read would look like one that did.
	if (read.events.length === 0) return undefined;
	const id = basename(path, '.jsonl');
	const first = JSON.stringify(read.events[0]);
	for (const candidate of await sessionFiles(join(path, '..'))) {
		if (basename(candidate, '.jsonl') <= id) return undefined;
		if (JSON.stringify(await firstEvent(candidate)) !== first) continue;
		const {events} = await readEvents(candidate);
		const found = events.some(
			(event) =>
				event.type === 'fork' &&
				event.kind === 'recovery' &&
				event.from === id &&
				event.cut?.line === read.cut.line &&
				event.cut.reason === read.cut.reason &&
				event.cut.ignoredBytes === read.cut.ignoredBytes,
		);
		if (found) return candidate;
	}
	return undefined;
}

async function firstEvent(path: string): Promise<Event | undefined> {
	let first: Event | undefined;
	await forEachEvent(path, (event) => {
		first = event;
		return false;
	}).catch(() => {});
	return first;
}

/** What only the whole log tells of a session. */
export type SessionDetail = {
	/** User messages. */
	turns: number;
	/** What it spent itself, since its last fork. */
	own: Spend;
	/** The last fork event: where this session parted from its parent. */
	fork?: EventOf<'fork'>;
	end: End;
	/** Who has it open. */
	holder?: Holder;
};

/** Read one log through for the picker, keeping nothing of it. undefined where the file cannot be read. Once `signal` aborts, it means nothing. */
export async function inspect(path: string, signal?: AbortSignal): Promise<SessionDetail | undefined> {
	const detail: Omit<SessionDetail, 'end'> = {turns: 0, own: noSpend};
	try {
		const {end} = await forEachEvent(path, (event) => {
			if (signal?.aborted) return false;
			if (event.type === 'message' && event.message.role === 'user') detail.turns++;
			detail.own = spend(detail.own, event);
			if (event.type === 'fork') {
				detail.fork = event;
				detail.own = noSpend;
			}
			return true;
		});
		// Asked after the reading: whoever took it meanwhile is the reason for a line without an end.
		const found = await holderOf(path);
		const holder = found !== 'unknown' && found?.pid === process.pid ? undefined : found;
		return {...detail, ...(holder ? {holder, end: growing(end)} : {end})};
	} catch {
		return undefined;
	}
}

/** The folder that a session recorded as its workspace, and whether it is still there. */
export async function recordedWorkspace(path: string): Promise<{path: string; there: boolean} | undefined> {
	const first = await firstEvent(path);
	if (first?.type !== 'message' || !first.session) return undefined;
	const {workspace} = first.session;
	const there = await stat(workspace).then(
		(found) => found.isDirectory(),
		() => false,
	);
	return {path: workspace, there};
}

/** The sessions of one workspace, for whoever lists and opens them. */
export type Library = {
	/** Newest id first. */
	files(): Promise<string[]>;
	/** The same over all workspaces. */
	allFiles(): Promise<string[]>;
	glance(path: string): Promise<SessionGlance>;
	read(path: string): Promise<readonly Event[]>;
	/** The events at the end of a file, as far back as a screen shows. */
	tail(path: string): Promise<Event[]>;
	/** Out of the list, into the trash; a sentence where that cannot be. */
	remove(path: string): Promise<string | undefined>;
	inspect(path: string, signal?: AbortSignal): Promise<SessionDetail | undefined>;
	/** The file of an id, in whichever workspace. */
	find(id: string): Promise<string | undefined>;
	recordedWorkspace(path: string): Promise<{path: string; there: boolean} | undefined>;
};

export function library(data: string, workspace: string): Library {
	return {
		files: () => sessionFiles(sessionFolder(data, workspace)),
		allFiles: () => allSessionFiles(data),
		glance,
		read: async (path) => (await readEvents(path)).events,
		tail,
		remove: async (path) => {
			const moved = await moveToTrash(path);
			return moved.ok ? undefined : 'It is open in another process, so it stays.';
		},
		inspect,
		find: (id) => findSession(data, id),
		recordedWorkspace,
	};
}
