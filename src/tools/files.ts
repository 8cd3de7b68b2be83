import {createHash, randomBytes} from 'node:crypto';
import {constants, type Stats} from 'node:fs';
import {access, type FileHandle, lstat, mkdir, open, rename, rm} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {bytesText} from './amounts.ts';

export type Opened =
	| {at: 'file'; handle: FileHandle; stats: Stats}
	| {at: 'missing'; reason: string}
	| {at: 'refused'; reason: string};

export type Content =
	| {at: 'file'; bytes: Buffer; stats: Stats}
	| {at: 'missing'; reason: string}
	| {at: 'refused'; reason: string};

export type Decoded = {ok: true; text: string; bom: boolean} | {ok: false; guess: string};

/** Windows knows neither flag. */
const {O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL} = constants;

/**
Open a file for reading by its real path, without ever waiting: a pipe or a device is refused before it is opened, and once
more after, since it may have been put there in between. Close the handle.
*/
export async function openFile(path: string, display: string): Promise<Opened> {
	let handle: FileHandle | undefined;
	try {
		const before = await lstat(path);
		if (!before.isFile()) return {at: 'refused', reason: notAFile(before, display)};
		handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
		const stats = await handle.stat();
		if (stats.isFile()) return {at: 'file', handle, stats};
		await handle.close();
		return {at: 'refused', reason: notAFile(stats, display)};
	} catch (error) {
		await handle?.close();
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
			return {at: 'missing', reason: `${display} does not exist. list_files shows what there is.`};
		}
		return {at: 'refused', reason: `${display} cannot be opened: ${because(error)}.`};
	}
}

/** All bytes of a file that has at most `maxBytes`. */
export async function readWhole(path: string, display: string, maxBytes: number): Promise<Content> {
	const opened = await openFile(path, display);
	if (opened.at !== 'file') return opened;
	const {handle, stats} = opened;
	try {
		if (stats.size > maxBytes) {
			const reason = `${display} has ${bytesText(stats.size)}; this tool takes files up to ${bytesText(maxBytes)}. Use run_command.`;
			return {at: 'refused', reason};
		}
		return {at: 'file', bytes: await handle.readFile(), stats};
	} catch (error) {
		return {at: 'refused', reason: `${display} cannot be read: ${because(error)}.`};
	} finally {
		await handle.close();
	}
}

export function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

/** The text of bytes that are UTF-8 to the last, without the byte order mark. */
export function decode(bytes: Buffer): Decoded {
	const kind = binaryKind(bytes);
	if (kind !== null) return {ok: false, guess: kind};
	try {
		const text = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
		const bom = text.startsWith('\ufeff');
		return {ok: true, text: bom ? text.slice(1) : text, bom};
	} catch {
		return {ok: false, guess: 'text in another encoding, such as Latin-1 or GBK'};
	}
}

const signatures: readonly [bytes: number[], name: string][] = [
	[[0x89, 0x50, 0x4e, 0x47], 'a PNG image'],
	[[0xff, 0xd8, 0xff], 'a JPEG image'],
	[[0x47, 0x49, 0x46, 0x38], 'a GIF image'],
	[[0x52, 0x49, 0x46, 0x46], 'a RIFF file (WebP, WAV or AVI)'],
	[[0x25, 0x50, 0x44, 0x46], 'a PDF document'],
	[[0x50, 0x4b, 0x03, 0x04], 'a ZIP archive (or a document that is one)'],
	[[0x1f, 0x8b], 'a gzip archive'],
	[[0x7f, 0x45, 0x4c, 0x46], 'an ELF program or library'],
	[[0x00, 0x61, 0x73, 0x6d], 'a WebAssembly module'],
	[[0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66], 'an SQLite database'],
	[[0xff, 0xfe], 'text in UTF-16LE'],
	[[0xfe, 0xff], 'text in UTF-16BE'],
];

/** What bytes are that are not UTF-8 text, as far as their beginning tells; null where they may be text. */
export function binaryKind(bytes: Buffer): string | null {
	const known = signatures.find(([start]) => start.every((byte, i) => bytes[i] === byte));
	if (known && !(known[1] === 'a PDF document' && !bytes.includes(0))) return known[1];
	const sample = bytes.subarray(0, 8192);
	const nuls = [0, 0];
	for (let i = 0; i < sample.length; i++) if (sample[i] === 0) nuls[i % 2] = (nuls[i % 2] ?? 0) + 1;
	const [even = 0, odd = 0] = nuls;
	if (even + odd === 0) return bytes.includes(0) ? 'a binary file' : null;
	const half = sample.length / 2;
	if (odd > half * 0.7 && even < half * 0.1) return 'text in UTF-16LE';
	if (even > half * 0.7 && odd < half * 0.1) return 'text in UTF-16BE';
	return 'a binary file';
}

const tails = new Map<string, Promise<unknown>>();

