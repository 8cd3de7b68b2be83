import {dirname} from 'node:path';
import type {Feed} from '../tools/process-group.ts';
import {isInside} from '../tools/workspace.ts';

/** What a command in the sandbox can see, all paths real but `to` and `at`. Whatever is not named does not exist in there. */
export type View = {
	workspace: string;
	/** An empty folder that can be written to and is gone with the command; null where that would hide a system folder. */
	home: string | null;
	links: readonly {target: string; at: string}[];
	/** Read-only, in this order. */
	binds: readonly {from: string; to: string}[];
	/** Cannot be opened. */
	hiddenFiles: readonly string[];
	/** Empty. */
	hiddenFolders: readonly string[];
	/** Shown with another text. */
	rewritten: readonly {path: string; text: string}[];
};

/**
bubblewrap's own process in there, the first one, loads the filter for itself at about the time that the program starts. A program
that is faster could attach to it and make calls that no filter sees, so it starts when that process has its filter.
*/
const AWAIT_FILTER =
	'until while read -r name value; do [ "$name$value" = Seccomp:2 ] && break; done < /proc/1/status; do :; done; exec "$@"';

const MB = 1024 * 1024;

/**
The arguments for bubblewrap to run `program` with this view and nothing else: no capability, no namespace of its own making,
no network, no process but its own, and an end when its parent ends.

All but the program itself is fed through `fd`, so that neither its length nor who looks at the list of processes matters.
The descriptors after it are the filter's and those of the rewritten files.
*/
export function bubblewrapArgs(
	view: View,
	program: readonly string[],
	filter: Uint8Array,
	fd: number,
): {args: string[]; feeds: Feed[]} {
	const {workspace, home, links, binds, hiddenFiles, hiddenFolders, rewritten} = view;
	const filterFd = fd + 1;
	const texts = rewritten.map(({path, text}, at) => ({path, feed: {fd: fd + 2 + at, data: text}}));
	const fresh = ['/tmp', '/var/tmp', '/run', ...(home === null ? [] : [home])];
	const isFresh = (path: string) => fresh.some((folder) => isInside(folder, path));
	const beside = dirname(workspace);
	// A file that is written beside the workspace would be lost without a word, if it could be.
	const closed =
		isFresh(beside) && !fresh.includes(beside) && !binds.some(({to}) => isInside(to, beside)) ? [beside] : [];
	const options = [
		...['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
		...['--die-with-parent', '--new-session', '--hostname', 'sandbox', '--seccomp', `${filterFd}`],
		...links.flatMap(({target, at}) => ['--symlink', target, at]),
		...binds.filter(({to}) => !isFresh(to)).flatMap(readOnly),
		...['--dev', '/dev', '--size', `${256 * MB}`, '--tmpfs', '/dev/shm'],
		// As root, much of /proc could be written to without any capability.
		...['--proc', '/proc', '--remount-ro', '/proc'],
		// A home may lie in one of the others.
		...[...fresh, ...closed].sort().flatMap((folder) => ['--size', `${1024 * MB}`, '--tmpfs', folder]),
		...binds.filter(({to}) => isFresh(to)).flatMap(readOnly),
		...['--ro-bind', workspace, workspace],
		...hiddenFolders.flatMap((folder) => ['--tmpfs', folder, '--remount-ro', folder]),
		...hiddenFiles.flatMap((file) => ['--ro-bind', '/dev/null', file]),
		...texts.flatMap(({path, feed}) => ['--ro-bind-data', `${feed.fd}`, path]),
		...[...closed, '/'].flatMap((folder) => ['--remount-ro', folder]),
		...['--chdir', workspace],
	];
	const feeds = [
		{fd, data: options.map((option) => `${option}\0`).join('')},
		{fd: filterFd, data: filter},
		...texts.map(({feed}) => feed),
	];
	return {args: ['--args', `${fd}`, '--', '/bin/sh', '-c', AWAIT_FILTER, 'sh', ...program], feeds};
}

function readOnly({from, to}: {from: string; to: string}): string[] {
	// A tool may have been removed since it was found.
	return ['--ro-bind-try', from, to];
}

/** What programs find their way by. No name that may hold a secret, a proxy's password or a way to a running service. */
const allowed = new Set(
	`PATH LANG LANGUAGE TZ USER LOGNAME SHELL CI NODE_ENV JAVA_HOME GOROOT VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV
	PYENV_ROOT PYENV_VERSION RBENV_ROOT RBENV_VERSION NVM_DIR NVM_BIN VOLTA_HOME ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR
	RUSTUP_HOME CARGO_HOME SDKMAN_DIR`.split(/\s+/),
);

/**
The environment inside: of `own` what is in the list, and what `always` names.

The programs that make the sandbox start with it too, so nothing in it may name code to load.
*/
export function sandboxEnvironment(
	own: NodeJS.ProcessEnv,
	home: string | null,
	always: readonly string[],
): NodeJS.ProcessEnv {
	const kept = Object.entries(own).filter(
		([name]) => allowed.has(name) || name.startsWith('LC_') || always.includes(name),
	);
	return {
		...Object.fromEntries(kept),
		HOME: home ?? '/tmp',
		TMPDIR: '/tmp',
		// git would refuse a workspace whose files belong to somebody else; in here it can do no more than any other program.
		GIT_CONFIG_COUNT: '1',
		GIT_CONFIG_KEY_0: 'safe.directory',
		GIT_CONFIG_VALUE_0: '*',
	};
}
