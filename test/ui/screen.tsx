import {createRequire} from 'node:module';
import {PassThrough, Writable} from 'node:stream';
import {inspect} from 'node:util';
import {render} from 'ink';
import {onTestFinished, vi} from 'vitest';
import type {Agent, AgentOptions} from '../../src/agent/agent.ts';
import {library} from '../../src/session/sessions.ts';
import {App, type AppOptions} from '../../src/ui/App.tsx';
import {keyboard} from '../../src/ui/stdin.ts';
import {viewStore} from '../../src/ui/use-agent.ts';

// Both are CommonJS, and Node does not find their names from an import.
const require = createRequire(import.meta.url);
const {Terminal} = require('@xterm/headless') as typeof import('@xterm/headless');
const {Unicode11Addon} = require('@xterm/addon-unicode11') as typeof import('@xterm/addon-unicode11');

/** Longer than any wait on a busy machine: it is only ever reached by what does not come at all. */
const patienceMs = 30_000;

/** What the keys of a terminal write. */
export const keyOf = {
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
	pageUp: '\x1b[5~',
	pageDown: '\x1b[6~',
	newline: '\n',
} as const;

/** For an agent whose questions a person answers, on the screen. */
export const byPerson = {decide: undefined} as unknown as {decide: NonNullable<AgentOptions['decide']>};

export const ctrl = (letter: string) => String.fromCharCode(letter.charCodeAt(0) & 0x1f);

export type Options = Partial<AppOptions> & {
	agent: Agent;
	data: string;
	workspace: string;
	/** Path of the session to begin with; without it a new one. */
	open?: string;
	columns?: number;
	rows?: number;
};

/** The whole screen over a real agent, in this process: its bytes go to a terminal emulator, its keys come from a stream. */
export async function openScreen(options: Options) {
	const {agent, data, workspace, open, columns = 120, rows = 36, ...app} = options;
	const store = viewStore(agent);
	if (open === undefined) await agent.startNew();
	else await agent.open(open);
	const xterm = new Terminal({cols: columns, rows, allowProposedApi: true, convertEol: true});
	// Without it an emoji has width 1 here and every row that has one looks shifted.
	xterm.loadAddon(new Unicode11Addon());
	xterm.unicode.activeVersion = '11';
	let bytes = '';
	const watchers = new Set<() => void>();
	const look = () => {
		for (const watcher of [...watchers]) watcher();
	};
	const output = new Writable({
		decodeStrings: false,
		write(chunk, _encoding, done) {
			bytes += chunk;
			xterm.write(chunk, () => {
				done();
				look();
			});
		},
	});
	const stdout = Object.assign(output, {isTTY: true, columns, rows});
	const input = new PassThrough();
	const stdin = Object.assign(input, {
		isTTY: true,
		setRawMode: () => stdin,
		ref: () => stdin,
		unref: () => stdin,
	});
	const keys = keyboard(stdin);
	const instance = render(
		<App
			agent={agent}
			store={store}
			library={library(data, workspace)}
			models={{list: async () => [], use: async (model) => `${model} is asked from now on.`}}
			draft=""
			pick={false}
			home="/home/me"
			{...app}
		/>,
		{
			stdout: stdout as unknown as NodeJS.WriteStream,
			stdin: keys as unknown as NodeJS.ReadStream,
			alternateScreen: true,
			incrementalRendering: true,
			exitOnCtrlC: false,
			patchConsole: false,
			interactive: true,
			maxFps: 60,
		},
	);
	let ended: {how: 'left'} | {how: 'failed'; error: unknown} | undefined;
	const end = (how: NonNullable<typeof ended>) => {
		ended = how;
		look();
	};
	instance.waitUntilExit().then(
		() => end({how: 'left'}),
		(error: unknown) => end({how: 'failed', error}),
	);
	onTestFinished(async () => {
		instance.unmount();
		await agent.close();
		xterm.dispose();
	});

	const lines = (): string[] =>
		Array.from(
			{length: xterm.rows},
			(_, y) => xterm.buffer.active.getLine(xterm.buffer.active.baseY + y)?.translateToString(true) ?? '',
		);
	const text = () => lines().join('\n');

	/** Resolves when it holds; looks whenever the screen changed. */
	function wait(holds: () => boolean, what: string): Promise<void> {
		// Made here, so that its stack names the line of the test.
		const failure = new Error();
		return new Promise((resolve, reject) => {
			const stop = () => {
				clearTimeout(timer);
				watchers.delete(watcher);
			};
			const fail = (why: string) => {
				stop();
				failure.message = `${what} did not come${why}. The screen (${xterm.cols}×${xterm.rows}):\n${text()}`;
				reject(failure);
			};
			const watcher = () => {
				if (holds()) {
					stop();
					resolve();
				} else if (ended) {
					fail(`: the screen ended, ${inspect(ended)}`);
				}
			};
			const timer = setTimeout(() => fail(''), patienceMs);
			watchers.add(watcher);
			watcher();
		});
	}

	const screen = {
		lines,
		text,
		/** Everything that was written to the terminal so far. */
		bytes: () => bytes,
		cursor: () => ({x: xterm.buffer.active.cursorX, y: xterm.buffer.active.cursorY}),
		/** The first column of a row that shows this character, counted in cells. */
		columnOf(y: number, character: string): number {
			const line = xterm.buffer.active.getLine(xterm.buffer.active.baseY + y);
			return Array.from({length: xterm.cols}, (_, x) => line?.getCell(x)?.getChars()).indexOf(character);
		},
		until(expected: string | RegExp | ((text: string) => boolean)): Promise<void> {
			const holds = () => {
				if (typeof expected === 'function') return expected(text());
				return typeof expected === 'string' ? text().includes(expected) : expected.test(text());
			};
			return wait(holds, String(expected));
		},
		/** Hand over each chunk as a terminal would; resolves when they were handled, whether or not anything is drawn of it. */
		async press(...chunks: string[]): Promise<void> {
			for (const chunk of chunks) {
				stdin.write(chunk);
				do await new Promise((resolve) => setImmediate(resolve));
				while ((stdin.readableLength > 0 || keys.isBusy()) && !ended);
			}
		},
		resize(toColumns: number, toRows: number): void {
			xterm.resize(toColumns, toRows);
			Object.assign(stdout, {columns: toColumns, rows: toRows});
			stdout.emit('resize');
		},
		/** How the screen was left; resolves when it was. */
		async end() {
			await wait(() => ended !== undefined, 'The end of the screen');
			return ended;
		},
	};
	return screen;
}

/** The time that the screen reads can be moved on, so that no test waits for it. */
export function movableClock() {
	const begun = Date.now() - performance.now();
	let ahead = 0;
	const spy = vi.spyOn(Date, 'now').mockImplementation(() => Math.round(begun + performance.now()) + ahead);
	onTestFinished(() => spy.mockRestore());
	return {
		pass(ms: number) {
			ahead += ms;
		},
	};
}
