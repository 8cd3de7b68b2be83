import {execFileSync, spawn} from 'node:child_process';
import * as disk from 'node:fs';
import {
	chmodSync,
	closeSync,
	constants,
	copyFileSync,
	linkSync,
	mkdirSync,
	openSync,
	readFileSync,
	readSync,
	symlinkSync,
	writeFileSync,
	writeSync,
} from 'node:fs';
import {createServer, type Server} from 'node:net';
import {userInfo} from 'node:os';
import {dirname, join} from 'node:path';
import {text} from 'node:stream/consumers';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {openSandbox, tryOut} from '../../src/agent/sandbox.ts';
import type {Sandbox} from '../../src/tools/process-group.ts';
import type {ToolContext} from '../../src/tools/tool.ts';
import {type Files, longSleep, running, scene, until} from '../tools/scene.ts';

const {promises} = disk;

const isRoot = process.getuid?.() === 0;
const nobody = '65534';
const me = `as ${userInfo().username}`;
/** Whoever runs the tests, and where that is root, somebody else too. */
const users = isRoot ? [me, 'as another user'] : [me];

type Here = {user?: string; PATH?: string; forbidden?: string[]; environment?: Record<string, string>};

/** A scene whose commands run in the sandbox, with a home of its own. */
async function inside(files: Files = {}, here: Here = {}) {
	const made = scene(files);
	const {root, workspace, data} = made;
	const home = join(root, 'home');
	mkdirSync(home, {recursive: true});
	const isOther = here.user === 'as another user';
	const PATH = here.PATH ?? (isOther ? '/usr/bin:/bin' : process.env.PATH);
	for (const [name, value] of Object.entries({HOME: home, PATH, ...here.environment}))
		vi.stubEnv(name, value);
	onTestFinished(() => void vi.unstubAllEnvs());
	const state = await openSandbox({workspace, forbidden: here.forbidden ?? [data], disk: promises});
	// Not skipped: a sandbox that was never tried is none.
	if (state.state === 'off') throw new Error(state.why);
	// The permissions of files are not what is to keep anybody out.
	if (isOther) execFileSync('chmod', ['-R', 'a+rwX', root]);
	const sandbox = isOther ? asNobody(state.sandbox) : state.sandbox;
	return {
		...made,
		home,
		sandbox,
		command: (command: string, more: Partial<ToolContext> = {}) => made.command(command, {sandbox, ...more}),
		runs: (args: object, more: Partial<ToolContext> = {}) =>
			made.run('run_command', args, {sandbox, ...more}),
	};
}

function asNobody(sandbox: Sandbox): Sandbox {
	return {
		...sandbox,
		async wrap(start, signal) {
			const wrapped = await sandbox.wrap(start, signal);
			if (!wrapped.ok) return wrapped;
			const {file, args} = wrapped.start;
			const who = ['--reuid', nobody, '--regid', nobody, '--clear-groups'];
			return {...wrapped, start: {...wrapped.start, file: 'setpriv', args: [...who, file, ...args]}};
		},
	};
}

/** What a command wrote, without what the tool says about it. */
const output = ({content}: {content: string}) => content.slice(content.indexOf('\n\n') + 2);

/** A server that counts who came. */
async function listen(
	where: string | number,
): Promise<{server: Server; visitors: () => number; port: number}> {
	let visitors = 0;
	const server = createServer((socket) => {
		visitors++;
		socket.destroy();
	});
	await new Promise<void>((resolve) => {
		if (typeof where === 'string') server.listen(where, resolve);
		else server.listen(where, '127.0.0.1', resolve);
	});
	onTestFinished(() => void server.close());
	const address = server.address();
	return {server, visitors: () => visitors, port: typeof address === 'object' ? (address?.port ?? 0) : 0};
}

