import {homedir} from 'node:os';
import {createInterface} from 'node:readline/promises';
import type {Agent} from '../agent/agent.ts';
import {spendOf} from '../session/audit.ts';
import {syncing} from '../session/log.ts';
import {library} from '../session/sessions.ts';
import {hasSomethingToTrust} from './instructions.ts';
import {modelsOf} from './models.ts';
import {findResumed} from './resume.ts';
import {layDemo, newAgent, type Setup, setUp} from './setup.ts';
import {tightened, whatTheFolderSays} from './terms.ts';
import {isTrusted, trust} from './trust.ts';
import {UsageError} from './usage-error.ts';

export type ChatOptions = {
	prompt: string;
	/** An id, or true for the newest session of the workspace. */
	resume: string | true | undefined;
	/** Begin with the resume picker. */
	pick?: boolean;
	folder?: string;
	model?: string;
	provider?: string;
	mode?: string;
	sandbox?: string;
};

/** `mca`: the screen. */
export async function chat(options: ChatOptions): Promise<number> {
	const {stdin, stdout} = process;
	if (!stdin.isTTY || !stdout.isTTY || process.env.TERM === 'dumb') {
		throw new UsageError(
			'the screen needs a terminal, and this is none. mca run "your prompt" works without one and prints the answer.',
		);
	}
	// Keys that are typed while the program loads belong to the composer: not echoed, and with their Enter as it was pressed.
	const setup = setUp(options);
	const resumed = options.resume === undefined ? undefined : await findResumed(options.resume, setup);
	if (
		resumed?.gone &&
		!(await confirm(
			`The workspace of ${resumed.id}, ${resumed.gone}, is gone. Work in ${setup.workspace} instead?`,
		))
	) {
		return 1;
	}
	const workspace = resumed?.workspace ?? setup.workspace;
	await askForTrust(setup, workspace);
	setup.mode = tightened(setup, workspace);
	stdin.setRawMode(true);
	if (!resumed && !options.pick) layDemo(setup);
	// chalk does not know NO_COLOR; it has to be told before it is loaded.
	if (process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
	const [{render}, {App}, {resumedLine}, {viewStore}] = await Promise.all([
		import('ink'),
		import('../ui/App.tsx'),
		import('../ui/resumed-line.ts'),
		import('../ui/use-agent.ts'),
	]);

	const agent = newAgent(setup);
	const store = viewStore(agent);
	let unsaved = false;
	agent.subscribe((event) => {
		if (event.type === 'rest') unsaved = event.rest.why === 'unsaved';
	});
	const notices: string[] = [];
	if (resumed) {
		await agent.open(resumed.path, resumed.workspace);
		notices.push(resumed.note, resumedLine(agent.events));
	} else {
		await agent.startNew();
	}
	notices.push(...whatTheFolderSays(setup, workspace, agent.events));
	if (!syncing)
		notices.push('MCA_FSYNC=0: lines are not synced to disk; a power failure may lose the newest.');
	if (setup.demo) {
		notices.push(
			'This is a demo: a script plays the model; commands and edits are real, in a small repository of their own.',
			'To connect a model, set OPENAI_API_KEY, or OPENAI_BASE_URL and MCA_MODEL, and start mca again.',
		);
	}
	if (notices.length > 0) agent.tell(notices.join('\n'));

	const [firstPrompt] = setup.demo?.prompts ?? [];
	const app = render(
		<App
			agent={agent}
			store={store}
			library={library(setup.data, setup.workspace)}
			models={modelsOf(setup, agent)}
			{...(setup.demo ? {demo: setup.demo.prompts} : {})}
			draft={options.prompt || (resumed || options.pick ? '' : (firstPrompt ?? ''))}
			pick={options.pick ?? false}
			home={homedir()}
		/>,
		{
			alternateScreen: true,
			incrementalRendering: true,
			exitOnCtrlC: false,
			patchConsole: false,
			interactive: true,
			maxFps: 60,
		},
	);
	let status = 0;
	const leave = (signal: NodeJS.Signals) => {
		status = signal === 'SIGHUP' ? 129 : signal === 'SIGTERM' ? 143 : 130;
		app.unmount();
	};
	for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.once(signal, leave);
	let failure: unknown;
	await app.waitUntilExit().catch((error) => {
		failure = error;
	});
	await agent.close();
	if (failure !== undefined) throw failure;
	if (unsaved) {
		process.stderr.write('mca: the session is no longer being saved; what came last is lost.\n');
		return 1;
	}
	const line = farewell(agent);
	if (line) process.stdout.write(line);
	return status;
}

function farewell(agent: Agent): string | undefined {
	const {session} = agent;
	if (!session) return undefined;
	const {inputTokens, outputTokens} = spendOf(agent.events).own;
	return `Session ${session.id} · ${inputTokens + outputTokens} tokens · go on with: mca --resume ${session.id}\n`;
}

/** Asked once for a folder that has something to say: until then nothing of it is read. */
async function askForTrust(setup: Setup, workspace: string): Promise<void> {
	if (setup.demo || isTrusted(setup.data, workspace)) return;
	const says = hasSomethingToTrust(workspace);
	if (says.length === 0) return;
	const yes = await confirm(
		`${workspace} holds ${says.join(' and ')}, which would tell the model how to work there. Do you trust this folder?`,
	);
	if (yes) trust(setup.data, workspace);
}

async function confirm(question: string): Promise<boolean> {
	const terminal = createInterface({input: process.stdin, output: process.stderr});
	try {
		return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
	} finally {
		terminal.close();
	}
}
