// The rows of public reports, by their numbers. What a whole kind of end comes to stands in test/crash/.
import {createHash} from 'node:crypto';
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	symlinkSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {GatewayError} from '../../src/agent/gateway.ts';
import {buildBody} from '../../src/agent/request.ts';
import {ledger, spendOf} from '../../src/session/audit.ts';
import type {Body, Event} from '../../src/session/events.ts';
import {fork, forkPoints} from '../../src/session/fork.ts';
import {NotSaved, SessionLog} from '../../src/session/log.ts';
import {readEvents} from '../../src/session/read.ts';
import {replay} from '../../src/session/replay.ts';
import {
	findSession,
	glance,
	inspect,
	isId,
	recordedWorkspace,
	sessionFiles,
	sessionFolder,
} from '../../src/session/sessions.ts';
import {emptyView, reduce} from '../../src/ui/view.ts';
import {agentWorld, run, saying, scripted, text} from '../helpers/agent.ts';
import {
	answer,
	call,
	events,
	line,
	logFile,
	splitLines,
	system,
	temporaryFolder,
	toolEnd,
	turnOne,
	usage,
	user,
} from '../helpers/log-file.ts';
import {kinds, oldId, polyglot, polyglotLines, recoveryWorld, refusals} from '../helpers/recover.ts';

/** A sound log of events 1 to 9. */
const t0: readonly Event[] = events([...turnOne, user('then fix it')]);
const t0Bytes = Buffer.from(t0.map(line).join(''));

const prompts = (log: readonly Event[]) =>
	log.flatMap((event) =>
		event.type === 'message' && event.message.role === 'user' ? [event.message.content] : [],
	);

const joined = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));

/** Everything in a folder and below, by name, with the hash of its bytes. */
function contents(folder: string): Record<string, string> {
	const files = readdirSync(folder, {recursive: true, withFileTypes: true}).filter((entry) => entry.isFile());
	return Object.fromEntries(
		files.map(({parentPath, name}) => {
			const path = join(parentPath, name);
			return [path, createHash('sha256').update(readFileSync(path)).digest('hex')];
		}),
	);
}

async function open(path: string) {
	const opened = await SessionLog.reopen(path);
	if (opened.at !== 'open') throw new Error(opened.at);
	return opened.log;
}

/** Fork and let go of the child. */
async function forked(path: string, at?: {seq: number; before?: boolean}) {
	const made = await fork(path, at);
	if (!made.ok) throw new Error(made.reason);
	await made.log.close();
	return {id: made.log.id, path: made.log.path, atSeq: made.atSeq};
}

// A. Torn tail and append after a tear

test.each([
	['between two characters', '{"seq":10,"ts":"2'],
	['in the middle of one', joined('{"seq":10,"ts":"', Buffer.of(0xc3))],
])(
	'1, 17: half an event cut %s costs that event and no other, and no seq is used twice',
	async (_name, torn) => {
		const world = recoveryWorld();
		const path = world.place(joined(t0Bytes, torn));
		const gone = await world.goOn(path, 'hello');
		const again = await world.goOn(gone.path, 'and again');
		expect(again.path).toBe(gone.path);
		expect(again.read.events.slice(0, 9)).toEqual(t0);
		expect(kinds(again.read.events.slice(9))).toEqual([
			'fork',
			'user',
			'usage',
			'assistant',
			'user',
			'usage',
			'assistant',
		]);
		expect(again.read.events.map(({seq}) => seq)).toEqual(Array.from({length: 16}, (_, index) => index + 1));
		expect(readFileSync(path)).toEqual(joined(t0Bytes, torn));
	},
);

test('2: three crashes in a row cost three unfinished events', async () => {
	const world = recoveryWorld();
	let path = world.place(t0Bytes);
	for (const round of [1, 2, 3]) {
		writeFileSync(path, joined(readFileSync(path), `{"seq":${round}`));
		({path} = await world.goOn(path, `after crash ${round}`));
	}
	const {events: log, end} = await readEvents(path);
	expect(end).toEqual({at: 'whole'});
	expect(log.length).toBe(9 + 3 * 4);
	expect(prompts(log).slice(2)).toEqual(['after crash 1', 'after crash 2', 'after crash 3']);
});