/** Run jobs on one file one after another, in the order of the calls. */
export async function inQueue<T>(path: string, job: () => Promise<T>): Promise<T> {
	const turn = (tails.get(path) ?? Promise.resolve()).then(job);
	const tail = turn.catch(() => {});
	tails.set(path, tail);
	try {
		return await turn;
	} finally {
		if (tails.get(path) === tail) tails.delete(path);
	}
}

/**
Put `bytes` where a file is or will be, so that a reader sees the old content or the new one and nothing else.

`old` is what the file was, null for a new one; mode and owner stay. Folders are made. A file with several names (hard
links), or in a folder that takes no new file, is written in place. Answers with a clause if it failed, else null.
*/
export async function writeFileAtomically(
	path: string,
	bytes: Buffer,
	old: Stats | null,
): Promise<string | null> {
	try {
		if (old === null) await mkdir(dirname(path), {recursive: true});
		else await access(path, constants.W_OK);
		if (old !== null && old.nlink > 1) await writeInPlace(path, bytes, old);
		else if (!(await replace(path, bytes, old)) && old !== null) await writeInPlace(path, bytes, old);
		return null;
	} catch (error) {
		return because(error);
	}
}

/** False where the folder or the owner does not allow it but the file itself may be written. */
async function replace(path: string, bytes: Buffer, old: Stats | null): Promise<boolean> {
	const temporary = join(dirname(path), `.mca-${randomBytes(8).toString('hex')}.tmp`);
	let handle: FileHandle | undefined;
	try {
		handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, old === null ? 0o666 : 0o600);
		await handle.writeFile(bytes);
		if (old !== null) {
			const made = await handle.stat();
			if (made.uid !== old.uid || made.gid !== old.gid) await handle.chown(old.uid, old.gid);
			await handle.chmod(old.mode & 0o7777);
		}
		await handle.sync();
		await handle.close();
		await rename(temporary, path);
	} catch (error) {
		await handle?.close().catch(() => {});
		await rm(temporary, {force: true});
		const {code} = error as NodeJS.ErrnoException;
		if (old !== null && ['EACCES', 'EPERM', 'EBUSY', 'EXDEV'].includes(code ?? '')) return false;
		throw error;
	}
	await syncFolder(dirname(path));
	return true;
}

/** What it was is put back if it fails. What needs room goes first, so a full disk is met before a byte of the old is touched. */
async function writeInPlace(path: string, bytes: Buffer, old: Stats): Promise<void> {
	const handle = await open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
	try {
		const now = await handle.stat();
		if (now.ino !== old.ino || now.dev !== old.dev) throw new Error('it was replaced in the meantime');
		const was = await handle.readFile();
		try {
			await writeAt(handle, bytes.subarray(was.length), was.length);
			await writeAt(handle, bytes.subarray(0, was.length), 0);
			await handle.truncate(bytes.length);
			await handle.sync();
		} catch (error) {
			try {
				await writeAt(handle, was, 0);
				await handle.truncate(was.length);
				await handle.sync();
			} catch (worse) {
				throw new Error(`${because(error)}, and what it was could not be put back: ${because(worse)}`);
			}
			throw error;
		}
	} finally {
		await handle.close();
	}
}

/** All of it: one write may take a part only. */
async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
	for (let done = 0; done < bytes.length; ) {
		done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
	}
}

/** Without it a power cut may lose the new name. Where folders cannot be synced there is nothing else to do. */
async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, O_RDONLY).catch(() => null);
	await handle?.sync().catch(() => {});
	await handle?.close();
}

const words: Record<string, string> = {
	EACCES: 'permission denied',
	EPERM: 'the system does not permit it',
	ENOENT: 'it does not exist',
	ENOTDIR: 'a part of the path is a file, not a folder',
	EISDIR: 'it is a folder',
	EEXIST: 'something of that name is there already',
	ELOOP: 'its links lead in a circle',
	ENAMETOOLONG: 'the name is too long',
	ENOSPC: 'the disk is full',
	EDQUOT: 'the disk quota is used up',
	EROFS: 'the file system is read-only',
	EMFILE: 'too many files are open',
	E2BIG: 'it is too long',
	ETXTBSY: 'it is being run',
};

/** Why a system call failed, as a clause. */
export function because(error: unknown): string {
	const {code, message} = error as NodeJS.ErrnoException;
	return words[code ?? ''] ?? message;
}

function notAFile(stats: Stats, display: string): string {
	if (stats.isDirectory()) return `${display} is a folder, not a file. list_files shows what is in it.`;
	let kind = 'a symlink that was put there just now';
	if (stats.isFIFO()) kind = 'a named pipe';
	else if (stats.isSocket()) kind = 'a socket';
	else if (stats.isCharacterDevice() || stats.isBlockDevice()) kind = 'a device';
	return `${display} is ${kind}, not a regular file. The file tools take regular files only.`;
}
