import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {Agent} from '../../src/agent/agent.ts';
import {scriptedGateway} from '../../src/agent/scripted.ts';
import {readEvents} from '../../src/session/read.ts';
import {sessionFiles, sessionFolder} from '../../src/session/sessions.ts';
import {bundle, killAll, makeFolder, type Process, startProcess, type Told} from '../helpers/processes.ts';
import type {Found} from './disk-driver.ts';
import {script} from './driver-script.ts';

const programs = makeFolder('disk');
let driver = '';
beforeAll(() => {
	driver = bundle('test/crash/disk-driver.ts', programs.path);
});
afterAll(() => {
	killAll();
	programs.remove();
});

const tmpfs = (place: string) => [
	'unshare',
	'-Urm',
	'sh',
	'-c',
	'mount -t tmpfs -o size=1M small "$0" && exec "$@"',
	place,
];
/** 512,000 bytes a file; no user namespace is needed for that. */
const fileLimit = ['sh', '-c', 'ulimit -f 1000 && exec "$@"', 'sh'];

const canMount = () => {
	const {path, remove} = makeFolder('mount');
	const [file = '', ...args] = [...tmpfs(path), 'true'];
	const {status} = spawnSync(file, args);
	remove();
	return status === 0;
};

type Step = Told & {
	rest: {why: string; message?: string; unsent?: string};
	asked: number;
	sessions: Found[];
	others: string[];
};

function small(limits: (place: string) => readonly string[]) {
	const {path: place, remove} = makeFolder('small');
	const driven = startProcess([...limits(place), process.execPath, driver, place]);
	onTestFinished(async () => {
		driven.signal('SIGKILL');
		await driven.ended;
		remove();
	});
	const step = (name: string, told?: string) => {
		driven.send({step: name});
		return (told ? driven.next(told) : Promise.resolve()) as Promise<Step>;
	};
	return {place, driven, step};
}

const prompts = (count: number) => Array.from({length: count}, (_, index) => `p${index + 1}`);

/** It talked until a write was short. The log ends in a torn line, and nothing more goes into it. */
async function expectFull(step: (name: string, told?: string) => Promise<Step>): Promise<Step> {
	const full = await step('talk', 'full');
	expect(full.rest).toEqual({
		why: 'unsaved',
		message: expect.stringMatching(
			/^Session \S+ is no longer being saved: the disk took \d+ of 100\d+ bytes\.$/,
		),
		unsent: `p${full.asked}`,
	});
	expect(full.sessions).toEqual([
		expect.objectContaining({
			end: expect.objectContaining({at: 'cut', reason: 'the line does not end'}),
			asked: prompts(full.asked - 1),
		}),
	]);
	const again = await step('again', 'again');
	expect(again.rest).toMatchObject({why: 'unsaved', unsent: `p${full.asked}`});
	expect(again.rest.message).toMatch(/^The session cannot be saved: (the disk took|ENOSPC|EFBIG)/);
	expect({sessions: again.sessions, others: again.others}).toEqual({sessions: full.sessions, others: []});
	return full;
}

async function leave(driven: Process): Promise<void> {
	driven.send({step: 'end'});
	expect(await driven.ended).toEqual({status: 0, signal: null, stderr: ''});
}

test('a disk that is full for real closes the log with what fitted, and once there is room the prompt goes on in a new session', async () => {
	if (!canMount()) return expectFileLimit();
	const {step, driven} = small(tmpfs);
	await step('ballast');
	const full = await expectFull(step);
	const [damaged] = full.sessions as [Found];
	const {rest, sessions, others} = await step('free', 'again');
	const {at, ...cut} = damaged.end;
	expect({rest, sessions, others}).toEqual({
		rest: {why: 'done'},
		sessions: [damaged, expect.objectContaining({end: {at: 'whole'}, asked: prompts(full.asked), cut})],
		others: [],
	});
	await leave(driven);
});

test('on a full disk no session is begun, nothing of it stays behind, and the prompt is still there when there is room', async () => {
	if (!canMount()) return expectFileLimit();
	const {step, driven} = small(tmpfs);
	await step('ballast');
	const {sessions: before} = await expectFull(step);
	const refused = await step('newOnFull', 'again');
	expect(refused).toMatchObject({
		rest: {
			why: 'unsaved',
			message: expect.stringMatching(/^The session cannot be saved: ENOSPC/),
			unsent: 'new',
		},
		session: null,
		sessions: before,
		others: [],
	});
	const accepted = (await driven.next('again')) as Step;
	expect(accepted.rest).toEqual({why: 'done'});
	expect(accepted.sessions).toEqual([
		...before,
		expect.objectContaining({asked: ['new'], end: {at: 'whole'}}),
	]);
	await leave(driven);
});

/** A limit on the size of a file fails a write as a full disk does: a part of it, then none (EFBIG). */
async function expectFileLimit(): Promise<void> {
	const {place, step, driven} = small(() => fileLimit);
	const full = await expectFull(step);
	await leave(driven);
	const [workspace, data] = [join(place, 'repo'), join(place, 'data')];
	const agent = new Agent({
		workspace,
		data,
		forbidden: [data],
		gateway: scriptedGateway(script),
		defaultModel: 'scripted',
		version: '0.1.0',
		tools: [],
	});
	const [damaged = ''] = await sessionFiles(sessionFolder(data, workspace));
	expect((await agent.open(damaged)).end).toMatchObject({at: 'cut'});
	expect(await agent.submit('five')).toEqual({why: 'done'});
	await agent.close();
	const [newest = ''] = await sessionFiles(sessionFolder(data, workspace));
	expect(newest).not.toBe(damaged);
	const {events, end} = await readEvents(newest);
	expect(end).toEqual({at: 'whole'});
	const asked = events.filter((event) => event.type === 'message' && event.message.role === 'user');
	expect(asked.length).toBe(full.asked);
}

test(
	'a file that may not grow any more closes the log with what fitted; a process without that limit goes on from there',
	expectFileLimit,
);