test('3: after an append that failed nothing more is written into that file', async () => {
	const {log} = await SessionLog.create(join(temporaryFolder(), 'w-1'), () => [system, user('hello')]);
	writeFileSync(log.path, joined(readFileSync(log.path), '{"seq":3,"ts'));
	const torn = readFileSync(log.path);
	for (let attempt = 0; attempt < 3; attempt++)
		await expect(log.append(usage(), answer('hi'))).rejects.toThrow(NotSaved);
	expect(readFileSync(log.path)).toEqual(torn);
});

test('5: there is one call in mca that writes into a session file', () => {
	const source = join(import.meta.dirname, '../../src/session');
	const calls = readdirSync(source).flatMap((file) => {
		const code = readFileSync(join(source, file), 'utf8');
		return [
			...code.matchAll(/(?<![#\w])(?:write|writev|appendFile|writeFile|createWriteStream)(?:Sync)?\(.*/g),
		].map(([found]) => `${file}: ${found}`);
	});
	expect(calls).toEqual(['log.ts: writeSync(fd, data);']);
});

test('6: a sound line behind a torn one that was given its newline is not read, and nothing is appended there', async () => {
	const world = recoveryWorld();
	const bytes = joined(t0Bytes, '{"seq":10,"ts":"2\n', line({...t0[2], seq: 10}));
	const path = world.place(bytes);
	const gone = await world.goOn(path);
	expect(gone.opened.end).toMatchObject({at: 'cut', line: 10, reason: 'the line is not JSON'});
	expect(gone.path).not.toBe(path);
	expect(readFileSync(path)).toEqual(bytes);
});

test('7: wherever a log is cut, the screen shows what is whole of it and the line where it stops', async () => {
	const world = recoveryWorld();
	const ends = splitLines(t0Bytes).map((_, index, all) => joined(...all.slice(0, index + 1)).length);
	const path = world.place('');
	for (let size = 0; size <= t0Bytes.length; size++) {
		world.placeAt(path, t0Bytes.subarray(0, size));
		const agent = world.agent();
		let view = emptyView;
		agent.subscribe((event) => {
			view = reduce(view, event);
		});
		await agent.open(path);
		await agent.close();
		const count = ends.filter((end) => end <= size).length;
		const torn = size > 0 && !ends.includes(size);
		expect({size, shown: view.events.length, line: view.cut?.end.line}).toEqual({
			size,
			shown: count,
			line: torn ? count + 1 : undefined,
		});
		expect(view.session).not.toBeNull();
	}
});

/** One file of each class of damage, by what it is. */
const bad: Record<string, Buffer> = {
	empty: Buffer.alloc(0),
	torn: t0Bytes.subarray(0, 20),
	'cut in its last line': t0Bytes.subarray(0, -10),
	'NUL tail': joined(t0Bytes, Buffer.alloc(9000)),
	'NUL line': joined(Buffer.alloc(300), '\n', t0Bytes),
	'only NULs': Buffer.alloc(9000),
	'not UTF-8': joined(Buffer.of(0xff, 0xfe, 0x0a), t0Bytes),
	null: Buffer.from('null\n'),
	BOM: joined('\uFEFF', t0Bytes),
	'glued lines': Buffer.from(t0Bytes.toString().replaceAll('\n', '')),
	'joined files': joined(t0Bytes, t0Bytes),
	'10 MB': Buffer.alloc(10 << 20, 'x'),
};

test('8, 9, 12: good files and one of each damage stand in one list, each can be looked at, and each can be opened', async () => {
	const world = recoveryWorld();
	const folder = sessionFolder(world.data, world.workspace);
	mkdirSync(folder, {recursive: true});
	const named = (index: number) => `s-20260101-0000${String(index).padStart(2, '0')}-ab12`;
	const files = [t0Bytes, ...Object.values(bad), t0Bytes, t0Bytes];
	for (const [index, bytes] of files.entries()) writeFileSync(join(folder, `${named(index)}.jsonl`), bytes);
	// What is no session at all, under a session's name: a link to nowhere.
	symlinkSync('/nowhere', join(folder, `${named(files.length)}.jsonl`));
	const before = contents(folder);

	const paths = await sessionFiles(folder);
	expect(paths.map((path) => basename(path, '.jsonl'))).toEqual(
		Array.from({length: files.length + 1}, (_, index) => named(files.length - index)),
	);
	const rows = await Promise.all(paths.map((path) => glance(path)));
	expect(rows.map(({problem}) => problem !== undefined)).toEqual([true, ...files.map(() => false)]);
	const details = await Promise.all(paths.slice(1).map((path) => inspect(path)));
	expect(details.map((detail) => detail?.end.at).reverse()).toEqual([
		'whole',
		...Object.keys(bad).map((name) => (name === 'empty' ? 'whole' : 'cut')),
		'whole',
		'whole',
	]);
	for (const path of paths.slice(1)) {
		const agent = world.agent();
		expect((await agent.open(path)).recoveredBy).toBeUndefined();
		await agent.close();
	}
	await expect(world.agent().open(paths[0] ?? '')).rejects.toThrow('ENOENT');
	expect(contents(folder)).toEqual(before);
	for (const path of paths.slice(1)) expect((await world.goOn(path)).read.end).toEqual({at: 'whole'});
});

test('9: a session that cannot be opened leaves nothing of the one before it behind', async () => {
	const world = recoveryWorld();
	const gateway = saying(text('one'), text('two'));
	const agent = world.agent(gateway);
	await agent.submit('the old question');
	const old = agent.path;
	await expect(agent.open(join(world.data, 's-20260101-000000-none.jsonl'))).rejects.toThrow('ENOENT');
	expect([agent.session, agent.events]).toEqual([null, []]);
	expect(await agent.submit('the new question')).toEqual({why: 'done'});
	await agent.close();
	expect(gateway.requests[1]?.messages.map(({role, content}) => (role === 'user' ? content : role))).toEqual([
		'system',
		'the new question',
	]);
	expect(agent.path).not.toBe(old);
	expect(prompts(agent.events)).toEqual(['the new question']);
});

// B. NULs, damage in the middle, silent truncation

test('11: what the list says, what is replayed and what the log view shows stop at the same line of NULs', async () => {
	const world = recoveryWorld();
	const lines = splitLines(t0Bytes);
	const path = world.place(joined(...lines.toSpliced(4, 1, Buffer.alloc(lines[4]?.length ?? 0))));
	const listed = await inspect(path);
	const agent = world.agent();
	let view = emptyView;
	agent.subscribe((event) => {
		view = reduce(view, event);
	});
	const {end} = await agent.open(path);
	await agent.close();
	expect(listed).toMatchObject({turns: 1, end});
	expect(view.cut?.end).toEqual(end);
	expect(end).toEqual({
		at: 'cut',
		line: 5,
		reason: 'the line is not JSON (it holds NUL bytes)',
		ignoredBytes: joined(...lines.slice(4)).length,
	});
	expect([view.events.length, replay(agent.events).replayed]).toEqual([4, 3]);
});

test('13, 38, 39, 44: a session is one file; what else lies beside it is neither needed nor trusted', async () => {
	const world = recoveryWorld();
	const path = world.place(joined(t0Bytes, Buffer.alloc(4096)));
	for (const name of [`${oldId}.jsonl.lock`, `${oldId}.lock`, 'index.json', 'sessions.db']) {
		writeFileSync(join(dirname(path), name), '\0junk');
	}
	const gone = await world.goOn(path);
	expect(gone.read.events.slice(0, 9)).toEqual(t0);
	const made = readdirSync(dirname(path)).filter((name) => !/lock$|^index|^sessions/.test(name));
	expect(made.sort()).toEqual([`${oldId}.jsonl`, basename(gone.path)].sort());
});

test('14: one bad line gives the lines before it and the reason', async () => {
	const {events: log, end} = await readEvents(logFile(...t0).setLine(4, '{not json}\n').path);
	expect(log).toEqual(t0.slice(0, 3));
	expect(end).toMatchObject({at: 'cut', line: 4, reason: 'the line is not JSON'});
});

test('15: every message line before the stop is in the conversation', async () => {
	for (let stop = 1; stop <= t0.length; stop++) {
		const {events: log} = await readEvents(logFile(...t0).setLine(stop, 'null\n').path);
		const messages = t0.slice(0, stop - 1).filter((event) => event.type === 'message');
		expect(replay(log).messages.length).toBe(messages.length);
	}
});

test('16, 48: opening and leaving three times changes no byte and no name, however the log ends', async () => {
	const world = recoveryWorld();
	const lines = polyglotLines();
	const ends = [
		joined(...lines),
		joined(...lines.slice(0, 5)),
		joined(...lines).subarray(0, -7),
		...Object.values(bad),
	];
	const paths = ends.map((bytes) => world.place(bytes));
	const before = contents(world.data);
	for (let round = 0; round < 3; round++) {
		for (const path of paths) {
			const agent = world.agent();
			await agent.open(path);
			await agent.close();
		}
	}
	expect(contents(world.data)).toEqual(before);
	for (const path of paths) expect(await sessionFiles(dirname(path))).toEqual([path]);
});

// C. Encoding and framing

test('19: line separators of other alphabets in a prompt and in an answer are text, also after a resume', async () => {
	const odd = 'a\u2028b\u2029c\u0085d\u000be\u000cf\rg';
	const world = agentWorld({gateway: saying(text(odd), text('and again'))});
	await world.agent.submit(odd);
	await world.agent.close();
	const [path = ''] = await world.files();
	const gateway = saying(text('x'));
	const {agent} = world.another({gateway});
	await agent.open(path);
	await agent.submit('go on');
	expect(gateway.requests[0]?.messages.slice(1).map(({content}) => content)).toEqual([odd, odd, 'go on']);
	expect((await world.log()).events.length).toBe(splitLines(readFileSync(path)).length);
});

test('21, 22: half an emoji in a prompt, an answer, an argument or a cut result gets neither into the log nor into a request', async () => {
	const high = '\ud83d';
	const gateway = saying(
		[
			{type: 'text', text: `half ${high}`},
			{type: 'call', index: 0, id: 'a', name: 'read_file', args: '{"path":"long.txt"}'},
			{type: 'call', index: 1, id: 'b', name: 'run_command', args: JSON.stringify({command: 'cat long.txt'})},
			{type: 'call', index: 2, id: 'c', name: 'read_file', args: `{"path":"${high}"}`},
			{type: 'finish', reason: 'tool_calls'},
		],
		[
			{type: 'text', text: `whole ${high}`},
			{type: 'text', text: '\ude00'},
			{type: 'finish', reason: 'stop'},
		],
	);
	const world = agentWorld({gateway});
	// Whatever the limit is, it falls into an emoji.
	writeFileSync(join(world.workspace, 'long.txt'), `x${'😀'.repeat(40_000)}\n`);
	expect(await world.agent.submit(`go ${high}`)).toEqual({why: 'done'});
	const [path = ''] = await world.files();
	const bytes = readFileSync(path, 'utf8');
	expect(bytes.isWellFormed()).toBe(true);
	expect(bytes).not.toMatch(/\\ud[89a-f]/i);
	expect(gateway.requests.map((request) => refusals(buildBody(request).messages))).toEqual([[], []]);
	const {events: log} = await readEvents(path);
	expect(
		log.filter((event) => event.type === 'tool_end').every((event) => event.result.content.isWellFormed()),
	).toBe(true);
	expect(log.at(-1)).toMatchObject({message: {content: 'whole 😀'}});
	expect((await glance(path)).title).toBe('go \ufffd');
});

test('23: open, list, fork and the plain reading agree on where a log stops', async () => {
	const world = recoveryWorld();
	for (const bytes of [...Object.values(bad), t0Bytes]) {
		const path = world.place(bytes);
		const {end, events: log} = await readEvents(path);
		const agent = world.agent();
		expect((await agent.open(path)).end).toEqual(end);
		expect(agent.events).toEqual(log);
		await agent.close();
		expect((await inspect(path))?.end).toEqual(end);
		const made = await fork(path);
		expect(made.ok ? made.atSeq : undefined).toBe(forkPoints(log).at(-1)?.seq);
		if (made.ok) await made.log.close();
	}
});

// D. Interrupted tools

test('24, 26, 32, 34: killed behind the calls, a result or an end: a strict server takes the next request, which says unknown, not failed', async () => {
	const world = recoveryWorld();
	const ended: [lines: number, told: string[]][] = [
		[
			4,
			[
				'a: outcome unknown: the process ended; check before repeating',
				'b: outcome unknown: the process ended; check before repeating',
			],
		],
		[
			5,
			[
				'a: outcome unknown: the process ended; check before repeating',
				'b: This call finished; the process ended before its full result was kept. What was kept: exit 1 · 零 𝄞',
			],
		],
	];
	for (const [lines, told] of ended) {
		const gone = await world.goOn(world.place(joined(...polyglotLines().slice(0, lines))));
		expect(gone.refused).toEqual([]);
		expect(gone.request.slice(3, 5)).toEqual(told);
		expect(told.join()).not.toMatch(/fail/);
	}
});

test('27: a session that was stopped goes on', async () => {
	const gateway = scripted({say: '', calls: [run('sleep 600')]}, {say: 'never'});
	const world = agentWorld({gateway});
	world.agent.subscribe((event) => {
		if (event.type === 'tool_start') world.agent.cancel();
	});
	expect(await world.agent.submit('go')).toEqual({why: 'cancelled'});
	await world.agent.close();
	const [path = ''] = await world.files();
	const next = saying(text('Here.'));
	const {agent} = world.another({gateway: next});
	await agent.open(path);
	expect(await agent.submit('still there?')).toEqual({why: 'done'});
	expect(next.requests.map((request) => refusals(buildBody(request).messages))).toEqual([[]]);
});

test('28, 29: stopped before the first word, again and again, no empty answer is recorded', async () => {
	const silent = saying();
	silent.stream = async function* (_request, signal) {
		yield {type: 'reasoning', text: ''};
		await new Promise((resolve) => signal.addEventListener('abort', resolve));
	};
	const world = agentWorld({gateway: silent});
	world.agent.subscribe((event) => {
		if (event.type === 'draft') world.agent.cancel();
	});
	for (const prompt of ['one', 'two', 'three'])
		expect(await world.agent.submit(prompt)).toEqual({why: 'cancelled'});
	const {events: log} = await world.log();
	expect(kinds(log).filter((kind) => kind === 'assistant')).toEqual([]);
	expect(prompts(log)).toEqual(['one', 'two', 'three']);
});

test('30, 31: killed after a file was written and before that was recorded: the call is kept, not repeated, and called unknown', async () => {
	const write = {name: 'write_file', args: {path: 'counter', content: 'once'}};
	const world = agentWorld({gateway: scripted({say: '', calls: [write]}, {say: 'done'})});
	await world.agent.submit('go');
	await world.agent.close();
	const [path = ''] = await world.files();
	truncateSync(path, joined(...splitLines(readFileSync(path)).slice(0, 4)).length);
	writeFileSync(join(world.workspace, 'counter'), 'changed by hand since');
	const gateway = saying(text('I will look first.'));
	const {agent} = world.another({gateway});
	await agent.open(path);
	await agent.submit('go on');
	expect(readFileSync(join(world.workspace, 'counter'), 'utf8')).toBe('changed by hand since');
	const [, , asked, told] = gateway.requests[0]?.messages ?? [];
	expect(asked).toMatchObject({toolCalls: [{name: 'write_file'}]});
	expect(told?.content).toBe('outcome unknown: the process ended; check before repeating');
});

// E. Second writer

test('35: the second one to open a session is told who has it and takes no prompt; it can fork', async () => {
	const world = recoveryWorld();
	const path = world.place(t0Bytes);
	const [first, second] = [world.agent(saying(text('one'))), world.agent(saying(text('two')))];
	const opened = await Promise.all([first.open(path), second.open(path)]);
	expect(opened.map(({holder}) => holder !== undefined).sort()).toEqual([false, true]);
	const late = opened[0]?.holder ? first : second;
	expect(await late.submit('me too')).toMatchObject({
		why: 'failed',
		unsent: 'me too',
		message: expect.stringContaining('forked'),
	});
	expect(readFileSync(path)).toEqual(t0Bytes);
	expect((await late.fork()).ok).toBe(true);
	expect(await late.submit('me too')).toEqual({why: 'done'});
	expect(readFileSync(path)).toEqual(t0Bytes);
	await Promise.all([first.close(), second.close()]);
});

// F. Picker and identity

test('40, 41: times of files do not change the order, nor does going on with an old session; its row says when that was', async () => {
	const world = recoveryWorld();
	const folder = sessionFolder(world.data, world.workspace);
	mkdirSync(folder, {recursive: true});
	const ids = ['s-20260103-000000-aaaa', 's-20260102-000000-aaaa', 's-20260101-000000-aaaa'];
	for (const [index, id] of ids.entries()) {
		const path = join(folder, `${id}.jsonl`);
		writeFileSync(path, t0Bytes);
		utimesSync(path, 1e9 + index * 1000, 1e9 + index * 1000);
	}
	const oldest = join(folder, `${ids[2]}.jsonl`);
	const begun = Date.now();
	await world.goOn(oldest);
	expect((await sessionFiles(folder)).map((path) => basename(path, '.jsonl'))).toEqual(ids);
	expect((await glance(oldest)).lastActivity?.getTime()).toBeGreaterThanOrEqual(begun - (begun % 1000));
	expect((await glance(join(folder, `${ids[0]}.jsonl`))).lastActivity).toEqual(new Date(t0.at(-1)?.ts ?? ''));
});

test('42: a row of a session of 300 MB is made of its head and its tail', async () => {
	const world = recoveryWorld();
	const path = world.place(t0Bytes);
	truncateSync(path, 300 << 20);
	const read = () => Number(/^rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
	const before = read();
	expect(await glance(path)).toMatchObject({size: 300 << 20, title: 'run the tests'});
	expect(read() - before).toBeLessThan(8 << 20);
});

test('46, 47: no file before the first prompt, and the prompt is in it before the model has said a word', async () => {
	const silent = saying();
	const world = agentWorld({gateway: silent});
	const asked = new Promise<void>((resolve) => {
		silent.stream = async function* (_request, signal) {
			resolve();
			await new Promise((stopped) => signal.addEventListener('abort', stopped));
			yield* [];
		};
	});
	await world.agent.startNew();
	expect(await world.files()).toEqual([]);
	const resting = world.agent.submit('are you there?');
	await asked;
	const [path = ''] = await world.files();
	expect(prompts((await readEvents(path)).events)).toEqual(['are you there?']);
	world.agent.cancel();
	await resting;
	await world.agent.close();
});

test('50: the name that a session was given is its title in the list', async () => {
	const log = events([...turnOne, {type: 'name', title: 'Division'}, user('more')]);
	expect((await glance(logFile(...log).path)).title).toBe('Division');
});

test('51: a session is found after its folder was moved, and says that the folder is not there', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	await world.agent.close();
	const [path = ''] = await world.files();
	renameSync(world.workspace, `${world.workspace}-moved`);
	const id = basename(path, '.jsonl');
	expect(await findSession(world.data, id)).toBe(path);
	expect(await recordedWorkspace(path)).toEqual({path: world.workspace, there: false});
	const {agent} = world.another({workspace: `${world.workspace}-moved`});
	await agent.open(path);
	expect(await agent.submit('go')).toEqual({why: 'done'});
	expect(agent.session?.id).toBe(id);
});

test('54: a session that is resumed again and again stays one file, named by its id', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	await world.agent.close();
	const files = await world.files();
	for (const prompt of ['a', 'b', 'c']) {
		const {agent} = world.another();
		await agent.open(files[0] ?? '');
		await agent.submit(prompt);
		await agent.close();
	}
	expect(await world.files()).toEqual(files);
	const [first] = (await world.log()).events;
	expect(first?.type === 'message' && first.session?.id).toBe(basename(files[0] ?? '', '.jsonl'));
});

// G. Forking

test('56, 58, 59: after a fork, at the very first question too, the child grows under its own id and the parent does not change', async () => {
	const world = recoveryWorld();
	const bytes = joined(...polyglotLines());
	for (const seq of [2, 10, 11, 19]) {
		const path = world.place(bytes);
		const agent = world.agent(saying(text('As you like.')));
		await agent.open(path);
		expect((await agent.fork({seq})).ok).toBe(true);
		const child = agent.session;
		await agent.submit('another way');
		await agent.close();
		expect(readFileSync(path)).toEqual(bytes);
		expect(child?.id).not.toBe(oldId);
		expect(isId(child?.id ?? '') && child?.path.endsWith(`/${child.id}.jsonl`)).toBe(true);
		const {events: log} = await readEvents(child?.path ?? '');
		expect(log[seq]).toMatchObject({type: 'fork', from: oldId, atSeq: seq, origin: oldId});
		expect(kinds(log.slice(seq + 1))).toEqual(['user', 'usage', 'assistant']);
	}
});

test('57, 60: at each point that is listed the child ends exactly there; before a question, exactly before it', async () => {
	const bytes = joined(...polyglotLines());
	const path = recoveryWorld().place(bytes);
	const points = forkPoints(events(polyglot()));
	expect(points.map(({seq}) => seq)).toEqual([2, 10, 11, 19]);
	for (const {seq, message} of points) {
		for (const before of message.role === 'user' ? [false, true] : [false]) {
			const child = await forked(path, {seq, before});
			const {events: log} = await readEvents(child.path);
			expect(log.slice(0, -1).map((event) => event.seq)).toEqual(
				Array.from({length: before ? seq - 1 : seq}, (_, index) => index + 1),
			);
			expect(child.atSeq).toBe(before ? seq - 1 : seq);
		}
	}
});

test('62: a fork of a fork of a fork knows its chain, and each call is paid for once, also when one in between is gone', async () => {
	const file = logFile(...events([system, user('a'), usage(1, 1, 1), answer('A')]));
	const chain = [{id: file.id, path: file.path}];
	for (const cost of [2, 4, 8]) {
		const child = await forked(chain.at(-1)?.path ?? '');
		expect(spendOf((await readEvents(child.path)).events).own).toMatchObject({calls: 0, costUsd: 0});
		const log = await open(child.path);
		await log.append(user('more'), usage(cost, 1, cost), answer('More.'));
		await log.close();
		chain.push(child);
	}
	const spent = async (paths: readonly string[]) => {
		const charges = paths.map(async (path) => {
			const {events: log} = await readEvents(path);
			const usages = log.filter((event) => event.type === 'usage');
			return {
				id: basename(path, '.jsonl'),
				workspace: '',
				usages,
				forks: log.filter((event) => event.type === 'fork'),
			};
		});
		return ledger(await Promise.all(charges), () => '').total.costUsd;
	};
	const paths = chain.map(({path}) => path);
	const owns = await Promise.all(
		paths.map(async (path) => spendOf((await readEvents(path)).events).own.costUsd),
	);
	expect(owns).toEqual([1, 2, 4, 8]);
	expect(await spent(paths)).toBe(15);
	for (const gone of paths.slice(0, -1)) expect(await spent(paths.filter((path) => path !== gone))).toBe(15);
	const {events: last} = await readEvents(paths.at(-1) ?? '');
	const lineage = last.flatMap((event) => (event.type === 'fork' ? [[event.from, event.origin]] : []));
	expect(lineage).toEqual(chain.slice(0, -1).map(({id}) => [id, id]));
});

test('64: a fork that was not finished is no session and is cleared; the parent stays, and can be forked again', async () => {
	const file = logFile(...t0);
	const before = file.hash();
	const half = join(file.folder, '.new-s-20260907-100001-zzzz');
	writeFileSync(half, file.bytes().subarray(0, 500));
	expect(await sessionFiles(file.folder)).toEqual([file.path]);
	const child = await forked(file.path);
	expect(existsSync(half)).toBe(false);
	expect(await sessionFiles(file.folder)).toEqual([child.path, file.path]);
	expect(file.hash()).toBe(before);
});

// H. Others

test('H: a session opens without its model, and shows all that was said', async () => {
	const world = recoveryWorld();
	const absent = saying();
	absent.stream = () => {
		throw new Error('asked');
	};
	const agent = world.agent(absent);
	let view = emptyView;
	agent.subscribe((event) => {
		view = reduce(view, event);
	});
	await agent.open(world.place(joined(...polyglotLines())));
	await agent.close();
	expect(view.items.map((item) => item.kind)).toEqual([
		'user',
		'call',
		'call',
		'assistant',
		'user',
		'call',
		'error',
		'assistant',
	]);
	expect(view.own).toMatchObject({calls: 4, costUsd: 0.75, unpriced: 2});
});

test('H: what a person allowed in an earlier run is asked again in this one', async () => {
	const gateway = scripted({say: '', calls: [run('echo hi')]}, {say: 'done'});
	const world = agentWorld({gateway});
	await world.agent.submit('go');
	await world.agent.close();
	const [path = ''] = await world.files();
	const asked: string[] = [];
	const {agent} = world.another({
		decide: (question) => {
			asked.push(question.kind);
			return {allow: false};
		},
	});
	await agent.open(path);
	await agent.submit('go');
	expect(asked).toEqual(['tool']);
});

test('H: a fork leaves every file of the workspace as it is', async () => {
	const write = {name: 'write_file', args: {path: 'made.txt', content: 'x'}};
	const world = agentWorld({gateway: scripted({say: '', calls: [write]}, {say: 'done'})});
	await world.agent.submit('go');
	const before = contents(world.workspace);
	expect((await world.agent.fork({seq: 2})).ok).toBe(true);
	expect(contents(world.workspace)).toEqual(before);
});

test('H: a request that a server will never take is left behind by a fork before it', async () => {
	const gateway = saying(text('hi'), new GatewayError('request', 'The image is too large.'), text('fine'));
	const world = agentWorld({gateway});
	await world.agent.submit('hello');
	expect(await world.agent.submit('poison')).toMatchObject({why: 'failed'});
	const question = forkPoints(world.agent.events).at(-1);
	expect((await world.agent.fork({seq: question?.seq ?? 0, before: true})).ok).toBe(true);
	expect(await world.agent.submit('something else')).toEqual({why: 'done'});
	expect(JSON.stringify(gateway.requests[2]?.messages)).not.toContain('poison');
});

test('H: what a session cost is the same after a resume, and a recovery of it starts at nothing', async () => {
	const world = recoveryWorld();
	const log: Body[] = [...polyglot(), user('and'), call('d'), toolEnd('d')];
	const bytes = joined(...events(log).map(line), '{"seq":');
	const path = world.place(bytes);
	const gone = await world.goOn(path);
	expect(spendOf((await readEvents(path)).events).own.costUsd).toBe(0.75);
	const {own, inherited} = spendOf(gone.read.events);
	expect([own.costUsd, own.calls, inherited.costUsd, inherited.calls]).toEqual([0, 1, 0.75, 4]);
});