describe.each(users)('%s', (user) => {
	test('a command that only looks works, and says where it ran', async () => {
		const {command, workspace} = await inside({'a.txt': 'seen\n'}, {user});
		const result = await command('pwd; cat a.txt; grep -c . /etc/passwd >/dev/null && echo system');
		expect(result.content).toMatch(
			/^Exit code 0 after .*\nIt ran in the sandbox: the workspace read-only, no network\.\n\n/,
		);
		expect(output(result)).toBe(`${workspace}\nseen\nsystem\n`);
	});

	test('nothing is written to the workspace, beside it, or to the system', async () => {
		const {command, workspace, outside, text, names} = await inside({'a.txt': 'kept\n'}, {user});
		for (const target of [
			'a.txt',
			'new.txt',
			`${outside}/x`,
			`${workspace}/../x`,
			'/usr/x',
			'/etc/x',
			'/x',
		]) {
			expect((await command(`echo changed > ${target}`)).ok, target).toBe(false);
		}
		expect((await command('rm -f a.txt; mv a.txt b.txt; chmod 000 a.txt; ln a.txt c.txt')).ok).toBe(false);
		expect([text('a.txt'), names()]).toEqual(['kept\n', ['a.txt']]);
		expect(disk.readdirSync(outside)).toEqual([]);
	});

	test('what is written to /tmp and to the home is gone with the command', async () => {
		const {command, home} = await inside({}, {user});
		const result = await command('touch /tmp/mca-sandbox-test ~/x /var/tmp/x && ls ~ && echo written');
		expect(output(result)).toBe('x\nwritten\n');
		expect([disk.existsSync('/tmp/mca-sandbox-test'), disk.readdirSync(home)]).toEqual([false, []]);
		expect(output(await command('ls -A ~ /var/tmp /run'))).not.toContain('x\n');
	});

	test('nothing can be remounted, mounted or unmounted', async () => {
		const {command, workspace, text} = await inside({'a.txt': 'kept\n', '.env': 'KEY=hidden\n'}, {user});
		const ways = [
			`mount -o remount,rw,bind ${workspace}`,
			`mount -o remount,rw ${workspace}`,
			`mount -t tmpfs x /tmp`,
			`mount --bind / /tmp`,
			`umount ${workspace}/.env`,
			`umount -l ${workspace}/.env`,
			`chroot /tmp /bin/true`,
		];
		for (const way of ways) {
			expect(await command(`PATH=$PATH:/usr/sbin:/sbin; ${way}`), way).toMatchObject({
				ok: false,
				content: expect.stringMatching(/permission denied|not permitted|must be superuser/i),
			});
			const after = await command(`PATH=$PATH:/usr/sbin:/sbin; ${way}; echo changed > a.txt; cat .env`);
			expect(after.content, way).not.toContain('KEY=');
		}
		expect(text('a.txt')).toBe('kept\n');
	});

	test('no namespace is made in there, by any call', async () => {
		const {command} = await inside({}, {user});
		for (const flags of ['-U', '-Ur', '-Urm', '-m', '-n', '-p --fork', '-i', '-u', '-C', '-T']) {
			const {ok, content} = await command(`unshare ${flags} true`);
			expect([ok, content], flags).toEqual([false, expect.stringContaining('not permitted')]);
		}
		expect((await command('nsenter -t 1 -m true')).ok).toBe(false);
		// clone(CLONE_NEWUSER | SIGCHLD), and clone3, whose flags no filter sees.
		const numbers = process.arch === 'x64' ? [56, 435] : [220, 435];
		const clone = `perl -e '$r = syscall(${numbers[0]}, 0x10000011, 0, 0, 0, 0); exit 9 if $r == 0; print $r, " ", $!+0, "\\n"'`;
		const clone3 = `perl -e '$a = pack("Q8", 0x10000000, 0, 0, 0, 17, 0, 0, 0); $r = syscall(${numbers[1]}, $a, 64); exit 9 if $r == 0; print $r, " ", $!+0, "\\n"'`;
		expect(output(await command(`${clone}; ${clone3}`))).toBe('-1 1\n-1 38\n');
	});

	test('it has no capability and can get none, and the first process of the sandbox is filtered as well', async () => {
		const {command} = await inside({}, {user});
		const status = output(
			await command(`grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status`),
		);
		expect(output(await command('grep Seccomp: /proc/1/status'))).toBe('Seccomp:\t2\n');
		expect(status.replace(/\s+/g, ' ')).toBe(
			`${['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => `${name}: 0000000000000000 `).join('')}NoNewPrivs: 1 Seccomp: 2 `,
		);
	});

	test('no connection is made to a server outside, by address or by name', async () => {
		const {port, visitors} = await listen(0);
		const {command} = await inside({}, {user});
		const result = await command(`exec 3<>/dev/tcp/127.0.0.1/${port} && echo connected`);
		expect(result).toMatchObject({ok: false, content: expect.stringMatching(/refused|unreachable/i)});
		expect(result.content).toMatch(/a command has no network\. .*outside: true.*$/);
		expect((await command('exec 3<>/dev/tcp/192.0.2.1/80')).content).toMatch(/unreachable/i);
		expect((await command('getent hosts example.com')).ok).toBe(false);
		expect(visitors()).toBe(0);
	});

	test('a server in the sandbox can be reached in the sandbox', async () => {
		const {command} = await inside({}, {user});
		const talk = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die $!; if (!fork) { IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport)->print("hello\\n"); exit } print $s->accept->getline'`;
		expect(output(await command(talk))).toBe('hello\n');
	});

	test('no unix socket outside is reached, not even one in the workspace, by a stream or a datagram', async () => {
		const {command, workspace, outside} = await inside({}, {user});
		const name = `mca-sandbox-test-${process.pid}`;
		const places = [join(workspace, 's'), join(outside, 's')];
		const servers = [...(await Promise.all(places.map(listen))), await listen(`\0${name}`)];
		for (const place of places) chmodSync(place, 0o777);
		const connect = (address: string, type: string) =>
			`perl -MSocket -e 'socket(S, AF_UNIX, ${type}, 0) or die "socket: $!\\n"; connect(S, pack_sockaddr_un(${address})) or die "connect: $!\\n"; print "connected\\n"'`;
		for (const address of [...places.map((place) => `"${place}"`), `"\\0${name}"`]) {
			for (const type of ['SOCK_STREAM', 'SOCK_DGRAM', 'SOCK_SEQPACKET']) {
				const {content} = await command(connect(address, type));
				expect(content).toContain('socket: Operation not permitted');
				expect(content).not.toContain('connected');
			}
		}
		// A pair needs no socket call, and one of two datagram sockets could be pointed at a file.
		const pair = (type: string) =>
			`perl -MSocket -e 'socketpair(A, B, AF_UNIX, ${type}, 0) or die "pair: $!\\n"; connect(A, pack_sockaddr_un("${places[0]}")) or die "connect: $!\\n"'`;
		expect((await command(pair('SOCK_DGRAM'))).content).toContain('pair: Operation not permitted');
		for (const type of ['SOCK_STREAM', 'SOCK_SEQPACKET']) {
			expect((await command(pair(type))).content, type).toMatch(/connect: .*(already connected|wrong type)/);
		}
		expect(servers.map(({visitors}) => visitors())).toEqual([0, 0, 0]);
	});

	test('no fifo outside is written to', async () => {
		const {command, outside} = await inside({}, {user});
		const fifo = join(outside, 'fifo');
		execFileSync('mkfifo', ['-m', '666', fifo]);
		const reader = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
		onTestFinished(() => closeSync(reader));
		expect((await command(`echo x > ${fifo}`)).ok).toBe(false);
		expect(() => readSync(reader, Buffer.alloc(1))).toThrow('EAGAIN');
	});

	test('no named pipe of the workspace leads out, in neither direction', async () => {
		const {command, at} = await inside({'src/deep/a.txt': 'x'}, {user});
		for (const path of ['fifo', 'src/deep/.fifo']) {
			execFileSync('mkfifo', ['-m', '666', at(path)]);
			const outside = openSync(at(path), constants.O_RDWR | constants.O_NONBLOCK);
			onTestFinished(() => closeSync(outside));
			expect((await command(`echo x > ${path}`)).ok, path).toBe(false);
			expect(() => readSync(outside, Buffer.alloc(1)), path).toThrow('EAGAIN');
			writeSync(outside, 'hush\n');
			expect((await command(`timeout 5 head -n 1 ${path}`)).content, path).not.toContain('hush');
		}
	});

	test('the calls that know no namespace are refused', async () => {
		const {command} = await inside({}, {user});
		const numbers =
			process.arch === 'x64'
				? {
						io_uring_setup: 425,
						add_key: 248,
						request_key: 249,
						keyctl: 250,
						bpf: 321,
						perf_event_open: 298,
						userfaultfd: 323,
					}
				: {
						io_uring_setup: 425,
						add_key: 217,
						request_key: 218,
						keyctl: 219,
						bpf: 280,
						perf_event_open: 241,
						userfaultfd: 282,
					};
		const calls = Object.values(numbers).map((number) => `syscall(${number}, 0, 0, 0, 0, 0); push @e, $!+0;`);
		expect(output(await command(`perl -e '${calls.join(' ')} print "@e\\n"'`))).toBe('1 1 1 1 1 1 1\n');
		// vsock (40) reaches the host of this machine, netlink (16) with 15 hears of its devices.
		const socket = process.arch === 'x64' ? 41 : 198;
		const families = `syscall(${socket}, 40, 1, 0); push @e, $!+0; syscall(${socket}, 16, 3, 15); push @e, $!+0;`;
		expect(output(await command(`perl -e '${families} print "@e\\n"'`))).toBe('1 1\n');
	});

	test('the kernel is not set up differently from in there', async () => {
		const {command} = await inside({}, {user});
		const settings = [
			'/proc/sys/kernel/core_pattern',
			'/proc/sys/vm/drop_caches',
			'/proc/sysrq-trigger',
			'/proc/self/oom_score_adj',
		];
		for (const setting of settings) expect((await command(`: >> ${setting}`)).ok, setting).toBe(false);
		expect((await command('mknod /tmp/disk b 254 0')).ok).toBe(false);
		expect(output(await command('ls /dev'))).not.toMatch(/vd|sd|nvme|kmsg|mem/);
		expect((await command('ls /sys/kernel')).ok).toBe(false);
	});

	test('the keys of the home are not there, and the workspace under the home is', async () => {
		const {command, home, outside} = await inside({}, {user});
		for (const path of ['.ssh/id_ed25519', '.config/gh/hosts.yml', '.netrc', 'notes.txt']) {
			mkdirSync(dirname(join(home, path)), {recursive: true});
			writeFileSync(join(home, path), 'secret\n');
			const result = await command(`cat ${home}/${path} ~/${path}; ls -A ~`);
			expect(result.content, path).not.toContain('secret');
			expect(output(result), path).not.toMatch(/^\./m);
		}
		writeFileSync(join(outside, 'other.txt'), 'secret');
		expect((await command(`cat ${outside}/other.txt`)).ok).toBe(false);
		expect((await command('find / -name id_ed25519 2>/dev/null')).content).not.toContain('id_ed25519');
	});

	test('what others may not read of /etc cannot be read', async () => {
		const {command} = await inside({}, {user});
		const result = await command('cat /etc/shadow');
		expect(result).toMatchObject({ok: false, content: expect.stringContaining('Permission denied')});
		expect(
			output(await command(`find /etc -type f -size +0 ! -perm -o=r -readable 2>/dev/null`)).replace(
				'(no output)',
				'',
			),
		).toBe('');
	});

	test('no secret of the environment is there, in no process', async () => {
		const environment = {
			OPENAI_API_KEY: 'hush-1',
			DATABASE_URL: 'hush-2',
			HTTPS_PROXY: 'http://me:hush-3@proxy.test',
			SSH_AUTH_SOCK: '/tmp/hush-4',
			SOMETHING_OF_MINE: 'hush-5',
			MCA_TEST: 'hush-6',
			LD_LIBRARY_PATH: '/tmp/hush-7',
		};
		const {command} = await inside({}, {user, environment});
		const result = await command(`env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'`);
		expect(result.content).not.toContain('hush');
		expect(result.content).toContain('GIT_EDITOR=true');
	});

	test('files that may hold secrets cannot be opened, those too that came later, and the result names them', async () => {
		const {command, put} = await inside(
			{
				'.env': 'KEY=hush',
				'app/.env.local': 'KEY=hush',
				'tls/server.pem': 'hush',
				'.ssh/config': 'hush',
				'a.txt': 'seen',
			},
			{user},
		);
		const hidden = ['.env', 'app/.env.local', 'tls/server.pem', '.ssh/config'];
		for (const path of hidden) {
			const result = await command(`cat ${path}`);
			expect([result.ok, result.content.includes('hush')], path).toEqual([false, false]);
		}
		put('later/secrets.json', 'hush');
		const {content} = await command('cat a.txt; cat later/secrets.json; grep -r hush . ; ls -A .ssh');
		expect(content.replace(/Hidden in there.*/, '')).not.toMatch(/hush/);
		expect(content).toContain(
			'Hidden in there, since they may hold secrets: .env, .ssh/, app/.env.local, later/secrets.json, tls/server.pem.',
		);
	});

	test('git works, without the token in its config and without its hooks', async () => {
		const {command, workspace, put} = await inside({'a.txt': 'a\n'}, {user});
		const git = (...args: string[]) =>
			execFileSync('git', ['-C', workspace, '-c', 'user.name=n', '-c', 'user.email=e@x.test', ...args]);
		git('init', '-q', '-b', 'main');
		git('add', '.');
		git('commit', '-qm', 'one');
		git('config', 'core.autocrlf', 'input');
		git('config', 'http.https://x.test/.extraheader', 'Authorization: hush');
		git('remote', 'add', 'origin', 'https://me:hush@x.test/r.git');
		git('remote', 'add', 'plain', 'git@x.test:me/r.git');
		put('.git/hooks/post-checkout', 'hush');
		const result = await command(
			'git status --short; git log --format=%s; git config -l --local; cat .git/config .git/hooks/*',
		);
		expect(result.content).not.toContain('hush');
		expect(output(result)).toMatch(/^one\ncore\.repositoryformatversion=0\n/);
		expect(result.content).toContain('core.autocrlf=input');
		expect(result.content).toContain('remote.plain.url=git@x.test:me/r.git');
	});

	test("mca's own folders and files are hidden where they lie in the workspace", async () => {
		const files = {
			'own/sessions/s.jsonl': 'hush',
			'own/deep/x': 'hush',
			'config.json': 'hush',
			'a.txt': 'seen',
		};
		const made = scene();
		const {command, workspace, sandbox} = await inside(files, {user});
		expect(made.root).not.toBe(workspace);
		expect((await command('cat own/sessions/s.jsonl', {sandbox})).content).toContain('hush');
		const forbidden = ['own', 'own/deep', 'config.json', 'not-yet'].map((name) => join(workspace, name));
		const state = await openSandbox({workspace, forbidden, disk: promises});
		if (state.state === 'off') throw new Error(state.why);
		const own = user === 'as another user' ? asNobody(state.sandbox) : state.sandbox;
		const {content} = await command(
			'cat own/sessions/s.jsonl own/deep/x config.json; ls -A own; echo x > own/x; cat a.txt',
			{
				sandbox: own,
			},
		);
		expect(content).not.toContain('hush');
		expect(content).toMatch(/seen$/);
	});

	test('what it leaves in the background ends with it, also what left its session, its group and its environment', async () => {
		const {command} = await inside({}, {user});
		const sleeps = Array.from({length: 4}, longSleep);
		const [one, two, three, four] = sleeps;
		const hide = (file: string, sleep?: string) =>
			`/bin/sh -c ': > /tmp/${file}; ${sleep}; ${sleep}' > /dev/null 2>&1 &`;
		const result = await command(
			`${one} & setsid env -i ${hide('2', two)} nohup ${hide('3', three)} (trap '' HUP TERM; setsid setsid env -i ${hide('4', four)})
			until [ -e /tmp/2 ] && [ -e /tmp/3 ] && [ -e /tmp/4 ]; do :; done; echo done`,
		);
		expect(result).toMatchObject({ok: true, content: expect.stringContaining('done')});
		expect(result.content).not.toContain('Still running');
		await until(() => sleeps.every((sleep) => running(sleep).length === 0));
		expect(sleeps.flatMap((sleep) => running(sleep))).toEqual([]);
	});

	test('a cancel and a timeout end all of it, also what hides', async () => {
		const {runs} = await inside({}, {user});
		const hiding = (sleep: string) => `trap '' TERM; setsid env -i ${sleep} & ${sleep}; ${sleep}`;
		const [one, two] = [longSleep(), longSleep()];
		const controller = new AbortController();
		const call = runs({command: hiding(one)}, {signal: controller.signal});
		await until(() => running(one).length > 0);
		controller.abort();
		expect((await call).stoppedBy).toBe('cancel');
		expect((await runs({command: hiding(two), timeout_seconds: 0.5})).stoppedBy).toBe('timeout');
		await until(() => running(one).length + running(two).length === 0);
		expect([...running(one), ...running(two)]).toEqual([]);
	});

	test('a timeout lets a command clean up', async () => {
		const {runs} = await inside({}, {user});
		const command = `trap 'echo cleaned; exit' TERM; echo begun; while :; do sleep 0.05; done`;
		const {content} = await runs({command, timeout_seconds: 1});
		expect(content).toMatch(/^Stopped after 1(\.0)? s, its timeout/);
		expect(content).toMatch(/\n\nbegun\n(.*Terminated.*\n)?cleaned\n$/);
	});

	test('no process outside is seen or signalled, and no file descriptor of mca is there', async () => {
		const {command} = await inside({}, {user});
		const result = await command(`kill -0 ${process.pid}; ls -d /proc/[0-9]* | wc -l; ls -l /proc/$$/fd; :`);
		expect(result.content).toMatch(/No such process|Operation not permitted/);
		const [count, , ...descriptors] = output(result).trim().split('\n').slice(1);
		expect(Number(count)).toBeLessThan(8);
		expect(descriptors.filter((line) => !/ [12] -> socket:| -> \/dev\/null$/.test(line))).toEqual([]);
	});
});

