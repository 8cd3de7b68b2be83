import {spawn} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {commandEnvironment} from '../../src/tools/command-environment.ts';
import type {Sandbox} from '../../src/tools/process-group.ts';
import {longSleep, prepared, running, scene, until} from './scene.ts';

/** For what starts a command in a process of its own: the tool, and a scene's context as JSON. */
const toolFile = new URL('../../src/tools/run-command.ts', import.meta.url).href;
const script = (command: string, workspace: string, after = '') => `
	import {runCommand} from '${toolFile}';
	const prepared = runCommand.prepare(${JSON.stringify(JSON.stringify({command}))});
	const result = await prepared.call.run({
		workspace: ${JSON.stringify(workspace)}, forbidden: [], spillFolder: ${JSON.stringify(join(workspace, '.spill'))},
		callId: 'c', signal: new AbortController().signal,
	});
	${after}`;

function node(code: string) {
	const child = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', code], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	onTestFinished(() => void child.kill('SIGKILL'));
	let out = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		out += text;
	});
	const ended = new Promise<string>((resolve) => child.once('close', () => resolve(out)));
	return {child, ended};
}

/** The part of a result that does not depend on how fast the machine is. */
const steady = (content: string) => content.replace(/\d+(\.\d+)? m?s/g, 'T');

test('output and exit code come back; only 0 is ok', async () => {
	const {command, workspace} = scene();
	const good = await command('pwd; echo error >&2');
	expect({...good, content: steady(good.content), summary: steady(good.summary)}).toEqual({
		ok: true,
		content: `Exit code 0 after T.\n\n${workspace}\nerror\n`,
		summary: 'exit 0 · T',
		truncated: false,
	});
	const bad = await command('exit 3');
	expect([bad.ok, steady(bad.content)]).toEqual([false, 'Exit code 3 after T.\n\n(no output)']);
	expect(bad.summary).toMatch(/^exit 3 · \d+(\.\d)? m?s$/);
	expect(await command('kill -SEGV $$')).toMatchObject({
		ok: false,
		summary: expect.stringMatching(/^SIGSEGV · /),
	});
	expect((await command('[[ a == a ]] && echo {1..3}')).content).toContain('1 2 3');
});

test('24: what holds the pipes in the background does not hold the call', async () => {
	const sleep = longSleep();
	const start = performance.now();
	const result = await scene().command(`${sleep} & echo done`);
	expect(performance.now() - start).toBeLessThan(5000);
	expect(result).toMatchObject({ok: true, content: expect.stringContaining('\n\ndone\n')});
	const [pid] = running(sleep);
	expect(result.content).toContain(
		`Still running in the background, its output not read any more: ${pid} (${sleep}).`,
	);
	expect(result.summary).toContain('1 process left running');
	process.kill(pid ?? 0, 'SIGKILL');
});

test('a background process that gave its output away is named too, also outside of the group', async () => {
	const {command} = scene();
	const [inside, outside] = [longSleep(), longSleep()];
	expect((await command(`${inside} > /dev/null 2>&1 & echo done`)).content).toContain(inside);
	expect((await command(`setsid ${outside} > /dev/null 2>&1 & sleep 0.1; echo done`)).content).toContain(
		outside,
	);
	for (const pid of [...running(inside), ...running(outside)]) process.kill(pid, 'SIGKILL');
});

test('the watcher of a command goes when nothing is left to watch', async () => {
	const {command} = scene();
	const sleep = longSleep();
	const tag = `TOOLS_TEST=${sleep.slice(6)}`;
	process.env.TOOLS_TEST = sleep.slice(6);
	onTestFinished(() => void delete process.env.TOOLS_TEST);
	const watchers = () => running('mca-watch', tag);
	await command(`${sleep} & echo done`);
	expect(watchers()).toHaveLength(1);
	for (const pid of running(sleep)) process.kill(pid, 'SIGKILL');
	await until(() => running(sleep).length === 0);
	await command('true');
	await until(() => watchers().length === 0);
	expect(watchers()).toEqual([]);
});

test('26, 27: git opens no editor', async () => {
	const {command} = scene({'a.txt': 'a'});
	const git = 'git -c user.name=n -c user.email=e@x.test -c commit.gpgsign=false';
	const empty = await command(`git init -q . && git add a.txt && ${git} commit`);
	expect(empty).toMatchObject({ok: false, content: expect.stringContaining('empty commit message')});
	const rebase = await command(
		`${git} commit -qm 1 && ${git} commit -qm 2 --allow-empty && ${git} rebase -i HEAD~1 && git log --oneline | cat`,
	);
	expect(rebase.ok, rebase.content).toBe(true);
});

