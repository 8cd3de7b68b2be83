import {homedir, userInfo} from 'node:os';
import {text} from 'node:stream/consumers';
import {commandEnvironment} from '../tools/command-environment.ts';
import {FIRST_FEED, type Sandbox, type Start, startGroup} from '../tools/process-group.ts';
import {isInside} from '../tools/workspace.ts';
import {bubblewrapArgs, sandboxEnvironment} from './sandbox-args.ts';
import {systemCallFilter} from './sandbox-filter.ts';
import {
	baseView,
	type Disk,
	environmentFolders,
	findSecrets,
	outermost,
	type Place,
	whyNot,
} from './sandbox-view.ts';

export type {Disk} from './sandbox-view.ts';

/** Whether commands can be run in the sandbox here. `why` says what is missing and what to do, in sentences for the person. */
export type Probe = {state: 'on'} | {state: 'off'; why: string};

/** The same for one workspace, with what runs them. */
export type SandboxState = {state: 'on'; sandbox: Sandbox} | {state: 'off'; why: string};

export type Machine = {
	platform: string;
	arch: string;
	/** Where bubblewrap may be. Not from PATH: what makes the sandbox must not come out of the workspace. */
	programs: readonly string[];
};

const thisMachine: Machine = {
	platform: process.platform,
	arch: process.arch,
	programs: [
		'/usr/bin/bwrap',
		'/bin/bwrap',
		'/usr/local/bin/bwrap',
		'/run/current-system/sw/bin/bwrap',
		'/run/wrappers/bin/bwrap',
		'/home/linuxbrew/.linuxbrew/bin/bwrap',
	],
};

let probed: Promise<Probe> | undefined;

/** Really run a command in the sandbox, once per process. Never rejects. */
export function probeSandbox(disk: Disk): Promise<Probe> {
	probed ??= tryOut(disk, thisMachine);
	return probed;
}

/** The same for a machine that may be another, each time. */
export async function tryOut(disk: Disk, machine: Machine): Promise<Probe> {
	const {platform, arch} = machine;
	if (platform !== 'linux') {
		return off(
			`There is no sandbox: it is made with bubblewrap, which runs on Linux only, and this is ${platform}.`,
		);
	}
	if (!systemCallFilter(arch)) {
		return off(`There is no sandbox: its system call filter is made for x64 and arm64, and this is ${arch}.`);
	}
	const program = await findProgram(disk, machine);
	if (program === null) {
		return off(
			'There is no sandbox: bubblewrap is not installed. Install the package bubblewrap (apt install bubblewrap; dnf, pacman -S, zypper or apk add elsewhere) and start mca again.',
		);
	}
	try {
		// It takes a workspace, and this folder is on every machine.
		const place = {...placeOf('/usr', []), PATH: ''};
		const sandbox = await makeSandbox(disk, place, machine, program, noSecrets);
		const inside = {file: '/bin/sh', args: ['-c', 'echo inside'], env: commandEnvironment(process.env)};
		const wrapped = await sandbox.wrap(inside, new AbortController().signal);
		if (!wrapped.ok) return off(wrapped.reason);
		const group = startGroup(wrapped.start, '/');
		const timer = setTimeout(() => void group.end(0), 10_000);
		const [said, problem, exit] = await Promise.all([text(group.stdout), text(group.stderr), group.exited]);
		clearTimeout(timer);
		await group.settle();
		if (exit.code === 0 && said === 'inside\n') return {state: 'on'};
		return off(
			await explain(
				disk,
				program,
				problem.trim() || `it ended with ${exit.signal ?? `exit code ${exit.code}`}`,
			),
		);
	} catch (error) {
		return off(await explain(disk, program, error instanceof Error ? error.message : String(error)));
	}
}

function off(why: string): {state: 'off'; why: string} {
	return {state: 'off', why};
}

async function findProgram(disk: Disk, {programs}: Machine): Promise<string | null> {
	for (const program of programs) {
		const real = await disk.realpath(program).catch(() => null);
		if (real !== null) return program;
	}
	return null;
}

/** What bubblewrap's complaint means, and what can be done. */
async function explain(disk: Disk, program: string, problem: string): Promise<string> {
	const setting = async (name: string) =>
		(await disk.readFile(`/proc/sys/${name}`, 'utf8').catch(() => '')).trim();
	const because = (what: string) =>
		`There is no sandbox: ${what} (bubblewrap said: ${problem.slice(0, 300)})`;
	if (/unknown option/i.test(problem)) {
		return because(`${program} is older than 0.8.0. Install a newer bubblewrap.`);
	}
	if (/Can't mount proc/i.test(problem)) {
		return because(
			'this container keeps a new /proc from being mounted. Start it with --security-opt systempaths=unconfined (docker, podman), or run mca outside of it.',
		);
	}
	if (/namespace|uid map|RTM_NEW|Operation not permitted|Permission denied|No space left/i.test(problem)) {
		if ((await setting('kernel/apparmor_restrict_unprivileged_userns')) === '1') {
			return because(
				`AppArmor forbids ${program} to make user namespaces, as Ubuntu does since 24.04. Install apparmor-profiles and load its bwrap-userns-restrict profile, or run: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`,
			);
		}
		if ((await setting('kernel/unprivileged_userns_clone')) === '0') {
			return because('user namespaces are turned off. Run: sysctl -w kernel.unprivileged_userns_clone=1');
		}
		if ((await setting('user/max_user_namespaces')) === '0') {
			return because('user namespaces are turned off. Run: sysctl -w user.max_user_namespaces=10000');
		}
		return because(
			'this system forbids to make namespaces. In a container start it with --security-opt seccomp=unconfined and --security-opt apparmor=unconfined (docker, podman), or run mca outside of it.',
		);
	}
	return because(`${program} does not work here.`);
}

