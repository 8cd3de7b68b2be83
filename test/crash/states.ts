import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {cleanEnvironment} from '../helpers/terminal.ts';

/** What a process did to the files below one folder, and what it promised in between. Names are relative to that folder. */
export type Operation =
	| {op: 'mkdir' | 'create' | 'unlink' | 'syncFolder'; name: string}
	| {op: 'link'; name: string; to: string}
	| {op: 'write'; name: string; data: Buffer}
	| {op: 'sync'; name: string}
	/** The process said that event `seq` of this session is kept. */
	| {op: 'promise'; id: string; seq: number};

/** Every call that makes, changes, renames or syncs a file or a folder. */
const traced =
	'open,openat,creat,mkdir,mkdirat,write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,link,linkat,symlink,symlinkat,rename,renameat,renameat2,unlink,unlinkat,rmdir,truncate,ftruncate,fallocate,copy_file_range,sendfile,sync_file_range';

/** Run a program under strace and tell its operations in `folder`. Throws at one that is not known here: no state could be made of it. */
export function record(program: string, args: string[], folder: string, traceFile: string): Operation[] {
	execFileSync(
		'strace',
		[
			'-f',
			'-qq',
			'-xx',
			'-y',
			'-s',
			'10000000',
			'--seccomp-bpf',
			'-o',
			traceFile,
			'-e',
			`trace=${traced}`,
		].concat(process.execPath, program, args),
		{env: cleanEnvironment({UV_USE_IO_URING: '0'}), stdio: ['ignore', 'ignore', 'pipe']},
	);
	return calls(readFileSync(traceFile, 'latin1')).flatMap((call) => toOperation(call, folder));
}

type Call = {name: string; args: string; result: number};

/** The calls in the order in which they returned. One that another thread cut in two is joined. */
function calls(trace: string): Call[] {
	const begun = new Map<string, string>();
	const found: Call[] = [];
	for (const row of trace.split('\n')) {
		const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(row) ?? [];
		if (rest.endsWith('<unfinished ...>')) {
			begun.set(thread, rest.slice(0, -'<unfinished ...>'.length));
			continue;
		}
		const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
		const text = resumed ? `${begun.get(thread)}${resumed[1]}` : rest;
		const [, name, args, result] = /^(\w+)\((.*)\) += (-?\d+)/.exec(text) ?? [];
		if (name !== undefined && args !== undefined) found.push({name, args, result: Number(result)});
	}
	return found;
}

function toOperation({name, args, result}: Call, folder: string): Operation[] {
	if (result < 0) return [];
	const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => unhex(hex));
	const paths = strings.map((each) => each.toString());
	/** What the descriptor is called, and was called while it had a name. */
	const described = unhex(/^\d+<([^>]*)>/.exec(args)?.[1] ?? '').toString();
	const inside = (path: string) =>
		path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;

	if (name === 'write' && args.startsWith('1<')) {
		const said = strings[0]?.toString() ?? '';
		return said.startsWith('{"id":') ? [{op: 'promise', ...JSON.parse(said)}] : [];
	}
	const file = inside(described);
	const [first, second] = paths.map(inside);
	if (name === 'openat' || name === 'open') {
		if (first === undefined || !/O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(args)) return [];
		if (/O_CREAT/.test(args) && /O_EXCL/.test(args) && /O_APPEND/.test(args))
			return [{op: 'create', name: first}];
		if (/O_APPEND/.test(args) && !/O_CREAT|O_TRUNC/.test(args)) return [];
	} else if (file !== undefined || described === folder) {
		const data = strings[0]?.subarray(0, result);
		if (name === 'write' && file !== undefined && data) return [{op: 'write', name: file, data}];
		if (name === 'fsync' || name === 'fdatasync') {
			const isSession = /\.jsonl$|\/\.new-/.test(file ?? '');
			return [{op: isSession ? 'sync' : 'syncFolder', name: file ?? '.'}];
		}
	} else if (first === undefined && second === undefined) return [];
	else if (name === 'mkdir' && first !== undefined) return [{op: 'mkdir', name: first}];
	else if (name === 'unlink' && first !== undefined) return [{op: 'unlink', name: first}];
	else if (name === 'link' && first !== undefined && second !== undefined) {
		return [{op: 'link', name: first, to: second}];
	}
	throw new Error(
		`Session files are not handled like this: ${name}(${unhex(args).toString().slice(0, 300)})`,
	);
}

function unhex(text: string): Buffer {
	return Buffer.from(
		text.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
		'latin1',
	);
}

/** What a disk can hold after a power failure: the folder's files, and what had been promised by then. */
export type State = {
	/** How many operations had been done. */
	after: number;
	/** Which of the un-synced was kept, for people. */
	kept: string;
	files: Map<string, Buffer>;
	/** The last event promised of each session. */
	promised: Map<string, number>;
};

