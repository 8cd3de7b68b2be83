import {createHash} from 'node:crypto';
import {appendFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync} from 'node:fs';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {userInfo} from 'node:os';
import {basename, join} from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {holderOf, lockSession} from '../../src/session/lock.ts';
import {SessionLog} from '../../src/session/log.ts';
import {readEvents} from '../../src/session/read.ts';
import {unansweredCalls} from '../../src/session/replay.ts';
import {agentWorld, run, scripted} from '../helpers/agent.ts';
import {events, logFile, splitLines, temporaryFolder, turnOne, user} from '../helpers/log-file.ts';
import {makeWorld} from '../helpers/mca.ts';
import {bundle, killAll, makeFolder, type Process, startProcess, type Told} from '../helpers/processes.ts';
import type {Order} from './writers-worker.ts';

const programs = makeFolder('writers');
let program = '';
beforeAll(() => {
	program = bundle('test/crash/writers-worker.ts', programs.path);
});
afterAll(() => {
	killAll();
	programs.remove();
});

type Writer = Process & {
	order(order: Order): void;
	/** Gives an order and waits for what came of it. */
	ask(order: Order): Promise<Told>;
	kill(signal?: NodeJS.Signals): Promise<unknown>;
};

/** A process of its own that is up and waits for orders. */
async function writer(): Promise<Writer> {
	const started = startProcess([process.execPath, program]);
	const kill = (signal: NodeJS.Signals = 'SIGKILL') => {
		started.signal(signal);
		return started.ended;
	};
	onTestFinished(() => void kill());
	await started.next('ready');
	const order = (what: Order) => started.send(what);
	const ask = (what: Order) => {
		order(what);
		return started.next();
	};
	return {...started, order, ask, kill};
}

const session = () => logFile(...events(turnOne));
const held = (pid: number) => ({told: 'held', holder: {pid, since: expect.any(String)}});

/** The address that a session's lock has on Linux, written out: every version of mca has to agree on it. */
const addressOf = (path: string) =>
	`\0${`mca-${userInfo().uid}-${createHash('sha256').update(path).digest('hex')}`.padEnd(107, '-')}`;

async function listenAt(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
	const server = createServer(onConnection);
	const sockets = new Set<Socket>();
	server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
	await new Promise<void>((resolve) => server.listen(addressOf(path), resolve));
	onTestFinished(() => {
		server.close();
		for (const socket of sockets) socket.destroy();
	});
	return server;
}

test('of two that start at once one gets the session, the other hears who has it and since when, and no line is torn', async () => {
	const file = session();
	const writers = [await writer(), await writer()] as const;
	for (let round = 0; round < 8; round++) {
		const before = file.bytes();
		for (const each of writers) each.order({do: 'reopen', path: file.path});
		const told = await Promise.all(writers.map((each) => each.next()));
		const winner = writers[told[0]?.told === 'open' ? 0 : 1];
		expect(told.toSorted((a, b) => a.told.localeCompare(b.told))).toEqual([held(winner.pid), {told: 'open'}]);
		const {holder} = told.find((each) => each.told === 'held') as Told & {holder: {since: string}};
		expect(Math.abs(Date.now() - Date.parse(holder.since))).toBeLessThan(60_000);
		// The one who was refused tries again in the middle of it.
		winner.order({do: 'append', count: 3, letter: 'ab'[round % 2] ?? ''});
		const loser = writers[winner === writers[0] ? 1 : 0];
		expect(await loser.ask({do: 'reopen', path: file.path})).toEqual(held(winner.pid));
		expect(await winner.next()).toEqual({told: 'appended'});
		expect(await winner.ask({do: 'close'})).toEqual({told: 'closed'});
		const after = file.bytes();
		expect(after.subarray(0, before.length).equals(before)).toBe(true);
		const lines = splitLines(after.subarray(before.length));
		expect(lines.map((line) => /"content":"(.)\1+"/.exec(line.toString())?.[1])).toEqual(
			Array(3).fill('ab'[round % 2]),
		);
		expect((await readEvents(file.path)).end).toEqual({at: 'whole'});
	}
}, 60_000);

