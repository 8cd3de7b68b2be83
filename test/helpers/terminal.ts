import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
import {spawn} from '@lydell/node-pty';

// Both are CommonJS, and Node does not find their names from an import.
const require = createRequire(import.meta.url);
const {Terminal: Xterm} = require('@xterm/headless') as typeof import('@xterm/headless');
const {Unicode11Addon} = require('@xterm/addon-unicode11') as typeof import('@xterm/addon-unicode11');

/** The bundle, as it is installed. */
export const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const bin = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));

/** Longer than any wait on a busy machine: it is only ever reached by what does not come at all. */
const patienceMs = 30_000;

/**
What a child is started with: this environment without what would make mca another program (a key, CI, NO_COLOR …), and with
the project's Node first on the path, as npm has it.
*/
export function cleanEnvironment(more: Record<string, string> = {}): Record<string, string> {
	const env: Record<string, string> = {};
	for (const [name, value] of Object.entries(process.env)) {
		// Unset, not empty: is-in-ci looks at the names.
		if (/^(CI$|CI_|CONTINUOUS_INT|OPENAI_|MCA_|MOCK$|SELFTEST$|NODE_|VITEST|XDG_|INK_)/.test(name)) continue;
		if (/^(NO_COLOR|FORCE_COLOR|ACCESSIBLE|TERM_PROGRAM|TMUX|STY)/.test(name)) continue;
		if (value !== undefined) env[name] = value;
	}
	return {
		...env,
		PATH: `${bin}:${env.PATH ?? ''}`,
		TERM: 'xterm-256color',
		COLORTERM: 'truecolor',
		LANG: 'C.UTF-8',
		...more,
	};
}

const sequences = {
	enter: '\r',
	escape: '\x1b',
	tab: '\t',
	backspace: '\x7f',
	up: '\x1b[A',
	down: '\x1b[B',
	right: '\x1b[C',
	left: '\x1b[D',
	home: '\x1b[H',
	end: '\x1b[F',
	'page up': '\x1b[5~',
	'page down': '\x1b[6~',
	'alt+enter': '\x1b\r',
} as const;

export type Key = keyof typeof sequences | `ctrl+${string}`;

/** What is waited for on the screen: a part of its text, a pattern, or any condition on it. */
export type Expected = string | RegExp | ((screen: string) => boolean);

export type Exit = {status: number; signal: number | undefined};

/** One character on the screen. `color` is an index of the 256, or `#rrggbb`; undefined is the terminal's own. */
export type Cell = {
	text: string;
	/** 2 for a wide character; the cell after it has width 0. */
	width: number;
	color?: number | string;
	background?: number | string;
	bold: boolean;
	dim: boolean;
	inverse: boolean;
};

export type TerminalOptions = {
	args?: readonly string[];
	env?: Record<string, string>;
	cwd?: string;
	columns?: number;
	rows?: number;
	/**
	Start mca from a shell that prints `stty -g` before and after it, then its exit status, then END: what it leaves behind
	is seen where the person would see it.
	*/
	shell?: boolean;
	/** Another program than mca, which may start it. */
	command?: readonly [string, ...string[]];
};

export type Terminal = ReturnType<typeof openTerminal>;

