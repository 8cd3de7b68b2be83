import {fstatSync} from 'node:fs';
import {text} from 'node:stream/consumers';
import {type Agent, heldSentence} from '../agent/agent.ts';
import type {AgentEvent, Question, Rest} from '../agent/agent-event.ts';
import {syncing} from '../session/log.ts';
import {owesAnswer} from '../session/replay.ts';
import {findSession} from '../session/sessions.ts';
import {plainText} from '../tools/plain-text.ts';
import {resumedLine} from '../ui/resumed-line.ts';
import {packageVersion} from './package-folder.ts';
import {findResumed} from './resume.ts';
import {layDemo, newAgent, setUp} from './setup.ts';
import {inAnyTerminal} from './table.ts';
import {tightened, whatTheFolderSays} from './terms.ts';
import {UsageError} from './usage-error.ts';
import {cutSentence} from './verify.ts';

export type RunOptions = {
	prompt: string;
	/** An id, or true for the newest session of the workspace. */
	resume: string | true | undefined;
	folder?: string;
	model?: string;
	provider?: string;
	mode?: string;
	sandbox?: string;
	allow?: string[];
	maxSteps?: string;
	maxCost?: string;
	yes?: boolean;
	json?: boolean;
};

type Call = Extract<Question, {kind: 'tool'}>;

/** Of what `--json` prints. A new kind of line or field leaves it as it is; a changed meaning does not. */
const streamVersion = 1;

/** `mca run`: one turn without a screen. The answer goes to stdout, everything else to stderr. */
export async function run(options: RunOptions): Promise<number> {
	const setup = setUp(options);
	if (setup.demo && process.env.MOCK !== '1') {
		throw new UsageError(
			'No model is connected: set OPENAI_API_KEY, or OPENAI_BASE_URL and MCA_MODEL. MOCK=1 plays a script instead.',
		);
	}
	const prompt = await withInput(options.prompt);
	if (prompt === '' && options.resume === undefined)
		throw new UsageError('mca run needs a prompt: mca run "what does this do?"');
	const refused: Call[] = [];
	const decide = (question: Question) => {
		// --yes allows calls. It lifts no limit: what the turn stopped for is said where it rests.
		if (question.kind !== 'tool') return {allow: false} as const;
		if (options.yes) return {allow: true} as const;
		refused.push(question);
		return {allow: false, reason: 'nobody is there to be asked (mca run without --yes)'} as const;
	};

	const resumed = options.resume === undefined ? undefined : await findResumed(options.resume, setup);
	if (resumed?.gone) {
		throw new UsageError(
			`The workspace of ${resumed.id}, ${resumed.gone}, is gone. mca --resume ${resumed.id} asks whether to work in the current folder.`,
			1,
		);
	}
	const workspace = resumed?.workspace ?? setup.workspace;
	setup.mode = tightened(setup, workspace);
	const agent = newAgent(setup, decide);
	const events: AgentEvent[] = [];
	agent.subscribe((event) => events.push(event));
	if (resumed) {
		tell(resumed.note);
		if (!(await openForTurn(agent, setup.data, resumed.path, resumed.workspace))) return 1;
		if (prompt === '' && agent.events.length === 0)
			throw new UsageError(`There is nothing in ${resumed.id} to go on with. Give a prompt: mca run "…"`);
		if (prompt === '' && !owesAnswer(agent.events)) {
			throw new UsageError(
				`${resumed.id} waits for no answer. Give a prompt: mca run --resume ${resumed.id} "…"`,
			);
		}
	} else {
		layDemo(setup);
	}
	for (const note of whatTheFolderSays(setup, workspace, agent.events)) tell(note);
	if (!syncing) tell('MCA_FSYNC=0: lines are not synced to disk; a power failure may lose the newest.');

	agent.subscribe((event) => (options.json ? printJson(event) : narrate(event)));
	if (options.json) printJson({type: 'stream', version: streamVersion, mca: packageVersion()});
	if (options.json) for (const event of events) printJson(event);
	const stop = () => agent.cancel();
	process.once('SIGINT', stop).once('SIGTERM', stop);
	const rest = await agent.submit(prompt);
	process.off('SIGINT', stop).off('SIGTERM', stop);
	await agent.close();

	for (const question of refused) tell(refusalLine(question));
	if (rest.why !== 'done' && rest.why !== 'cancelled') tell(rest.message);
	if (rest.why === 'cancelled') tell('Stopped.');
	const {session} = agent;
	if (session && rest.why !== 'unsaved')
		tell(`Session ${session.id}. Go on with: mca run --resume ${session.id} "…"`);
	return exitStatus(rest);
}

