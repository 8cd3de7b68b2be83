import {constants} from 'node:os';
import {expect, test} from 'vitest';
import {bubblewrapArgs, sandboxEnvironment, type View} from '../../src/agent/sandbox-args.ts';
import {systemCallFilter} from '../../src/agent/sandbox-filter.ts';
import {publicGitConfig} from '../../src/agent/sandbox-view.ts';

const view: View = {
	workspace: '/home/me/proj/app',
	home: '/home/me',
	links: [{target: 'usr/bin', at: '/bin'}],
	binds: [
		{from: '/usr', to: '/usr'},
		{from: '/home/me/.nvm/v24', to: '/home/me/.nvm/v24'},
		{from: '/opt/go', to: '/opt/go'},
	],
	hiddenFiles: ['/etc/shadow', '/home/me/proj/app/.env'],
	hiddenFolders: ['/home/me/proj/app/.ssh'],
	rewritten: [{path: '/home/me/proj/app/.git/config', text: '[core]\n'}],
};

test('the arguments begin with nothing, then show what may be seen, then hide what is in it', () => {
	const {args, feeds} = bubblewrapArgs(view, ['/bin/ls', '-a'], Buffer.from('filter'), 4);
	expect(args).toEqual(['--args', '4', '--', '/bin/sh', '-c', expect.any(String), 'sh', '/bin/ls', '-a']);
	expect(feeds.map(({fd}) => fd)).toEqual([4, 5, 6]);
	expect(feeds.slice(1).map(({data}) => data.toString())).toEqual(['filter', '[core]\n']);
	expect(`${feeds[0]?.data}`.replaceAll('\0', ' ').replaceAll(' --', '\n--').trim().split('\n')).toEqual([
		'--unshare-all',
		'--unshare-user',
		'--disable-userns',
		'--cap-drop ALL',
		'--die-with-parent',
		'--new-session',
		'--hostname sandbox',
		'--seccomp 5',
		'--symlink usr/bin /bin',
		'--ro-bind-try /usr /usr',
		'--ro-bind-try /opt/go /opt/go',
		'--dev /dev',
		'--size 268435456',
		'--tmpfs /dev/shm',
		'--proc /proc',
		'--remount-ro /proc',
		'--size 1073741824',
		'--tmpfs /home/me',
		'--size 1073741824',
		'--tmpfs /home/me/proj',
		'--size 1073741824',
		'--tmpfs /run',
		'--size 1073741824',
		'--tmpfs /tmp',
		'--size 1073741824',
		'--tmpfs /var/tmp',
		'--ro-bind-try /home/me/.nvm/v24 /home/me/.nvm/v24',
		'--ro-bind /home/me/proj/app /home/me/proj/app',
		'--tmpfs /home/me/proj/app/.ssh',
		'--remount-ro /home/me/proj/app/.ssh',
		'--ro-bind /dev/null /etc/shadow',
		'--ro-bind /dev/null /home/me/proj/app/.env',
		'--ro-bind-data 6 /home/me/proj/app/.git/config',
		'--remount-ro /home/me/proj',
		'--remount-ro /',
		'--chdir /home/me/proj/app',
	]);
});

test('what follows -- is the program whatever it looks like, and a path with dashes is a path', () => {
	const odd = {
		...view,
		workspace: '/srv/--bind',
		binds: [],
		hiddenFiles: [],
		hiddenFolders: [],
		rewritten: [],
	};
	const {args, feeds} = bubblewrapArgs(odd, ['--bind', '/', '/'], Buffer.of(), 4);
	expect(args.slice(0, 4)).toEqual(['--args', '4', '--', '/bin/sh']);
	expect(args.slice(-3)).toEqual(['--bind', '/', '/']);
	expect(feeds[0]?.data).toContain('--ro-bind\0/srv/--bind\0/srv/--bind\0');
});

test('the environment holds what is named, and no other', () => {
	const own = {
		PATH: '/bin',
		LC_ALL: 'C',
		PAGER: 'cat',
		JAVA_HOME: '/j',
		HOME: '/root',
		TMPDIR: '/x',
		LD_AUDIT: 'x',
		AWS_PROFILE: 'x',
	};
	expect(sandboxEnvironment(own, null, ['PAGER'])).toEqual({
		PATH: '/bin',
		LC_ALL: 'C',
		PAGER: 'cat',
		JAVA_HOME: '/j',
		HOME: '/tmp',
		TMPDIR: '/tmp',
		GIT_CONFIG_COUNT: '1',
		GIT_CONFIG_KEY_0: 'safe.directory',
		GIT_CONFIG_VALUE_0: '*',
	});
});

