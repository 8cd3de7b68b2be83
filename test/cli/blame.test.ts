import {mkdirSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {answer, events, user} from '../helpers/log-file.ts';
import {prompts} from '../helpers/terminal.ts';
import {a, b, lines, makeScene, sha256, writes} from './scene.ts';

const [one, two] = ['one\n', 'one\ntwo\n'];
const first = [user('make it'), ...writes('notes.txt', null, one), answer('Made.')];

/** A session that made notes.txt, and a fork of it that added a line. */
function twoSessions(scene: ReturnType<typeof makeScene>) {
	scene.session(a, ...first);
	scene.forked(b, a, first, user('add to it'), ...writes('notes.txt', one, two), answer('Added.'));
	writeFileSync(join(scene.workspace, 'notes.txt'), two);
}

test('blame --json tells each edit once: session, turn, prompt, model, call, and what became of it', async () => {
	const scene = makeScene();
	twoSessions(scene);
	const call = (content: string) => ({
		id: 'w1',
		name: 'write_file',
		args: JSON.stringify({path: 'notes.txt', content}),
	});
	expect(await scene.json('blame', 'notes.txt', '--json')).toEqual([
		{
			file: join(scene.workspace, 'notes.txt'),
			sha256: sha256(two),
			edits: [
				{
					session: b,
					seq: 10,
					ts: '2026-09-07T10:00:10.000Z',
					turn: 2,
					prompt: 'add to it',
					model: 'gpt-5-mini',
					tool: 'write_file',
					call: call(two),
					path: 'notes.txt',
					before: sha256(one),
					after: sha256(two),
					added: 1,
					removed: 0,
					since: {is: 'the file now'},
				},
				{
					session: a,
					seq: 4,
					ts: '2026-09-07T10:00:04.000Z',
					turn: 1,
					prompt: 'make it',
					model: 'gpt-5-mini',
					tool: 'write_file',
					call: call(one),
					path: 'notes.txt',
					before: null,
					after: sha256(one),
					added: 1,
					removed: 0,
					since: {is: 'edited', session: b, seq: 10},
				},
			],
		},
	]);
});

test('blame says whether the file still is what the last edit left', async () => {
	const scene = makeScene();
	twoSessions(scene);
	const file = join(scene.workspace, 'notes.txt');
	const said = async () =>
		lines((await scene.run(['blame', 'notes.txt'])).stdout).map((row) => row.trim().replace(/ {2,}/g, '|'));
	expect(await said()).toEqual([
		`${file}|is as the last edit left it`,
		'time|session|seq|turn|model|call|+|−|since|prompt',
		`2026-09-07 10:00:10|${b}|10|2|gpt-5-mini|write_file|+1|−0|the file now|add to it`,
		`2026-09-07 10:00:04|${a}|4|1|gpt-5-mini|write_file|+1|−0|edited by bbbb 10|make it`,
	]);
	writeFileSync(file, 'by hand\n');
	const [state, , newest] = await said();
	expect(state).toBe(`${file}|was changed outside of mca’s edits since the last one`);
	expect(newest).toContain('|changed outside|');
	rmSync(file);
	expect((await said())[0]).toBe(`${file}|is not there now`);
});

test('blame FILE:LINE names the call that wrote the line', async () => {
	const scene = makeScene();
	twoSessions(scene);
	expect(await scene.json('blame', 'notes.txt:2', '--json')).toEqual([
		{
			file: join(scene.workspace, 'notes.txt'),
			line: 2,
			text: 'two',
			from: 'edit',
			edit: expect.objectContaining({session: b, seq: 10, prompt: 'add to it'}),
		},
	]);
	const {stdout} = await scene.run(['blame', 'notes.txt:1']);
	expect(stdout).toBe(
		`1  one\nWritten by ${a}, turn 1, event 4 (write_file of gpt-5-mini, 2026-09-07 10:00:04).\n“make it”\n`,
	);
	writeFileSync(join(scene.workspace, 'notes.txt'), 'one\nby hand\n');
	expect((await scene.run(['blame', 'notes.txt:2'])).stdout).toContain(
		`Written outside of mca's edits, after ${b}, turn 2`,
	);
	expect(await scene.run(['blame', 'notes.txt:9'])).toMatchObject({
		status: 2,
		stderr: `mca: ${join(scene.workspace, 'notes.txt')} has 2 lines, so it has no line 9.\n`,
	});
});

test('blame answers for a file that no session edited', async () => {
	const scene = makeScene();
	twoSessions(scene);
	const readme = join(scene.workspace, 'README.md');
	expect(await scene.run(['blame', 'README.md'])).toMatchObject({
		status: 0,
		stdout: `No session has recorded an edit of ${readme}.\n`,
	});
	expect((await scene.run(['blame', 'src'])).stderr).toBe(
		`mca: ${join(scene.workspace, 'src')} is a folder. mca blame takes a file.\n`,
	);
	expect((await scene.run(['blame', 'README.md:1'])).stdout).toContain(
		'No recorded edit tells where it comes from.',
	);
});

test('blame answers from wherever it is asked, and for a file that was moved with its workspace', async () => {
	const scene = makeScene();
	const id = await scene.played(prompts.ask, prompts.fix);
	const asked = async (cwd: string, ...args: string[]) => {
		const {stdout} = await scene.run(['blame', '--json', ...args], {cwd});
		const {edits} = JSON.parse(stdout) as {edits: {session: string; since: object}[]};
		return edits.map(({session, since}) => [session, since]);
	};
	const answer = [[id, {is: 'the file now'}]];
	expect(await asked(scene.workspace, 'src/calc.js')).toEqual(answer);
	expect(await asked(join(scene.workspace, 'src'), 'calc.js')).toEqual(answer);
	expect(await asked(scene.root, 'src/calc.js', '-C', scene.workspace)).toEqual(answer);
	const moved = join(scene.root, 'elsewhere', 'calculator');
	mkdirSync(join(scene.root, 'elsewhere'));
	renameSync(scene.workspace, moved);
	expect(await asked(moved, 'src/calc.js')).toEqual(answer);
	expect(await asked(join(moved, 'src'), 'calc.js')).toEqual(answer);
});

test('a file of the same name in another folder is not the one that was edited', async () => {
	const scene = makeScene();
	const gone = join(scene.root, 'gone');
	mkdirSync(gone);
	scene.put(a, events([scene.head(gone), ...first]), gone);
	rmSync(gone, {recursive: true});
	writeFileSync(join(scene.workspace, 'notes.txt'), 'something else\n');
	expect(await scene.json('blame', 'notes.txt', '--json')).toMatchObject([{edits: []}]);
});
