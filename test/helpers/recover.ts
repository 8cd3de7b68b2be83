import {mkdirSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Agent, type Opened} from '../../src/agent/agent.ts';
import type {Rest} from '../../src/agent/agent-event.ts';
import {buildBody, type WireMessage} from '../../src/agent/request.ts';
import type {Body, Event, EventOf, Message} from '../../src/session/events.ts';
import {type LogRead, readEvents} from '../../src/session/read.ts';
import {saying, text} from './agent.ts';
import {
	answer,
	call,
	events,
	line,
	result,
	system,
	temporaryFolder,
	toolEnd,
	usage,
	user,
} from './log-file.ts';

/** An id that every id made by a test sorts after. */
export const oldId = 's-20260101-000000-ab12';

/**
Two turns in characters of one, two, three and four bytes, in 20 lines: parallel calls that end out of order, and a line of each
kind that does not rebuild the conversation.
*/
export function polyglot(workspace = '/home/me/calculator'): readonly Body[] {
	const head = {id: oldId, workspace, model: 'scripted', version: '0.1.0', format: 1};
	return [
		{...system, message: {role: 'system', content: 'Du bist mca: é你𝄞.'}, session: head} as Body,
		user('führe die Tests aus: 你好 𝄞'),
		usage(812, 41, 0.25),
		call('a', 'b'),
		toolEnd('b', 'exit 1 · 零 𝄞'),
		result('b', 'ℹ pass 3\n✖ durch null: 零 𝄞'),
		toolEnd('a', 'exit 0 · é'),
		result('a', 'häßlich'),
		usage(1204, 60, 0.5),
		answer('Es scheitert an „零“ 𝄞.'),
		user('then fix it — 𝄞'),
		{type: 'draft', text: 'Ich 你'},
		usage(900, 12),
		call('c'),
		toolEnd('c', 'exit 0 · 你'),
		result('c', '全部通过 é𝄞'),
		{type: 'error', message: 'zu früh: 429', did: 'retried'},
		usage(1000, 20),
		answer('Fertig: é你𝄞'),
		{type: 'name', title: 'Durch null é你𝄞'},
	];
}

/** The lines of the polyglot log, each with its newline. */
export function polyglotLines(workspace?: string): Buffer[] {
	return events(polyglot(workspace)).map((event) => Buffer.from(line(event)));
}

const unknown = 'outcome unknown: the process ended; check before repeating';
const kept = (preview: string) =>
	`This call finished; the process ended before its full result was kept. What was kept: ${preview}`;

const asked = ['system', 'user führe die Tests aus: 你好 𝄞'];
const called = [...asked, 'calls a b'];
const [a, b, c] = ['a: häßlich', 'b: ℹ pass 3\n✖ durch null: 零 𝄞', 'c: 全部通过 é𝄞'];
const answered = [...called, a, b, 'assistant Es scheitert an „零“ 𝄞.'];
const askedAgain = [...answered, 'user then fix it — 𝄞'];
const calledAgain = [...askedAgain, 'calls c'];
const done = [...calledAgain, c, 'assistant Fertig: é你𝄞'];

/**
What becomes of the polyglot log where only its first n lines are there, by n: the conversation that the next prompt stands
behind, and the lines that are written before it for calls without an answer.
*/
export const endings: readonly {conversation: readonly string[]; lost: readonly string[]}[] = [
	{conversation: ['system'], lost: []},
	{conversation: ['system'], lost: []},
	{conversation: asked, lost: []},
	{conversation: asked, lost: []},
	{
		conversation: [...called, `a: ${unknown}`, `b: ${unknown}`],
		lost: ['tool_end', 'tool', 'tool_end', 'tool'],
	},
	{
		conversation: [...called, `a: ${unknown}`, `b: ${kept('exit 1 · 零 𝄞')}`],
		lost: ['tool_end', 'tool', 'tool'],
	},
	{conversation: [...called, `a: ${unknown}`, b], lost: ['tool_end', 'tool']},
	{conversation: [...called, `a: ${kept('exit 0 · é')}`, b], lost: ['tool']},
	{conversation: [...called, a, b], lost: []},
	{conversation: [...called, a, b], lost: []},
	{conversation: answered, lost: []},
	{conversation: askedAgain, lost: []},
	{conversation: askedAgain, lost: []},
	{conversation: askedAgain, lost: []},
	{conversation: [...calledAgain, `c: ${unknown}`], lost: ['tool_end', 'tool']},
	{conversation: [...calledAgain, `c: ${kept('exit 0 · 你')}`], lost: ['tool']},
	{conversation: [...calledAgain, c], lost: []},
	{conversation: [...calledAgain, c], lost: []},
	{conversation: [...calledAgain, c], lost: []},
	{conversation: done, lost: []},
	{conversation: done, lost: []},
];

/** The messages of a request, a string each. */
export function sketch(messages: readonly Message[]): string[] {
	return messages.map((message) => {
		if (message.role === 'system') return 'system';
		if (message.role === 'tool') return `${message.toolCallId}: ${message.content}`;
		const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
		if (calls.length > 0) return `calls ${calls.map(({id}) => id).join(' ')}`;
		return `${message.role} ${message.content}`;
	});
}

/** The role of a message, the type of anything else. */
export function kinds(log: readonly Event[]): string[] {
	return log.map((event) => (event.type === 'message' ? event.message.role : event.type));
}

