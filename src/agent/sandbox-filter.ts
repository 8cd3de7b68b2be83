/**
The sandbox's system call filter: a classic BPF program as seccomp(2) takes it.

It closes what namespaces leave open. A socket file in a visible folder can be connected to although its folder is read-only;
vsock reaches the machine's host from any network namespace; keyrings, perf and io_uring (which opens sockets by itself) know
no namespace; and each way to a new namespace or mount is one more part of the kernel to try.
*/

type Architecture = {audit: number; calls: Record<string, number>; hasX32: boolean};

/** The numbers are the same on all newer calls (from 424 on). */
const newer = {
	io_uring_setup: 425,
	io_uring_enter: 426,
	io_uring_register: 427,
	open_tree: 428,
	move_mount: 429,
	fsopen: 430,
	fsconfig: 431,
	fsmount: 432,
	fspick: 433,
	mount_setattr: 442,
	quotactl_fd: 443,
	open_tree_attr: 467,
};

const architectures: Record<string, Architecture> = {
	x64: {
		audit: 0xc000003e,
		hasX32: true,
		calls: {
			...newer,
			acct: 163,
			add_key: 248,
			bpf: 321,
			chroot: 161,
			clock_settime: 227,
			delete_module: 176,
			fanotify_init: 300,
			finit_module: 313,
			init_module: 175,
			ioperm: 173,
			iopl: 172,
			kexec_file_load: 320,
			kexec_load: 246,
			keyctl: 250,
			lookup_dcookie: 212,
			mount: 165,
			open_by_handle_at: 304,
			perf_event_open: 298,
			pivot_root: 155,
			quotactl: 179,
			reboot: 169,
			request_key: 249,
			setns: 308,
			settimeofday: 164,
			swapoff: 168,
			swapon: 167,
			syslog: 103,
			umount2: 166,
			userfaultfd: 323,
			vhangup: 153,
		},
	},
	arm64: {
		audit: 0xc00000b7,
		hasX32: false,
		calls: {
			...newer,
			acct: 89,
			add_key: 217,
			bpf: 280,
			chroot: 51,
			clock_settime: 112,
			delete_module: 106,
			fanotify_init: 262,
			finit_module: 273,
			init_module: 105,
			kexec_file_load: 294,
			kexec_load: 104,
			keyctl: 219,
			lookup_dcookie: 18,
			mount: 40,
			open_by_handle_at: 265,
			perf_event_open: 241,
			pivot_root: 41,
			quotactl: 60,
			reboot: 142,
			request_key: 218,
			setns: 268,
			settimeofday: 170,
			swapoff: 225,
			swapon: 224,
			syslog: 116,
			umount2: 39,
			userfaultfd: 282,
			vhangup: 58,
		},
	},
};

/** The calls that are refused for some arguments only. */
const examined: Record<
	string,
	{socket: number; socketpair: number; clone: number; unshare: number; ioctl: number}
> = {
	x64: {socket: 41, socketpair: 53, clone: 56, unshare: 272, ioctl: 16},
	arm64: {socket: 198, socketpair: 199, clone: 220, unshare: 97, ioctl: 29},
};
const clone3 = 435;

const EPERM = 1;
const ENOSYS = 38;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const SOCK_TYPE_MASK = 0xf;
/** Mount, cgroup, uts, ipc, user, pid and network namespaces. */
const NAMESPACES = 0x7e020000;
/** Only unshare takes it: in clone these bits name the signal of the child's end. */
const TIME_NAMESPACE = 0x80;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const X32_BIT = 0x40000000;

const LOAD = 0x20;
const AND = 0x54;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const RETURN = 0x06;

/** Where `struct seccomp_data` has them; of an argument the low half, which comes first on both architectures. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

type Label = 'allow' | 'refuse' | 'missing' | 'kill' | 'next';
type Step = {code: number; k: number; yes?: string; no?: string; label?: string};

/** The program's bytes for a process architecture as Node names it, null where there is none. */
export function systemCallFilter(arch: string): Uint8Array | null {
	const machine = Object.hasOwn(architectures, arch) ? architectures[arch] : undefined;
	const numbers = examined[arch];
	if (!machine || !numbers) return null;
	const when = (code: number, k: number, yes: string, no: string = 'next'): Step => ({code, k, yes, no});
	const load = (offset: number, label?: string): Step => ({code: LOAD, k: offset, ...(label ? {label} : {})});
	const end = (label: Label, k: number): Step => ({code: RETURN, k, label});
	return assemble([
		load(ARCHITECTURE),
		// The calls of another architecture have other numbers.
		when(EQUAL, machine.audit, 'next', 'kill'),
		load(NUMBER),
		...(machine.hasX32 ? [when(AT_LEAST, X32_BIT, 'missing')] : []),
		...Object.values(machine.calls).map((number) => when(EQUAL, number, 'refuse')),
		// Its flags lie in memory, out of sight; the C library does with clone where it is missing.
		when(EQUAL, clone3, 'missing'),
		when(EQUAL, numbers.socket, 'socket'),
		when(EQUAL, numbers.socketpair, 'socketpair'),
		when(EQUAL, numbers.clone, 'clone'),
		when(EQUAL, numbers.unshare, 'unshare'),
		when(EQUAL, numbers.ioctl, 'ioctl', 'allow'),

		load(argument(0), 'socket'),
		when(EQUAL, AF_INET, 'allow'),
		when(EQUAL, AF_INET6, 'allow'),
		// What lists a machine's addresses asks through it.
		when(EQUAL, AF_NETLINK, 'next', 'refuse'),
		load(argument(2)),
		when(EQUAL, NETLINK_ROUTE, 'allow', 'refuse'),

		load(argument(0), 'socketpair'),
		when(EQUAL, AF_UNIX, 'next', 'refuse'),
		load(argument(1)),
		{code: AND, k: SOCK_TYPE_MASK},
		// One of a pair of datagram sockets can be sent to any other socket file.
		when(EQUAL, SOCK_STREAM, 'allow'),
		when(EQUAL, SOCK_SEQPACKET, 'allow', 'refuse'),

		load(argument(0), 'clone'),
		when(ANY_BIT, NAMESPACES, 'refuse', 'allow'),

		load(argument(0), 'unshare'),
		when(ANY_BIT, NAMESPACES | TIME_NAMESPACE, 'refuse', 'allow'),

		load(argument(1), 'ioctl'),
		when(EQUAL, TIOCSTI, 'refuse'),
		when(EQUAL, TIOCLINUX, 'refuse', 'allow'),

		end('allow', ALLOW),
		end('refuse', ERRNO | EPERM),
		end('missing', ERRNO | ENOSYS),
		end('kill', KILL_PROCESS),
	]);
}

/** `struct sock_filter` for each step; jumps count the steps that are left out. */
function assemble(steps: readonly Step[]): Uint8Array {
	const bytes = Buffer.alloc(steps.length * 8);
	steps.forEach(({code, k, yes = 'next', no = 'next'}, at) => {
		const distance = (label: string) => {
			if (label === 'next') return 0;
			const to = steps.findIndex((step) => step.label === label) - at - 1;
			if (to < 0 || to > 255) throw new Error(`the filter cannot jump to ${label}`);
			return to;
		};
		bytes.writeUInt16LE(code, at * 8);
		bytes.writeUInt8(distance(yes), at * 8 + 2);
		bytes.writeUInt8(distance(no), at * 8 + 3);
		bytes.writeUInt32LE(k >>> 0, at * 8 + 4);
	});
	return bytes;
}
