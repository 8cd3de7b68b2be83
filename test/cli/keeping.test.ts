import {appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {lockSession} from '../../src/session/lock.ts';
import {a, lines, makeScene, turn} from './scene.ts';

// --- mca path ---

test('path prints where the file of a session is', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...turn('first'));
	expect(await scene.run(['path', a])).toMatchObject({status: 0, stdout: `${path}\n`});
	expect(await scene.json('path', a, '--json')).toEqual([{id: a, path}]);
});

// --- mca rename ---

test('rename appends the name, and it is what the lists show', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...turn('first'));
	const before = readFileSync(path, 'utf8');
	expect(await scene.json('rename', a, 'A', 'better\tname', '--json')).toEqual([
		{id: a, title: 'A better name', seq: 5},
	]);
	expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true);
	expect(scene.log(a).at(-1)).toMatchObject({seq: 5, type: 'name', title: 'A better name'});
	expect((await scene.run(['sessions'])).stdout).toContain('A better name');
});

test('a cut session and one that is held keep their name, with a sentence', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...turn('first'));
	const {lock} = await held(path);
	const refused = await scene.run(['rename', a, 'new']);
	expect(refused.stderr).toMatch(
		new RegExp(`^mca: Session ${a} is open in process ${process.pid} since .*\\.\n$`),
	);
	expect(refused.status).toBe(1);
	await lock.release();

	appendFileSync(path, '{"seq"');
	const bytes = readFileSync(path);
	expect(await scene.run(['rename', a, 'new'])).toMatchObject({
		status: 1,
		stderr: `mca: Session ${a} stops at line 5: the line does not end. 6 bytes from there on are ignored and left as they are. Nothing is appended to it, so it keeps its name.\n`,
	});
	expect(readFileSync(path)).toEqual(bytes);
	expect((await scene.run(['rename', a, '\u200b'])).stderr).toBe(
		'mca: A name needs a character that can be seen.\n',
	);
});

// --- mca rm ---

test('rm --yes moves a session and its spilled output to the trash, byte for byte', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...turn('first'));
	const bytes = readFileSync(path);
	const spill = join(scene.home, 'spill', a);
	mkdirSync(spill, {recursive: true});
	writeFileSync(join(spill, 'c1.txt'), 'long');
	const to = join(scene.home, 'trash', basename(dirname(path)), `${a}.jsonl`);
	expect(await scene.json('rm', a, '--yes', '--json')).toEqual([{id: a, from: path, to}]);
	expect(readFileSync(to)).toEqual(bytes);
	expect(readFileSync(join(dirname(to), a, 'c1.txt'), 'utf8')).toBe('long');
	expect([existsSync(path), existsSync(spill)]).toEqual([false, false]);

	scene.session(a, ...turn('again'));
	expect(await scene.json('rm', a, '--yes', '--json')).toEqual([{id: a, from: path, to: `${to}.2`}]);
	expect(readFileSync(to)).toEqual(bytes);
});

test('rm without a terminal, or of a session that is held, removes nothing', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...turn('first'));
	expect(await scene.run(['rm', a])).toMatchObject({
		status: 2,
		stderr: `mca: mca rm asks before it removes ${a}, and nobody is there to be asked. --yes removes it unasked.\n`,
	});
	await held(path);
	const refused = await scene.run(['rm', a, '--yes']);
	expect(refused.stderr).toMatch(
		new RegExp(`^mca: Session ${a} is open in process ${process.pid} .* It was not removed\\.\n$`),
	);
	expect(refused.status).toBe(1);
	expect(existsSync(path)).toBe(true);
});

test('rm asks twice, and anything but both answers leaves the session', async () => {
	const scene = makeScene();
	const path = scene.session(a, ...turn('first'));
	const asked = async (...answers: string[]) => {
		const terminal = scene.open({args: ['rm', a]});
		const questions = [`Remove ${a} “first” (1 turn, `, 'Type aaaa, the end of its id, to remove it:'];
		for (const [index, answer] of answers.entries()) {
			await terminal.until(questions[index] ?? '');
			terminal.type(answer);
		}
		const {status} = await terminal.exit();
		return [status, lines(terminal.text()).at(-1)];
	};
	const left = [1, 'Nothing was removed.'];
	expect(await asked('\r')).toEqual(left);
	expect(await asked('n\r')).toEqual(left);
	expect(await asked('y\r', 'y\r')).toEqual(left);
	expect(await asked('y\r', '\u0003')).toEqual(left);
	expect(existsSync(path)).toBe(true);
	expect(await asked('y\r', 'aaaa\r')).toEqual([0, expect.stringContaining(`${a} is in the trash: `)]);
	expect(existsSync(path)).toBe(false);
});

async function held(path: string) {
	const locked = await lockSession(path);
	if (!locked.ok) throw new Error('somebody else has it');
	onTestFinished(() => locked.lock.release());
	return locked;
}

// --- all of them ---

test('every command explains itself with an example', async () => {
	const scene = makeScene();
	const commands = 'sessions log cost blame compare tree find export rm rename path'.split(' ');
	const {stdout} = await scene.run(['--help']);
	for (const command of commands) {
		expect(stdout).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
		const help = await scene.run([command, '--help']);
		expect(help.stdout).toMatch(
			new RegExp(`^Usage: mca ${command} [\\s\\S]*^Examples:\n {2}\\$ mca .*${command}`, 'm'),
		);
		expect(help.status).toBe(0);
	}
});
