import {chmodSync, existsSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {makeWorld, scriptOf, type World} from '../helpers/mca.ts';
import {ask, entry, gateListens, prompts, type Terminal} from '../helpers/terminal.ts';
import {longSleep, running, until} from '../tools/scene.ts';

/** What mca switches on, and whether each is off again at the end of what was written. */
function modesLeft(bytes: string): Record<string, boolean> {
	const last = (on: string, off: string) => bytes.lastIndexOf(on) > bytes.lastIndexOf(off);
	return {
		alternateScreen: last('\x1b[?1049h', '\x1b[?1049l'),
		cursorHidden: last('\x1b[?25l', '\x1b[?25h'),
		bracketedPaste: last('\x1b[?2004h', '\x1b[?2004l'),
		focus: last('\x1b[?1004h', '\x1b[?1004l'),
		otherKeys: last('\x1b[>4;1m', '\x1b[>4m'),
		mouse: last('\x1b[?1000h', '\x1b[?1000l'),
		kitty: last('\x1b[>1u', '\x1b[<u'),
	};
}

const allOff = {
	alternateScreen: false,
	cursorHidden: false,
	bracketedPaste: false,
	focus: false,
	otherKeys: false,
	mouse: false,
	kitty: false,
};

/** A module that throws inside of mca: in a timer or as a rejection when SIGUSR2 comes, or while a certain character is drawn. */
function bug(world: World, how: 'timer' | 'rejection' | 'drawing'): Record<string, string> {
	const path = join(world.root, `bug-${how}.mjs`);
	const ways = {
		timer: "process.on('SIGUSR2', () => setTimeout(() => { throw new Error('a bug in a timer'); }, 0));",
		rejection: "process.on('SIGUSR2', () => { Promise.reject(new Error('a bug in a promise')); });",
		drawing: `const {segment} = Intl.Segmenter.prototype;
			Intl.Segmenter.prototype.segment = function (text) {
				if (text.includes('漢')) throw new Error('a bug in a row');
				return segment.call(this, text);
			};`,
	};
	writeFileSync(path, ways[how]);
	return {NODE_OPTIONS: `--import ${path}`};
}

async function expectCrash(terminal: Terminal, world: World, said: string) {
	const left = await terminal.left();
	expect(left).toEqual({before: left.before, after: left.before, status: 1, cooked: true});
	expect(modesLeft(terminal.bytes)).toEqual(allOff);
	const shown = terminal.text().replace(/\n/g, '');
	expect(shown).toContain(`mca: this is a bug in mca: ${said}.`);
	expect(shown).toContain(join(world.home, 'crash.log'));
	// Neither a stack nor a line of the bundle.
	expect(terminal.text()).not.toMatch(/^\s+at /m);
	expect(terminal.text()).not.toContain('file://');
	const log = join(world.home, 'crash.log');
	expect(readFileSync(log, 'utf8')).toMatch(new RegExp(`Error: ${said}\\n +at `));
	expect(statSync(log).mode & 0o777).toBe(0o600);
}

for (const how of ['timer', 'rejection'] as const) {
	test(`a bug in a ${how} ends mca with status 1, the terminal as it was, and a sentence`, async () => {
		const world = makeWorld();
		const terminal = world.open({shell: true, env: bug(world, how)});
		await terminal.untilIdle('new session');
		process.kill(terminal.pid(), 'SIGUSR2');
		await expectCrash(terminal, world, how === 'timer' ? 'a bug in a timer' : 'a bug in a promise');
	});
}

test('a bug while drawing ends mca with status 1, the terminal as it was, and a sentence', async () => {
	const world = makeWorld();
	const terminal = world.open({shell: true, env: bug(world, 'drawing')});
	await terminal.untilIdle('new session');
	terminal.type('漢');
	await expectCrash(terminal, world, 'a bug in a row');
});

test('a start that fails leaves the terminal as it was, raw though it was made first of all', async () => {
	const world = makeWorld();
	const terminal = world.open({shell: true, args: ['--resume', 's-20200101-000000-aaaa']});
	const left = await terminal.left();
	expect(left).toEqual({before: left.before, after: left.before, status: 2, cooked: true});
	expect(terminal.text()).toContain('There is no session s-20200101-000000-aaaa');
	expect(modesLeft(terminal.bytes)).toEqual(allOff);
});

for (const [signal, status] of [
	['SIGTERM', 143],
	['SIGHUP', 129],
	['SIGINT', 130],
	['SIGQUIT', 131],
] as const) {
	test(`${signal}: everything that was switched on is off, and the status says the signal`, async () => {
		const world = makeWorld();
		const terminal = world.open({shell: true});
		await terminal.untilIdle('new session');
		process.kill(terminal.pid(), signal);
		const left = await terminal.left();
		expect(left).toEqual({before: left.before, after: left.before, status, cooked: true});
		expect(modesLeft(terminal.bytes)).toEqual(allOff);
	});
}

test('a terminal that is closed takes mca and its command with it', async () => {
	const sleep = longSleep();
	const world = makeWorld({script: scriptOf('wait', {name: 'run_command', args: {command: sleep}})});
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('wait\r');
	await gateListens(terminal);
	terminal.type('y');
	await until(() => running(sleep).length > 0);
	const pid = terminal.pid();
	terminal.hangUp();
	await until(() => running(sleep).length === 0 && !isAlive(pid));
	expect(existsSync(join(world.home, 'crash.log'))).toBe(false);
});

function isAlive(pid: number): boolean {
	try {
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
	} catch {
		return false;
	}
}

/** An interactive shell with job control in which mca is a command; `start` is what is typed to start it. */
async function inShell(world: World, start: string) {
	const rc = join(world.root, 'rc');
	writeFileSync(rc, "PS1='$ '\nset -m\nbind 'set enable-bracketed-paste off'\n");
	const terminal = world.open({command: ['bash', '--noprofile', '--rcfile', rc, '-i']});
	await terminal.until(/^\$ $/m);
	terminal.type(`${start}\r`);
	await terminal.untilIdle('new session');
	return terminal;
}

/** What `npm start` is: a process between the shell and mca, in the same group, that waits for it. */
function launcher(world: World): string {
	const path = join(world.root, 'start.sh');
	writeFileSync(path, `#!/bin/sh\n"${process.execPath}" "${entry}"\nexit $?\n`);
	chmodSync(path, 0o755);
	return path;
}

for (const [name, start] of [
	['alone', (_: World) => `"${process.execPath}" "${entry}"`],
	['under a launcher, as npm start is', launcher],
] as const) {
	test(`Ctrl+Z gives the shell back and fg brings mca back whole, ${name}`, async () => {
		const world = makeWorld();
		const terminal = await inShell(world, start(world));
		terminal.type('a draft');
		await terminal.until('❯ a draft');
		const before = terminal.text();
		terminal.press('ctrl+z');
		await terminal.until((screen) => /Stopped/.test(screen) && /\$ $/.test(screen.trimEnd().concat(' ')));
		expect(modesLeft(terminal.bytes)).toEqual(allOff);
		terminal.type('stty -a | grep -o " icanon" && echo shell-$((40+2))\r');
		await terminal.until(/^ icanon\nshell-42/m);
		terminal.type('fg\r');
		await terminal.until((screen) => screen === before);
		expect(terminal.modes()).toEqual({alternateScreen: true, cursorShown: true, bracketedPaste: true});
		terminal.type(' goes on');
		await terminal.until('❯ a draft goes on');
		terminal.press('ctrl+c', 'ctrl+d');
		await terminal.until((screen) => !screen.includes('idle') && /\$ *$/.test(screen.trimEnd()));
		expect(modesLeft(terminal.bytes)).toEqual(allOff);
	});
}

test('where nobody could continue it, Ctrl+Z does not stop mca', async () => {
	const world = makeWorld();
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.press('ctrl+z');
	await terminal.until(
		() =>
			terminal.bytes.lastIndexOf('\x1b[?1049h') > terminal.bytes.lastIndexOf('\x1b[?1049l') &&
			terminal.bytes.includes('\x1b[?1049l'),
	);
	terminal.type('still here');
	await terminal.untilIdle('❯ still here');
});

test('stopped and continued by somebody else, the screen comes back whole', async () => {
	const world = makeWorld();
	const terminal = await inShell(world, `"${process.execPath}" "${entry}"`);
	const pid = mcaPid(terminal);
	const before = terminal.text();
	process.kill(pid, 'SIGTSTP');
	await terminal.until(/Stopped/);
	expect(modesLeft(terminal.bytes)).toEqual(allOff);
	terminal.type('fg\r');
	await terminal.until((screen) => screen === before);
});

function mcaPid(terminal: Terminal): number {
	const children = readFileSync(`/proc/${terminal.pid()}/task/${terminal.pid()}/children`, 'utf8').trim();
	return Number(children.split(' ').at(-1));
}

test('Ctrl+G opens the editor on a terminal of its own, with the whole draft, and takes what it leaves', async () => {
	const world = makeWorld();
	const editor = join(world.root, 'editor.sh');
	writeFileSync(
		editor,
		'#!/bin/sh\nstty -a | grep -o " icanon"\nwc -l < "$2" | tr -d " "\necho "flag $1. Enter?"; read -r line\nprintf "%s from the editor\\n" "$line" >> "$2"\n',
	);
	chmodSync(editor, 0o755);
	const terminal = world.open({env: {VISUAL: `${editor} --wait`, EDITOR: 'false'}});
	await terminal.untilIdle('new session');
	terminal.paste(`${'a line\n'.repeat(40)}the end`);
	await terminal.until('❯ [pasted 41 lines]');
	terminal.press('ctrl+g');
	await terminal.until(/ icanon\s+41\s+flag --wait\. Enter\?/);
	expect(terminal.modes()).toMatchObject({alternateScreen: false, bracketedPaste: false});
	// Ctrl+C is the editor's.
	terminal.type('words\r');
	await terminal.untilIdle('❯ [pasted 42 lines]');
	expect(terminal.modes()).toMatchObject({alternateScreen: true, bracketedPaste: true});
	terminal.press('enter');
	await terminal.untilIdle('I am a script');
	const [, user] = world.log();
	expect(user).toMatchObject({message: {content: `${'a line\n'.repeat(40)}the end\nwords from the editor`}});
});

test('an editor that fails leaves the draft as it was, and says so', async () => {
	const world = makeWorld();
	const terminal = world.open({env: {VISUAL: 'no-such-editor', EDITOR: ''}});
	await terminal.untilIdle('new session');
	terminal.type('my text');
	await terminal.until('❯ my text');
	terminal.press('ctrl+g');
	await terminal.until('no-such-editor ended with 127; your text is as it was.');
	expect(terminal.text()).toContain('❯ my text');
});

test('without an editor Ctrl+G says how to name one', async () => {
	const world = makeWorld({env: {VISUAL: '', EDITOR: ''}});
	const terminal = world.open();
	await terminal.untilIdle('new session');
	terminal.press('ctrl+g');
	await terminal.until('Set $VISUAL or $EDITOR');
});

test('after SIGKILL, reset mends what is left', async () => {
	const world = makeWorld();
	const terminal = await inShell(world, `"${process.execPath}" "${entry}"`);
	process.kill(mcaPid(terminal), 'SIGKILL');
	await until(() => !isAlive(mcaPid(terminal)));
	terminal.type('reset\r');
	await terminal.until(
		() =>
			!terminal.modes().alternateScreen && terminal.modes().cursorShown && !terminal.modes().bracketedPaste,
	);
	terminal.type('stty -a | grep -o " icanon" && echo shell-$((40+2))\r');
	await terminal.until(/ icanon\s+shell-42/);
});

test('a turn that rests, or asks, calls the person who looks at another window; nobody else', async () => {
	const calls = (terminal: Terminal) =>
		[...terminal.bytes.matchAll(/\x07\x1b\]9;([^\x07]*)\x07/g)].map(([, text]) => text);
	const world = makeWorld();
	const terminal = world.open();
	await ask(terminal, 'hello', 'I am a script');
	expect(calls(terminal)).toEqual([]);
	// The window loses the focus.
	terminal.type('\x1b[O');
	terminal.type(`${prompts.ask}\r`);
	await gateListens(terminal);
	expect(calls(terminal)).toEqual(['mca asks you something']);
	terminal.type('y');
	await terminal.untilIdle('The failing case is');
	expect(calls(terminal)).toEqual(['mca asks you something', 'mca has finished']);
	terminal.type('\x1b[I');
	await ask(terminal, 'hello', 'I am a script');
	expect(calls(terminal)).toHaveLength(2);
});

