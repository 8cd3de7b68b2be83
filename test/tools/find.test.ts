import {execFileSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {LIST_FILES, SEARCH_BYTES, SEARCH_MATCHES} from '../../src/tools/limits.ts';
import {scene} from './scene.ts';

test('files are listed sorted, hidden ones too, but not .git and not what .gitignore names', async () => {
	const {run} = scene({
		'b.ts': '',
		'a/z.ts': '',
		'.github/ci.yml': '',
		'.git/HEAD': '',
		'.gitignore': 'dist/\n*.log\n',
		'dist/x.js': '',
		'a/x.log': '',
	});
	expect(await run('list_files', {})).toEqual({
		ok: true,
		content: '.github/ci.yml\n.gitignore\na/z.ts\nb.ts',
		summary: '4 files',
		truncated: false,
	});
	expect((await run('list_files', {path: 'a'})).content).toBe('a/z.ts');
	expect((await run('list_files', {glob: '*.ts'})).content).toBe('a/z.ts\nb.ts');
	expect((await run('list_files', {glob: '.git/**'})).content).toBe('No files in . match .git/**.');
});

test('what may hold secrets is left out and counted, unless it is asked for by its name', async () => {
	const {run} = scene({
		'.env': 'KEY=needle',
		'.env.example': 'KEY=needle',
		'a.pem': 'needle',
		'.aws/credentials': 'needle',
	});
	expect((await run('list_files', {})).content).toBe(
		'.env.example\n\n3 files that may hold secrets left out.',
	);
	expect((await run('list_files', {path: '.aws'})).content).toBe('.aws/credentials');
	const found = await run('search', {pattern: 'needle'});
	expect(found.content).toBe(
		'.env.example\n1: KEY=needle\n\n3 files with matches left out, since they may hold secrets.',
	);
	expect((await run('search', {pattern: 'needle', path: '.env'})).content).toBe('.env\n1: KEY=needle');
});

test('the folders of mca itself are never listed or searched', async () => {
	const {run, at} = scene({'own/log.txt': 'needle', 'own-not/a.txt': 'needle'});
	const forbidden = [at('own')];
	expect((await run('list_files', {}, {forbidden})).content).toBe('own-not/a.txt');
	expect((await run('search', {pattern: 'needle'}, {forbidden})).content).toBe('own-not/a.txt\n1: needle');
});

test('a long list is cut and says how much there is', async () => {
	const many = Object.fromEntries(
		Array.from({length: LIST_FILES + 5}, (_, i) => [`f${String(i).padStart(5, '0')}`, '']),
	);
	const {content, truncated, summary} = await scene(many).run('list_files', {});
	expect(content).toMatch(/^f00000\nf00001\n/);
	expect(content).toMatch(/\n\nThe first 1000 of 1005 files are shown\. /);
	expect({truncated, summary}).toEqual({truncated: true, summary: '1005 files'});
});

test('a file or nothing is not a folder', async () => {
	const {run} = scene({'a.ts': ''});
	expect(await run('list_files', {path: 'a.ts'})).toMatchObject({
		ok: false,
		content: expect.stringContaining('not a folder'),
	});
	expect(await run('list_files', {path: 'b'})).toMatchObject({
		ok: false,
		content: expect.stringContaining('does not exist'),
	});
	expect(await run('search', {pattern: 'x', path: 'b'})).toMatchObject({
		ok: false,
		content: expect.stringContaining('does not exist'),
	});
});

test('links are not followed out of the workspace', async () => {
	const {run, outside, at} = scene({'a.txt': 'needle'});
	writeFileSync(join(outside, 'b.txt'), 'needle');
	symlinkSync(outside, at('out'));
	symlinkSync(join(outside, 'b.txt'), at('b.txt'));
	expect((await run('list_files', {})).content).not.toContain('out/b.txt');
	expect((await run('search', {pattern: 'needle'})).content).toBe('a.txt\n1: needle');
	expect((await run('search', {pattern: 'needle', path: 'out'})).content).toContain('outside the workspace');
	expect((await run('list_files', {path: 'out'})).content).toContain('outside the workspace');
});

test('matches come below their path, with lines around them if wanted', async () => {
	const {run} = scene({'a.ts': 'one\n\ttwo needle\r\nthree\nfour\nfive\nneedle', 'src/b.ts': 'Needle (x'});
	expect(await run('search', {pattern: 'needle'})).toEqual({
		ok: true,
		content: 'a.ts\n2: \ttwo needle\n6: needle',
		summary: '2 matches in 1 file',
		truncated: false,
	});
	expect((await run('search', {pattern: 'needle', context_lines: 1})).content).toBe(
		'a.ts\n1- one\n2: \ttwo needle\n3- three\n--\n5- five\n6: needle',
	);
	expect((await run('search', {pattern: 'needle', ignore_case: true, glob: 'src/*'})).content).toBe(
		'src/b.ts\n1: Needle (x',
	);
	expect((await run('search', {pattern: '(x', literal: true})).content).toBe('src/b.ts\n1: Needle (x');
	expect(await run('search', {pattern: '--nope'})).toMatchObject({
		ok: true,
		content: 'No matches for --nope in ..',
	});
	expect(await run('search', {pattern: '(x'})).toMatchObject({
		ok: false,
		content: expect.stringContaining('unclosed group'),
	});
});

test('38: a match in a line of megabytes is shown with what is around it', async () => {
	const line = `${'x;'.repeat(800_000)}needle${';y'.repeat(700_000)}`;
	const {content} = await scene({'min.js': `${line}\nneedle`}).run('search', {pattern: 'needle'});
	const [path, long, short] = content.split('\n');
	expect([path, short]).toEqual(['min.js', '2: needle']);
	expect(long).toMatch(/^1: ….*x;needle;y.*…$/);
	expect(long?.length).toBeLessThan(520);
});

test('a line with very many matches is one match', async () => {
	const {content} = await scene({'min.js': 'ab'.repeat(500_000)}).run('search', {pattern: 'a'});
	expect(content.length).toBeLessThan(600);
	expect(content).toMatch(/^min\.js\n1: abab/);
});

test('many matches are cut in number and in bytes', async () => {
	const {run} = scene({'a.txt': 'needle\n'.repeat(5000), 'b.txt': `beetle${'é'.repeat(400)}\n`.repeat(500)});
	const many = await run('search', {pattern: 'needle'});
	expect(many).toMatchObject({truncated: true, summary: `first ${SEARCH_MATCHES} matches in 1 file`});
	expect(many.content).toContain(`Only the first ${SEARCH_MATCHES} matches are shown; there are more.`);
	const long = await run('search', {pattern: 'beetle'});
	expect(long.truncated).toBe(true);
	expect(Buffer.byteLength(long.content)).toBeLessThan(SEARCH_BYTES + 2000);
});

test('66: escape sequences in a matching line and in a file name do not come through', async () => {
	const {run, put} = scene();
	put('a\x1b[2J.txt', 'needle \x1b]52;c;x\x07\x1b]0;never');
	expect((await run('search', {pattern: 'needle'})).content).toBe('a.txt\n1: needle ');
	expect((await run('list_files', {})).content).toBe('a.txt');
});

test('a ripgrep config is not read, so it cannot name a program to run', async () => {
	const {run, root, at} = scene({'a.txt': 'needle'});
	writeFileSync(join(root, 'evil.sh'), `#!/bin/sh\ntouch '${at('pwned')}'\ncat`);
	chmodSync(join(root, 'evil.sh'), 0o755);
	writeFileSync(join(root, 'rgrc'), `--pre=${join(root, 'evil.sh')}\n`);
	process.env.RIPGREP_CONFIG_PATH = join(root, 'rgrc');
	onTestFinished(() => void delete process.env.RIPGREP_CONFIG_PATH);
	expect((await run('search', {pattern: 'needle'})).content).toBe('a.txt\n1: needle');
	await run('list_files', {});
	expect(existsSync(at('pwned'))).toBe(false);
});

test('a pipe in the workspace does not block a search, named or not', async () => {
	const {run, at} = scene({'a.txt': 'needle'});
	execFileSync('mkfifo', [at('pipe')]);
	expect((await run('search', {pattern: 'needle'})).content).toBe('a.txt\n1: needle');
	expect(await run('search', {pattern: 'needle', path: 'pipe'})).toMatchObject({ok: false});
});

test('spilled output can be searched', async () => {
	const {run, data} = scene();
	const folder = join(data, 'spill', 's-1');
	mkdirSync(folder, {recursive: true});
	writeFileSync(join(folder, 'c.log'), 'x\nneedle\n');
	const {content} = await run('search', {pattern: 'needle', path: join(folder, 'c.log')});
	expect(content).toBe(`${join(folder, 'c.log')}\n2: needle`);
});

test('51: a cancelled search ends at once', async () => {
	const {run} = scene({'a.txt': 'x'});
	const result = await run('search', {pattern: 'x'}, {signal: AbortSignal.abort()});
	expect(result).toMatchObject({ok: false, stoppedBy: 'cancel'});
});
