import {spawnSync} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {sessionFolder} from '../../src/session/sessions.ts';
import {makeFolder, type Process, startProcess} from '../helpers/processes.ts';

/** The n-th of a system call on the files of sessions, and what becomes of it: an errno, or KILL as it begins. */
export type Fault = {
	call: 'write' | 'fdatasync' | 'fsync' | 'link' | 'unlink' | 'close';
	gets: string;
	n: number;
};

export type World = {
	workspace: string;
	data: string;
	/** Where its sessions are. */
	folder: string;
	/** Sessions that were made in it, oldest first, and names that are none. */
	sessions(): string[];
	leftovers(): string[];
	/** Start a program with faults, and tell later whether one came to pass. */
	start(command: readonly string[], faults: readonly Fault[], env?: NodeJS.ProcessEnv): Process;
	struck(): boolean;
	/** The calls that were watched, as strace tells them. */
	trace(): string;
	remove(): void;
};

/**
A workspace in which it is known beforehand what the next sessions will be called, because strace has to be told: every id of
the coming two minutes is taken, and of each second after that all but the last.
*/
export function faultWorld(under: string): World {
	const {path: root, remove} = makeFolder('fault', under);
	const [workspace, data, traced] = [join(root, 'repo'), join(root, 'data'), join(root, 'trace')];
	mkdirSync(workspace);
	const folder = sessionFolder(data, workspace);
	mkdirSync(folder, {recursive: true});
	const begun = Date.now() - 2000;
	const stamp = (second: number) =>
		new Date(begun + second * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
	const taken = new Set<string>();
	for (let second = 0; second < 120; second++) taken.add(`s-${stamp(second)}-zzzz.jsonl`);
	const coming = [120, 121, 122, 123].map((second) => {
		taken.add(`s-${stamp(second)}-zzzy.jsonl`);
		return `s-${stamp(second)}-zzzz`;
	});
	for (const name of taken) writeFileSync(join(folder, name), '');
	let kills = false;
	const watched = [
		folder,
		join(folder, '..'),
		...coming.flatMap((id) => [join(folder, `.new-${id}`), join(folder, `${id}.jsonl`)]),
	];
	return {
		workspace,
		data,
		folder,
		remove,
		sessions: () =>
			readdirSync(folder)
				.filter((name) => name.endsWith('.jsonl') && !taken.has(name))
				.sort()
				.map((name) => join(folder, name)),
		leftovers: () => readdirSync(folder).filter((name) => !name.endsWith('.jsonl')),
		start(command, faults, env = process.env) {
			const only = watched.flatMap((path) => ['-P', path]);
			const injected = faults.flatMap(({call, gets, n}) => [
				'-e',
				`inject=${call}:${gets === 'KILL' ? 'signal=KILL' : `error=${gets}`}:when=${n}`,
			]);
			const calls = ['-e', `trace=${faults.map(({call}) => call)}`];
			kills = faults.some(({gets}) => gets === 'KILL');
			// Stops at nothing but the watched calls, which is much quicker; a signal is not injected so.
			const quick = kills ? [] : ['--seccomp-bpf'];
			const strace = ['strace', '-f', ...quick, '-qq', '-o', traced, ...only, ...calls, ...injected];
			return startProcess(faults.length > 0 ? [...strace, ...command] : command, {
				cwd: workspace,
				// strace counts per thread: one thread does every sync.
				env: {...env, UV_THREADPOOL_SIZE: '1'},
			});
		},
		trace: () => readFileSync(traced, 'utf8'),
		// The commands that mca runs are killed too, in time.
		struck: () => (kills ? /killed by SIGKILL/ : /\(INJECTED\)/).test(readFileSync(traced, 'utf8')),
	};
}

/** A machine without strace proves nothing about failing disks, and must not look as if it did. */
export function needStrace(): void {
	const {error, status} = spawnSync('strace', ['-V']);
	if (error || status !== 0)
		throw new Error(
			'These tests make system calls fail with strace, which is not here: apt-get install strace',
		);
}

/** Put a fault at the first, the second, the third … place, two at a time, until there is none left; how many there were. */
export async function atEveryPlace(strike: (n: number) => Promise<'struck' | 'untouched'>): Promise<number> {
	for (let n = 1; ; n += 2) {
		const [first, second] = await Promise.all([strike(n), strike(n + 1)]);
		if (first === 'untouched') return n - 1;
		if (second === 'untouched') return n;
	}
}