test('notify: false in config.json keeps it quiet', async () => {
	const world = makeWorld();
	await world.played('hello');
	writeFileSync(join(world.home, 'config.json'), '{"notify": false}');
	const terminal = world.open();
	await terminal.untilIdle();
	terminal.type('\x1b[O');
	await ask(terminal, 'hello', 'I am a script');
	expect(terminal.bytes).not.toMatch(/\x07|\x1b\]/);
});

test('--no-alt-screen draws where the shell is, and leaves its last line there', async () => {
	const world = makeWorld();
	const terminal = world.open({args: ['--no-alt-screen'], shell: true});
	await terminal.untilIdle('new session');
	await ask(terminal, 'hello', 'I am a script');
	terminal.press('ctrl+d');
	const left = await terminal.left();
	expect(left).toMatchObject({after: left.before, status: 0, cooked: true});
	expect(terminal.bytes).not.toContain('\x1b[?1049h');
	expect(terminal.bytes).not.toMatch(/\x1b\[[23]J/);
	expect(terminal.bytes).toContain(`go on with: mca --resume ${world.newest()}`);
	expect(modesLeft(terminal.bytes)).toEqual(allOff);
});

test('FORCE_COLOR=0 sends no colour, FORCE_COLOR=1 only the sixteen, NO_COLOR none whatever else is set', async () => {
	const colours = async (env: Record<string, string>) => {
		const world = makeWorld({env});
		const terminal = world.open();
		await terminal.untilIdle('new session');
		terminal.type('漢');
		await terminal.untilIdle('漢');
		return [...terminal.bytes.matchAll(/\x1b\[([\d;]*)m/g)].map(([, codes]) => codes ?? '');
	};
	expect(await colours({FORCE_COLOR: '0'})).toEqual([]);
	expect(await colours({NO_COLOR: '1', FORCE_COLOR: '3'})).toEqual([]);
	const sixteen = await colours({FORCE_COLOR: '1', COLORTERM: ''});
	expect(sixteen).toContain('36');
	expect(sixteen.filter((codes) => /^[34]8;/.test(codes))).toEqual([]);
});