export type Options = {
	/** Real path. */
	workspace: string;
	/** mca's own folders and files, as real paths. */
	forbidden: readonly string[];
	disk: Disk;
};

/** The sandbox for the commands of one workspace. Looks around once; what is hidden of the workspace is looked for before each command. */
export async function openSandbox({workspace, forbidden, disk}: Options): Promise<SandboxState> {
	const probe = await probeSandbox(disk);
	if (probe.state === 'off') return probe;
	const program = await findProgram(disk, thisMachine);
	if (program === null) return off('There is no sandbox: bubblewrap is gone.');
	const place = placeOf(workspace, forbidden);
	const why = whyNot(place);
	if (why !== null) return off(`There is no sandbox here: ${why}`);
	return {state: 'on', sandbox: await makeSandbox(disk, place, thisMachine, program, findSecrets)};
}

function placeOf(workspace: string, forbidden: readonly string[]): Place {
	// A home that is / is nobody's.
	const homes = [process.env.HOME ?? '', homedir(), systemHome()].filter((home) => /^\/./.test(home));
	return {workspace, forbidden, homes: [...new Set(homes)], PATH: process.env.PATH ?? ''};
}

/** $HOME may be another's, or empty. */
function systemHome(): string {
	try {
		return userInfo().homedir;
	} catch {
		// A user that the system does not know has none.
		return '';
	}
}

/** What can be hidden has to be there, and may be gone by now. */
async function existing(disk: Disk, paths: readonly string[]) {
	const files: string[] = [];
	const folders: string[] = [];
	await Promise.all(
		paths.map(async (path) => {
			const kind = await disk.lstat(path).catch(() => null);
			if (kind) (kind.isDirectory() ? folders : files).push(path);
		}),
	);
	return {files, folders};
}

const noSecrets: typeof findSecrets = async () => ({
	at: 'found',
	secrets: {hiddenFiles: [], hiddenFolders: [], rewritten: [], pipes: []},
});

async function makeSandbox(
	disk: Disk,
	place: Place,
	machine: Machine,
	program: string,
	lookFor: typeof findSecrets,
): Promise<Sandbox> {
	const {workspace, forbidden} = place;
	const filter = systemCallFilter(machine.arch);
	if (!filter) throw new Error(`there is no filter for ${machine.arch}`);
	const base = await baseView(disk, place);
	const always = Object.keys(commandEnvironment({}));
	return {
		workspace,
		async wrap({file, args, env}: Start, signal) {
			const found = await lookFor(disk, workspace, signal);
			if (found.at === 'failed') {
				return {
					ok: false,
					reason: `The command was not run: the workspace ${found.reason}. Call run_command again with outside: true to ask the person.`,
				};
			}
			const {secrets} = found;
			const binds = [...base.binds, ...(await environmentFolders(disk, place))];
			const isVisible = (path: string) =>
				isInside(workspace, path) || binds.some(({to}) => isInside(to, path));
			const masks = await existing(disk, [
				...base.hiddenFiles,
				...base.hiddenFolders,
				...forbidden.filter(isVisible),
			]);
			const hiddenFolders = outermost([...masks.folders, ...secrets.hiddenFolders]);
			const isShown = (path: string) => !hiddenFolders.some((folder) => isInside(folder, path));
			const view = {
				...base,
				workspace,
				binds,
				hiddenFolders,
				hiddenFiles: [...new Set([...masks.files, ...secrets.hiddenFiles, ...secrets.pipes])].filter(isShown),
				rewritten: secrets.rewritten.filter(({path}) => isShown(path)),
			};
			const inside = bubblewrapArgs(view, [file, ...args], filter, FIRST_FEED);
			const hidden = [...secrets.hiddenFolders.map((folder) => `${folder}/`), ...secrets.hiddenFiles];
			return {
				ok: true,
				start: {
					file: program,
					args: inside.args,
					env: sandboxEnvironment(env, base.home, always),
					feeds: inside.feeds,
					isSandboxed: true,
				},
				hidden: hidden.map((path) => path.slice(workspace.length + 1)).sort(),
			};
		},
	};
}