test('28: nothing can be read from a terminal or from stdin', async () => {
	const {command} = scene();
	expect(await command('read x </dev/tty')).toMatchObject({
		ok: false,
		content: expect.stringContaining('/dev/tty'),
	});
	expect(await command('cat; echo end')).toMatchObject({
		ok: true,
		content: expect.stringMatching(/\n\nend\n$/),
	});
});

test('29, 51: cancelling ends the whole tree at once', async () => {
	const {command} = scene();
	const [one, two] = [longSleep(), longSleep()];
	const controller = new AbortController();
	const call = command(`bash -c '${one} & ${two}'; echo not reached`, {signal: controller.signal});
	await until(() => running(one).length > 0 && running(two).length > 0);
	const start = performance.now();
	controller.abort();
	const result = await call;
	// 200 ms is the promise on a machine that does nothing else.
	expect(performance.now() - start).toBeLessThan(1000);
	expect(result).toMatchObject({
		ok: false,
		stoppedBy: 'cancel',
		summary: expect.stringMatching(/^cancelled · /),
	});
	expect(result.content).toMatch(/^Cancelled by the user after .*; stop and wait\./);
	await until(() => running(one).length + running(two).length === 0);
	expect([...running(one), ...running(two)]).toEqual([]);
});

test('a command that ignores SIGTERM is ended too, after a cancel and after a timeout', async () => {
	const {run} = scene();
	const [one, two] = [longSleep(), longSleep()];
	const controller = new AbortController();
	const deaf = (sleep: string) => `trap '' TERM; ${sleep}; ${sleep}`;
	const call = run('run_command', {command: deaf(one)}, {signal: controller.signal});
	await until(() => running(one).length > 0);
	controller.abort();
	expect((await call).stoppedBy).toBe('cancel');
	const late = await run('run_command', {command: deaf(two), timeout_seconds: 0.3});
	expect(late).toMatchObject({
		ok: false,
		stoppedBy: 'timeout',
		summary: expect.stringMatching(/^timeout · /),
	});
	await until(() => running(one).length + running(two).length === 0);
	expect([...running(one), ...running(two)]).toEqual([]);
});

test('51: a cancel does not wait for the end of a timeout', async () => {
	const {run, at} = scene();
	const sleep = longSleep();
	const controller = new AbortController();
	const command = `trap 'touch late' TERM; while :; do ${sleep}; done`;
	const call = run('run_command', {command, timeout_seconds: 0.5}, {signal: controller.signal});
	await until(() => existsSync(at('late')));
	const start = performance.now();
	controller.abort();
	expect((await call).stoppedBy).toBe('timeout');
	expect(performance.now() - start).toBeLessThan(1500);
	await until(() => running(sleep).length === 0);
	expect(running(sleep)).toEqual([]);
});

test('a timeout lets a command clean up, and keeps its output', async () => {
	const {run, text} = scene();
	const command = `trap 'echo cleaned > cleaned; exit' TERM; echo begun; while :; do sleep 0.05; done`;
	const {content} = await run('run_command', {command, timeout_seconds: 0.5});
	expect(content).toMatch(/^Stopped after 500 ms, its timeout.*\n\nbegun\n/s);
	expect(text('cleaned')).toBe('cleaned\n');
});

test('30: what left the process group is ended with it', async () => {
	const {command} = scene();
	const [one, two] = [longSleep(), longSleep()];
	const controller = new AbortController();
	const call = command(`setsid ${one} & ${two}`, {signal: controller.signal});
	await until(() => running(one).length > 0 && running(two).length > 0);
	controller.abort();
	await call;
	await until(() => running(one).length + running(two).length === 0);
	expect([...running(one), ...running(two)]).toEqual([]);
});

test('kill -9 of the process that runs a command leaves nothing running', async () => {
	const {workspace} = scene();
	const [one, two, three] = [longSleep(), longSleep(), longSleep()];
	const all = () => [one, two, three].flatMap((sleep) => running(sleep));
	const {child} = node(script(`${one} & setsid ${two} & trap '' TERM HUP; ${three}; ${three}`, workspace));
	await until(() =>
		[one, two, three].every((sleep) => running(sleep).filter((pid) => pid !== child.pid).length > 0),
	);
	expect(child.kill('SIGKILL')).toBe(true);
	await until(() => all().length === 0);
	expect(all()).toEqual([]);
});

test('what was left in the background ends when mca does, and does not keep it from ending', async () => {
	const {workspace} = scene();
	const [one, two] = [longSleep(), longSleep()];
	const all = () => [...running(one), ...running(two)];
	const {ended} = node(
		script(`${one} & setsid ${two} > /dev/null & echo done`, workspace, 'console.log(result.content)'),
	);
	expect(await ended).toContain('Still running in the background');
	await until(() => all().length === 0);
	expect(all()).toEqual([]);
});

