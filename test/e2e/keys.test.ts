import {expect, test} from 'vitest';
import {keys} from '../../src/ui/keys.ts';
import {makeWorld, type World} from '../helpers/mca.ts';
import {prompts, type Terminal} from '../helpers/terminal.ts';

/** Press a key of the table on the real screen, and see what it does. The composer is empty and nothing runs. */
type Case = (terminal: Terminal, world: World) => Promise<void>;

const empty = /^ ❯ *$/m;

/** The first changes the screen, the second brings it back. */
function thereAndBack(there: string, back: string): Case {
	return async (terminal) => {
		const before = terminal.text();
		terminal.type(there);
		await terminal.until((screen) => screen !== before);
		terminal.type(back);
		await terminal.until((screen) => screen === before);
	};
}

const cases: Record<string, Case> = {
	async Enter(terminal) {
		terminal.type('hello');
		await terminal.until('❯ hello');
		terminal.press('enter');
		await terminal.untilIdle('I am a script');
	},
	async 'Ctrl+J, Alt+Enter, \\ Enter'(terminal) {
		// Each on its own, as fingers press them: what comes at once with a line end in it is a paste.
		for (const [typed, shown] of [
			['a', /❯ a$/m],
			['\n', /❯ a\n {3}$/m],
			['b\x1b\r', / {3}b\n {3}$/m],
			['c\\', / {3}c\\$/m],
			['\r', / {3}c\n {3}$/m],
			['\x1b[13;2u', / {3}c\n {3}\n {3}$/m],
		] as const) {
			terminal.type(typed);
			await terminal.until((screen) => shown.test(screen.replaceAll(/^ {3} *$/gm, '   ')));
		}
	},
	async '↑ ↓'(terminal) {
		terminal.press('up');
		await terminal.until(`❯ ${prompts.ask}`);
		terminal.press('down');
		await terminal.until(empty);
	},
	async 'Ctrl+R'(terminal) {
		terminal.press('ctrl+r');
		await terminal.until('❯ search:');
		terminal.type('which');
		await terminal.until(`search: which\n   ${prompts.ask}`);
	},
	async '← →, Alt+← Alt+→'(terminal) {
		for (const typed of ['one two', '\x1b[D', 'X', '\x1b[1;3D', 'Y', '\x1b[C', 'Z', '\x1b[1;3C', '!'])
			terminal.type(typed);
		await terminal.until('❯ one YtZwXo!');
	},
	async 'Ctrl+A, Ctrl+E'(terminal) {
		for (const typed of ['mid', '\x01', 'A', '\x05', 'Z']) terminal.type(typed);
		await terminal.until('❯ AmidZ');
	},
	async 'Ctrl+W, Ctrl+U, Ctrl+K'(terminal) {
		terminal.type('one two');
		terminal.press('ctrl+w');
		terminal.type('2');
		await terminal.until('❯ one 2');
		terminal.press('ctrl+u');
		terminal.type('three');
		await terminal.until(/❯ three *$/m);
		terminal.press('ctrl+a', 'ctrl+k');
		await terminal.until(empty);
	},
	async 'Alt+D, Ctrl+Y'(terminal) {
		terminal.type('one two');
		terminal.press('ctrl+a');
		terminal.type('\x1bd');
		await terminal.until(/❯ {2}two/);
		terminal.press('ctrl+y');
		await terminal.until('❯ one two');
	},
	async 'Ctrl+_'(terminal) {
		terminal.type('oops');
		await terminal.until('❯ oops');
		terminal.type('\x1f');
		await terminal.until(empty);
	},
	async 'Ctrl+G'(terminal) {
		terminal.press('ctrl+g');
		await terminal.until('Set $VISUAL or $EDITOR');
	},
	'PgUp, PgDn': thereAndBack('\x1b[5~', '\x1b[6~'),
	'Shift+↑, Shift+↓': thereAndBack('\x1b[1;2A', '\x1b[1;2B'),
	'Ctrl+Home, Ctrl+End': thereAndBack('\x1b[1;5H', '\x1b[1;5F'),
	'Ctrl+O': thereAndBack('\x0f', '\x0f'),
	async 'Ctrl+B'(terminal) {
		expect(terminal.text()).toContain('Activity');
		terminal.press('ctrl+b');
		await terminal.until((screen) => !screen.includes('Activity'));
		terminal.press('ctrl+b', 'ctrl+b');
		await terminal.until('Activity');
	},
	async 'Alt+M'(terminal) {
		terminal.type('\x1bm');
		await terminal.until(() => terminal.bytes.includes('\x1b[?1000h'));
		terminal.type('\x1bm');
		await terminal.until(
			() => terminal.bytes.lastIndexOf('\x1b[?1000l') > terminal.bytes.lastIndexOf('\x1b[?1000h'),
		);
	},
	async Esc(terminal) {
		terminal.type('/help\r');
		await terminal.until(/^ Keys/m);
		terminal.press('escape');
		await terminal.until((screen) => !/^ Keys/m.test(screen));
	},
	async 'Esc Esc'(terminal) {
		terminal.press('escape', 'escape');
		await terminal.until('Fork: go on from here');
	},
	async 'Ctrl+C'(terminal) {
		terminal.type('x');
		await terminal.until('❯ x');
		terminal.press('ctrl+c');
		await terminal.until(empty);
		terminal.press('ctrl+c');
		await terminal.until('Ctrl+C again leaves.');
		terminal.type('\x03\x03');
		expect(await terminal.exit()).toMatchObject({status: 0});
	},
	async 'Ctrl+D'(terminal) {
		terminal.press('ctrl+d');
		expect(await terminal.exit()).toMatchObject({status: 0});
	},
	async 'Shift+Tab'(terminal) {
		terminal.type('\x1b[Z');
		await terminal.until(/edits · .* idle$/);
	},
	async 'Ctrl+P'(terminal) {
		terminal.press('ctrl+p');
		await terminal.until('Enter shows it whole');
	},
	// The script thinks nothing, so there is nothing to unfold: it does no harm.
	async 'Ctrl+T'(terminal) {
		terminal.press('ctrl+t');
		terminal.type('x');
		await terminal.until('❯ x');
	},
	// Where nothing is waited out it is a letter.
	async r(terminal) {
		terminal.type('r');
		await terminal.until('❯ r');
	},
	async 'Ctrl+Z'(terminal) {
		const before = terminal.text();
		terminal.press('ctrl+z');
		await terminal.until(() => /\x1b\[\?1049l.*\x1b\[\?1049h/s.test(terminal.bytes));
		await terminal.until((screen) => screen === before);
	},
	async 'Ctrl+L'(terminal) {
		const before = terminal.text();
		terminal.scribble('\x1b[5;5Hleft by another program');
		await terminal.until('left by another program');
		terminal.press('ctrl+l');
		await terminal.until((screen) => screen === before);
	},
	async '?'(terminal) {
		terminal.type('?');
		await terminal.until(/^ Keys/m);
	},
	async Tab(_, world) {
		const demo = world.open({env: {MOCK: '', VISUAL: '', EDITOR: ''}});
		await demo.untilIdle('DEMO');
		demo.press('ctrl+c');
		await demo.until('(Tab takes it)');
		demo.press('tab');
		await demo.until((screen) => screen.includes(`❯ ${prompts.ask}`) && !screen.includes('(Tab takes it)'));
	},
};

for (const {key, does} of keys) {
	test(`${key}: ${does}`, async () => {
		const press = cases[key];
		if (!press) throw new Error(`There is no case for ${key}: add one here.`);
		const world = makeWorld();
		await world.played(prompts.ask);
		const terminal = world.open({args: ['--resume'], rows: 14, env: {VISUAL: '', EDITOR: ''}});
		await terminal.untilIdle('The failing case is');
		await press(terminal, world);
	});
}

test('every case is of a key that there is', () => {
	expect(Object.keys(cases).filter((each) => !keys.some(({key}) => key === each))).toEqual([]);
});
