import {createHash, randomBytes} from 'node:crypto';
import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {keysIn} from '../../src/ui/key-bytes.ts';
import {type KeyboardOptions, keyboard} from '../../src/ui/stdin.ts';

const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;
const escapeKey = '\x1b[27u';

/** A keyboard, and what came out of it. Whoever waits for a text waits for as long as it takes. */
function typing(options: KeyboardOptions = {}) {
	const source = new PassThrough();
	const keys = keyboard(source, options);
	const out: string[] = [];
	keys.on('readable', () => {
		for (let key = keys.read(); key !== null; key = keys.read()) out.push(key);
	});
	keys.setRawMode(true);
	const settled = async () => {
		do await new Promise((resolve) => setImmediate(resolve));
		while (keys.isBusy() || source.readableLength > 0);
	};
	return {
		out,
		keys,
		source,
		settled,
		async type(...chunks: (string | Buffer)[]) {
			for (const chunk of chunks) {
				source.write(chunk);
				do await new Promise((resolve) => setImmediate(resolve));
				while (source.readableLength > 0);
			}
			await settled();
			return out;
		},
	};
}

test.each([
	['hello\r', ['hello', '\r']],
	['helo\x7fxy\x7f\x7flo\r', ['helo', '\x7f', 'xy', '\x7f', '\x7f', 'lo', '\r']],
	['\x01x\x05y', ['\x01', 'x', '\x05', 'y']],
	['\x1b[B\x1b[B\r', ['\x1b[B', '\x1b[B', '\r']],
	['\x1bOA\x1bOA', ['\x1bOA', '\x1bOA']],
	['\x1b\x1b[A', ['\x1b\x1b[A']],
	['\x1bb\x1bf', ['\x1bb', '\x1bf']],
	['\x1b\r', ['\x1b\r']],
	['\r\r', ['\r', '\r']],
	['\t\r', ['\t', '\r']],
	['a\tb', ['a\tb']],
	['漢字🎉\r', ['漢字🎉', '\r']],
	// Shift+Enter and Ctrl+Shift+A where modifyOtherKeys is on.
	['\x1b[27;2;13~', ['\x1b[13;2u']],
	['\x1b[27;6;65~', ['\x1b[65;6u']],
	// The mouse in its old form, and answers of a terminal that come late, are no text.
	['a\x1b[M !!b', ['a', 'b']],
	['\x1b]11;rgb:0000/0000/0000\x07x', ['x']],
	['\x1b[?62;c\x1b[0n', ['\x1b[?62;c', '\x1b[0n']],
	['\x1b[[A\x1b[3$', ['\x1b[[A', '\x1b[3$']],
])('%j is these keys: %j', async (chunk, expected) => {
	expect(await typing().type(chunk)).toEqual(expected);
});

test('Esc alone is a key when nothing follows it, and two of them are two', async () => {
	expect(await typing().type('\x1b')).toEqual([escapeKey]);
	expect(await typing().type('\x1b\x1b')).toEqual([escapeKey, escapeKey]);
	expect(await typing().type('a\x1b')).toEqual(['a', escapeKey]);
	expect(await typing().type('\x1b\x1ba')).toEqual([escapeKey, '\x1ba']);
});

test('a key that comes in pieces is one key', async () => {
	const {type, source, out, settled} = typing();
	for (const byte of '\x1b[1;5Cx') source.write(byte);
	await settled();
	expect(out).toEqual(['\x1b[1;5C', 'x']);
	await type('\x1b', '[A');
	expect(out.slice(2)).toEqual(['\x1b[A']);
});

test('a character whose bytes come in two chunks is one character', async () => {
	const bytes = Buffer.from('漢');
	expect((await typing().type(bytes.subarray(0, 2), bytes.subarray(2))).join('')).toBe('漢');
});

test('a paste is one chunk, however many it came in, and what is around it are keys', async () => {
	const {out, source, settled} = typing();
	for (const byte of `a${paste('one\r\ntwo\x1b[31m')}b\r`) source.write(byte);
	await settled();
	expect(out.slice(-3)).toEqual([paste('one\r\ntwo\x1b[31m'), 'b', '\r']);
	expect(out[0]).toBe('a');
});