test('31, 34: an output without end is stopped, with flat memory', async () => {
	const {workspace} = scene();
	const after = `console.log(JSON.stringify({...result, content: result.content.length, rss: process.resourceUsage().maxRSS}))`;
	const quiet = JSON.parse(await node(script('true', workspace, after)).ended);
	const loud = JSON.parse(await node(script('yes 0123456789 | head -c 200M', workspace, after)).ended);
	expect(loud).toMatchObject({ok: false, stoppedBy: 'limit', truncated: true});
	expect(loud.content).toBeLessThan(40_000);
	expect(loud.rss - quiet.rss).toBeLessThan(100 * 1024);
	expect(statSync(loud.spill).size).toBeLessThan(55 * 1024 * 1024);
});

test('32: yes with a timeout of 2 s has ended by then', async () => {
	const {run} = scene();
	const start = performance.now();
	const result = await run('run_command', {command: 'yes', timeout_seconds: 2});
	expect(performance.now() - start).toBeLessThan(6000);
	expect(result.stoppedBy).toMatch(/^(limit|timeout)$/);
	const slow = await run('run_command', {command: 'while :; do echo y; done', timeout_seconds: 2});
	expect(slow.stoppedBy).toMatch(/^(limit|timeout)$/);
	expect(performance.now() - start).toBeLessThan(12_000);
});

test('35: characters that pipes cut in two come out whole', async () => {
	const {command} = scene();
	const result = await command(
		`node -e "process.stdout.write('你'.repeat(50000)); process.stderr.write('é😀'.repeat(5000))"`,
	);
	const full = readFileSync(result.spill ?? '', 'utf8');
	expect(result.content).not.toContain('\ufffd');
	expect([...full].filter((character) => character === '你').length).toBe(50_000);
	expect((await command(`printf '\\xe4'; sleep 0.05; printf '\\xbd\\xa0'`)).content).toMatch(/\n\n你$/);
});

test('a long output is shown with its beginning and end, and kept whole for the owner alone', async () => {
	const {command, data} = scene();
	const result = await command('seq 1 20000');
	const folder = join(data, 'spill', 's-1');
	const spill = join(folder, 'call-1.log');
	expect(result).toMatchObject({ok: true, truncated: true, spill});
	expect(result.content).toContain(
		`The output is 108894 bytes in 20000 lines; its first 10 KB and last 20 KB are shown. All of it: ${spill}\n\n1\n2\n3\n`,
	);
	expect(result.content).toMatch(/\n… \d+ KB left out …\n\d{5}\n/);
	expect(result.content).toMatch(/\n19999\n20000\n$/);
	expect(readFileSync(spill, 'utf8')).toMatch(/^1\n2\n[\d\n]*\n20000\n$/);
	expect([statSync(folder).mode & 0o777, statSync(spill).mode & 0o777]).toEqual([0o700, 0o600]);
	expect((await command('seq 1 20000')).spill).toBe(join(folder, 'call-1-2.log'));
});

test('a short output makes no file, and the id of a call names no other place', async () => {
	const {command, data} = scene();
	await command('seq 1 100');
	expect(readdirSync(data)).toEqual([]);
	const {spill} = await command('seq 1 20000', {callId: '../../evil/x'});
	expect(spill).toBe(join(data, 'spill', 's-1', '______evil_x.log'));
});

test('an output that cannot be kept is shown all the same', async () => {
	const {command, at} = scene({file: ''});
	const result = await command('seq 1 20000', {spillFolder: join(at('file'), 'spill')});
	expect(result.content).toContain('It could not be kept: a part of the path is a file, not a folder.');
	expect([result.ok, result.spill]).toEqual([true, undefined]);
});

test('64: no key of a provider, nothing of mca, and nothing that changes how programs start gets in', () => {
	const secrets = {
		OPENAI_API_KEY: 'x',
		GH_TOKEN: 'x',
		AWS_SECRET_ACCESS_KEY: 'x',
		db_password: 'x',
		'npm_config_//r.test/:_authToken': 'x',
		PGPASSWORD: 'x',
		API_KEY: 'x',
		DEEPSEEK_KEY: 'x',
		AZURE_OPENAI_KEY: 'x',
	};
	const foreign = {
		NODE_OPTIONS: 'x',
		BASH_ENV: 'x',
		ENV: 'x',
		LD_PRELOAD: 'x',
		MCA_HOME: 'x',
		MOCK: '1',
		RIPGREP_CONFIG_PATH: 'x',
	};
	const kept = {
		PATH: '/bin',
		HOME: '/h',
		LANG: 'C',
		TOKENIZER: 'x',
		KEYBOARD: 'x',
		SIGNING_PUBLIC_KEY: 'x',
		npm_config_cache: 'x',
	};
	const environment = commandEnvironment({...secrets, ...foreign, ...kept, EDITOR: 'vim', TERM: 'xterm'});
	expect(environment).toMatchObject({
		...kept,
		EDITOR: 'true',
		GIT_EDITOR: 'true',
		TERM: 'dumb',
		PAGER: 'cat',
	});
	expect(Object.keys({...secrets, ...foreign}).filter((name) => name in environment)).toEqual([]);
});