/** What a strict server would refuse in these messages. */
export function refusals(messages: readonly WireMessage[]): string[] {
	const found: string[] = [];
	let open: string[] = [];
	for (const [at, message] of messages.entries()) {
		if ((message.role === 'system') !== (at === 0))
			found.push(`${at}: a system message stands first and only there`);
		if (message.role === 'tool') {
			if (open.shift() !== message.tool_call_id) found.push(`${at}: an answer that belongs to no call here`);
			continue;
		}
		if (open.length > 0) found.push(`${at}: the calls ${open.join(' ')} have no answer`);
		open = message.role === 'assistant' ? (message.tool_calls ?? []).map(({id}) => id) : [];
		if (message.role === 'assistant' && !message.content && open.length === 0)
			found.push(`${at}: an empty answer`);
		if (message.role === 'user' && messages[at - 1]?.role === 'user')
			found.push(`${at}: two user messages in a row`);
	}
	if (open.length > 0) found.push(`the calls ${open.join(' ')} have no answer`);
	if (!JSON.stringify(messages).isWellFormed() || /\\ud[89a-f]/.test(JSON.stringify(messages)))
		found.push('a lone surrogate');
	return found;
}

/** What came of opening a session and sending one more prompt. */
export type GoneOn = {
	opened: Opened;
	rest: Rest;
	/** What the model was sent. */
	request: string[];
	/** What a strict server would have said to it. */
	refused: string[];
	/** Where the session goes on: the file itself, or the one made for it. */
	path: string;
	/** That file, read again. */
	read: LogRead;
};

/** A data folder and a workspace, with an agent for each session that is placed there. */
export function recoveryWorld() {
	const root = temporaryFolder();
	const [workspace, data] = [join(root, 'calculator'), join(root, 'data')];
	mkdirSync(workspace);
	mkdirSync(join(data, 'sessions'), {recursive: true});

	const newAgent = (gateway = saying()) =>
		new Agent({
			workspace,
			data,
			forbidden: [data],
			gateway,
			defaultModel: 'scripted',
			version: '0.1.0',
			tools: [],
			decide: () => ({allow: false}),
		});

	return {
		root,
		workspace,
		data,
		agent: newAgent,
		/** A session file with these bytes, in a folder where no other is. */
		place(content: Buffer | string, id = oldId): string {
			const folder = mkdtempSync(join(data, 'sessions', 'calculator-'));
			writeFileSync(join(folder, `${id}.jsonl`), content);
			return join(folder, `${id}.jsonl`);
		},
		/** The same file with other bytes. */
		placeAt(path: string, content: Buffer): string {
			writeFileSync(path, content);
			return path;
		},
		/**
		Through the real functions: open it (or begin anew), send a prompt, let the model answer, close it, read what there is
		then.
		*/
		async goOn(path?: string, prompt = 'go on'): Promise<GoneOn> {
			const gateway = saying(text('Understood.'));
			const agent = newAgent(gateway);
			const opened: Opened = path === undefined ? {end: {at: 'whole'}} : await agent.open(path, workspace);
			const rest = await agent.submit(prompt);
			const now = agent.path ?? '';
			await agent.close();
			const [request] = gateway.requests;
			return {
				opened,
				rest,
				request: sketch(request?.messages ?? []),
				refused: request ? refusals(buildBody(request).messages) : ['nothing was sent'],
				path: now,
				read: await readEvents(now),
			};
		},
	};
}

export type RecoveryWorld = ReturnType<typeof recoveryWorld>;

/** A file with so many whole lines, so many bytes long; the reading stops behind them where there is a reason. */
export type Ending = {lines: number; bytes: number; size: number; reason?: string};

/** What has to come of a file of which the first lines of the polyglot log are whole, to be compared at once. */
export function outcomeOf({lines, bytes, size, reason}: Ending, {conversation, lost} = ending(lines)) {
	const cut = reason === undefined ? undefined : {line: lines + 1, reason, ignoredBytes: size - bytes};
	const own = ['user', 'usage', 'assistant'];
	return {
		end: cut ? {at: 'cut', ...cut} : {at: 'whole'},
		rest: {why: 'done'},
		request: [...conversation, 'user go on'],
		refused: [],
		goesOn: lines === 0 ? 'in a new session' : cut ? 'in a recovery' : 'here',
		damagedFileKept: true,
		wholeLinesKept: true,
		endAfterwards: {at: 'whole'},
		added: lines === 0 ? ['system', ...own] : [...(cut ? ['fork'] : []), ...lost, ...own],
		lineage: cut && lines > 0 ? {from: oldId, atSeq: lines, origin: oldId, kind: 'recovery', cut} : undefined,
		seqRises: true,
	};
}

/** The same of what came of it. */
export function seen(path: string, before: Buffer, gone: GoneOn, {lines, bytes}: Ending) {
	const {opened, rest, request, refused, read} = gone;
	const here = gone.path === path;
	const now = readFileSync(gone.path);
	const lineage = read.events[lines];
	const {from, atSeq, origin, kind, cut} =
		lineage?.type === 'fork' ? lineage : ({} as Partial<EventOf<'fork'>>);
	return {
		end: opened.end,
		rest,
		request,
		refused,
		goesOn: here ? 'here' : kind === 'recovery' ? 'in a recovery' : 'in a new session',
		damagedFileKept: here || readFileSync(path).equals(before),
		wholeLinesKept: now.subarray(0, bytes).equals(before.subarray(0, bytes)),
		endAfterwards: read.end,
		added: kinds(read.events.slice(lines)),
		lineage: kind ? {from, atSeq, origin, kind, cut} : undefined,
		seqRises: read.events.every(({seq}, at) => seq > (read.events[at - 1]?.seq ?? 0)),
	};
}

function ending(lines: number) {
	const found = endings[lines];
	if (!found) throw new Error(`the polyglot log has no ${lines} lines`);
	return found;
}