test('a megabyte that comes in random pieces is handed over whole', async () => {
	const text = randomBytes(750_000).toString('base64').replaceAll('A', '\n').replaceAll('B', '漢');
	const {out, source, settled} = typing();
	const bytes = Buffer.from(paste(text));
	for (let at = 0; at < bytes.length; ) {
		const size = 1 + Math.floor(Math.random() ** 3 * 9000);
		source.write(bytes.subarray(at, at + size));
		at += size;
		if (Math.random() < 0.2) await new Promise((resolve) => setImmediate(resolve));
	}
	await settled();
	const sha = (of: string) => createHash('sha256').update(of).digest('hex');
	expect(out).toHaveLength(1);
	expect(sha(out[0] ?? '')).toBe(sha(paste(text)));
});

test('several lines in one chunk are a paste where the terminal does not say so, and so is what comes right behind', async () => {
	const {out, source, settled} = typing();
	source.write('one\rtwo\rth');
	source.write('ree\r');
	await settled();
	expect(out).toEqual([paste('one\rtwo\rthree\r')]);
	source.write('x'.repeat(4096));
	source.write('y\r');
	await settled();
	expect(out[1]).toBe(paste(`${'x'.repeat(4096)}y\r`));
});

test('Enter alone behind such a paste is Enter', async () => {
	const {out, source, settled} = typing();
	source.write('one\rtwo');
	await new Promise((resolve) => setImmediate(resolve));
	source.write('\r');
	await settled();
	expect(out).toEqual([paste('one\rtwo'), '\r']);
});

test('Enter that was pressed before anybody listened counts, and only there', async () => {
	expect(await typing().type('hello\n')).toEqual(['hello', '\r']);
	expect(await typing().type('\n')).toEqual(['\n']);
	expect(await typing().type('a', 'b\n')).toEqual(['a', 'b', '\n']);
});

test('a paste that does not end gives the keys back at Ctrl+C, and what came of it is kept', async () => {
	for (const interrupt of ['\x03', '\x1b[99;5u']) {
		const {type, out} = typing();
		await type('\x1b[200~half a paste\r', 'and more');
		expect(out).toEqual([]);
		await type(interrupt, 'x');
		expect(out).toEqual([paste('half a paste\rand more'), interrupt, 'x']);
	}
});

test('a paste that stands still is taken as it is, and then a key is a key', async () => {
	const {type, out, source, keys} = typing({stalledMs: 5});
	await type('\x1b[200~half');
	await new Promise((resolve) =>
		out.length > 0 ? resolve(0) : keys.once('readable', () => setImmediate(resolve)),
	);
	expect(out).toEqual([paste('half')]);
	// It was only slow: what still comes of it sends nothing.
	source.write('\rthe other half\r\x1b[201~');
	await type('x', '\r');
	expect(out.slice(1)).toEqual([paste('\rthe other half\r'), 'x', '\r']);
});

test('the focus is told, and is no key', async () => {
	const told: boolean[] = [];
	const {type, out} = typing({onFocus: (focused) => told.push(focused)});
	await type('a\x1b[Ob\x1b[I');
	expect([out, told]).toEqual([
		['a', 'b'],
		[false, true],
	]);
});

test('each key is handed over after the one before was read', async () => {
	const {keys, source, settled} = typing();
	const together: number[] = [];
	keys.prependListener('readable', () => together.push(keys.readableLength));
	source.write('a\x1b[A\x1b[B\r');
	await settled();
	expect(Math.max(...together)).toBe(1);
});

test('whatever comes, nothing of a text is lost and no key is empty', () => {
	for (let round = 0; round < 2000; round++) {
		const chunk = randomBytes(1 + (round % 20))
			.toString('latin1')
			.replaceAll('\x1b', round % 2 ? '\x1b' : 'e');
		const {keys, begun} = keysIn(chunk);
		for (const key of keys) expect(key).not.toBe('');
		if (!chunk.includes('\x1b')) expect(keys.join('') + begun).toBe(chunk);
	}
});