test('66: escape sequences and progress bars reach neither the model nor the screen', async () => {
	const seen: string[] = [];
	const {content} = await scene().command(
		`printf '\\033]52;c;ZXZpbA==\\007a\\033[31mb\\302\\2332J\\n10%%\\r99%%\\rdone\\n\\033]0;never'`,
		{onOutput: (text) => seen.push(text)},
	);
	expect(content).toMatch(/\n\nab\ndone\n$/);
	expect(seen.join('')).not.toMatch(/[\x1b\x07\x9b\r]/);
});

test('the screen gets pieces of bounded size and number, with the last word in them', async () => {
	const seen: string[] = [];
	const start = performance.now();
	await scene().command('for i in {1..40}; do seq 1 3000; sleep 0.01; done; echo last', {
		onOutput: (text) => seen.push(text),
	});
	const elapsed = performance.now() - start;
	expect(seen.length).toBeLessThanOrEqual(elapsed / 100 + 2);
	expect(Math.max(...seen.map((text) => text.length))).toBeLessThanOrEqual(4000);
	expect(seen.join('')).toMatch(/last\n$/);
});

test('what cannot be started or does not fit says so', async () => {
	const {command, root} = scene();
	expect(await command('true', {workspace: join(root, 'gone')})).toMatchObject({
		ok: false,
		content: expect.stringContaining('is not there any more'),
	});
	expect(await command(`: ${'x'.repeat(300_000)}`)).toMatchObject({
		ok: false,
		content: expect.stringContaining('could not be started: it is too long'),
	});
	expect(await command('echo', {signal: AbortSignal.abort()})).toMatchObject({
		ok: false,
		stoppedBy: 'cancel',
	});
	expect(() => prepared('run_command', {command: 'a\0b'})).toThrow('NUL');
	expect(() => prepared('run_command', {command: 'a', timeout_seconds: 1e9})).toThrow('timeout_seconds');
});

test('the person sees the command as it is, the label is one line', async () => {
	const {preview} = scene();
	expect(await preview('run_command', {command: 'a\nb\u202e'})).toEqual({
		kind: 'command',
		text: 'a\nb\u202e',
	});
	expect(prepared('run_command', {command: 'a\nb\u202e'}).label).toBe('a b');
});

/** Only says that it is one. */
const pretended = (workspace: string, hidden: string[] = []): Sandbox => ({
	workspace,
	wrap: async (start) => ({ok: true, start, hidden}),
});

test('what ran in the sandbox says so, what did not says nothing of it', async () => {
	const {command, workspace} = scene();
	const sandbox = pretended(
		workspace,
		Array.from({length: 12}, (_, at) => `${at}.pem`),
	);
	expect(steady((await command('echo out', {sandbox})).content)).toBe(
		'Exit code 0 after T.\nIt ran in the sandbox: the workspace read-only, no network. Hidden in there, since they may hold secrets: 0.pem, 1.pem, 2.pem, 3.pem, 4.pem, 5.pem, 6.pem, 7.pem, 8.pem, 9.pem and 2 more.\n\nout\n',
	);
	const open = await command('echo Read-only file system; exit 1');
	expect(open.content).not.toContain('sandbox');
});

test('where the sandbox cannot be made, nothing is run at all', async () => {
	const {command, names, outside, workspace} = scene();
	const refusing: Sandbox = {workspace, wrap: async () => ({ok: false, reason: 'It rains.'})};
	expect(await command('touch ran', {sandbox: refusing})).toMatchObject({ok: false, content: 'It rains.'});
	expect((await command('touch ran', {sandbox: pretended(outside)})).ok).toBe(false);
	expect(names()).toEqual([]);
});

test('what a command acts on is what will be run, and outside is only asked for', () => {
	const acts = (args: object) => prepared('run_command', args).acts;
	expect(acts({command: 'a\nb'})).toEqual({kind: 'command', command: 'a\nb', outside: false});
	expect(acts({command: 'a', outside: true})).toEqual({kind: 'command', command: 'a', outside: true});
	expect(() => acts({command: 'a', outside: 'yes'})).toThrow('outside');
});
