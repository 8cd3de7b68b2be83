import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {Agent} from '../../src/agent/agent.ts';
import {scriptedGateway} from '../../src/agent/scripted.ts';
import type {Event} from '../../src/session/events.ts';
import {type LogRead, readEvents} from '../../src/session/read.ts';
import {unansweredCalls} from '../../src/session/replay.ts';
import {tools} from '../../src/tools/index.ts';
import {bundle, killAll, makeFolder, type Told} from '../helpers/processes.ts';
import {script} from './driver-script.ts';
import {atEveryPlace, type Fault, faultWorld, needStrace, type World} from './fault-journey.ts';

const programs = makeFolder('driver');
let driver = '';
let untouched: string[] = [];

beforeAll(async () => {
	needStrace();
	driver = bundle('test/crash/driver.ts', programs.path);
	const {world, logs} = await journey();
	world.remove();
	untouched = logs.at(-1)?.events.map(gist) ?? [];
	expect(untouched.length).toBe(24);
});
afterAll(() => {
	killAll();
	programs.remove();
});

/** How often the journey does each: a fault that is put nowhere would prove nothing. */
const placesOf = {write: 15, fdatasync: 12, fsync: 6, link: 2, unlink: 2};

type Journey = {world: World; said: readonly Told[]; ending: unknown; logs: (LogRead & {path: string})[]};

async function journey(...faults: Fault[]): Promise<Journey> {
	const world = faultWorld(programs.path);
	const driven = world.start([process.execPath, driver, world.workspace, world.data], faults);
	const {stderr, ...ending} = await driven.ended;
	expect(stderr).toBe('');
	const logs = await Promise.all(world.sessions().map(async (path) => ({path, ...(await readEvents(path))})));
	return {world, said: driven.said, ending, logs};
}

/** What an event says, without what differs from run to run. */
function gist(event: Event): string {
	if (event.type !== 'message') return event.type;
	const {message} = event;
	const calls = message.role === 'assistant' ? (message.toolCalls?.map(({id}) => id) ?? []) : [];
	return [message.role, ...calls, message.role === 'system' ? '' : message.content].join(' ');
}

/** Whatever was acknowledged is in its file as it was acknowledged. Sessions are whole, or they are not there. */
function checkLogs({said, logs}: Journey): void {
	for (const {path, event} of said.filter(({told}) => told === 'acked')) {
		const log = logs.find((each) => each.path === path);
		expect(log?.events.find(({seq}) => seq === (event as Event).seq)).toEqual(event);
	}
	for (const {events, end} of logs) {
		expect(end).toEqual({at: 'whole'});
		expect(events.slice(0, 2).map(gist)).toEqual(['system ', 'user one']);
	}
	const forking = said.find(({told}) => told === 'forking');
	if (forking) expect(readFileSync(String(forking.path), 'utf8')).toBe(forking.bytes);
}

/** The call that has an effect, and the answer to the call before it, were on disk when it began. */
function checkEffects({said, world}: Journey): void {
	const acked = new Set<string>();
	const begun: string[] = [];
	for (const each of said) {
		if (each.told === 'acked') {
			const event = each.event as Event;
			if (event.type !== 'message') continue;
			const {message} = event;
			if (message.role === 'tool') acked.add(`answer to ${message.toolCallId}`);
			if (message.role === 'assistant') for (const {id} of message.toolCalls ?? []) acked.add(`call ${id}`);
		}
		if (each.told !== 'effect') continue;
		begun.push(String(each.id));
		expect([...acked]).toContain(`call ${each.id}`);
		if (each.id === 'call_1_2') expect([...acked]).toContain('answer to call_1_1');
	}
	for (const [index, file] of ['one.txt', 'two.txt'].entries()) {
		if (existsSync(join(world.workspace, file))) expect(begun).toContain(`call_1_${index + 1}`);
	}
}

