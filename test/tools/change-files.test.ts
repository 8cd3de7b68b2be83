import {spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
	chmodSync,
	linkSync,
	lstatSync,
	mkdirSync,
	readFileSync,
	readlinkSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {diffOf} from '../../src/tools/diff.ts';
import {prepared, scene} from './scene.ts';

const hash = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const failed = (part: string) => ({ok: false, content: expect.stringContaining(part), summary: 'failed'});

test('an edit replaces the one place, and the result tells what became of the file', async () => {
	const {edit, text} = scene({'src/a.ts': 'one\ntwo\nthree\n'});
	expect(await edit('src/a.ts', 'two', 'zwei\ndrei')).toEqual({
		ok: true,
		content:
			'Edited src/a.ts: 1 replacement.\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n three\n',
		summary: '+2 −1',
		files: [
			{
				path: 'src/a.ts',
				before: hash('one\ntwo\nthree\n'),
				after: hash('one\nzwei\ndrei\nthree\n'),
				added: 2,
				removed: 1,
			},
		],
	});
	expect(text('src/a.ts')).toBe('one\nzwei\ndrei\nthree\n');
});

test('several edits are looked up in the same content and made together', async () => {
	const {run, text} = scene({'a.ts': 'a\nb\nc\n'});
	const swap = [
		{old_text: 'c', new_text: 'a'},
		{old_text: 'a', new_text: 'c $& $1'},
	];
	expect((await run('edit_file', {path: 'a.ts', edits: swap})).ok).toBe(true);
	expect(text('a.ts')).toBe('c $& $1\nb\na\n');
});

test('if one of several edits does not fit, none is made', async () => {
	const {run, text} = scene({'a.ts': 'a\nb\nc\n'});
	const edits = (second: string) => [
		{old_text: 'a\nb', new_text: 'x'},
		{old_text: second, new_text: 'y'},
	];
	expect(await run('edit_file', {path: 'a.ts', edits: edits('z')})).toEqual(
		failed('old_text of edit 2 does not occur in a.ts'),
	);
	expect(await run('edit_file', {path: 'a.ts', edits: edits('b\nc')})).toEqual(failed('overlap at line 2'));
	expect(text('a.ts')).toBe('a\nb\nc\n');
});

test('more than one match is an error that names the lines', async () => {
	const {edit, text} = scene({'a.ts': 'x = 1\ny\nx = 1\nx = 1'});
	expect(await edit('a.ts', 'x = 1', 'x = 2')).toEqual(
		failed('occurs 3 times in a.ts, at lines 1, 3, 4. Nothing was written.'),
	);
	expect(await scene({'b.ts': 'aaa'}).edit('b.ts', 'aa', 'b')).toEqual(
		failed('occurs 2 times in b.ts, at lines 1, 1'),
	);
	expect(await scene({'c.ts': 'a\n'.repeat(50)}).edit('c.ts', 'a', 'b')).toEqual(
		failed('occurs more than 10 times in c.ts, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10. Nothing'),
	);
	expect(text('a.ts')).toBe('x = 1\ny\nx = 1\nx = 1');
});

test('1: a change of line endings only is an error, not a success that changes nothing', async () => {
	const {edit, text} = scene({'a.txt': 'a\r\nb'});
	expect(await edit('a.txt', 'a\r\nb', 'a\nb')).toEqual(
		failed('the same but for line endings, which edit_file keeps'),
	);
	expect(await edit('a.txt', 'a', 'a')).toEqual(failed('are the same, so there is nothing to change'));
	expect(text('a.txt')).toBe('a\r\nb');
});

test('2, 7: text with LF matches in a CRLF file, and the new text gets CRLF', async () => {
	const {edit, text} = scene({'a.txt': 'x\r\ny\r\n'});
	expect((await edit('a.txt', 'x\ny', 'x\n1\n2')).ok).toBe(true);
	expect(text('a.txt')).toBe('x\r\n1\r\n2\r\n');
});

test('3: what read_file shows is what edit_file finds', async () => {
	const {read, edit, text} = scene({'a.txt': '\ufeffone\r\n\ttwo\r\nthree\r\n'});
	const shown = (await read('a.txt')).content.replace(/^\d+\t/gm, '');
	expect((await edit('a.txt', shown, shown.replace('two', '2'))).ok).toBe(true);
	expect(text('a.txt')).toBe('\ufeffone\r\n\t2\r\nthree\r\n');
});

test('4: a block with tabs and CRLF matches', async () => {
	const {edit, text} = scene({'a.go': 'func a() {\r\n\tif x {\r\n\t\treturn\r\n\t}\r\n}\r\n'});
	expect((await edit('a.go', '\tif x {\n\t\treturn\n\t}\n', '\treturn\n')).ok).toBe(true);
	expect(text('a.go')).toBe('func a() {\r\n\treturn\r\n}\r\n');
});

test('6: old_text with CRLF matches in files with a byte order mark, with CRLF and with LF', async () => {
	const {edit, text} = scene({'crlf.txt': '\ufeffa\r\nb\r\nc', 'lf.txt': 'a\nb\nc'});
	expect((await edit('crlf.txt', '\ufeffa\r\nb', '\ufeffA\r\nB')).ok).toBe(true);
	expect((await edit('lf.txt', 'a\r\nb', 'A\r\nB')).ok).toBe(true);
	expect([text('crlf.txt'), text('lf.txt')]).toEqual(['\ufeffA\r\nB\r\nc', 'A\nB\nc']);
});

test('new text gets the line ending that the matched lines have most of; the lines it leaves alone keep theirs', async () => {
	const {edit, text} = scene({'mixed.txt': 'a\nb\nc\r\nd\r\ne\nf\r\n', 'old-mac.txt': 'a\rb\rc'});
	expect((await edit('mixed.txt', 'c\nd\ne', 'c\nd\nnew\ne')).ok).toBe(true);
	expect(text('mixed.txt')).toBe('a\nb\nc\r\nd\r\nnew\r\ne\nf\r\n');
	expect((await edit('old-mac.txt', 'b', 'b\nx')).ok).toBe(true);
	expect(text('old-mac.txt')).toBe('a\rb\rx\rc');
});

test('8, 9, 11: a near match changes nothing, and shows the lines that were meant', async () => {
	const content = 'naïve — café²  \r\nlet a    = “x”;\r\n  call(a);\r\nend\r\n';
	const {edit, text} = scene({'a.ts': content});
	const result = await edit('a.ts', 'let a = "x";\ncall(a);', 'let b;');
	expect(result.content).toBe(
		'old_text does not occur in a.ts, so nothing was written. The closest is lines 2–3, which differ in white space or quotes only:\n2\tlet a    = “x”;\n3\t  call(a);',
	);
	expect((await edit('a.ts', 'a = "x"', 'b')).content).toContain('The closest is line 2');
	expect((await edit('a.ts', 'nothing like it', 'b')).content).toContain(
		'No lines come close to it. Read the file again',
	);
	expect(text('a.ts')).toBe(content);
});

test('two equally near places are not shown as one', async () => {
	const {edit} = scene({'a.ts': 'call( a );\nx\ncall(  a );\n'});
	expect((await edit('a.ts', 'call(  a);', 'b')).content).not.toContain('closest');
});

test('9: bytes outside of the match stay as they are', async () => {
	const before = Buffer.from(
		'\ufeffna\u0069\u0308ve — café²  \t\n\u2028\u00a0x\r\n\nlast “q” 😀 line\r\nno end',
	);
	const {edit, bytes} = scene({'a.txt': before});
	expect((await edit('a.txt', 'last “q” 😀 line', 'last “q” 😁 line')).ok).toBe(true);
	expect(bytes('a.txt')).toEqual(Buffer.from(before.toString().replace('😀', '😁')));
});

test('random edits equal what replacing in the text would give', async () => {
	let seed = 42;
	const random = (n: number) => {
		seed = (seed * 1103515245 + 12345) % 2147483648;
		return seed % n;
	};
	const pieces = ['a', 'é', '你', '😀', '😁', '\r\n', '\r\n', ' ', '\t'];
	const some = (n: number) => Array.from({length: n}, () => pieces[random(pieces.length)]).join('');
	for (let round = 0; round < 60; round++) {
		const [head, old, now, tail] = [
			some(random(20)),
			`«${some(random(8))}»`,
			`«${some(random(8))}»`,
			some(random(20)),
		];
		if (old === now) continue;
		const {edit, text} = scene({'a.txt': head + old + tail});
		const toLf = (part: string) => part.replaceAll('\r\n', '\n');
		const result = await edit('a.txt', toLf(old), toLf(now));
		expect(result.ok, result.content).toBe(true);
		const ending = `${head}${old}${tail}`.includes('\r\n') ? now : toLf(now);
		expect(text('a.txt')).toBe(head + ending + tail);
	}
});

test('14: overwriting keeps the byte order mark, the line endings and the mode', async () => {
	const {write, text, at, names} = scene({'a.sh': '\ufeffa\r\nb\r\n'});
	chmodSync(at('a.sh'), 0o751);
	expect(await write('a.sh', 'x\ny\n')).toEqual({
		ok: true,
		content: 'Replaced the content of a.sh (2 lines, 9 bytes).',
		summary: '+2 −2',
		files: [
			{path: 'a.sh', before: hash('\ufeffa\r\nb\r\n'), after: hash('\ufeffx\r\ny\r\n'), added: 2, removed: 2},
		],
	});
	expect(text('a.sh')).toBe('\ufeffx\r\ny\r\n');
	expect(statSync(at('a.sh')).mode & 0o7777).toBe(0o751);
	expect(names()).toEqual(['a.sh']);
});

test('15, 16: a file that is not UTF-8 is neither edited nor overwritten', async () => {
	const utf16 = Buffer.from('\ufeffhello\r\n', 'utf16le');
	const noMark = Buffer.from('hello there\r\n', 'utf16le');
	const latin = Buffer.from('caf\xe9\nfoo\n', 'latin1');
	const {edit, write, bytes} = scene({'16.txt': utf16, '16n.txt': noMark, 'latin.txt': latin});
	expect(await write('16.txt', 'x')).toEqual(
		failed('16.txt is not UTF-8 text: it seems to be text in UTF-16LE.'),
	);
	expect(await write('16n.txt', 'x')).toEqual(failed('UTF-16LE'));
	expect(await write('latin.txt', 'x')).toEqual(failed('another encoding'));
	expect(await edit('latin.txt', 'foo', 'bar')).toEqual(failed('another encoding'));
	expect([bytes('16.txt'), bytes('16n.txt'), bytes('latin.txt')]).toEqual([utf16, noMark, latin]);
});

test('18: a file that was touched is not a changed file', async () => {
	const {preview, run, at, text} = scene({'a.txt': 'a\nb\n'});
	const edits = [{old_text: 'a', new_text: 'A'}];
	const shown = await preview('edit_file', {path: 'a.txt', edits});
	if (shown.kind !== 'diff') throw new Error(shown.text);
	utimesSync(at('a.txt'), 0, 0);
	const result = await run('edit_file', {path: 'a.txt', edits}, {approvedBasis: shown.basis});
	expect(result.ok).toBe(true);
	expect(text('a.txt')).toBe('A\nb\n');
});

test('19: an edit that fits only once still fits after a formatter was there', async () => {
	const {read, put, edit, text} = scene({'a.ts': 'f( a )\nlet b = 1\n'});
	await read('a.ts');
	put('a.ts', 'f(a);\nlet b = 1;\n');
	expect((await edit('a.ts', 'let b = 1', 'let b = 2')).ok).toBe(true);
	expect(text('a.ts')).toBe('f(a);\nlet b = 2;\n');
});

test('what the model has not seen is not overwritten: it has to read the file again', async () => {
	const {run, put, text} = scene({'a.txt': 'a\nb\n', 'unread.txt': 'x\n', 'empty.txt': ''});
	const seen = new Map<string, string>();
	const read = (path: string, more: object = {}) => run('read_file', {path, ...more}, {seen});
	const write = (path: string, content: string) => run('write_file', {path, content}, {seen});
	await read('a.txt');
	await read('empty.txt');
	put('a.txt', 'a\nb\nmine\n');
	put('empty.txt', 'mine\n');
	const refused = failed('has changed since it was read');
	expect(await write('a.txt', 'A\nb\n')).toEqual(refused);
	expect(await write('empty.txt', 'A\n')).toEqual(refused);
	expect([text('a.txt'), text('empty.txt')]).toEqual(['a\nb\nmine\n', 'mine\n']);

	await read('a.txt', {offset: 3, limit: 1});
	expect((await write('a.txt', 'A\nb\nmine\n')).ok).toBe(true);
	// What it left itself it knows, and of what it never read nothing is known.
	expect((await write('a.txt', 'A\nB\nmine\n')).ok).toBe(true);
	expect((await write('unread.txt', 'y\n')).ok).toBe(true);
	put('unread.txt', 'mine\n');
	expect(await write('unread.txt', 'z\n')).toEqual(refused);
});

test('an edit beside what somebody else changed is made, and tells nothing of what that was', async () => {
	const {run, put, text} = scene({'a.txt': 'a\nb\n'});
	const seen = new Map<string, string>();
	const edit = (old_text: string, new_text: string) =>
		run('edit_file', {path: 'a.txt', edits: [{old_text, new_text}]}, {seen});
	const write = (content: string) => run('write_file', {path: 'a.txt', content}, {seen});
	await run('read_file', {path: 'a.txt'}, {seen});
	expect((await edit('a', 'A')).ok).toBe(true);
	expect((await write('A\nB\n')).ok).toBe(true);
	put('a.txt', 'A\nB\nmine\n');
	expect((await edit('B', 'b')).ok).toBe(true);
	expect(await write('A\nb\n')).toEqual(failed('has changed since it was read'));
	expect(text('a.txt')).toBe('A\nb\nmine\n');
});

test('a preview is a diff and touches nothing; the approved file is the only one that is changed', async () => {
	const {preview, run, put, text} = scene({'a.txt': 'a\nb\n'});
	const args = {path: 'a.txt', edits: [{old_text: 'b', new_text: 'B'}]};
	const shown = await preview('edit_file', args);
	expect(shown).toEqual({
		kind: 'diff',
		path: 'a.txt',
		text: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
		basis: hash('a\nb\n'),
	});
	expect(text('a.txt')).toBe('a\nb\n');
	put('a.txt', 'evil\nb\n');
	expect(await run('edit_file', args, {approvedBasis: hash('a\nb\n')})).toEqual(
		failed('a.txt has changed since this was approved'),
	);
	expect(text('a.txt')).toBe('evil\nb\n');
});

test('a new file is approved as new, so one that appeared in between is not overwritten', async () => {
	const {preview, run, put, text} = scene();
	const args = {path: 'new/a.txt', content: 'x\n'};
	expect(await preview('write_file', args)).toEqual({
		kind: 'diff',
		path: 'new/a.txt',
		text: '--- /dev/null\n+++ b/new/a.txt\n@@ -0,0 +1,1 @@\n+x\n',
		basis: null,
	});
	put('new/a.txt', 'mine');
	expect(await run('write_file', args, {approvedBasis: null})).toEqual(
		failed('has changed since this was approved'),
	);
	expect(text('new/a.txt')).toBe('mine');
});

test('a preview of what would fail gives the sentence that running gives', async () => {
	const {preview, run} = scene({'a.txt': 'a'});
	const args = {path: 'a.txt', edits: [{old_text: 'zzz', new_text: 'B'}]};
	expect(await preview('edit_file', args)).toEqual({
		kind: 'fails',
		text: (await run('edit_file', args)).content,
	});
	expect(await preview('write_file', {path: '../x', content: ''})).toMatchObject({kind: 'fails'});
});

test('21: parallel edits of one file are all kept, through links too', async () => {
	const lines = Array.from({length: 40}, (_, i) => `line ${i};`);
	const {edit, at, text} = scene({'a.txt': lines.join('\n')});
	symlinkSync('a.txt', at('link.txt'));
	const results = await Promise.all(
		lines.map((line, i) => edit(i % 2 ? 'a.txt' : 'link.txt', line, `done ${i};`)),
	);
	expect(results.filter(({ok}) => !ok)).toEqual([]);
	expect(text('a.txt')).toBe(lines.map((_, i) => `done ${i};`).join('\n'));
});

test('22, 23: a reader beside the writers sees whole files only', async () => {
	const {write, text, names} = scene({'a.txt': 'a'.repeat(100_000)});
	const whole = new Set(['a', 'b', 'c'].map((letter) => letter.repeat(100_000)));
	let done = false;
	let reads = 0;
	let torn = 0;
	const reader = (async () => {
		for (; !done; reads++) {
			if (!whole.has(text('a.txt'))) torn++;
			await new Promise(setImmediate);
		}
	})();
	for (let i = 0; i < 40; i++) await write('a.txt', 'bc'[i % 2]?.repeat(100_000) ?? '');
	done = true;
	await reader;
	expect(reads).toBeGreaterThan(40);
	expect(torn).toBe(0);
	expect(names()).toEqual(['a.txt']);
});

test('40, 67: nothing is written through a link that leads out', async () => {
	const {write, edit, at, outside} = scene();
	writeFileSync(join(outside, 'x'), 'mine');
	symlinkSync(outside, at('out'));
	symlinkSync(join(outside, 'x'), at('file'));
	for (const path of ['out/x', 'out/new/y', 'file', '../outside/x', join(outside, 'x')]) {
		expect(await write(path, 'evil')).toEqual(failed('outside the workspace'));
		expect(await edit(path, 'mine', 'evil')).toEqual(failed('outside the workspace'));
	}
	expect(readFileSync(join(outside, 'x'), 'utf8')).toBe('mine');
});

test('41: a dangling link is not written through to the outside, and inside it stays a link', async () => {
	const {write, at, outside, text} = scene();
	symlinkSync(join(outside, 'new'), at('draft.txt'));
	symlinkSync('target.txt', at('inner.txt'));
	expect(await write('draft.txt', 'evil')).toEqual(failed('outside the workspace'));
	expect(() => lstatSync(join(outside, 'new'))).toThrow();
	expect((await write('inner.txt', 'hello')).files?.[0]?.path).toBe('target.txt');
	expect([readlinkSync(at('inner.txt')), text('target.txt')]).toEqual(['target.txt', 'hello']);
});

test('42: a link to a folder of keys is no way in', async () => {
	const {write, at, root} = scene();
	mkdirSync(join(root, 'home/.ssh'), {recursive: true});
	symlinkSync(join(root, 'home/.ssh'), at('link'));
	expect(await write('link/authorized_keys', 'evil')).toEqual(failed('outside the workspace'));
});

test('a file with several names stays one file', async () => {
	const {edit, at, text} = scene({'a.txt': 'a long first line\nb\n'});
	linkSync(at('a.txt'), at('b.txt'));
	expect((await edit('a.txt', 'a long first line', 'a')).ok).toBe(true);
	expect([text('b.txt'), statSync(at('a.txt')).nlink]).toEqual(['a\nb\n', 2]);
});

test('where there is no room for a file with several names, it stays what it was', () => {
	const {context, at, text} = scene({'a.txt': 'mine\n'});
	linkSync(at('a.txt'), at('b.txt'));
	const tool = new URL('../../src/tools/write-file.ts', import.meta.url).href;
	const code = `
		import {writeFile} from '${tool}';
		const {call} = writeFile.prepare(JSON.stringify({path: 'a.txt', content: 'yours\\n'.repeat(1000)}));
		const result = await call.run({...${JSON.stringify(context())}, signal: new AbortController().signal});
		console.log(result.content);`;
	const node = [process.execPath, '--input-type=module', '--no-warnings', '-e', code];
	// 512 bytes a file: the first of them are written, the others are refused.
	const {stdout} = spawnSync('sh', ['-c', 'ulimit -f 1 && exec "$@"', 'sh', ...node], {encoding: 'utf8'});
	expect(stdout).toMatch(/^a\.txt could not be written: .+\.\n$/);
	expect([text('a.txt'), text('b.txt')]).toEqual(['mine\n', 'mine\n']);
});

test('a new file is written as given, with the folders it needs', async () => {
	const {write, bytes, names} = scene();
	expect(await write('src/deep/a.txt', 'a\r\nb')).toMatchObject({
		ok: true,
		content: 'Created src/deep/a.txt (2 lines, 4 bytes).',
		summary: '+2 −0',
		files: [{before: null, after: hash('a\r\nb')}],
	});
	expect(bytes('src/deep/a.txt').toString()).toBe('a\r\nb');
	expect(names('src/deep')).toEqual(['a.txt']);
	expect((await write('empty', '')).content).toBe('Created empty (0 lines, 0 bytes).');
});

test('what cannot be written says why, and leaves nothing behind', async () => {
	const {write, edit, at, names} = scene({
		'a.txt': 'a',
		'dir/x': '',
		'big.txt': 'x'.repeat(11 * 1024 * 1024),
	});
	expect(await write('a.txt', 'a')).toEqual(failed('exactly this content already'));
	expect(await write('dir', 'a')).toEqual(failed('is a folder'));
	expect(await write('new/', 'a')).toEqual(failed('names a folder'));
	expect(await write('a.txt/b', 'a')).toEqual(failed('a part of the path is a file'));
	expect(await write('half.txt', 'a\ud800b')).toEqual(failed('half a character'));
	expect(await edit('a.txt', 'a', '\udc00')).toEqual(failed('half a character'));
	expect(await edit('nope.txt', 'a', 'b')).toEqual(failed('nope.txt does not exist'));
	expect(await write('big.txt', 'a')).toEqual(failed('big.txt has 11 MB; this tool takes files up to 10 MB'));
	expect(() => prepared('edit_file', {path: 'a', edits: [{old_text: '', new_text: 'x'}]})).toThrow(
		'is empty',
	);
	chmodSync(at('dir'), 0o755);
	expect(names()).toEqual(['a.txt', 'big.txt', 'dir']);
});

test('a cancelled change writes nothing', async () => {
	const {run, names} = scene();
	const result = await run('write_file', {path: 'a', content: 'x'}, {signal: AbortSignal.abort()});
	expect(result).toMatchObject({ok: false, stoppedBy: 'cancel'});
	expect(names()).toEqual([]);
});

test('a diff shows line endings where they change, and only there', () => {
	expect(diffOf('a', 'a\r\nb\r\n', 'a\r\nc\r\n').text).toBe(
		'--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n',
	);
	expect(diffOf('a', 'a\nb\r\n', 'a\r\nb\r\n')).toMatchObject({
		text: expect.stringContaining('-a\n+a\r\n'),
		added: 1,
		removed: 1,
	});
	expect(diffOf('a', 'a', 'a\n').text).toBe(
		'--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n',
	);
});

test('a diff of two large files without a common line is made in time', () => {
	const old = Array.from({length: 60_000}, (_, i) => `old ${i}`).join('\n');
	const now = Array.from({length: 60_000}, (_, i) => `new ${i}`).join('\n');
	const start = performance.now();
	const {added, removed, text} = diffOf('a', `same\n${old}\nsame\n`, `same\n${now}\nsame\n`);
	expect(performance.now() - start).toBeLessThan(3000);
	expect({added, removed}).toEqual({added: 60_000, removed: 60_000});
	expect(text).toContain('@@ -1,60002 +1,60002 @@\n same\n-old 0\n');
});
