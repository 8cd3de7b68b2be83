import {existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {expect, test} from 'vitest';
import type {Event} from '../../src/session/events.ts';
import {sessionFolder} from '../../src/session/sessions.ts';
import {agentWorld, saying, text} from '../helpers/agent.ts';
import {answer, events, line, logFile, system, turnOne, turnTwo, user} from '../helpers/log-file.ts';
import {ctrl, keyOf, openScreen} from './screen.tsx';

const both = events([...turnOne, ...turnTwo]);

async function forking(size: {columns?: number; rows?: number} = {}) {
	const file = logFile(...both);
	const gateway = saying(text('Something else.'));
	const world = agentWorld({gateway});
	const screen = await openScreen({...world, open: file.path, ...size});
	await screen.until('idle');
	return {file, gateway, world, screen};
}

test('the fork picker lists the clean boundaries, with the conversation as it was there', async () => {
	const {screen} = await forking();
	await screen.press('/fork\r');
	await screen.until('Fork: go on from here in a new session');
	const listed = screen.lines().flatMap((row) => /^ (❯| ) (\d+) /.exec(row)?.[2] ?? []);
	expect(listed).toEqual(['2', '8', '9', '19']);
	expect(screen.text()).toMatch(/^ ❯ 19 +All 4 cases pass\..*│/m);
	expect(screen.text()).toContain('0 later events stay out.');
	await screen.press(keyOf.up, keyOf.up);
	await screen.until(/^ ❯ 8 /m);
	expect(screen.text()).toContain('11 later events stay out. Files stay as they are now.');
	expect(screen.text()).not.toMatch(/│ .*then fix it/);
	expect(screen.text()).toMatch(/│ .*The failing case is/);
});

test('Enter forks there, and the parent stays as it is', async () => {
	const {screen, world, file, gateway} = await forking();
	const before = file.hash();
	await screen.press('/fork\r');
	await screen.until('Fork: go on');
	// Several keys in one chunk, as a fast typist's terminal sends them.
	await screen.press(`${keyOf.up}${keyOf.up}\r`);
	await screen.until(`Forked ${file.id} at 8. Files of the workspace are as they were.`);
	expect(world.agent.events.at(-1)).toMatchObject({type: 'fork', from: file.id, atSeq: 8});
	expect(screen.text()).not.toContain('then fix it');
	expect(file.hash()).toBe(before);
	await screen.press('what else?\r');
	await screen.until('Something else.');
	expect(gateway.requests[0]?.messages.map((message) => message.role)).toEqual([
		'system',
		'user',
		'assistant',
		'tool',
		'assistant',
		'user',
	]);
	expect(file.hash()).toBe(before);
});

test('a fork at a question says that its answer is owed', async () => {
	const {screen} = await forking();
	await screen.press('/fork 9\r');
	await screen.until('Enter asks the model for the answer it owes');
	await screen.press(keyOf.enter);
	await screen.until('Something else.');
});

test('a point that is none is refused with those that are', async () => {
	const {screen, file} = await forking();
	await screen.press('/fork 4\r');
	await screen.until('Event 4 is not a fork point: its tool calls have no results at that point.');
	expect(screen.text()).toContain(file.id);
});

test('e asks a question differently: a fork before it, with its text to be changed', async () => {
	const {screen, world, file} = await forking();
	await screen.press('/fork\r');
	await screen.until('Fork: go on');
	await screen.press(keyOf.up, 'e');
	await screen.until(`Forked ${file.id} at 8.`);
	await screen.until(/^ ❯ then fix it$/m);
	expect(world.agent.session?.id).not.toBe(file.id);
	expect(world.agent.events.at(-1)).toMatchObject({type: 'fork', atSeq: 8});
	expect(screen.text()).toContain('The failing case is');
});

test('e on the first question opens a new session with its text', async () => {
	const {screen, world} = await forking();
	await screen.press('/fork\r');
	await screen.until('Fork: go on');
	await screen.press(keyOf.home, 'e');
	await screen.until('❯ run the tests');
	expect(screen.text()).toContain('new session');
	expect(world.agent.session).toBeNull();
});

test('e on an answer says what it is for', async () => {
	const {screen} = await forking();
	await screen.press('/fork\r');
	await screen.until('Fork: go on');
	await screen.press('e');
	await screen.until('choose one of your own messages');
});

test.each([
	['two presses', [keyOf.escape, keyOf.escape]],
	['one chunk', [keyOf.escape + keyOf.escape]],
])('Esc twice opens the fork picker, as %s', async (_, chunks) => {
	const {screen} = await forking();
	await screen.press(...chunks);
	await screen.until('Fork: go on');
	await screen.press(keyOf.escape);
	await screen.until('Enter send');
});

test('Esc twice leaves a draft alone', async () => {
	const {screen} = await forking();
	await screen.press('x', keyOf.escape, keyOf.escape, 'y');
	await screen.until('❯ xy');
});

test('on a narrow screen there is no preview', async () => {
	const {screen} = await forking({columns: 60, rows: 20});
	await screen.press('/fork\r');
	await screen.until('Fork: go on');
	expect(screen.text()).not.toContain('│');
	expect(screen.text()).toMatch(/^ ❯ 19 +All 4 cases pass\.$/m);
});

test('without a question there is nothing to fork', async () => {
	const screen = await openScreen(agentWorld({gateway: saying()}));
	await screen.until('idle');
	await screen.press('/fork\r');
	await screen.until('There is no point to fork at yet');
});

/** A workspace with these sessions, oldest first; a string is what stands in the file as it is. */
function sessions(...contents: (readonly Event[] | string)[]) {
	const world = agentWorld({gateway: saying(text('I remember.'))});
	const folder = sessionFolder(world.data, world.workspace);
	mkdirSync(folder, {recursive: true});
	const ids = contents.map((content, index) => {
		const id = `s-20260907-10000${index}-${'abcdefgh'[index]}000`;
		const lines = typeof content === 'string' ? content : content.map(line).join('');
		writeFileSync(join(folder, `${id}.jsonl`), lines.replaceAll('/home/me/calculator', world.workspace));
		return id;
	});
	return {world, folder, ids};
}

const asking = (question: string) => events([system, user(question), answer(`About ${question}.`)]);

test('the resume picker lists sessions newest first, with what is known of them', async () => {
	const cut = asking('broken things').map(line).join('').slice(0, -20);
	const {world} = sessions(both, asking('the weather'), cut, '');
	const screen = await openScreen({...world, pick: true});
	await screen.until(/⚠ cut {2}1 turn/);
	const listed = screen.lines().filter((row) => /^ [❯ ] [a-h]000 /.test(row));
	expect(listed).toEqual([
		expect.stringMatching(/^ ❯ d000 {2}\(empty\) .*0 B/),
		expect.stringMatching(/^ {3}c000 {2}broken things +⚠ cut {2}1 turn {2}\d+ B/),
		expect.stringMatching(/^ {3}b000 {2}the weather +(1 turn {2})?\d+ B +\d+ d ago/),
		expect.stringMatching(/^ {3}a000 {2}run the tests +(2 turns {2})?\d\.\d kB/),
	]);
	await screen.until(/a000 {2}run the tests +2 turns/);
});

test('typing filters, and Enter opens what is selected', async () => {
	const {world, ids} = sessions(both, asking('the weather'), asking('the train'));
	const screen = await openScreen(world);
	await screen.until('idle');
	await screen.press('/resume\r');
	await screen.until('the train');
	await screen.press('the wea');
	await screen.until((shown) => !shown.includes('the train'));
	await screen.press(keyOf.enter);
	await screen.until('About the weather.');
	await screen.until('3 messages replayed, 0 events left out, 0 tokens so far');
	expect(world.agent.session?.id).toBe(ids[1]);
	await screen.press('and now?\r');
	await screen.until('I remember.');
});

test('a filter typed with its Enter in one chunk opens too, and so do arrows', async () => {
	const {world, ids} = sessions(both, asking('the weather'), asking('the train'));
	const screen = await openScreen({...world, pick: true});
	await screen.until('the train');
	await screen.press('weather\r');
	await screen.until('3 messages replayed');
	await screen.press('/resume\r');
	await screen.until('the train');
	await screen.press(`${keyOf.down}${keyOf.down}\r`);
	await screen.until('11 messages replayed');
	expect(world.agent.session?.id).toBe(ids[0]);
});

test('a filter that nothing matches says so, and Enter does nothing', async () => {
	const {world} = sessions(both);
	const screen = await openScreen({...world, pick: true});
	await screen.until('run the tests');
	await screen.press('zebra');
	await screen.until('No session of 1 matches.');
	await screen.press(keyOf.enter, keyOf.down, keyOf.up);
	expect(screen.text()).toContain('No session of 1 matches.');
});

test('without sessions the picker says so, and Esc begins a new one', async () => {
	const {world} = sessions();
	const screen = await openScreen({...world, pick: true});
	await screen.until('This folder has no session yet.');
	await screen.press(keyOf.escape);
	await screen.until('Enter send');
});

test('a session that cannot be read is listed with its reason, and opening it says so', async () => {
	const {world, folder} = sessions(both);
	symlinkSync('/nowhere/at/all', join(folder, 's-20260907-110000-b000.jsonl'));
	const screen = await openScreen({...world, pick: true});
	await screen.until(/❯ b000 {2}This session cannot be read: ENOENT/);
	await screen.press(keyOf.enter);
	await screen.until(/^ This session cannot be read: ENOENT/m);
	await screen.press(keyOf.down, keyOf.enter);
	await screen.until('All 4 cases pass.');
});

test('a title that a terminal would act on is a title like any other', async () => {
	const {world} = sessions(asking('\x1b]0;owned\x07\x1b[2Jhello\r\n\u202ethere'), asking('plain'));
	const screen = await openScreen({...world, pick: true});
	await screen.until('hello there');
	expect(screen.bytes()).not.toMatch(/\x1b\]|\x1b\[2J|\u202e/);
});

test('/resume with an id opens that session, and says so where there is none', async () => {
	const {world, ids} = sessions(both, asking('the weather'));
	const screen = await openScreen(world);
	await screen.until('idle');
	await screen.press('/resume s-20260907-100009-zzzz\r');
	await screen.until('There is no session s-20260907-100009-zzzz.');
	await screen.press(`/resume ${ids[1]}\r`);
	await screen.until('About the weather.');
});

test('Ctrl+C closes a picker and nothing else', async () => {
	const {world} = sessions(both);
	const screen = await openScreen({...world, pick: true});
	await screen.until('run the tests');
	await screen.press(ctrl('c'));
	await screen.until('Enter send');
	await screen.press('still here');
	await screen.until('❯ still here');
});

test('a cut session says at which line and why when it is selected', async () => {
	const cut = asking('broken things').map(line).join('').slice(0, -20);
	const {world} = sessions(asking('the weather'), cut);
	const screen = await openScreen({...world, pick: true});
	await screen.until('stops at line 3: the line does not end');
});

test('the selected session shows how it ends, beside the list', async () => {
	const {world} = sessions(asking('the weather'), asking('the train'));
	const screen = await openScreen({...world, pick: true});
	await screen.until('About the train.');
	await screen.press(keyOf.down);
	await screen.until('About the weather.');
});

test('Del asks twice, then the session lies in the trash, byte for byte', async () => {
	const {world, ids, folder} = sessions(asking('the weather'), asking('the train'));
	const path = join(folder, `${ids[1]}.jsonl`);
	const before = readFileSync(path);
	const screen = await openScreen({...world, pick: true});
	await screen.until('the train');
	await screen.press('\x1b[3~');
	await screen.until('Move “the train” to the trash?');
	await screen.press('\x1b[3~');
	await screen.until('Really?');
	expect(readFileSync(path)).toEqual(before);
	await screen.press('\x1b[3~');
	await screen.until((shown) => !shown.includes('the train'));
	const trash = join(world.data, 'trash', basename(folder), `${ids[1]}.jsonl`);
	expect(readFileSync(trash)).toEqual(before);
	expect(existsSync(path)).toBe(false);
});

test('Tab lists the sessions of every folder', async () => {
	const {world} = sessions(asking('the weather'));
	const other = join(world.data, 'sessions', 'elsewhere-00000000');
	mkdirSync(other, {recursive: true});
	writeFileSync(join(other, 's-20300101-000000-zzzz.jsonl'), asking('another folder').map(line).join(''));
	const screen = await openScreen({...world, pick: true});
	await screen.until('the weather');
	expect(screen.text()).not.toContain('another folder');
	await screen.press(keyOf.tab);
	await screen.until(/zzzz {2}elsewhere {2}another folder/);
	await screen.press(keyOf.tab);
	await screen.until((shown) => !shown.includes('another folder'));
});

test('/rename gives a name that the picker shows', async () => {
	const {world} = sessions(asking('the weather'));
	const screen = await openScreen({...world, pick: true});
	await screen.until('the weather');
	await screen.press(keyOf.enter);
	await screen.until('3 messages replayed');
	await screen.press('/rename umbrella or not\r');
	await screen.until('This session is now named umbrella or not.');
	await screen.press('/resume\r');
	await screen.until(/❯ \w{4} {2}umbrella or not/);
});

test('two sessions that are marked are shown side by side, from where they part', async () => {
	const shared = asking('the weather');
	const {world} = sessions(
		[...shared, ...events([user('and then?'), answer('Rain.')], 4)],
		[...shared, ...events([user('or else?'), answer('Sun.')], 4)],
	);
	const screen = await openScreen({...world, pick: true});
	await screen.until(/1 turn|2 turns/);
	await screen.press('\x1b[C');
	await screen.until(/❯ = b000/);
	await screen.press(keyOf.down, '\x1b[C');
	await screen.until('3 events in common, the last is 3');
	expect(screen.text()).toMatch(/❯ or else\? +│ ❯ and then\?/);
	expect(screen.text()).toMatch(/Sun\. +│ +Rain\./);
	await screen.press(keyOf.escape);
	await screen.until('Enter send');
});