test('exit codes and signals come through', async () => {
	const {command} = await inside();
	expect((await command('exit 3')).summary).toMatch(/^exit 3 · /);
	expect((await command('kill -SEGV $$')).summary).toMatch(/^SIGSEGV · /);
	expect((await command('exit 200')).summary).toMatch(/^exit 200 · /);
	expect((await command('no-such-program')).summary).toMatch(/^exit 127 · /);
});

test('a long output is kept whole outside, where the command does not see it', async () => {
	const {command, data} = await inside();
	const {spill} = await command('seq 1 20000');
	expect(spill).toBe(join(data, 'spill', 's-1', 'call-1.log'));
	expect(readFileSync(spill ?? '', 'utf8')).toMatch(/^1\n2\n[\d\n]*\n20000\n$/);
	expect((await command(`cat ${spill}`)).ok).toBe(false);
});

test('what fails for want of write access or network says how to ask for it, anything else does not', async () => {
	const {command} = await inside();
	const hint =
		/This may be the sandbox's doing, where a command (.*)\. If it has to, call run_command again with outside: true/;
	const said = async (text: string) => hint.exec((await command(text)).content)?.[1];
	expect(await said('touch x')).toBe('may not write to the workspace, nor open what is hidden');
	expect(await said('echo Error: getaddrinfo EAI_AGAIN packages.example; exit 1')).toBe('has no network');
	expect(await said('echo "fatal: could not resolve host: x.test"; exit 1')).toBe('has no network');
	expect(await said('echo "EROFS: read-only file system, ENETUNREACH"; exit 1')).toMatch(
		/^may not write .* and has no network$/,
	);
	expect(await said('echo "1 test failed"; exit 1')).toBeUndefined();
	expect(await said('echo "Permission denied"; exit 0')).toBeUndefined();
});