/**
What is piped in stands below the prompt, or is the prompt. A terminal, or nothing at all, is not waited for. A pipe is, however
slow: what fills it may be what the prompt is about. What starts mca may have left one open that nobody writes to, so a wait is
told.
*/
async function withInput(prompt: string): Promise<string> {
	if (!isPiped()) return prompt;
	const told = setTimeout(
		() => tell('Waiting for standard input to end. Where nothing is to come, start it with < /dev/null.'),
		toldAfterMs,
	);
	process.stdin.once('readable', () => clearTimeout(told));
	const input = (await text(process.stdin)).trimEnd();
	clearTimeout(told);
	return [prompt, input].filter(Boolean).join('\n\n');
}

const toldAfterMs = 1000;

function isPiped(): boolean {
	try {
		const stat = fstatSync(0);
		return stat.isFIFO() || stat.isFile() || stat.isSocket();
	} catch {
		// There is no stdin at all.
		return false;
	}
}

function exitStatus(rest: Rest): number {
	return rest.why === 'done' ? 0 : 1;
}

/**
Open a session for the next prompt; false where another process has it. A cut one that was recovered before is continued there,
not recovered twice.
*/
async function openForTurn(agent: Agent, data: string, path: string, workspace: string): Promise<boolean> {
	const {end, recoveredBy, holder} = await agent.open(path, workspace);
	const id = agent.session?.id ?? path;
	if (holder) {
		tell(`${heldSentence(path, holder)} mca fork ${id} does that.`);
		return false;
	}
	if (end.at === 'cut') {
		tell(cutSentence(id, end));
		if (end.line === 1) {
			tell('Nothing of it can be read. The prompt begins a new session.');
			return true;
		}
		const earlier = recoveredBy && (await findSession(data, recoveredBy));
		if (earlier) {
			tell(`It was recovered before; going on with ${recoveredBy}.`);
			return openForTurn(agent, data, earlier, workspace);
		}
		tell('The prompt continues in a new session.');
	}
	tell(resumedLine(agent.events));
	return true;
}

/** The answer for whoever reads stdout, the way to it for whoever watches. */
function narrate(event: AgentEvent): void {
	if (event.type === 'retry' && event.wait) {
		const seconds = Math.max(1, Math.round((event.wait.until - Date.now()) / 1000));
		tell(`${event.wait.why} Trying again in ${seconds} s.`);
	}
	if (event.type !== 'logged') return;
	const logged = event.event;
	if (logged.type === 'tool_end')
		tell(`${logged.result.ok ? '●' : '✗'} ${logged.name ?? 'tool'}  ${logged.result.content}`);
	if (logged.type === 'message' && logged.message.role === 'assistant') {
		const {content, toolCalls} = logged.message;
		if (content === '') return;
		if (toolCalls) tell(plainText(content));
		else print(plainText(content));
	}
}

function refusalLine({tool, label}: Call): string {
	return `Refused, since nobody could be asked: ${tool} ${plainText(label)}. --yes allows it.`;
}

function print(text: string): void {
	process.stdout.write(`${text}\n`);
}

function printJson(value: unknown): void {
	print(inAnyTerminal(JSON.stringify(value)));
}

function tell(text: string): void {
	process.stderr.write(`${plainText(text)}\n`);
}
