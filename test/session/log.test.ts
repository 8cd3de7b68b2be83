import {appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {lockSession} from '../../src/session/lock.ts';
import {EventTooLarge, NotSaved, SessionLog} from '../../src/session/log.ts';
import {readEvents} from '../../src/session/read.ts';
import {answer, line, system, temporaryFolder, usage, user} from '../helpers/log-file.ts';

function newLog(folder = join(temporaryFolder(), 'sessions', 'w-1')) {
	return SessionLog.create(folder, () => [system, user('hello')]);
}

test('a session comes into being with its system line and its first prompt, readable by its owner only', async () => {
	const {log, events} = await newLog();
	expect(await readEvents(log.path)).toEqual({events, end: {at: 'whole'}, bytes: statSync(log.path).size});
	expect(events.map((event) => event.seq)).toEqual([1, 2]);
	expect(statSync(log.path).mode & 0o777).toBe(0o600);
	expect(statSync(join(log.path, '..')).mode & 0o777).toBe(0o700);
});

test('what append returns is what stands in the file', async () => {
	const {log, events} = await newLog();
	const more = [...(await log.append(usage())), ...(await log.append(answer('hi'), usage()))];
	expect((await readEvents(log.path)).events).toEqual([...events, ...more]);
});

test('appends that are not waited for keep their order', async () => {
	const {log} = await newLog();
	await Promise.all(Array.from({length: 50}, (_, index) => log.append(user(`${index}`))));
	const {events} = await readEvents(log.path);
	const texts = events.flatMap((event) => (event.type === 'message' ? [event.message.content] : []));
	expect(texts.slice(2)).toEqual(Array.from({length: 50}, (_, index) => `${index}`));
});

test('bytes written are the bytes of the events and no more', async () => {
	const {log, events} = await newLog();
	const more = await log.append(usage(), answer('é𝄞'));
	const size = [...events, ...more].map((event) => Buffer.byteLength(line(event))).reduce((a, b) => a + b);
	expect(statSync(log.path).size).toBe(size);
});

test('a reopened log goes on with the next seq', async () => {
	const {log} = await newLog();
	await log.close();
	const again = await SessionLog.reopen(log.path);
	if (again.at !== 'open') throw new Error(again.at);
	expect((await again.log.append(answer('hi'))).map((event) => event.seq)).toEqual([3]);
});

test('a lone surrogate is made well-formed before it reaches the disk', async () => {
	const {log} = await newLog();
	const [event] = await log.append(user('cut \ud83d here'));
	expect(event).toMatchObject({message: {content: 'cut \ufffd here'}});
	expect(readFileSync(log.path, 'utf8')).not.toMatch(/\\ud83d/i);
});

test('an event over 1 MiB is refused, nothing is written, and the log stays open', async () => {
	const {log} = await newLog();
	const before = statSync(log.path).size;
	await expect(log.append(user('x'.repeat(1 << 20)))).rejects.toThrow(EventTooLarge);
	expect(statSync(log.path).size).toBe(before);
	expect((await log.append(answer('short'))).map((event) => event.seq)).toEqual([3]);
});

test.each([
	['grew', (path: string) => appendFileSync(path, 'x')],
	['shrank', (path: string) => truncateSync(path, 10)],
])(
	'a file that %s under the writer closes the log: nothing more is written into it',
	async (_name, change) => {
		const {log} = await newLog();
		change(log.path);
		const before = readFileSync(log.path);
		await expect(log.append(answer('hi'))).rejects.toThrow(NotSaved);
		await expect(log.append(answer('again'))).rejects.toThrow(
			/no longer being saved: its file is \d+ bytes long/,
		);
		expect(readFileSync(log.path)).toEqual(before);
	},
);

test('sessions of one second are in the order in which they were made', async () => {
	const folder = join(temporaryFolder(), 'w-1');
	const ids: string[] = [];
	while (ids.length < 30) ids.push((await newLog(folder)).log.id);
	expect(ids.toSorted()).toEqual(ids);
	expect(new Set(ids).size).toBe(30);
});

test('a temporary file of a writer that died is cleared, one of a living writer is not', async () => {
	const folder = join(temporaryFolder(), 'w-1');
	await newLog(folder);
	const [dead, alive] = ['s-20260907-100000-ab12', 's-20260907-100000-cd34'];
	for (const id of [dead, alive]) writeFileSync(join(folder, `.new-${id}`), 'half');
	const locked = await lockSession(join(folder, `${alive}.jsonl`));
	await newLog(folder);
	expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([`.new-${alive}`]);
	expect(readdirSync(folder).filter((name) => name.endsWith('.jsonl')).length).toBe(2);
	if (locked.ok) await locked.lock.release();
});
