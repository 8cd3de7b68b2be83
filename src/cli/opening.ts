import {existsSync} from 'node:fs';
import {createInterface} from 'node:readline/promises';
import type {Agent} from '../agent/agent.ts';
import {spendOf} from '../session/audit.ts';
import {syncing} from '../session/log.ts';
import {dollars} from '../ui/display.ts';
import {resumedLine} from '../ui/resumed-line.ts';
import {hasSomethingToTrust} from './instructions.ts';
import {findResumed, type Resumed} from './resume.ts';
import {layDemo, newAgent, type Setup, setUp} from './setup.ts';
import {tightened, whatTheFolderSays} from './terms.ts';
import {answerOf, trust} from './trust.ts';

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
	/** Begin at the event with this seq. */
	at?: string;
	/** Line by line, without a screen. */
	plain?: boolean;
	/** False: the screen is drawn where the shell is. */
	altScreen?: boolean;
};

/** A chat before its first prompt, with or without a screen. */
export type Opening = {setup: Setup; workspace: string; resumed: Resumed | undefined};

/** What has to be asked before anything is shown; undefined where the answer was to do nothing. */
export async function openingOf(options: ChatOptions, plain: boolean): Promise<Opening | undefined> {
	const setup = setUp(options);
	const resumed = options.resume === undefined ? undefined : await findResumed(options.resume, setup);
	if (resumed?.gone) {
		const question = `The workspace of ${resumed.id}, ${resumed.gone}, is gone. Work in ${setup.workspace} instead?`;
		if (!(await confirm(question, plain))) return undefined;
	}
	const workspace = resumed?.workspace ?? setup.workspace;
	await askForTrust(setup, workspace, plain);
	setup.mode = tightened(setup, workspace);
	return {setup, workspace, resumed};
}

/** The agent with its session open, and what the person should know of it first. */
export async function begin(
	{setup, workspace, resumed}: Opening,
	options: ChatOptions,
	listen: (agent: Agent) => void,
): Promise<{agent: Agent; notices: string[]}> {
	if (!resumed && !options.pick) layDemo(setup);
	const agent = newAgent(setup);
	listen(agent);
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
	return {agent, notices};
}

/** The last line: which session it was, what it cost, and how to go on with it. */
export function farewell(agent: Agent, env = process.env): string | undefined {
	const {session} = agent;
	if (!session) return undefined;
	if (!existsSync(session.path))
		return `${session.path} is not there any more: this session cannot be resumed.\n`;
	const {inputTokens, outputTokens, costUsd, unpriced, calls} = spendOf(agent.events).own;
	const cost = calls > unpriced ? ` · ${dollars(costUsd)}` : '';
	// What was started by npm start is not on the path.
	const mca = env.npm_lifecycle_event === 'start' ? 'npm start --' : 'mca';
	return `Session ${session.id} · ${inputTokens + outputTokens} tokens${cost} · go on with: ${mca} --resume ${session.id}\n`;
}

/** Asked once for a folder that has something to say: until then nothing of it is read. */
async function askForTrust(setup: Setup, workspace: string, plain: boolean): Promise<void> {
	if (setup.demo || answerOf(setup.data, workspace) !== undefined) return;
	const says = hasSomethingToTrust(workspace);
	if (says.length === 0) return;
	const yes = await confirm(
		`${workspace} holds ${says.join(' and ')}, which would tell the model how to work there. Do you trust this folder?`,
		plain,
	);
	trust(setup.data, workspace, yes);
}

async function confirm(question: string, plain: boolean): Promise<boolean> {
	const terminal = createInterface({input: process.stdin, output: process.stderr, terminal: !plain});
	try {
		return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
	} finally {
		terminal.close();
	}
}