/** mca in a real pty, its output in a terminal emulator. Whoever opens it disposes of it. */
export function openTerminal(options: TerminalOptions) {
	const {args = [], env = {}, cwd = process.cwd(), columns = 120, rows = 36, shell = false} = options;
	const xterm = new Xterm({cols: columns, rows, allowProposedApi: true});
	// Without it an emoji has width 1 here and every row that has one looks shifted.
	xterm.loadAddon(new Unicode11Addon());
	xterm.unicode.activeVersion = '11';

	let cursorShown = true;
	for (const final of ['h', 'l']) {
		xterm.parser.registerCsiHandler({prefix: '?', final}, (params) => {
			if (params.includes(25)) cursorShown = final === 'h';
			return false;
		});
	}

	const mca = [process.execPath, entry, ...args];
	const script =
		'stty -g; sh -c \'echo "pid $$"; exec "$@"\' sh "$@"; echo "status $?"; stty -g; stty -a; echo END';
	const [file = '', ...rest] = options.command ?? (shell ? ['sh', '-c', script, 'sh', ...mca] : mca);
	const child = spawn(file, rest, {
		name: env.TERM ?? 'xterm-256color',
		cols: columns,
		rows,
		cwd,
		env: cleanEnvironment(env),
	});
	xterm.onData((reply) => child.write(reply));

	let bytes = '';
	let exit: Exit | undefined;
	const watchers = new Set<() => void>();
	const look = () => {
		for (const watcher of [...watchers]) watcher();
	};
	child.onData((data) => {
		bytes += data;
		xterm.write(data, look);
	});
	child.onExit(({exitCode, signal}) => {
		// After everything that was written before it.
		xterm.write('', () => {
			exit = {status: exitCode, signal: signal || undefined};
			look();
		});
	});

	const buffer = () => xterm.buffer.active;
	const lines = (): string[] =>
		Array.from(
			{length: xterm.rows},
			(_, y) =>
				buffer()
					.getLine(buffer().baseY + y)
					?.translateToString(true) ?? '',
		);
	const text = () => lines().join('\n');

	/** Resolves when it holds; looks whenever the screen changed, but not at half of a frame. */
	function wait(holds: () => boolean, what: string, ms = patienceMs): Promise<void> {
		const now = () => !xterm.modes.synchronizedOutputMode && holds();
		if (now()) return Promise.resolve();
		// Made here, so that its stack names the line of the test.
		const failure = new Error();
		return new Promise((resolve, reject) => {
			const done = (why?: string) => {
				clearTimeout(timer);
				watchers.delete(watcher);
				if (why === undefined) return resolve();
				failure.message = `${what} ${why}. The screen (${xterm.cols}×${xterm.rows}):\n${framed(lines(), xterm.cols)}`;
				reject(failure);
			};
			const watcher = () => {
				if (now()) done();
				else if (exit) done(`did not come before mca ended with status ${exit.status}`);
			};
			const timer = setTimeout(() => done(`did not come within ${ms / 1000} s`), ms);
			watchers.add(watcher);
			watcher();
		});
	}

	const terminal = {
		/** The rows of the screen, without the spaces at their end. */
		screen: lines,
		text,
		get columns() {
			return xterm.cols;
		},
		/** Everything that was written to the terminal so far. */
		get bytes() {
			return bytes;
		},

		/** Wait until the screen shows it. */
		until(expected: Expected, ms = patienceMs): Promise<void> {
			return wait(() => matches(text(), expected), String(expected), ms);
		},
		/** Wait until the screen shows it and no turn runs: what streams is drawn before it is on disk. */
		untilIdle(expected: Expected = ''): Promise<void> {
			const idle = () => /\bidle$/.test(lines().at(-1) ?? '');
			return wait(() => matches(text(), expected) && idle(), `${expected}, and idle,`);
		},

		/** Each key as a write of its own. */
		press(...keys: Key[]): void {
			for (const key of keys) child.write(sequenceOf(key));
		},
		type(typed: string): void {
			child.write(typed);
		},
		/** As a terminal that knows about bracketed paste hands it over. */
		paste(pasted: string): void {
			child.write(`\x1b[200~${pasted}\x1b[201~`);
		},
		/**
		Press a key again and again until the screen shows what it does. Only for keys that do no harm when pressed once more,
		where mca is deaf at first on purpose.
		*/
		async pressUntil(key: Key, expected: Expected): Promise<void> {
			// Twice as long each time: a press that is only late must not become two.
			for (let ms = 500; !matches(text(), expected); ms *= 2) {
				terminal.press(key);
				await terminal.until(expected, ms).catch((error) => {
					if (ms > patienceMs || exit) throw error;
				});
			}
		},
		/** Something that another program writes on the same terminal. */
		scribble(text: string): void {
			xterm.write(text, look);
		},
		resize(toColumns: number, toRows: number): void {
			xterm.resize(toColumns, toRows);
			child.resize(toColumns, toRows);
		},

		/** Of the terminal's cursor, from 0. */
		cursor: () => ({x: buffer().cursorX, y: buffer().cursorY}),
		modes: () => ({
			alternateScreen: buffer().type === 'alternate',
			cursorShown,
			bracketedPaste: xterm.modes.bracketedPasteMode,
		}),
		cells(): Cell[][] {
			return Array.from({length: xterm.rows}, (_, y) => {
				const line = buffer().getLine(buffer().baseY + y);
				return Array.from({length: xterm.cols}, (_, x) => {
					const cell = line?.getCell(x);
					const color = cell?.isFgDefault() ? undefined : colorOf(cell?.getFgColor(), cell?.isFgRGB());
					const background = cell?.isBgDefault() ? undefined : colorOf(cell?.getBgColor(), cell?.isBgRGB());
					return {
						text: cell?.getChars() || ' ',
						width: cell?.getWidth() ?? 1,
						...(color === undefined ? {} : {color}),
						...(background === undefined ? {} : {background}),
						bold: !!cell?.isBold(),
						dim: !!cell?.isDim(),
						inverse: !!cell?.isInverse(),
					};
				});
			});
		},

		/** Process id of mca itself. */
		pid(): number {
			return shell ? Number(/^pid (\d+)/m.exec(bytes)?.[1]) : child.pid;
		},
		/** Wait until the program has ended. */
		async exit(): Promise<Exit> {
			await wait(() => exit !== undefined, 'The end of mca');
			return exit ?? {status: -1, signal: undefined};
		},
		/** With `shell`: what the shell saw before and after mca. */
		async left() {
			await terminal.until(/^END$/m);
			const [before, after] = [...bytes.matchAll(/^[0-9a-f]+(?::[0-9a-f]+){5,}/gm)].map(String);
			const status = Number(/status (\d+)/.exec(bytes)?.[1]);
			return {before, after, status, cooked: / icanon/.test(bytes) && / echo\b/.test(bytes)};
		},
		/** Close the terminal, as its window does. */
		hangUp(): void {
			(child as unknown as {destroy(): void}).destroy();
		},
		/** End what still runs, and wait for that. */
		async dispose(): Promise<void> {
			if (!exit) child.kill('SIGKILL');
			await terminal.exit();
			xterm.dispose();
		},
	};
	return terminal;
}

