import {type ChildProcess, type IOType, type StdioOptions, spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {accessSync, closeSync, constants as fsConstants, openSync, readdirSync, readFileSync} from 'node:fs';
import type {Socket} from 'node:net';
import {constants} from 'node:os';
import {delimiter, join} from 'node:path';
import type {Readable} from 'node:stream';
import {setTimeout as wait} from 'node:timers/promises';
import {commandEnvironment} from './command-environment.ts';

export type Member = {pid: number; command: string};

/** What a program reads through a file descriptor of its own, from the first byte to the end. */
export type Feed = {fd: number; data: string | Uint8Array};

/** The lowest descriptor that a feed may have. */
export const FIRST_FEED = 4;

/** A program to start. */
export type Start = {
	file: string;
	args: readonly string[];
	/** All of it: nothing of our own environment is added. */
	env: NodeJS.ProcessEnv;
	/** With consecutive descriptors from `FIRST_FEED` on. */
	feeds?: readonly Feed[];
	/**
	`file` is bubblewrap. The kernel ends all that it started when it ends itself, so nothing is left running; and how its program
	ended it tells as a shell does (128 + signal).
	*/
	isSandboxed?: boolean;
};

/** Runs programs so that they can look at the workspace, and do nothing else. */
export type Sandbox = {
	/** The only folder that it runs programs in; real path. */
	workspace: string;
	/** The same program, in the sandbox. `hidden` are files (and, ending in /, folders) of the workspace that it will not see. */
	wrap(
		start: Start,
		signal: AbortSignal,
	): Promise<{ok: true; start: Start; hidden: readonly string[]} | {ok: false; reason: string}>;
};

/** A command and everything that it started, as far as it can be found. */
export type ProcessGroup = {
	stdout: Readable;
	stderr: Readable;
	/** When the command itself has ended; what it started may run on. Rejects if it could not be started. */
	exited: Promise<{code: number | null; signal: NodeJS.Signals | null}>;
	/** What is running still, without the command's watcher. Known on Linux only, elsewhere empty. */
	members(): Member[];
	/**
	SIGTERM to all, SIGKILL to what is left after `graceMs`, or when `hurry` is aborted. Resolves when nothing is left, or
	cannot be ended.
	*/
	end(graceMs: number, hurry?: AbortSignal): Promise<void>;
	/**
	The command has ended: what has it left running? That runs on until mca ends, and then is ended with it. Without any,
	nothing is left of the group, and in a sandbox nothing ever is.
	*/
	settle(): Promise<Member[]>;
};

/** Names all that a command started, those too that left its process group. */
const MARK = 'MCA_RUN_ID';

/**
Waits for the other end of fd 3 to close, which happens however mca ends, kill -9 included. Then it kills what has the mark
(where there is a /proc), and the group that it belongs to.

Being a member itself, it keeps the group's number from being given to others as long as it may be used for a kill.
*/
const WATCH = [
	// It is outside of the sandbox, where the workspace's programs must not be.
	'PATH=/usr/bin:/bin:/run/current-system/sw/bin',
	'trap "" HUP INT TERM; read -r _ && exit',
	`kill -s KILL $(grep -ls "${MARK}=$${MARK}" /proc/[0-9]*/environ | cut -d / -f 3 | grep -vx $$)`,
	'kill -s KILL 0',
].join('; ');

/** Starts the watcher as nobody's child, so that the command's own `wait` knows nothing of it, and becomes the command. */
const START = `(/bin/sh -c '${WATCH}' mca-watch <&3 >/dev/null 2>&1 3<&- &); exec 3<&-; exec "$@"`;

/** The shell that is to run a command, which must not see the variables that are `hidden`. */
export function shellCommand(command: string, hidden?: readonly string[]): Start {
	return {file: shell(), args: ['-c', command], env: commandEnvironment(process.env, hidden)};
}

/** Start a program in `cwd`, without stdin and terminal, as the leader of its own process group. Throws what spawn throws. */
export function startGroup(start: Start, cwd: string): ProcessGroup {
	const {file, args, env, feeds = [], isSandboxed = false} = start;
	const mark = randomBytes(12).toString('hex');
	const nothing = isSandboxed ? openSync('/dev/null', 'r+') : undefined;
	let child: ChildProcess;
	try {
		child = spawn('/bin/sh', ['-c', START, 'mca', file, ...args], {
			cwd,
			env: {...env, [MARK]: mark},
			detached: true,
			stdio: descriptors(feeds.length, nothing),
		});
	} finally {
		if (nothing !== undefined) closeSync(nothing);
	}
	const {pid, stdout, stderr} = child;
	const watcher = child.stdio[3] as Socket;
	// There are none where the system has no more of them.
	if (!stdout || !stderr || !watcher) throw new Error('no pipe could be made for its output');
	// The watcher may be gone before it is told to go.
	watcher.on('error', () => {});
	for (const {fd, data} of feeds) feed(child.stdio[fd] as Socket, data);
	const exited = new Promise<{code: number | null; signal: NodeJS.Signals | null}>((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (code, signal) => resolve(isSandboxed ? asShell(code, signal) : {code, signal}));
	});
	// Whoever asks late gets the rejection all the same.
	exited.catch(() => {});

	const members = () => (pid === undefined ? [] : findMembers(pid, mark));
	const signalAll = (signal: NodeJS.Signals) => {
		if (pid !== undefined) send(-pid, signal);
	};
	const isRunning = () => !hasEnded(child) || members().length > 0;

	return {
		stdout,
		stderr,
		exited,
		members,
		async end(graceMs, hurry) {
			// bubblewrap would take its program along at once.
			if (isSandboxed) for (const member of members().filter(isContained)) send(member.pid, 'SIGTERM');
			else signalAll('SIGTERM');
			await until(() => hurry?.aborted || !isRunning(), graceMs);
			signalAll('SIGKILL');
			// What left the group is found by its mark, again and again, since it may have been forking.
			await until(() => {
				for (const member of members()) send(member.pid, 'SIGKILL');
				return !isRunning();
			}, KILL_MS);
			watcher.destroy();
		},
		async settle() {
			releaseEnded();
			if (isSandboxed) {
				watcher.end('\n');
				return [];
			}
			// A pipeline's last member may be about to end too.
			if (members().length > 0) await wait(50);
			const left = members();
			if (left.length === 0) {
				watcher.end('\n');
			} else {
				held.set(watcher, members);
				child.unref();
				watcher.unref();
			}
			return left;
		},
	};
}