/** Another process goes on with the newest session, or begins one where there is none; what was half made is gone then. */
async function goOn({world, logs}: Journey): Promise<void> {
	const agent = new Agent({
		workspace: world.workspace,
		data: world.data,
		forbidden: [world.data],
		gateway: scriptedGateway(script),
		defaultModel: 'scripted',
		version: '0.1.0',
		tools,
		decide: () => ({allow: true}),
	});
	const newest = logs.at(-1)?.path;
	if (newest) await agent.open(newest);
	expect(await agent.submit('five')).toEqual({why: 'done'});
	const {events, end} = await readEvents(agent.path ?? '');
	expect({end, open: unansweredCalls(events), last: gist(events.at(-1) as Event)}).toEqual({
		end: {at: 'whole'},
		open: [],
		last: 'assistant Five.',
	});
	if (newest) expect(agent.path).toBe(newest);
	await agent.startNew();
	expect(await agent.submit('five')).toEqual({why: 'done'});
	await agent.close();
	expect(world.leftovers()).toEqual([]);
}

test.each([
	['write', 'KILL'],
	['fdatasync', 'KILL'],
	['fsync', 'KILL'],
	['link', 'KILL'],
	['unlink', 'KILL'],
] as const)(
	'killed at any %s: what was acknowledged is there, nothing else is, no half session, and another goes on',
	async (call, gets) => {
		const places = await atEveryPlace(async (n) => {
			const result = await journey({call, gets, n});
			checkLogs(result);
			checkEffects(result);
			const gists = result.logs.at(-1)?.events.map(gist) ?? [];
			expect(gists).toEqual(untouched.slice(0, gists.length));
			if (!result.world.struck()) {
				expect(gists.length).toBe(untouched.length);
				return 'untouched';
			}
			expect(result.ending).toEqual({status: null, signal: 'SIGKILL'});
			await goOn(result);
			result.world.remove();
			return 'struck';
		});
		expect(places).toBe(placesOf[call]);
	},
	120_000,
);

test.each([
	['write', 'ENOSPC'],
	['write', 'EIO'],
	['fdatasync', 'EIO'],
	['fsync', 'EIO'],
	['link', 'EIO'],
	['link', 'EMLINK'],
	['unlink', 'EIO'],
] as const)(
	'when any %s gives %s the turn stops and says why, and the conversation goes on in a new session with nothing twice',
	async (call, gets) => {
		const places = await atEveryPlace(async (n) => {
			const result = await journey({call, gets, n});
			const {said, logs, world, ending} = result;
			expect(ending).toEqual({status: 0, signal: null});
			checkLogs(result);
			checkEffects(result);
			if (!world.struck()) {
				expect(logs.at(-1)?.events.map(gist)).toEqual(untouched);
				return 'untouched';
			}
			const complaints = said.flatMap(({told, rest, reason}) => {
				if (told === 'noFork') return [String(reason)];
				const {why, message} = (rest ?? {why: 'done'}) as {why: string; message: string};
				return why === 'done' ? [] : [message];
			});
			expect(complaints).toEqual([
				expect.stringMatching(/^(Session \S+ is no longer being|The (session|fork) cannot be) saved: /),
			]);
			expect(complaints[0]).toContain(gets);
			// Every session that is listed is one that somebody was told of.
			for (const {path} of logs) expect(said.map((each) => each.path)).toContain(path);
			const last = logs.at(-1)?.events ?? [];
			const conversation = last.flatMap((event) => (event.type === 'message' ? [gist(event)] : []));
			expect(unansweredCalls(last)).toEqual([]);
			const spoken = conversation.filter((each) => !each.startsWith('tool'));
			expect(spoken).toEqual(untouched.filter((each) => /^(system|user|assistant) /.test(each)));
			expect(world.leftovers()).toEqual([]);
			await goOn(result);
			world.remove();
			return 'struck';
		});
		expect(places).toBe(placesOf[call]);
	},
	120_000,
);