test('a holder that is killed blocks nobody: the next one has the session at once, however often', async () => {
	const file = session();
	for (let kill = 0; kill < 5; kill++) {
		const holder = await writer();
		expect(await holder.ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
		await holder.kill();
	}
	const next = await writer();
	expect(await next.ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
});

test('a holder that hangs holds it, by whom is unknown, and that is known within half a second; when it is killed it is free', async () => {
	const file = session();
	const [hanging, next] = [await writer(), await writer()];
	expect(await hanging.ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
	hanging.signal('SIGSTOP');
	const asked = performance.now();
	expect(await next.ask({do: 'reopen', path: file.path})).toEqual({told: 'held', holder: 'unknown'});
	// Half a second, and what a busy machine adds to it.
	expect(performance.now() - asked).toBeLessThan(3000);
	await hanging.kill();
	expect(await next.ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
});

test('one that asks while the holder dies gets the session', async () => {
	const file = session();
	const dying = await writer();
	expect(await dying.ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
	dying.signal('SIGSTOP');
	const connections = () =>
		readFileSync('/proc/net/unix', 'utf8').split(addressOf(file.path).slice(1)).length - 1;
	const locking = lockSession(file.path);
	while (connections() < 2) await nextTurn();
	await dying.kill();
	const locked = await locking;
	expect(locked.ok).toBe(true);
	if (locked.ok) await locked.lock.release();
});

test('one that asks and then hangs does not keep the holder from letting go', async () => {
	const file = session();
	const locked = await lockSession(file.path);
	if (!locked.ok) throw new Error('it is free');
	const asking = connect({path: addressOf(file.path), allowHalfOpen: true});
	onTestFinished(() => void asking.destroy());
	await new Promise((resolve) => asking.once('end', resolve).resume());
	await locked.lock.release();
	expect(await holderOf(file.path)).toBeUndefined();
});

test.each([
	['says nothing', () => {}],
	['hangs up', (socket: Socket) => socket.end()],
	['says something else', (socket: Socket) => socket.end('220 mail.example.org ESMTP\r\n')],
	['never stops', (socket: Socket) => socket.write('x'.repeat(1 << 20))],
] as const)(
	'another program at the address that %s holds the session, by whom is unknown',
	async (_name, answer) => {
		const file = session();
		await listenAt(file.path, answer as (socket: Socket) => void);
		const opened = await SessionLog.reopen(file.path);
		expect({at: opened.at, holder: 'holder' in opened && opened.holder}).toEqual({
			at: 'held',
			holder: 'unknown',
		});
		expect(opened.read.events).toEqual(events(turnOne));
	},
);

test('what a holder says of itself is told as it is: neither its pid nor its clock decides whether it holds', async () => {
	const file = session();
	const holder = {pid: 2 ** 22 + 1, since: '2999-01-01T00:00:00.000Z'};
	await listenAt(file.path, (socket) => socket.end(`${JSON.stringify(holder)}\n`));
	expect(await SessionLog.reopen(file.path)).toMatchObject({at: 'held', holder});
});

test('mca run on a session that another process has says which and since when, writes nothing, and mca fork goes on', async () => {
	const world = makeWorld();
	const id = await world.played('run the tests and see which case fails');
	const holder = await writer();
	expect(await holder.ask({do: 'reopen', path: world.pathOf(id)})).toEqual({told: 'open'});
	const before = world.files();
	const refused = await world.run(['run', '--yes', '--resume', id, 'then fix it']);
	expect(refused.status).toBe(1);
	expect(refused.stderr).toMatch(
		new RegExp(`^Session ${id} is open in process ${holder.pid} since \\d{4}-.*mca fork ${id}`, 'm'),
	);
	expect(world.files()).toEqual(before);
	expect((await world.run(['fork', id])).status).toBe(0);
	expect((await world.run(['run', '--yes', '--resume', world.newest(), 'then fix it'])).status).toBe(0);
	expect(world.bytes(id)).toBe(before[`${id}.jsonl`]);
	await holder.kill();
	expect((await world.run(['run', '--yes', '--resume', id, 'then fix it'])).status).toBe(0);
});

test('the lock is nothing on disk: no file comes with it, and lock files of others, with whatever pid, are not asked', async () => {
	const file = session();
	const name = basename(file.path);
	for (const lock of [`${name}.lock`, `.${name}.lock`, `${file.id}.lock`, `${file.id}.pid`]) {
		writeFileSync(join(file.folder, lock), `{"pid":${process.pid},"since":"2999-01-01T00:00:00.000Z"}`);
	}
	const before = readdirSync(file.folder);
	const holder = await writer();
	expect(await holder.ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
	expect(readdirSync(file.folder)).toEqual(before);
	await holder.kill();
	expect(readdirSync(file.folder)).toEqual(before);
	expect(await (await writer()).ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
});

test.each([
	[
		'grew by a whole line',
		(path: string) => appendFileSync(path, `${JSON.stringify(events([user('me')], 9)[0])}\n`),
	],
	['grew by a part of a line', (path: string) => appendFileSync(path, '{"seq":9')],
	['shrank', (path: string) => truncateSync(path, 100)],
	['was emptied', (path: string) => truncateSync(path, 0)],
])(
	'when the file %s under its holder, nothing more is appended and the holder says so',
	async (_name, change) => {
		const file = session();
		const holder = await writer();
		expect(await holder.ask({do: 'reopen', path: file.path})).toEqual({told: 'open'});
		change(file.path);
		const before = file.hash();
		for (let time = 0; time < 2; time++) {
			expect(await holder.ask({do: 'append', count: 2, letter: 'x'})).toEqual({
				told: 'appended',
				error: expect.stringMatching(
					/^Session \S+ is no longer being saved: its file is \d+ bytes long and not \d+: something else wrote to it\.$/,
				),
			});
		}
		expect(file.hash()).toBe(before);
	},
);

test('when the file was emptied under an agent, the prompt begins a new session that is sound', async () => {
	const world = agentWorld({gateway: scripted({say: 'hi'})});
	await world.agent.submit('go');
	truncateSync(world.agent.path ?? '', 10);
	expect(await world.agent.submit('go')).toMatchObject({why: 'unsaved', unsent: 'go'});
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
	const {events: made, end} = await world.log();
	expect(end).toEqual({at: 'whole'});
	expect(made.map((event) => (event.type === 'message' ? event.message.role : event.type))).toEqual([
		'system',
		'user',
		'usage',
		'assistant',
	]);
	expect(world.view().events).toEqual(made);
	await world.agent.close();
});

test('an agent that is closed in the middle of a call answers it, and only then lets go of the session', async () => {
	const world = agentWorld({gateway: scripted({say: '', calls: [run('sleep 60')]}, {say: 'never'})});
	const turn = world.agent.submit('go');
	await new Promise<void>((resolve) => {
		world.agent.subscribe((event) => event.type === 'tool_start' && resolve());
	});
	const id = world.agent.session?.id;
	await world.agent.close();
	expect(await turn).toEqual({why: 'cancelled'});
	const {events: kept, end} = await world.log();
	expect({end, open: unansweredCalls(kept)}).toEqual({end: {at: 'whole'}, open: []});
	expect(kept.at(-2)).toMatchObject({type: 'tool_end', stoppedBy: 'cancel'});
	expect(world.agent.session?.id).toBe(id);
});

test('several that make sessions in one workspace at once never get the same id, and nothing is replaced', async () => {
	const folder = join(temporaryFolder(), 'sessions', 'w-1');
	mkdirSync(folder, {recursive: true});
	const makers = await Promise.all([writer(), writer(), writer()]);
	for (const maker of makers) maker.order({do: 'create', folder, count: 40});
	const made = await Promise.all(makers.map((maker) => maker.next('created')));
	const ids = made.flatMap((each) => each.ids as string[]);
	expect(new Set(ids).size).toBe(120);
	expect(readdirSync(folder).sort()).toEqual(ids.map((id) => `${id}.jsonl`).sort());
	for (const [index, each] of made.entries()) {
		const mine = each.ids as string[];
		expect(mine.toSorted()).toEqual(mine);
		for (const id of mine) {
			const {events: found, end} = await readEvents(join(folder, `${id}.jsonl`));
			expect(end).toEqual({at: 'whole'});
			expect(found).toMatchObject([{session: {id}}, {message: {content: `from ${makers[index]?.pid}`}}]);
		}
	}
}, 60_000);
