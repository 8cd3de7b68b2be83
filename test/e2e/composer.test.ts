import {execFileSync} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {existsSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {makeWorld, type World} from '../helpers/mca.ts';
import {cleanEnvironment, entry} from '../helpers/terminal.ts';
import {until} from '../tools/scene.ts';

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

/** The prompts of the newest log. */
function asked(world: World): string[] {
	return world
		.log()
		.flatMap((event) =>
			event.type === 'message' && event.message.role === 'user' ? [event.message.content] : [],
		);
}

test('a megabyte that is pasted in random pieces is sent to the last character', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.until(() => terminal.modes().bracketedPaste);
	const text = randomBytes(700_000).toString('base64').replaceAll('A', '\n').replaceAll('B', '漢').trim();
	const bytes = `\x1b[200~${text}\x1b[201~`;
	for (let at = 0; at < bytes.length; ) {
		const size = 1 + Math.floor(Math.random() ** 2 * 20_000);
		terminal.type(bytes.slice(at, at + size));
		at += size;
	}
	await terminal.until(/❯ \[pasted [\d,]+ lines\]$/m);
	expect(world.ids()).toEqual([]);
	terminal.press('enter');
	await terminal.untilIdle('I am a script');
	expect(asked(world).map(sha)).toEqual([sha(text)]);
});

test('what is typed before the first frame is kept: what was not sent too, and in the order of the keys', async () => {
	const world = makeWorld();
	const terminal = world.open();
	terminal.type('helo');
	terminal.type('\x1b[D');
	terminal.type('l');
	terminal.type('\x1b[F there');
	await terminal.untilIdle('❯ hello there');
	expect(world.ids()).toEqual([]);
});

test('what was typed on the terminal before mca had it is sent by its Enter', async () => {
	const world = makeWorld();
	const go = join(world.root, 'go');
	const script = 'echo ready; while [ ! -e "$1" ]; do sleep 0.05; done; shift; exec "$@"';
	const terminal = world.open({command: ['sh', '-c', script, 'sh', go, process.execPath, entry]});
	await terminal.until('ready');
	// The terminal is not raw yet: it shows what is typed, and makes a line feed of Enter.
	terminal.type('hello\r');
	await terminal.until(/^hello$/m);
	writeFileSync(go, '');
	await terminal.untilIdle('I am a script');
	expect(asked(world)).toEqual(['hello']);
});

test('while a turn runs a message waits, and it is sent when the turn rests', async () => {
	const world = makeWorld({env: {MCA_SCRIPT_PACE_MS: '60'}});
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.type('hello\r');
	await terminal.until('working');
	terminal.type('which case failed?\r');
	await terminal.until('queued  which case failed?');
	await terminal.untilIdle((screen) => !screen.includes('queued') && screen.includes('❯ which case failed?'));
	expect(asked(world)).toEqual(['hello', 'which case failed?']);
});

test('prompts are remembered for their folder: in a file of the person’s own, and not in another folder', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.type('hello\r');
	await terminal.untilIdle('I am a script');
	terminal.type('/quit\r');
	await terminal.exit();
	const folder = join(world.home, 'history');
	const [file = ''] = readdirSync(folder);
	expect(readFileSync(join(folder, file), 'utf8')).toBe('"hello"\n"/quit"\n');
	expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
	expect(statSync(folder).mode & 0o777).toBe(0o700);

	const again = world.open();
	await again.untilIdle('new session');
	again.press('up', 'up');
	await again.until('❯ hello');
	again.press('ctrl+c', 'ctrl+r');
	await again.until(/❯ search: *\n {3}\/quit/);

	const elsewhere = world.open({args: ['-C', join(world.workspace, 'src')]});
	await elsewhere.untilIdle('new session');
	elsewhere.press('up');
	elsewhere.type('x');
	await elsewhere.until(/❯ x *$/m);
});

test('a history that cannot be read is none, and one that is too long is cut to the newest', async () => {
	const world = makeWorld();
	await world.played('hello');
	const first = world.open();
	await first.untilIdle('new session');
	first.type('hello\r');
	await first.untilIdle('I am a script');
	first.press('ctrl+d');
	await first.exit();
	const folder = join(world.home, 'history');
	const path = join(folder, readdirSync(folder)[0] ?? '');
	const lines = Array.from({length: 1500}, (_, number) => JSON.stringify(`prompt ${number}`));
	writeFileSync(path, `${lines.join('\n')}\nnot json\n{"a":1}\n`);
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.press('up');
	await terminal.until('❯ prompt 1499');
	expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(500);
});

/** mca in a tmux of its own. */
function inTmux(world: World) {
	const socket = join(world.root, 'tmux');
	const env = cleanEnvironment({HOME: world.root, MCA_HOME: world.home, MOCK: '1', TERM: 'xterm-256color'});
	const tmux = (...args: string[]) =>
		execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
			env,
			encoding: 'utf8',
			cwd: world.workspace,
		});
	onTestFinished(() => {
		if (existsSync(socket)) tmux('kill-server');
	});
	tmux('new-session', '-d', '-x', '110', '-y', '30', `"${process.execPath}" "${entry}"`);
	const screen = () => tmux('capture-pane', '-p');
	const shows = async (expected: RegExp) => {
		await until(() => expected.test(screen()));
		expect(screen()).toMatch(expected);
	};
	return {tmux, screen, shows};
}

test('tmux: send-keys with Enter sends once', async () => {
	const world = makeWorld();
	const {tmux, shows} = inTmux(world);
	await shows(/idle$/m);
	tmux('send-keys', 'hello there', 'Enter');
	await shows(/I am a script/);
	await shows(/idle$/m);
	expect(asked(world)).toEqual(['hello there']);
	tmux('send-keys', 'one', 'M-Enter', 'two', 'C-j', 'three');
	await shows(/❯ one\n {3}two\n {3}three/);
	expect(world.ids()).toHaveLength(1);
});

test('tmux: paste-buffer never sends, marked or not, and Enter behind it does', async () => {
	const world = makeWorld();
	const {tmux, shows, screen} = inTmux(world);
	await shows(/idle$/m);
	writeFileSync(join(world.root, 'text'), 'one\ntwo\nthree\n');
	tmux('load-buffer', join(world.root, 'text'));
	tmux('paste-buffer', '-p');
	await shows(/❯ one\n {3}two\n {3}three/);
	tmux('send-keys', 'C-c');
	await until(() => !screen().includes('three'));
	tmux('paste-buffer');
	tmux('send-keys', 'Enter');
	await shows(/I am a script/);
	await shows(/idle$/m);
	expect(asked(world)).toEqual(['one\ntwo\nthree\n']);
});

test('tmux: the border stays in its column beside wide characters, and the cursor behind them', async () => {
	const world = makeWorld();
	const {tmux, shows, screen} = inTmux(world);
	await shows(/idle$/m);
	tmux('send-keys', '-l', '漢字 e\u0301 🎉 ⚠️ 👍🏽 naïve');
	await shows(/naïve/);
	tmux('send-keys', 'Enter');
	await shows(/I am a script/);
	await shows(/idle$/m);
	const columns = tmux('display', '-p', '#{alternate_on} #{cursor_x}').trim();
	expect(columns).toBe('1 3');
	const edge =
		screen()
			.split('\n')
			.find((row) => row.includes('┴')) ?? '';
	const row =
		screen()
			.split('\n')
			.find((each) => each.includes('漢字')) ?? '';
	// Two wide characters and an emoji before it: each is one character here, and two columns there.
	expect([...row].indexOf('│')).toBeLessThan(edge.indexOf('┴'));
});
