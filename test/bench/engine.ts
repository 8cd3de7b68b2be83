import {spawnSync} from 'node:child_process';
import {copyFileSync, fdatasync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {open, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import type {Body} from '../../src/session/events.ts';
import {fork} from '../../src/session/fork.ts';
import {SessionLog, syncing} from '../../src/session/log.ts';
import {readEvents} from '../../src/session/read.ts';
import {replay} from '../../src/session/replay.ts';
import {glance, sessionFiles} from '../../src/session/sessions.ts';
import {writeLog} from './logs.ts';
import {mb, median, type Row, sideBySide, timed} from './table.ts';

const system: Body = {type: 'message', message: {role: 'system', content: 'You are mca.'}};
const question: Body = {
	type: 'message',
	message: {role: 'user', content: 'look at this file and mend what is wrong with it'},
};

/** What section 9 of the design says of the engine, measured in `folder`. */
export async function engine(folder: string, big: boolean): Promise<Row[]> {
	return [
		await reading(folder),
		...(await appending(join(folder, 'append'))),
		...withoutSync(),
		await forking(folder),
		...(await listing(folder)),
		...(big ? [memory(folder)] : []),
	];
}

async function reading(folder: string): Promise<Row> {
	const path = join(folder, '100.jsonl');
	writeLog(path, 100e6);
	const times = await sideBySide(
		5,
		async () => replay((await readEvents(path)).events),
		() => parseLines(path),
	);
	return timed('read, check and replay 100 MB; against read and JSON.parse each line', times, 1.25);
}

/** The least that reading a log can be: no check, no replay. */
async function parseLines(path: string): Promise<unknown[]> {
	const file = await open(path, 'r');
	const chunk = Buffer.allocUnsafe(1 << 20);
	const values: unknown[] = [];
	let rest: Buffer = Buffer.alloc(0);
	for (let position = 0; ; ) {
		const {bytesRead} = await file.read(chunk, 0, chunk.length, position);
		if (bytesRead === 0) break;
		position += bytesRead;
		const data = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
		let start = 0;
		for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, start)) {
			values.push(JSON.parse(data.toString('utf8', start, at)));
			start = at + 1;
		}
		rest = data.subarray(start);
	}
	await file.close();
	return values;
}

export async function appending(folder: string): Promise<Row[]> {
	const rows: Row[] = [];
	const turn: Body[] = [
		question,
		{
			type: 'usage',
			model: 'm',
			inputTokens: 812,
			outputTokens: 41,
			estimated: false,
			ms: 1180,
			finish: 'stop',
			costUsd: null,
		},
		{type: 'message', message: {role: 'assistant', content: 'It is mended; the tests pass.'}},
	];
	const {log} = await SessionLog.create(folder, () => [system, question]);
	const early: number[] = [];
	const late: number[] = [];
	const step = async (times: number[] | undefined) => {
		for (const body of turn) {
			const begun = performance.now();
			await log.append(body);
			times?.push(performance.now() - begun);
		}
	};
	for (let n = 0; n < 10; n++) await step(undefined);
	const before = {written: wroteBytes(), size: statSync(log.path).size};
	for (let n = 0; n < 700; n++) await step(early);
	const atTen = {written: wroteBytes() - before.written, size: statSync(log.path).size - before.size};
	const wakeUps = await wokenBytes(log.path, 700 * turn.length);
	// Up to seq 100,000 in appends of a thousand events, which are not measured.
	for (let n = 0; n < 98; n++) await log.append(...Array.from({length: 1000}, () => question));
	const later = {written: wroteBytes(), size: statSync(log.path).size};
	for (let n = 0; n < 700; n++) await step(late);
	const atMany = {written: wroteBytes() - later.written, size: statSync(log.path).size - later.size};
	await log.close();
	const how = syncing ? 'with sync' : 'without sync';
	rows.push(
		timed(
			`append one event ${how} at seq 100,000; against at seq 10`,
			{ours: median(late), against: median(early)},
			1.2,
		),
	);
	for (const [when, {written, size}] of [['10', atTen] as const, ['10,000', atMany] as const]) {
		if (Number.isNaN(written)) continue;
		const own = written - wakeUps;
		const row = {
			what: `bytes written at turn ${when}; against bytes of its events`,
			ratio: own / size,
			reach: 1.005,
		};
		rows.push({...row, ours: `${own} B`, against: `${size} B`});
	}
	return rows;
}