test('asking to run outside does not lead outside by itself', async () => {
	const {runs, names} = await inside();
	expect((await runs({command: 'touch x', outside: true})).ok).toBe(false);
	expect(names()).toEqual([]);
	const {run, names: open} = scene();
	expect((await run('run_command', {command: 'touch x', outside: true})).ok).toBe(true);
	expect(open()).toEqual(['x']);
});

/** A process of its own that runs a command in the sandbox; `inherited` is its descriptor 30 (Node itself sees to the first few). */
function runElsewhere(command: string, workspace: string, inherited: number | 'ignore' = 'ignore') {
	const source = (path: string) => new URL(`../../src/${path}`, import.meta.url).href;
	const code = `
		import * as disk from 'node:fs/promises';
		import {openSandbox} from '${source('agent/sandbox.ts')}';
		import {runCommand} from '${source('tools/run-command.ts')}';
		const workspace = ${JSON.stringify(workspace)};
		const state = await openSandbox({workspace, forbidden: [], disk});
		if (state.state === 'off') throw new Error(state.why);
		const {call} = runCommand.prepare(${JSON.stringify(JSON.stringify({command}))});
		const {signal} = new AbortController();
		const result = await call.run({workspace, forbidden: [], spillFolder: '/nowhere', callId: 'c', signal, sandbox: state.sandbox});
		console.log(result.content);`;
	const child = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', code], {
		stdio: ['ignore', 'pipe', 'inherit', ...Array(27).fill('ignore'), inherited],
	});
	onTestFinished(() => void child.kill('SIGKILL'));
	return child;
}