/** What the fixture script knows, in the order in which it is asked. */
export const prompts = {
	ask: 'run the tests and see which case fails',
	fix: 'then fix it',
	which: 'which case failed?',
} as const;

/** The prompt is up and listens: not deaf any more, and its first answer, the default, is selected. */
export async function gateListens(terminal: Terminal): Promise<void> {
	await terminal.until('❯ No');
	await terminal.pressUntil('right', (screen) => !screen.includes('❯ No '));
	await terminal.pressUntil('left', '❯ No ');
}

/** Answer the question that is up, or comes up, with yes. */
export async function allow(terminal: Terminal): Promise<void> {
	await gateListens(terminal);
	terminal.press('right');
	await terminal.until('❯ Yes');
	terminal.press('enter');
	// The next question may be up at once; it begins with no.
	await terminal.until((screen) => !screen.includes('❯ Yes'));
}

/** Send a prompt; allow every question that comes up until the screen shows what is expected and no turn runs. */
export async function ask(terminal: Terminal, prompt: string, expected: string | RegExp): Promise<void> {
	await terminal.untilIdle();
	terminal.type(`${prompt}\r`);
	for (;;) {
		await terminal.until((screen) => screen.includes('❯ No') || answered(screen, expected));
		if (answered(terminal.text(), expected)) return;
		await allow(terminal);
	}
}

function answered(screen: string, expected: string | RegExp): boolean {
	const shown = typeof expected === 'string' ? screen.includes(expected) : expected.test(screen);
	return shown && /\bidle$/.test(screen);
}

function matches(screen: string, expected: Expected): boolean {
	if (typeof expected === 'string') return screen.includes(expected);
	return expected instanceof RegExp ? expected.test(screen) : expected(screen);
}

function sequenceOf(key: Key): string {
	if (key in sequences) return sequences[key as keyof typeof sequences];
	return String.fromCharCode(key.charCodeAt('ctrl+'.length) & 0x1f);
}

function colorOf(color: number | undefined, isRgb: boolean | undefined): number | string | undefined {
	if (color === undefined) return undefined;
	return isRgb ? `#${color.toString(16).padStart(6, '0')}` : color;
}

function framed(rows: readonly string[], columns: number): string {
	const edge = '─'.repeat(columns);
	return [`┌${edge}`, ...rows.map((row) => `│${row}`), `└${edge}`].join('\n');
}