/** How long (ms) SIGKILL may take; a process that waits for a disk can take longer than anybody wants to wait. */
const KILL_MS = 60;

/** The watchers of commands that left something running, each with what tells whether it still does. */
const held = new Map<Socket, () => Member[]>();

function releaseEnded() {
	for (const [watcher, members] of held) {
		if (members().length > 0) continue;
		watcher.end('\n');
		held.delete(watcher);
	}
}

/** Output, the watcher and the feeds; where `nothing` is given, it takes the place of all that would be inherited beside them. */
function descriptors(feeds: number, nothing?: number): StdioOptions {
	const list: (IOType | number)[] = ['ignore', 'pipe', 'pipe', 'pipe', ...Array(feeds).fill('pipe')];
	if (nothing === undefined) return list;
	for (const fd of inherited()) {
		while (list.length <= fd) list.push('ignore');
		if (fd >= FIRST_FEED + feeds) list[fd] = nothing;
	}
	return list;
}

/** What mca was started with beside its terminal, such as a shell's pipes: Node hands it on to whatever it starts. */
function inherited(): number[] {
	const closesOnExec = 0o2000000;
	return readdirSync('/proc/self/fd')
		.map(Number)
		.filter((fd) => {
			const flags = /^flags:\s*([0-7]+)/m.exec(readProc('self', `fdinfo/${fd}`))?.[1];
			return fd > 2 && flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0;
		});
}

/** The pipe is let go of when all is written: the watcher keeps its other end open. */
function feed(pipe: Socket, data: string | Uint8Array) {
	// Who was to read it may not have started.
	pipe.on('error', () => {});
	pipe.end(data, () => pipe.destroy());
}

function asShell(code: number | null, signal: NodeJS.Signals | null) {
	const names = Object.entries(constants.signals) as [NodeJS.Signals, number][];
	const [name] = names.find(([, number]) => code === 128 + number) ?? [];
	return name === undefined ? {code, signal} : {code: null, signal: name};
}

/** Whether it runs in a process namespace below ours, not being the first in there, which is bubblewrap's own. */
function isContained({pid}: Member): boolean {
	const [, , inside] = /^NSpid:\t(\d+)\t(?:\d+\t)*(\d+)$/m.exec(readProc(`${pid}`, 'status')) ?? [];
	return inside !== undefined && inside !== '1';
}

function hasEnded(child: ChildProcess): boolean {
	return child.exitCode !== null || child.signalCode !== null;
}

async function until(condition: () => boolean, ms: number): Promise<void> {
	const deadline = performance.now() + ms;
	while (!condition() && performance.now() < deadline) await wait(Math.max(10, ms / 20));
}

function send(pid: number, signal: NodeJS.Signals) {
	try {
		process.kill(pid, signal);
	} catch {
		// It has ended by itself, or belongs to somebody else by now.
	}
}

/** Zombies are no members: they have ended. */
function findMembers(group: number, mark: string): Member[] {
	if (process.platform !== 'linux') return [];
	const members: Member[] = [];
	for (const name of readdirSync('/proc')) {
		if (!/^\d+$/.test(name)) continue;
		const stat = readProc(name, 'stat');
		// After the name, which may hold anything: state, parent, group.
		const [state, , ownGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		if (stat === '' || state === 'Z' || state === 'X') continue;
		const isMember = Number(ownGroup) === group || readProc(name, 'environ').includes(`${MARK}=${mark}`);
		if (!isMember) continue;
		const args = readProc(name, 'cmdline').split('\0');
		if (args.includes(WATCH) || args.includes(START)) continue;
		members.push({pid: Number(name), command: args.join(' ').trim()});
	}
	return members;
}

/** Empty for what has ended in the meantime or belongs to somebody else. */
function readProc(pid: string, file: string): string {
	try {
		return readFileSync(`/proc/${pid}/${file}`, 'utf8');
	} catch {
		return '';
	}
}

let found: string | undefined;

/** bash, which is what models write for; else sh. */
function shell(): string {
	if (found !== undefined) return found;
	const folders = [
		...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/')),
		'/bin',
		'/usr/bin',
	];
	found = folders.map((folder) => join(folder, 'bash')).find(isExecutable) ?? '/bin/sh';
	return found;
}

function isExecutable(path: string): boolean {
	try {
		accessSync(path, fsConstants.X_OK);
		return true;
	} catch {
		return false;
	}
}
