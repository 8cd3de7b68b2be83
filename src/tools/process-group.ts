import {type ChildProcess, spawn} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {accessSync, constants, readdirSync, readFileSync} from 'node:fs';
import type {Socket} from 'node:net';
import {delimiter, join} from 'node:path';
import type {Readable} from 'node:stream';
import {setTimeout as wait} from 'node:timers/promises';
import {commandEnvironment} from './command-environment.ts';

export type Member = {pid: number; command: string};

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
	nothing is left of the group.
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
	'trap "" HUP INT TERM; read -r _ && exit',
	`kill -s KILL $(grep -ls "${MARK}=$${MARK}" /proc/[0-9]*/environ | cut -d / -f 3 | grep -vx $$)`,
	'kill -s KILL 0',
].join('; ');

/** Starts the watcher as nobody's child, so that the command's own `wait` knows nothing of it, and becomes the command. */
const START = `(/bin/sh -c '${WATCH}' mca-watch <&3 >/dev/null 2>&1 3<&- &); exec 3<&-; exec "$@"`;

/** Start a shell command in `cwd`, without stdin and terminal, as the leader of its own process group. Throws what spawn throws. */
export function startGroup(command: string, cwd: string): ProcessGroup {
	const mark = randomBytes(12).toString('hex');
	const child = spawn('/bin/sh', ['-c', START, 'mca', shell(), '-c', command], {
		cwd,
		env: {...commandEnvironment(process.env), [MARK]: mark},
		detached: true,
		stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
	});
	const {pid, stdout, stderr} = child;
	const watcher = child.stdio[3] as Socket;
	// There are none where the system has no more of them.
	if (!stdout || !stderr || !watcher) throw new Error('no pipe could be made for its output');
	// The watcher may be gone before it is told to go.
	watcher.on('error', () => {});
	const exited = new Promise<{code: number | null; signal: NodeJS.Signals | null}>((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (code, signal) => resolve({code, signal}));
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
			signalAll('SIGTERM');
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
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
