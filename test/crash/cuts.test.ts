import {readdirSync, readFileSync, rmSync} from 'node:fs';
import {basename, dirname} from 'node:path';
import {expect, test, vi} from 'vitest';
import {readEvents} from '../../src/session/read.ts';
import {
	type Ending,
	endings,
	kinds,
	outcomeOf,
	polyglotLines,
	recoveryWorld,
	seen,
} from '../helpers/recover.ts';

// Thousands of sessions are made here. Whether they are synced is another test's question.
vi.hoisted(() => {
	process.env.MCA_FSYNC = '0';
});

const lines = polyglotLines();
const whole = Buffer.concat(lines);

/** What is left of the log when only so many bytes of it are there, by its newlines and nothing else. */
function endingAt(size: number): Ending {
	let [count, bytes] = [0, 0];
	for (const each of lines) {
		if (bytes + each.length > size) break;
		bytes += each.length;
		count++;
	}
	return {lines: count, bytes, size, ...(bytes < size ? {reason: 'the line does not end'} : {})};
}

test('the log has characters of one, two, three and four bytes, and an ending for each number of lines', () => {
	const widths = new Set(Array.from(whole.toString('utf8'), (character) => Buffer.byteLength(character)));
	expect([...widths].sort()).toEqual([1, 2, 3, 4]);
	expect(endings.length).toBe(lines.length + 1);
});

test('a log cut at any byte keeps its whole lines, goes on with them, and is not touched where it is torn', async () => {
	const world = recoveryWorld();
	for (let size = 0; size <= whole.length; size++) {
		const path = world.place(whole.subarray(0, size));
		const ending = endingAt(size);
		const gone = await world.goOn(path);
		expect({size, ...seen(path, whole.subarray(0, size), gone, ending)}).toEqual({
			size,
			...outcomeOf(ending),
		});
		rmSync(dirname(path), {recursive: true});
	}
});

test('opening and leaving a log that was cut at any byte writes nothing, nowhere', async () => {
	const world = recoveryWorld();
	for (let size = 0; size <= whole.length; size += 7) {
		const path = world.place(whole.subarray(0, size));
		const agent = world.agent();
		await agent.open(path, world.workspace);
		await agent.close();
		expect(readFileSync(path).equals(whole.subarray(0, size)), `cut at ${size}`).toBe(true);
		expect(readdirSync(dirname(path)), `cut at ${size}`).toEqual([basename(path)]);
		rmSync(dirname(path), {recursive: true});
	}
});

test('cut again in each session that went on: every prompt before the cuts is there, and every damaged file as it was', async () => {
	const world = recoveryWorld();
	let path = world.place(whole);
	const damaged: {path: string; bytes: Buffer}[] = [];
	for (let round = 1; round <= 10; round++) {
		const bytes = readFileSync(path).subarray(0, -round);
		world.placeAt(path, bytes);
		damaged.push({path, bytes});
		const gone = await world.goOn(path, `round ${round}`);
		expect(gone.opened.end).toMatchObject({at: 'cut', ignoredBytes: expect.any(Number)});
		path = gone.path;
	}
	const {events, end} = await readEvents(path);
	expect(end).toEqual({at: 'whole'});
	const prompts = events.flatMap((event) =>
		event.type === 'message' && event.message.role === 'user' ? [event.message.content] : [],
	);
	expect(prompts.slice(2)).toEqual(Array.from({length: 10}, (_, index) => `round ${index + 1}`));
	expect(kinds(events).filter((kind) => kind === 'fork').length).toBe(10);
	for (const each of damaged) expect(readFileSync(each.path).equals(each.bytes)).toBe(true);
});

test('a cut that was recovered names the newest session that went on from it; another cut of the file does not', async () => {
	const world = recoveryWorld();
	const path = world.place(whole.subarray(0, whole.length - 3));
	await world.goOn(path, 'one');
	const newest = await world.goOn(path, 'two');
	expect((await world.goOn(path, 'three')).opened.recoveredBy).toBe(basename(newest.path, '.jsonl'));
	world.placeAt(path, whole.subarray(0, whole.length - 4));
	expect((await world.goOn(path, 'four')).opened).not.toHaveProperty('recoveredBy');
});