test('kill -9 of the process that runs a command ends the command', async () => {
	const {workspace, outside, put} = await inside();
	const [one, two] = [longSleep(), longSleep()];
	// What sees to the end of a command is outside of the sandbox: no program of the workspace may have a part in it.
	for (const name of ['grep', 'cut', 'sh', 'bwrap']) {
		put(`bin/${name}`, `#!/bin/sh\n: > ${join(outside, name)}\n`);
		chmodSync(join(workspace, 'bin', name), 0o755);
	}
	vi.stubEnv('PATH', `${join(workspace, 'bin')}:${process.env.PATH}`);
	const child = runElsewhere(`setsid env -i ${one} & trap '' TERM HUP; ${two}; ${two}`, workspace);
	await until(() =>
		[one, two].every((sleep) => running(sleep).filter((pid) => pid !== child.pid).length > 1),
	);
	expect(child.kill('SIGKILL')).toBe(true);
	await until(() => running(one).length + running(two).length === 0);
	expect([...running(one), ...running(two)]).toEqual([]);
	expect(disk.readdirSync(outside)).toEqual([]);
});

test('what mca was started with beside its terminal is not handed on', async () => {
	const {workspace, outside} = await inside();
	writeFileSync(join(outside, 'log'), 'hush');
	const left = openSync(join(outside, 'log'), 'r+');
	onTestFinished(() => closeSync(left));
	const {stdout} = runElsewhere('cat <&30; echo changed >&30; ls -l /proc/$$/fd; :', workspace, left);
	if (!stdout) throw new Error('no pipe');
	const said = await text(stdout);
	expect(said).toContain(' 30 -> /dev/null');
	expect(said).not.toMatch(/hush|outside/);
	expect(readFileSync(join(outside, 'log'), 'utf8')).toBe('hush');
});

