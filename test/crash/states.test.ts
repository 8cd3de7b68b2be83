import {createHash} from 'node:crypto';
import {cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {expect, test, vi} from 'vitest';
import {fork} from '../../src/session/fork.ts';
import {readEvents} from '../../src/session/read.ts';
import {sessionFiles} from '../../src/session/sessions.ts';
import {splitLines, temporaryFolder} from '../helpers/log-file.ts';
import {kinds, recoveryWorld} from '../helpers/recover.ts';
import {finalBytes, type Operation, record, type State, statesOf} from './states.ts';

// The recoveries need no syncing; the recorded process has it on.
vi.hoisted(() => {
	process.env.MCA_FSYNC = '0';
});

const prompts = ['look around', 'write it down', 'tell me more', 'another way'];

function recordDriver(): Operation[] {
	const root = temporaryFolder();
	const [workspace, home] = [join(root, 'repo'), join(root, 'home')];
	cpSync(join(import.meta.dirname, '../../fixtures/repo'), workspace, {recursive: true});
	mkdirSync(home);
	// mca's data folder itself is still to be made.
	const program = join(import.meta.dirname, 'states-driver.ts');
	return record(program, [workspace, join(home, 'data')], home, join(root, 'trace'));
}

test('a new session, three turns, a fork and a turn in it are appends, each synced before it is promised', () => {
	const operations = recordDriver();
	const shape = operations.map(({op}) => op).filter((op, at, all) => op !== 'promise' || all[at - 1] !== op);
	const made = ['create', 'write', 'sync', 'link', 'unlink', 'syncFolder', 'syncFolder', 'promise'];
	const appended = ['write', 'sync', 'promise'];
	const begun = shape.indexOf('create');
	expect(new Set(shape.slice(0, begun))).toEqual(new Set(['mkdir', 'syncFolder']));
	expect(shape.slice(begun)).toEqual([
		...made,
		...Array.from({length: 10}, () => appended).flat(),
		// A fork is two writes before its sync: the lines that it keeps, and its own.
		...made.toSpliced(2, 0, 'write'),
		...appended,
		...appended,
	]);
});

test('from every state that a power failure can leave, what was promised is there and the session goes on', async () => {
	const operations = recordDriver();
	const final = finalBytes(operations);
	const world = recoveryWorld();
	const tried = new Set<string>();
	let torn = 0;
	for (const state of statesOf(operations)) {
		const key = createHash('sha1');
		for (const [name, bytes] of state.files) key.update(`${name} ${bytes.length}\n`).update(bytes);
		const is = key.update(JSON.stringify([...state.promised])).digest('hex');
		if (tried.has(is)) continue;
		tried.add(is);
		if (await recoverFrom(world, state, final)) torn++;
	}
	expect(tried.size).toBeGreaterThan(800);
	expect(torn).toBeGreaterThan(400);
});

/** Lay a state on the disk, check it, go on in its newest session. Tells whether that one was cut. */
async function recoverFrom(
	world: ReturnType<typeof recoveryWorld>,
	state: State,
	final: Map<string, Buffer>,
): Promise<boolean> {
	const where = `after ${state.after} operations, ${state.kept}`;
	const folder = dirname(world.place(''));
	rmSync(join(folder, readdirSync(folder)[0] ?? ''));
	for (const [name, bytes] of state.files) writeFileSync(join(folder, basename(name)), bytes);
	const laid = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));

	const files = await sessionFiles(folder);
	const ids = files.map((path) => basename(path, '.jsonl'));
	expect(ids, where).toEqual(expect.arrayContaining([...state.promised.keys()]));
	for (const id of ids) {
		const {events, bytes} = await readEvents(join(folder, `${id}.jsonl`));
		expect(events.length, where).toBeGreaterThanOrEqual(state.promised.get(id) ?? 0);
		// What can be read is what was written, line by line.
		const whole = laid.get(`${id}.jsonl`)?.subarray(0, bytes) ?? Buffer.alloc(0);
		expect(final.get(id)?.subarray(0, bytes).equals(whole), where).toBe(true);
		expect(splitLines(whole).length, where).toBe(events.length);
	}

	const [newest] = files;
	const before = newest ? await readEvents(newest) : undefined;
	const gone = await world.goOn(newest);
	expect({where, rest: gone.rest, refused: gone.refused, end: gone.read.end}).toEqual({
		where,
		rest: {why: 'done'},
		refused: [],
		end: {at: 'whole'},
	});
	const asked = (before?.events ?? []).flatMap((event) =>
		event.type === 'message' && event.message.role === 'user' ? [event.message.content] : [],
	);
	expect(prompts.slice(0, asked.length), where).toEqual(asked);
	expect(
		gone.request.filter((each) => each.startsWith('user ')),
		where,
	).toEqual([...asked, 'go on'].map((prompt) => `user ${prompt}`));
	for (const [name, bytes] of laid) {
		if (!name.endsWith('.jsonl')) continue;
		const now = readFileSync(join(folder, name));
		const grows = join(folder, name) === gone.path;
		expect((grows ? now.subarray(0, bytes.length) : now).equals(bytes), where).toBe(true);
	}
	// What was being made when the power failed is cleared away by the next session that is made here.
	const made = dirname(gone.path) === folder && !laid.has(basename(gone.path));
	const forked = await fork(gone.path);
	expect(forked.ok, where).toBe(true);
	if (forked.ok) {
		await forked.log.close();
		expect(kinds((await readEvents(forked.log.path)).events).at(-1), where).toBe('fork');
		if (made)
			expect(
				readdirSync(folder).filter((name) => name.startsWith('.')),
				where,
			).toEqual([]);
	}
	rmSync(dirname(gone.path), {recursive: true, force: true});
	rmSync(folder, {recursive: true, force: true});
	return before?.end.at === 'cut';
}