test('of a git config the format of the repository is kept, and what may hold a secret is not', () => {
	const config = `[core]
	repositoryformatversion = 1
	autocrlf = true
	sshCommand = ssh -i hush
	fsmonitor = hush
[extensions]
	objectFormat = sha256
[remote "origin"]
	url = https://me:hush@x.test/r.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "plain"]
	url = https://x.test/r.git
[branch "main"]
	merge = refs/heads/main
[http "https://x.test/"]
	extraheader = Authorization: hush
[core] autocrlf = false
	eol = hush
[url "https://hush@x.test/"]
	insteadOf = x
[credential]
	helper = store --file hush
[include]
	path = hush
`;
	expect(publicGitConfig(config)).toBe(`[core]
	repositoryformatversion = 1
	autocrlf = true
[extensions]
	objectFormat = sha256
[remote "origin"]
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "plain"]
	url = https://x.test/r.git
[branch "main"]
	merge = refs/heads/main
`);
});

/** What the kernel would decide: the filter run on one call. */
function decide(program: Uint8Array, number: number, args: number[] = [], audit = 0xc000003e): string {
	const data = Buffer.alloc(64);
	data.writeUInt32LE(number >>> 0, 0);
	data.writeUInt32LE(audit, 4);
	args.forEach((arg, at) => {
		data.writeUInt32LE(arg >>> 0, 16 + 8 * at);
	});
	const bytes = Buffer.from(program);
	let value = 0;
	for (let at = 0; at < bytes.length / 8; at++) {
		const k = bytes.readUInt32LE(at * 8 + 4);
		const jump = (holds: boolean) => bytes.readUInt8(at * 8 + (holds ? 2 : 3));
		switch (bytes.readUInt16LE(at * 8)) {
			case 0x20:
				value = data.readUInt32LE(k);
				break;
			case 0x54:
				value = (value & k) >>> 0;
				break;
			case 0x15:
				at += jump(value === k);
				break;
			case 0x35:
				at += jump(value >= k);
				break;
			case 0x45:
				at += jump((value & k) !== 0);
				break;
			case 0x06:
				if (k === 0x7fff0000) return 'allowed';
				if (k === 0x80000000) return 'killed';
				return Object.entries(constants.errno).find(([, errno]) => errno === (k & 0xffff))?.[0] ?? '?';
			default:
				throw new Error('unknown instruction');
		}
	}
	throw new Error('the filter does not end');
}

test.each([
	[
		'x64',
		0xc000003e,
		{socket: 41, socketpair: 53, clone: 56, unshare: 272, ioctl: 16, mount: 165, keyctl: 250, read: 0},
	],
	[
		'arm64',
		0xc00000b7,
		{socket: 198, socketpair: 199, clone: 220, unshare: 97, ioctl: 29, mount: 40, keyctl: 219, read: 63},
	],
])('the filter for %s refuses what leads out and lets the rest pass', (arch, audit, calls) => {
	const filter = systemCallFilter(arch) ?? Buffer.of();
	const on = (number: number, ...args: number[]) => decide(filter, number, args, audit);
	expect({
		read: on(calls.read),
		inet: [on(calls.socket, 2, 1), on(calls.socket, 10, 2)],
		netlink: [on(calls.socket, 16, 3, 0), on(calls.socket, 16, 3, 15)],
		otherFamilies: [1, 0, 17, 31, 38, 40, 44].map((family) => on(calls.socket, family, 1)),
		pairs: [on(calls.socketpair, 1, 1), on(calls.socketpair, 1, 5 | 0o2000000)],
		datagramPairs: [
			on(calls.socketpair, 1, 2),
			on(calls.socketpair, 1, 3 | 0o4000),
			on(calls.socketpair, 2, 1),
		],
		threadsAndForks: [on(calls.clone, 0x3d0f00), on(calls.clone, 0x11), on(calls.unshare, 0x200)],
		namespaces: [
			on(calls.clone, 0x10000011),
			on(calls.clone, 0x40000011),
			on(calls.unshare, 0x20000),
			on(calls.unshare, 0x80),
		],
		hiddenFlags: on(435),
		terminalInput: [on(calls.ioctl, 1, 0x5412), on(calls.ioctl, 1, 0x541c), on(calls.ioctl, 1, 0x5413)],
		rest: [on(calls.mount), on(calls.keyctl), on(425)],
		anotherArchitecture: decide(filter, calls.read, [], 0x40000003),
		x32: on(0x40000000 | 41, 1, 1),
	}).toEqual({
		read: 'allowed',
		inet: ['allowed', 'allowed'],
		netlink: ['allowed', 'EPERM'],
		otherFamilies: Array(7).fill('EPERM'),
		pairs: ['allowed', 'allowed'],
		datagramPairs: ['EPERM', 'EPERM', 'EPERM'],
		threadsAndForks: ['allowed', 'allowed', 'allowed'],
		namespaces: ['EPERM', 'EPERM', 'EPERM', 'EPERM'],
		hiddenFlags: 'ENOSYS',
		terminalInput: ['EPERM', 'EPERM', 'allowed'],
		rest: ['EPERM', 'EPERM', 'EPERM'],
		anotherArchitecture: 'killed',
		x32: arch === 'x64' ? 'ENOSYS' : 'allowed',
	});
});

test('there is no filter for an architecture whose calls are not known', () => {
	expect([systemCallFilter('ia32'), systemCallFilter('riscv64'), systemCallFilter('constructor')]).toEqual([
		null,
		null,
		null,
	]);
});
