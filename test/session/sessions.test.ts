import {mkdirSync, mkdtempSync, renameSync, utimesSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {expect, test} from 'vitest';
import {recover} from '../../src/session/fork.ts';
import {SessionLog} from '../../src/session/log.ts';
import {readEvents} from '../../src/session/read.ts';
import {
	dataFolder,
	findRecovery,
	findSession,
	glance,
	inspect,
	nextId,
	sessionFiles,
	sessionFolder,
	startOf,
} from '../../src/session/sessions.ts';
import {
	answer,
	events,
	logFile,
	system,
	temporaryFolder,
	turnOne,
	turnTwo,
	usage,
	user,
} from '../helpers/log-file.ts';

const noon = new Date('2026-09-07T12:00:00Z');

test('an id is UTC time and four characters', () => {
	expect(nextId(noon, [])).toMatch(/^s-20260907-120000-[0-9a-z]{4}$/);
	expect(startOf('s-20260907-120000-ab12')).toEqual(noon);
});

test('a new id sorts after every id of its second; past zzzz the second moves on', () => {
	expect(nextId(noon, ['s-20260907-120000-zzzy.jsonl'])).toBe('s-20260907-120000-zzzz');
	expect(nextId(noon, ['s-20260907-120000-zzzz.jsonl'])).toMatch(/^s-20260907-120001-/);
	expect(nextId(noon, ['s-20260907-120000-zzzz.jsonl', 's-20260907-120001-zzzz.jsonl'])).toMatch(
		/^s-20260907-120002-/,
	);
});

test('a thousand ids of one second are in order', () => {
	const names: string[] = [];
	for (let made = 0; made < 1000; made++) names.push(`${nextId(noon, names)}.jsonl`);
	expect(names.toSorted()).toEqual(names);
});

test('the data folder is $MCA_HOME, else the XDG one, else the platform’s', () => {
	expect(dataFolder({MCA_HOME: '/m', XDG_DATA_HOME: '/x'}, 'linux')).toBe('/m');
	expect(dataFolder({XDG_DATA_HOME: '/x'}, 'linux')).toBe('/x/mca');
	expect(dataFolder({}, 'linux')).toMatch(/\/\.local\/share\/mca$/);
	expect(dataFolder({}, 'darwin')).toMatch(/Library\/Application Support\/mca$/);
});

test('folders of the same name at different places keep their sessions apart', () => {
	const root = temporaryFolder();
	const places = ['a/proj', 'b/proj'].map((place) => join(root, place));
	for (const place of places) mkdirSync(place, {recursive: true});
	const [a, b] = places.map((place) => sessionFolder('/data', place));
	expect(a).toMatch(/^\/data\/sessions\/proj-[0-9a-f]{8}$/);
	expect(a).not.toBe(b);
});

test('the list is newest id first, whatever the files’ times are, and holds session files only', async () => {
	const folder = temporaryFolder();
	const ids = ['s-20260101-000000-aaaa', 's-20260301-000000-aaaa', 's-20260201-000000-aaaa'];
	for (const id of ids) writeFileSync(join(folder, `${id}.jsonl`), '');
	writeFileSync(join(folder, '.new-1-s-20260401-000000-aaaa'), '');
	writeFileSync(join(folder, 'notes.jsonl'), '');
	mkdirSync(join(folder, 's-20260501-000000-aaaa.jsonl'));
	utimesSync(join(folder, 's-20260101-000000-aaaa.jsonl'), new Date(), new Date());
	expect((await sessionFiles(folder)).map((path) => basename(path, '.jsonl'))).toEqual([
		's-20260301-000000-aaaa',
		's-20260201-000000-aaaa',
		's-20260101-000000-aaaa',
	]);
	expect(await sessionFiles(join(folder, 'nowhere'))).toEqual([]);
});

test('an id is found whichever workspace it belongs to, also after that was renamed', async () => {
	const data = temporaryFolder();
	const workspace = mkdtempSync(join(temporaryFolder(), 'w'));
	const {log} = await SessionLog.create(sessionFolder(data, workspace), () => [system, user('hi')]);
	renameSync(workspace, `${workspace}-moved`);
	expect(await findSession(data, log.id)).toBe(log.path);
	expect(await findSession(data, 's-20260101-000000-none')).toBeUndefined();
	expect(await findSession(data, '../../etc/passwd')).toBeUndefined();
});

test('a glance shows the first prompt, the last activity and the size', async () => {
	const log = events([...turnOne, ...turnTwo]);
	const file = logFile(...log);
	expect(await glance(file.path)).toEqual({
		id: file.id,
		path: file.path,
		size: file.bytes().length,
		title: 'run the tests',
		lastActivity: new Date(log.at(-1)?.ts ?? ''),
	});
});

test('a name that was given is the title, wherever in a long log it stands', async () => {
	const padding = Array.from({length: 200}, () => user('x'.repeat(1000)));
	const file = logFile(
		...events([system, user('first'), ...padding, {type: 'name', title: 'the real one'}, usage()]),
	);
	expect((await glance(file.path)).title).toBe('the real one');
});

test.each([
	['an empty file', ''],
	['NUL bytes', '\0'.repeat(9000)],
	['text', 'not json\n'],
])('%s is listed like any other', async (_name, content) => {
	const file = logFile().append(content);
	expect(await glance(file.path)).toMatchObject({id: file.id, title: '', size: content.length});
	expect(await inspect(file.path)).toMatchObject({turns: 0});
});

test('a file that cannot be read is a row with a sentence', async () => {
	const path = join(temporaryFolder(), 's-20260907-100000-ab12.jsonl');
	expect((await glance(path)).problem).toMatch(/^This session cannot be read: ENOENT/);
});

test('reading a log through tells its turns, its parent and how it ends', async () => {
	const file = logFile(...events([...turnOne, ...turnTwo])).cutLastLine();
	expect(await inspect(file.path)).toMatchObject({turns: 2, end: {at: 'cut', line: 19}});
});

test('the newest recovery of the same cut of the same file is found, and no other', async () => {
	const file = logFile(...events([...turnOne, ...turnTwo])).cutLastLine();
	const {events: read, end, bytes} = await readEvents(file.path);
	if (end.at !== 'cut') throw new Error('expected a cut log');
	const {at, ...cut} = end;
	expect(await findRecovery(file.path, {events: read, cut})).toBeUndefined();
	await recover(file.path, {events: read, bytes, cut}, [user('one')]);
	const second = await recover(file.path, {events: read, bytes, cut}, [user('two'), answer('2')]);
	await recover(file.path, {events: read.slice(0, 2), bytes, cut: {...cut, line: 3}}, [user('other')]);
	expect(await findRecovery(file.path, {events: read, cut})).toBe(second.log.path);
});
