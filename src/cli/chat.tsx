import {homedir} from 'node:os';
import {library} from '../session/sessions.ts';
import {copyToClipboard} from './clipboard.ts';
import {beforeCrash} from './crash.ts';
import {modelsOf} from './models.ts';
import {notifier} from './notify.ts';
import {begin, type ChatOptions, farewell, openingOf} from './opening.ts';
import {promptHistory} from './prompt-history.ts';
import {guardTerminal} from './terminal-guard.ts';
import {UsageError} from './usage-error.ts';

const signals = {SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143} as const;

/** `mca`: the screen, or where there can be none, or it would be in the way, the same line by line. */
export async function chat(options: ChatOptions): Promise<number> {
	const {stdin, stdout, env} = process;
	const isTerminal = stdin.isTTY && stdout.isTTY;
	const isDumb = isTerminal && env.TERM === 'dumb';
	if (options.plain || isDumb || env.INK_SCREEN_READER === 'true' || env.ACCESSIBLE) {
		const {plain} = await import('./plain.ts');
		return plain(options);
	}
	if (!isTerminal) {
		throw new UsageError(
			'the screen needs a terminal, and this is none. mca run "your prompt" works without one and prints the answer.',
		);
	}
	const opening = await openingOf(options, false);
	if (!opening) return 1;
	const {setup} = opening;
	// Keys that are typed while the program loads belong to the composer: not echoed, and with their Enter as it was pressed.
	// main.ts did this first of all; a question may have undone it.
	stdin.setRawMode(true);
	// chalk does not know NO_COLOR; it has to be told before it is loaded.
	if (env.NO_COLOR) env.FORCE_COLOR = '0';
	const [{render}, {App}, {Boundary}, {keyboard}, {viewStore}] = await withoutFetch(() =>
		Promise.all([
			import('ink'),
			import('../ui/App.tsx'),
			import('../ui/Boundary.tsx'),
			import('../ui/stdin.ts'),
			import('../ui/use-agent.ts'),
		]),
	);

	let unsaved = false;
	let isFocused = true;
	let store = viewStore({subscribe: () => () => {}});
	const write = (sequence: string) => void stdout.write(sequence);
	const {agent, notices} = await begin(opening, options, (made) => {
		store = viewStore(made);
		made.subscribe((event) => {
			if (event.type === 'rest') unsaved = event.rest.why === 'unsaved';
		});
		if (setup.config.notify !== false) made.subscribe(notifier(() => isFocused, write));
	});
	if (notices.length > 0) agent.tell(notices.join('\n'));

	let status = 0;
	let failure: unknown;
	let leave = (signal: keyof typeof signals) => {
		status = signals[signal];
	};
	const gone = () => leave('SIGHUP');
	const keys = keyboard(stdin, {
		onFocus: (focused) => {
			isFocused = focused;
		},
		onEnd: gone,
	});
	stdout.on('error', gone);
	const guard = guardTerminal(write);
	const [firstPrompt] = setup.demo?.prompts ?? [];
	let fail = (error: unknown): void => {
		failure = error;
	};
	const app = render(
		<Boundary onError={(error) => fail(error)}>
			<App
				agent={agent}
				store={store}
				library={library(setup.data, setup.workspace)}
				clipboard={copyToClipboard}
				{...(options.at === undefined ? {} : {at: Number(options.at)})}
				models={modelsOf(setup, agent)}
				{...(setup.demo ? {demo: setup.demo.prompts} : {})}
				draft={options.prompt || (opening.resumed || options.pick ? '' : (firstPrompt ?? ''))}
				pick={options.pick ?? false}
				home={homedir()}
				history={promptHistory(setup.data, setup.workspace)}
				terminal={guard.terminal}
			/>
		</Boundary>,
		{
			stdin: keys as unknown as NodeJS.ReadStream,
			alternateScreen: options.altScreen !== false,
			incrementalRendering: true,
			exitOnCtrlC: false,
			patchConsole: false,
			interactive: true,
			maxFps: 60,
			kittyKeyboard: {mode: 'auto'},
		},
	);
	beforeCrash(() => {
		guard.release();
		try {
			app.unmount();
		} finally {
			// ink draws once more when it ends; where that is what fails, it leaves everything as it is.
			guard.rescue();
		}
	});
	leave = (signal) => {
		// Ctrl+C in an editor that mca opened is the editor's.
		if (guard.isAway() && (signal === 'SIGINT' || signal === 'SIGQUIT')) return;
		status = signals[signal];
		// A second one is not waited for.
		for (const each of Object.keys(signals)) process.off(each, onSignal);
		app.unmount();
	};
	const onSignal = (signal: NodeJS.Signals) => leave(signal as keyof typeof signals);
	for (const signal of Object.keys(signals)) process.on(signal, onSignal);
	fail = (error) => {
		failure = error;
		app.unmount();
	};
	if (failure !== undefined) app.unmount();
	// Without a screen nothing keeps the process alive: should ink have lost it without a word, it is a bug like any other.
	const drained = new Promise<void>((resolve) => {
		process.once('beforeExit', () => {
			failure ??= new Error('the screen has ended by itself');
			resolve();
		});
	});
	await Promise.race([app.waitUntilExit(), drained]).catch((error) => {
		failure ??= error;
	});
	guard.release();
	await agent.close();
	if (failure !== undefined) throw failure;
	if (unsaved) {
		process.stderr.write('mca: the session is no longer being saved; what came last is lost.\n');
		return 1;
	}
	const line = farewell(agent);
	// Where the screen was drawn among the lines of the shell, the cursor stands in it still.
	if (line) stdout.write(options.altScreen === false ? `\n${line}` : line);
	return status;
}

/**
Load something while there is no `fetch` to be seen. The layout engine asks whether there is one, and only asking makes Node load
its whole HTTP client, which takes longer than the screen does.
*/
async function withoutFetch<T>(load: () => Promise<T>): Promise<T> {
	const own = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
	Object.defineProperty(globalThis, 'fetch', {value: undefined, configurable: true, writable: true});
	try {
		return await load();
	} finally {
		if (own) Object.defineProperty(globalThis, 'fetch', own);
	}
}