test('a command of another workspace is not run in this one', async () => {
	const {command, outside} = await inside();
	expect(await command('echo ran', {workspace: outside})).toMatchObject({
		ok: false,
		content: expect.stringMatching(/^The command was not run: the sandbox is made for /),
	});
});

describe('tools', () => {
	const script = (path: string, text: string) => {
		mkdirSync(dirname(path), {recursive: true});
		writeFileSync(path, `#!/bin/sh\n${text}\n`, {mode: 0o755});
	};
	const tell = (path: string, text: string) => {
		mkdirSync(dirname(path), {recursive: true});
		writeFileSync(path, `${text}\n`);
	};
	/** The sandbox for a home that was filled first. */
	async function withHome(fill: (home: string, workspace: string) => string[]) {
		const made = scene();
		const home = join(made.root, 'home');
		mkdirSync(home);
		const PATH = [...fill(home, made.workspace), '/usr/bin', '/bin'].join(':');
		vi.stubEnv('HOME', home);
		vi.stubEnv('PATH', PATH);
		onTestFinished(() => void vi.unstubAllEnvs());
		const state = await openSandbox({workspace: made.workspace, forbidden: [made.data], disk: promises});
		if (state.state === 'off') throw new Error(state.why);
		const {sandbox} = state;
		return {...made, home, command: (command: string) => made.command(command, {sandbox})};
	}

	test('node from ~/.nvm works, and the rest of the home is not there', async () => {
		const {command} = await withHome((home) => {
			const bin = join(home, '.nvm/versions/node/v99.0.0/bin');
			mkdirSync(bin, {recursive: true});
			try {
				linkSync(process.execPath, join(bin, 'node'));
			} catch {
				copyFileSync(process.execPath, join(bin, 'node'));
			}
			tell(join(bin, '../lib/node_modules/tool/cli.js'), 'console.log("tool", process.version)');
			symlinkSync('../lib/node_modules/tool/cli.js', join(bin, 'tool'));
			tell(join(home, '.nvm/.npmrc'), 'hush');
			tell(join(home, '.bashrc'), 'hush');
			return [bin];
		});
		const result = await command('node -p 6*7; node $(command -v node | xargs dirname)/tool; ls -A ~ ~/.nvm');
		expect(output(result)).toMatch(new RegExp(`^42\ntool ${process.version}\n`));
		expect(result.content).not.toMatch(/\.npmrc|\.bashrc/);
	});

	test('a virtual environment in the workspace works, with the Python that it is made of', async () => {
		const {command} = await withHome((home, workspace) => {
			const python = join(home, '.pyenv/versions/3.99.0/bin/python3.99');
			script(python, 'cat "$(dirname "$(readlink -f "$0")")/../lib/python3.99/site.py"');
			tell(join(dirname(python), '../lib/python3.99/site.py'), 'library');
			for (const folder of ['.venv', 'other']) {
				mkdirSync(join(workspace, folder, 'bin'), {recursive: true});
				symlinkSync(python, join(workspace, folder, 'bin/python3'));
				symlinkSync('python3', join(workspace, folder, 'bin/python'));
			}
			return [];
		});
		expect(output(await command('.venv/bin/python'))).toBe('library\n');
	});

	test('a link in the workspace makes nothing else visible', async () => {
		const {command} = await withHome((home, workspace) => {
			tell(join(home, 'private/notes'), 'hush');
			tell(join(home, 'private/bin/notes'), 'hush');
			tell(join(home, '.ssh/bin/python3'), 'hush');
			mkdirSync(join(workspace, '.venv/bin'), {recursive: true});
			symlinkSync(join(home, '.ssh/bin/python3'), join(workspace, '.venv/bin/python'));
			mkdirSync(join(workspace, 'venv/bin'), {recursive: true});
			symlinkSync(join(home, 'private/bin/notes'), join(workspace, 'venv/bin/python'));
			symlinkSync(join(home, 'private/notes'), join(workspace, 'venv/bin/x'));
			return [join(workspace, 'venv/bin'), join(workspace, '.venv/bin')];
		});
		expect((await command('cat .venv/bin/* venv/bin/*; cat ~/private/notes')).content).not.toContain('hush');
	});

	test('of ~/.local only the programs are there, with what they are links to', async () => {
		const {command} = await withHome((home) => {
			const bin = join(home, '.local/bin');
			script(join(bin, 'own'), 'echo own');
			const real = join(home, '.local/share/pipx/venvs/black/bin/black');
			script(real, 'cat "$(dirname "$(readlink -f "$0")")/../lib/black"');
			tell(join(dirname(real), '../lib/black'), 'black');
			symlinkSync(real, join(bin, 'black'));
			script(join(home, 'scripts/single.sh'), 'echo single');
			tell(join(home, 'scripts/notes'), 'hush');
			symlinkSync('../../scripts/single.sh', join(bin, 'single'));
			tell(join(home, '.ssh/id_rsa'), 'hush');
			symlinkSync('../../.ssh/id_rsa', join(bin, 'key'));
			tell(join(home, '.local/share/keyrings/login'), 'hush');
			return [bin];
		});
		expect(output(await command('own; black; single'))).toBe('own\nblack\nsingle\n');
		const result = await command(
			'cat ~/.local/share/keyrings/login ~/.ssh/id_rsa ~/scripts/notes ~/.local/bin/key',
		);
		expect(result.content).not.toContain('hush');
	});

	test('a folder of programs that is itself a link works where it is and where it leads to', async () => {
		const {command, home} = await withHome((home) => {
			const real = join(home, '.tools/candidates/21/bin');
			script(join(real, 'java'), 'cat "$(dirname "$0")/../lib/java"');
			tell(join(real, '../lib/java'), 'java');
			mkdirSync(join(home, '.tools/current'), {recursive: true});
			symlinkSync('../candidates/21', join(home, '.tools/current/java'));
			return [join(home, '.tools/current/java/bin')];
		});
		expect(output(await command(`java; ${home}/.tools/candidates/21/bin/java`))).toBe('java\njava\n');
	});

	test('a project whose bin is on PATH is shown without the secrets anywhere in it', async () => {
		const {command, root} = await withHome((home) => {
			const project = join(dirname(home), 'project');
			script(join(project, 'bin/mine'), 'cat "$(dirname "$0")/../data/words"');
			tell(join(project, 'data/words'), 'words');
			tell(join(project, '.env'), 'hush');
			tell(join(project, 'config/.env'), 'hush');
			tell(join(project, 'config/deep/er/.ssh/known'), 'hush');
			return [join(project, 'bin')];
		});
		expect(output(await command('mine'))).toBe('words\n');
		const result = await command(`cd ${root}/project; cat .env config/.env config/deep/er/.ssh/known`);
		expect(result.content).not.toContain('hush');
	});

	test('of a project with too many secrets to hide only what an installation is made of is shown', async () => {
		const {command, root} = await withHome((home) => {
			const project = join(dirname(home), 'project');
			script(join(project, 'bin/mine'), 'cat "$(dirname "$0")/../lib/words"');
			tell(join(project, 'lib/words'), 'words');
			for (let at = 0; at < 60; at++) tell(join(project, `config/${at}/.env`), 'hush');
			return [join(project, 'bin')];
		});
		expect(output(await command('mine'))).toBe('words\n');
		expect(output(await command(`ls ${root}/project; cat ${root}/project/config/*/.env`))).not.toMatch(
			/hush|^config$/m,
		);
	});

	test('of the Python behind a virtual environment only the installation is shown', async () => {
		const {command, root} = await withHome((home, workspace) => {
			const project = join(dirname(home), 'project');
			script(join(project, 'bin/python3'), 'cat "$(dirname "$(readlink -f "$0")")/../lib/words"');
			tell(join(project, 'lib/words'), 'words');
			tell(join(project, 'config/.env'), 'hush');
			mkdirSync(join(workspace, '.venv/bin'), {recursive: true});
			symlinkSync(join(project, 'bin/python3'), join(workspace, '.venv/bin/python'));
			return [];
		});
		expect(output(await command('.venv/bin/python'))).toBe('words\n');
		expect((await command(`cat ${root}/project/config/.env`)).content).not.toContain('hush');
	});

	test('the home, or a folder of keys, is not shown for being on PATH', async () => {
		const {command} = await withHome((home) => {
			tell(join(home, 'x'), 'hush');
			tell(join(home, '.ssh/bin/x'), 'hush');
			tell(join(home, '.config/x'), 'hush');
			script(join(home, 'bin/mine'), 'echo mine');
			return [home, join(home, 'bin'), join(home, '.ssh/bin'), join(home, '.config'), dirname(home)];
		});
		expect(output(await command('mine; ls -A ~'))).toBe('mine\nbin\n');
		expect((await command('cat ~/x ~/.ssh/bin/x ~/.config/x')).content).not.toContain('hush');
	});
});