/** Whether lines are synced is decided when the engine is loaded, so this runs in a process of its own. */
function withoutSync(): Row[] {
	const args = ['--expose-gc', join(import.meta.dirname, 'run.ts'), '--appending'];
	const {stdout, stderr} = spawnSync(process.execPath, args, {
		encoding: 'utf8',
		env: {...process.env, MCA_FSYNC: '0'},
	});
	if (!stdout) throw new Error(stderr);
	return (JSON.parse(stdout) as Row[]).slice(0, 1);
}

/** Bytes that this process handed to write(2); the kernel counts them. */
function wroteBytes(): number {
	try {
		return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
	} catch {
		return Number.NaN;
	}
}

/** What the runtime writes to wake its own threads for as many syncs: counted by the kernel too, but not to any disk. */
async function wokenBytes(path: string, times: number): Promise<number> {
	if (!syncing) return 0;
	const file = await open(path, 'r');
	const before = wroteBytes();
	for (let n = 0; n < times; n++) await promisify(fdatasync)(file.fd);
	const after = wroteBytes();
	await file.close();
	return after - before;
}

async function forking(folder: string): Promise<Row> {
	const sessions = join(folder, 'fork');
	mkdirSync(sessions, {recursive: true});
	const path = join(sessions, 's-20260907-100000-ab12.jsonl');
	copyFileSync(join(folder, '100.jsonl'), path);
	const {events} = await readEvents(path);
	const made: string[] = [];
	const times = await sideBySide(
		3,
		async () => {
			const forked = await fork(path);
			if (!forked.ok) throw new Error(forked.reason);
			await forked.log.close();
			made.push(forked.log.path);
		},
		async () => {
			// Copying alone would not know where the lines end, so the copy reads them too; and it is synced as a fork is.
			await readEvents(path);
			const copy = join(sessions, 'copy');
			copyFileSync(path, copy);
			const file = await open(copy, 'r+');
			await file.sync();
			await file.close();
		},
	);
	for (const each of made) rmSync(each);
	return timed(
		`fork 100 MB (${events.length} events); against reading and copying those bytes, synced`,
		times,
	);
}

async function listing(folder: string): Promise<Row[]> {
	const few = sessionsIn(join(folder, 'few'), 10);
	const many = sessionsIn(join(folder, 'many'), 10_000);
	const [, big = ''] = await sessionFiles(many);
	copyFileSync(join(folder, '100.jsonl'), big);
	const firstPaint = (where: string) => async () => {
		const files = await sessionFiles(where);
		return Promise.all(files.slice(0, 30).map(glance));
	};
	const tenFold = await sideBySide(15, firstPaint(many), firstPaint(few));
	const least = await sideBySide(15, firstPaint(many), async () => {
		await readdir(many);
		return firstPaint(few)();
	});
	return [
		timed('list 10,000 sessions and look at those on the screen; against 10', tenFold),
		timed('the same; against the bare folder listing and 10 of them', least, 2),
	];
}

function sessionsIn(folder: string, count: number): string {
	mkdirSync(folder, {recursive: true});
	const line = (seq: number, body: object) => JSON.stringify({seq, ts: '2026-09-07T10:00:00.000Z', ...body});
	const text = `${line(1, system)}\n${line(2, question)}\n`;
	for (let n = 0; n < count; n++) {
		const id = `s-20260907-${String(n).padStart(6, '0')}-ab12`;
		// Three of them are damaged.
		writeFileSync(join(folder, `${id}.jsonl`), n % 4000 === 5 ? text.slice(0, -9) : text);
	}
	return folder;
}

/** In a process of its own, whose memory the kernel tells. */
function memory(folder: string): Row {
	const path = join(folder, '1000.jsonl');
	const {messageBytes} = writeLog(path, 1e9);
	const program = `
		const {readEvents} = await import(${JSON.stringify(join(import.meta.dirname, '../../src/session/read.ts'))});
		const {Conversation} = await import(${JSON.stringify(join(import.meta.dirname, '../../src/session/replay.ts'))});
		const {events} = await readEvents(process.argv[1]);
		const conversation = new Conversation();
		for (const event of events) if (event.type === 'message') conversation.add(event.message);
		gc();
		console.log(JSON.stringify({rss: process.memoryUsage().rss, peak: process.resourceUsage().maxRSS * 1024, kept: events.length + conversation.messages().length}));
	`;
	const args = ['--expose-gc', '--input-type=module', '--eval', program, path];
	const {stdout, stderr} = spawnSync(process.execPath, args, {encoding: 'utf8'});
	rmSync(path);
	if (!stdout) throw new Error(stderr);
	const {rss} = JSON.parse(stdout);
	return {
		what: 'memory after opening 1 GB; against the bytes of its messages',
		ours: mb(rss),
		against: mb(messageBytes),
		ratio: rss / messageBytes,
		reach: 1.5,
	};
}