type Inode = {synced: Buffer; pending: Buffer};
type NameChange = {name: string; inode?: Inode};

/**
Every state that a power failure can leave, after each operation and in the middle of it.

Synced is what stays. Of bytes that were not synced there may be nothing, any prefix, zeros in their place, or a prefix and zeros
for the rest; of names that were not synced in their folder, any selection. Of the prefixes of what was not synced a fixed choice
is taken: the ends, those next to a newline, every 13th of the first 400 and every 131st behind them.
*/
export function* statesOf(operations: readonly Operation[]): Generator<State> {
	const inodes = new Map<string, Inode>();
	const names = new Map<string, Inode>();
	const promised = new Map<string, number>();
	let changes: NameChange[] = [];
	let folders: string[] = [];
	const inodeOf = (name: string): Inode => {
		const inode = inodes.get(name);
		if (!inode) throw new Error(`${name} was never made`);
		return inode;
	};
	for (const [index, operation] of operations.entries()) {
		switch (operation.op) {
			case 'mkdir':
				folders.push(operation.name);
				break;
			case 'create':
				inodes.set(operation.name, {synced: Buffer.alloc(0), pending: Buffer.alloc(0)});
				changes.push({name: operation.name, inode: inodeOf(operation.name)});
				break;
			case 'link':
				inodes.set(operation.to, inodeOf(operation.name));
				changes.push({name: operation.to, inode: inodeOf(operation.name)});
				break;
			case 'unlink':
				changes.push({name: operation.name});
				break;
			case 'write': {
				const inode = inodeOf(operation.name);
				inode.pending = Buffer.concat([inode.pending, operation.data]);
				break;
			}
			case 'sync': {
				const inode = inodeOf(operation.name);
				inode.synced = Buffer.concat([inode.synced, inode.pending]);
				inode.pending = Buffer.alloc(0);
				break;
			}
			case 'syncFolder': {
				const here = (name: string) => (join(name, '..') === operation.name ? 1 : 0);
				for (const change of changes.filter(({name}) => here(name))) apply(names, change);
				changes = changes.filter(({name}) => !here(name));
				folders = folders.filter((name) => !here(name));
				break;
			}
			case 'promise':
				promised.set(operation.id, operation.seq);
		}
		for (let selection = 0; selection < 2 ** changes.length; selection++) {
			const selected = new Map(names);
			for (const [at, change] of changes.entries()) if (selection & (2 ** at)) apply(selected, change);
			const torn = new Set([...selected.values()].filter((inode) => inode.pending.length > 0));
			const [one] = torn;
			if (torn.size > 1) throw new Error('Two files had bytes that were not synced.');
			for (const {kept, bytes} of one ? tearings(one) : [{kept: '', bytes: Buffer.alloc(0)}]) {
				const files = [...selected].map(([name, inode]): [string, Buffer] => [
					name,
					inode === one ? bytes : inode.synced,
				]);
				const what = `names ${selection} of ${2 ** changes.length - 1}${kept}`;
				yield {after: index + 1, kept: what, files: new Map(files), promised: new Map(promised)};
			}
		}
		if (folders.length > 0) {
			yield {after: index + 1, kept: 'no folder', files: new Map(), promised: new Map(promised)};
		}
	}
}

function apply(names: Map<string, Inode>, {name, inode}: NameChange): void {
	if (inode) names.set(name, inode);
	else names.delete(name);
}

function* tearings({synced, pending}: Inode): Generator<{kept: string; bytes: Buffer}> {
	const size = pending.length;
	for (let length = 0; length <= size; length++) {
		const edge = length < 2 || length > size - 2;
		const atNewline = [-2, -1, 0].some((offset) => pending[length + offset] === 0x0a);
		if (!edge && !atNewline && length % (length < 400 ? 13 : 131) !== 0) continue;
		const prefix = Buffer.concat([synced, pending.subarray(0, length)]);
		yield {kept: `, ${length} of ${size} bytes`, bytes: prefix};
		if (length === 0 || atNewline || length % 5 === 0) {
			yield {
				kept: `, ${length} of ${size} bytes and zeros`,
				bytes: Buffer.concat([prefix, Buffer.alloc(size - length)]),
			};
		}
	}
}

/** What stands in each session in the end, if nothing fails. */
export function finalBytes(operations: readonly Operation[]): Map<string, Buffer> {
	let last: State | undefined;
	for (const state of statesOf(operations)) last = state;
	return new Map([...(last?.files ?? [])].map(([name, bytes]) => [basename(name, '.jsonl'), bytes]));
}