describe('where there is no sandbox', () => {
	const linux = {platform: 'linux', arch: 'x64'};
	/** A bubblewrap that complains. */
	const complaining = (complaint: string, files: Record<string, string> = {}) => {
		const {root} = scene();
		const program = join(root, 'bwrap');
		writeFileSync(program, `#!/bin/sh\necho "bwrap: ${complaint}" >&2\nexit 1\n`, {mode: 0o755});
		const readFile = async (path: string) => files[path] ?? '';
		return tryOut({...promises, readFile}, {...linux, programs: [program]});
	};

	test.each([
		[
			'another system',
			() => tryOut(promises, {...linux, platform: 'darwin', programs: []}),
			'runs on Linux only, and this is darwin',
		],
		[
			'another processor',
			() => tryOut(promises, {...linux, arch: 'riscv64', programs: []}),
			'made for x64 and arm64, and this is riscv64',
		],
		[
			'no bubblewrap',
			() => tryOut(promises, {...linux, programs: ['/nowhere/bwrap']}),
			'apt install bubblewrap',
		],
		['an old one', () => complaining('Unknown option --disable-userns'), 'older than 0.8.0'],
		[
			'a container',
			() => complaining("Can't mount proc on /newroot/proc: Operation not permitted"),
			'systempaths=unconfined',
		],
		[
			'Ubuntu 24.04',
			() =>
				complaining('setting up uid map: Permission denied', {
					'/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n',
				}),
			'kernel.apparmor_restrict_unprivileged_userns=0',
		],
		[
			'user namespaces turned off',
			() =>
				complaining('No permissions to create new namespace', {
					'/proc/sys/kernel/unprivileged_userns_clone': '0\n',
				}),
			'kernel.unprivileged_userns_clone=1',
		],
		[
			'none left',
			() =>
				complaining('Creating new namespace failed: No space left on device', {
					'/proc/sys/user/max_user_namespaces': '0\n',
				}),
			'user.max_user_namespaces=10000',
		],
		[
			'network namespaces refused',
			() => complaining('loopback: Failed RTM_NEWADDR: Operation not permitted'),
			'seccomp=unconfined',
		],
		['anything else', () => complaining('It rains'), 'It rains'],
	])('%s is told with what to do', async (_, probe, what) => {
		expect(await probe()).toEqual({state: 'off', why: expect.stringContaining(what)});
	});

	test('a workspace that holds the home, or is the system, has none', async () => {
		const {root} = scene();
		vi.stubEnv('HOME', join(root, 'work'));
		onTestFinished(() => void vi.unstubAllEnvs());
		const open = (workspace: string) =>
			openSandbox({workspace, forbidden: [join(root, 'data')], disk: promises});
		for (const workspace of [
			root,
			join(root, 'work'),
			'/',
			'/proc',
			'/dev/shm',
			'/run',
			join(root, 'data'),
		]) {
			expect(await open(workspace), workspace).toEqual({
				state: 'off',
				why: expect.stringContaining(workspace),
			});
		}
	});

	test('a workspace that cannot be looked through is not run in, and the reason says how to go on', async () => {
		const files = Object.fromEntries(Array.from({length: 201}, (_, at) => [`${at}/.env`, 'x']));
		const {command} = await inside(files);
		const result = await command('touch /tmp/ran; echo ran');
		expect(result.content).toMatch(
			/^The command was not run: the workspace holds more than 200 files that may hold secrets.*outside: true/,
		);
	});
});

test('a folder with many secrets is hidden as a whole, installed packages are not looked through', async () => {
	const {command} = await inside({
		...Object.fromEntries(Array.from({length: 17}, (_, at) => [`test/keys/${at}.pem`, 'hush'])),
		'node_modules/x/cacert.pem': 'published',
	});
	const result = await command('cat test/keys/*; cat node_modules/x/cacert.pem');
	expect(result.content).toContain('Hidden in there, since they may hold secrets: test/keys/.');
	expect(output(result)).toMatch(/published$/);
});
