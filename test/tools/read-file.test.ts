import {execFileSync} from 'node:child_process';
import {chmodSync, symlinkSync, truncateSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {READ_BYTES, READ_LINES} from '../../src/tools/limits.ts';
import {scene} from './scene.ts';

test('lines come with their numbers', async () => {
	const {read} = scene({'a.ts': 'one\n\n\tthree\nfour'});
	expect(await read('a.ts')).toEqual({
		ok: true,
		content: '1\tone\n2\t\n3\t\tthree\n4\tfour',
		summary: '4 lines',
		truncated: false,
	});
});

test('a window is read with offset and limit, and says how to go on', async () => {
	const {read} = scene({'a.ts': 'one\ntwo\nthree\nfour\n'});
	expect(await read('a.ts', {offset: 2, limit: 2})).toEqual({
		ok: true,
		content: '2\ttwo\n3\tthree\n\n(Lines 2–3 of 4; read on with offset 4.)',
		summary: '2 lines',
		truncated: true,
	});
	expect((await read('a.ts', {offset: 4})).content).toBe('4\tfour');
	expect(await read('a.ts', {offset: 5})).toMatchObject({
		ok: false,
		content: 'a.ts has 4 lines; there is no line 5.',
	});
});

test('3: CRLF, LF and lone CR read alike, without a byte order mark', async () => {
	const {read} = scene({
		'a.txt': '\ufeffa\r\nb\r\n',
		'b.txt': 'a\rb\r',
		'c.txt': `${'x'.repeat(262_143)}\r\nb\n`,
	});
	expect((await read('a.txt')).content).toBe('1\ta\n2\tb');
	expect((await read('b.txt')).content).toBe('1\ta\n2\tb');
	expect((await read('c.txt', {offset: 2})).content).toBe('2\tb');
});

test('a long file is cut at a number of lines and a number of bytes', async () => {
	const {read} = scene({'lines.txt': 'x\n'.repeat(5000), 'bytes.txt': `${'é'.repeat(900)}\n`.repeat(1000)});
	const lines = await read('lines.txt');
	expect(lines).toMatchObject({summary: `${READ_LINES} lines`, truncated: true});
	expect(lines.content).toContain(`Lines 1–${READ_LINES} of 5000; read on with offset ${READ_LINES + 1}.`);
	const bytes = await read('bytes.txt');
	expect(bytes.truncated).toBe(true);
	expect(Buffer.byteLength(bytes.content)).toBeLessThan(READ_BYTES + 1000);
	expect(bytes.content).toContain('of 1000');
});

test('38: a line of megabytes is cut, and its length is said', async () => {
	const {read} = scene({'min.js': `${'😀'.repeat(1_500_000)}\nnext\n`});
	const {content, truncated} = await read('min.js');
	expect(content.split('\n')[0]).toMatch(/^1\t(😀){1000}… \(2998000 more characters\)$/u);
	expect(content.split('\n')[1]).toBe('2\tnext');
	expect(truncated).toBe(true);
});

test('66: what would drive a terminal is not shown, and the lines are named', async () => {
	const {read} = scene({'a.txt': 'ok\nx\x1b]52;c;ZXZpbA==\x07y\n\u009b2Jz\n\x1b]0;never\nend\n'});
	expect((await read('a.txt')).content).toBe(
		'1\tok\n2\txy\n3\tz\n4\t\n5\tend\n\n(Control or invisible characters are not shown, in lines 2, 3, 4.)',
	);
});

test('binaries and images are named, not shown', async () => {
	const {read} = scene({
		'a.png': Buffer.from('89504e470d0a1a0a00', 'hex'),
		'a.bin': Buffer.from([1, 2, 0, 3, 0, 0]),
	});
	expect(await read('a.png')).toMatchObject({
		ok: false,
		content: expect.stringContaining('a.png is a PNG image of 9 bytes'),
	});
	expect(await read('a.bin')).toMatchObject({
		ok: false,
		content: expect.stringContaining('a.bin is a binary file'),
	});
});

test('UTF-16 is shown and said to be, Latin-1 is shown as far as it goes', async () => {
	const {read} = scene({
		'a.txt': Buffer.from('\ufeffhé\r\nyou', 'utf16le'),
		'b.txt': Buffer.from('caf\xe9\nfoo\n', 'latin1'),
		'c.txt': 'a real \ufffd\n',
	});
	expect((await read('a.txt')).content).toBe(
		'1\thé\n2\tyou\n\n(It is text in UTF-16LE; edit_file and write_file do not take it.)',
	);
	const latin = await read('b.txt');
	expect(latin.content).toMatch(/^1\tcaf\ufffd\n2\tfoo\n\n\(It is not UTF-8/);
	expect((await read('c.txt')).content).toBe('1\ta real \ufffd');
});

test('an empty file, a folder, a missing file each get their sentence', async () => {
	const {read} = scene({'empty.txt': '', 'src/a.ts': 'a'});
	expect(await read('empty.txt')).toMatchObject({ok: true, content: 'empty.txt is empty.'});
	expect(await read('src')).toMatchObject({ok: false, content: expect.stringContaining('is a folder')});
	expect(await read('nope.ts')).toMatchObject({
		ok: false,
		content: expect.stringContaining('nope.ts does not exist'),
	});
	expect(await read('src/a.ts/b')).toMatchObject({
		ok: false,
		content: expect.stringContaining('not a folder'),
	});
});

test('a pipe, a socket and a device never block', async () => {
	const {read, at, context} = scene();
	execFileSync('mkfifo', [at('pipe')]);
	symlinkSync('/dev/zero', at('zero'));
	const server = createServer().listen(at('socket'));
	onTestFinished(() => void server.close());
	await new Promise((resolve) => server.once('listening', resolve));
	expect(await read('pipe')).toMatchObject({ok: false, content: expect.stringContaining('named pipe')});
	expect(await read('socket')).toMatchObject({ok: false, content: expect.stringContaining('socket')});
	expect((await read('zero')).content).toContain('outside the workspace');
	expect(context().signal.aborted).toBe(false);
});

test('a file larger than memory wants is read at its beginning', async () => {
	const {read, at, put} = scene();
	put('huge.txt', 'first\nsecond\n'.padEnd(9000, 'x'));
	truncateSync(at('huge.txt'), 3 * 1024 ** 3);
	const {content} = await read('huge.txt', {limit: 2});
	expect(content).toBe('1\tfirst\n2\tsecond\n\n(Lines 1–2 of many; read on with offset 3.)');
});

test('51: a cancelled read ends at once', async () => {
	const {run, at, put} = scene();
	put('huge.txt', 'x\n'.repeat(10_000));
	truncateSync(at('huge.txt'), 3 * 1024 ** 3);
	const controller = new AbortController();
	setTimeout(() => controller.abort(), 50);
	const result = await run('read_file', {path: 'huge.txt', offset: 1e9}, {signal: controller.signal});
	expect(result).toMatchObject({ok: false, stoppedBy: 'cancel'});
});

test('outside the workspace nothing is read', async () => {
	const {read, outside} = scene();
	expect(await read(join(outside, 'x'))).toMatchObject({
		ok: false,
		content: expect.stringContaining('outside'),
	});
});

test('a file without permission says so', async () => {
	const {read, at, root} = scene({'a.txt': 'x'});
	chmodSync(root, 0o755);
	chmodSync(at('a.txt'), 0);
	// Permissions do not hold for root.
	const isRoot = process.geteuid?.() === 0;
	if (isRoot) process.seteuid?.(65534);
	try {
		expect((await read('a.txt')).content).toContain('permission denied');
	} finally {
		if (isRoot) process.seteuid?.(0);
	}
});
