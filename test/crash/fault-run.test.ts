import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import type {Event} from '../../src/session/events.ts';
import {readEvents} from '../../src/session/read.ts';
import {killAll, makeFolder} from '../helpers/processes.ts';
import {cleanEnvironment, entry} from '../helpers/terminal.ts';
import {atEveryPlace, type Fault, faultWorld, needStrace} from './fault-journey.ts';

const folder = makeFolder('fault-run');

beforeAll(needStrace);
afterAll(() => {
	killAll();
	folder.remove();
});

const script = {
	name: 'two effects',
	turns: [
		{
			prompt: 'go',
			steps: [
				{
					say: 'Both.',
					calls: ['one', 'two'].map((path) => ({name: 'write_file', args: {path, content: path}})),
				},
				{say: 'Both are there.'},
			],
		},
	],
};

/** `mca` with these arguments in a workspace of its own, with these faults. */
async function mca(args: (world: ReturnType<typeof faultWorld>) => string[], ...faults: Fault[]) {
	const world = faultWorld(folder.path);
	const play = join(world.data, 'script.json');
	writeFileSync(play, JSON.stringify(script));
	const env = cleanEnvironment({MCA_HOME: world.data, MOCK: '1', MCA_SCRIPT: play});
	const start = async (words: string[], some: Fault[]) => {
		const {said, ended, sendNothing} = world.start([process.execPath, entry, ...words], some, env);
		sendNothing();
		return {...(await ended), stdout: said.map((told) => String(told.line)).join('\n')};
	};
	return {world, start, ...(await start(args(world), faults))};
}

const isAnswer = (event: Event) => event.type === 'message' && event.message.role === 'tool';

test.each([
	['write', 'ENOSPC'],
	['fdatasync', 'EIO'],
	['fsync', 'EIO'],
	['link', 'EIO'],
] as const)(
	'mca run: when any %s gives %s it says that the session is not saved and why, does nothing more, and ends with 1',
	async (call, gets) => {
		const places = await atEveryPlace(async (n) => {
			const {world, status, stderr, stdout} = await mca(() => ['run', '--yes', 'go'], {call, gets, n});
			const there = ['one', 'two'].filter((name) => existsSync(join(world.workspace, name)));
			const [path] = world.sessions();
			const {events} = path ? await readEvents(path) : {events: []};
			// An effect only where the lines before it are kept: the calls for the first, its answer for the second.
			if (there.includes('one')) expect(events.length).toBeGreaterThan(3);
			if (there.includes('two')) expect(events.filter(isAnswer).length).toBeGreaterThan(0);
			if (!world.struck()) {
				expect({status, there, stdout}).toEqual({
					status: 0,
					there: ['one', 'two'],
					stdout: 'Both are there.',
				});
				expect(stderr).toContain('Go on with: mca run --resume');
				return 'untouched';
			}
			expect(status).toBe(1);
			expect(stderr).toMatch(/^(Session \S+ is no longer being saved|The session cannot be saved): /m);
			expect(stderr).toContain(gets);
			expect(stderr).not.toMatch(/resume/);
			expect(stdout).toBe('');
			expect(world.leftovers()).toEqual([]);
			if (call !== 'write' && call !== 'fdatasync') expect({there, path}).toEqual({there: []});
			return 'struck';
		});
		expect(places).toBe({write: 5, fdatasync: 4, fsync: 3, link: 1}[call]);
	},
	120_000,
);

test('mca run: a disk that fails the write and then the close is named for the write', async () => {
	const {status, stderr, world} = await mca(
		() => ['run', '--yes', 'go'],
		{call: 'write', gets: 'ENOSPC', n: 2},
		// After the closes of reading the folder twice and of syncing two folders.
		{call: 'close', gets: 'EIO', n: 5},
	);
	expect(status).toBe(1);
	expect(stderr).toMatch(/^Session \S+ is no longer being saved: ENOSPC/m);
	expect(world.trace()).toMatch(/ENOSPC .*\n.*close.* EIO/);
});

test.each([
	['write', 'ENOSPC'],
	['link', 'EIO'],
] as const)(
	'mca fork: when any %s gives %s it says so and does not end with 0, and neither is the parent touched nor a child there',
	async (call, gets) => {
		await atEveryPlace(async (n) => {
			const {world, start, status} = await mca(() => ['run', '--yes', 'go']);
			expect(status).toBe(0);
			const [parent = ''] = world.sessions();
			const before = readFileSync(parent);
			const forked = await start(['fork', basename(parent, '.jsonl')], [{call, gets, n}]);
			expect(readFileSync(parent)).toEqual(before);
			expect(world.leftovers()).toEqual([]);
			if (!world.struck()) {
				expect(forked.status).toBe(0);
				expect(world.sessions().length).toBe(2);
				return 'untouched';
			}
			expect(forked.status).not.toBe(0);
			expect(forked.stdout).toBe('');
			expect(forked.stderr).toMatch(new RegExp(`^mca: The fork cannot be saved: ${gets}`));
			expect(world.sessions()).toEqual([parent]);
			return 'struck';
		});
	},
	120_000,
);
