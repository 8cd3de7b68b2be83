import {Readable} from 'node:stream';
import {begunKeys, isInterrupt, isPlain, isUnmarkedPaste, keysIn, pasteEnd, pasteStart} from './key-bytes.ts';

/** What is needed of a terminal's input. */
export type Source = NodeJS.ReadableStream & {
	setRawMode?(on: boolean): unknown;
	ref?(): unknown;
	unref?(): unknown;
};

export type KeyboardOptions = {
	/** The terminal's window got or lost the focus; only a terminal that was asked to tell it does. */
	onFocus?(focused: boolean): void;
	/** The terminal is gone. */
	onEnd?(): void;
	/** How long a paste may stand still before what came of it is taken and the keys are keys again, ms. */
	stalledMs?: number;
};

/** How long the rest of a key may take, ms. */
const keyMs = 20;
const slowKeyMs = 500;
/** How long the rest of a paste without marks may take, ms. */
const gatherMs = 50;

type Paste = {in: 'paste'; parts: string[]; tail: string};

/** What the input is in the middle of. */
type Mode =
	| {in: 'keys'; begun: string}
	/** `tail` is the end of what came: the mark of the paste's end may come in two chunks. */
	| Paste
	/** A paste whose end did not come. What comes next is still of it, unless it is a single key. */
	| {in: 'stalled'}
	| {in: 'gathering'; parts: string[]};

/**
The terminal's input as a stream for ink, one key or paste a chunk.

Keys that came in one chunk are handed over one after the other, each after what the one before did is drawn: no handler acts
on a state that is no longer so. A paste is handed over whole, with its marks, also where the terminal gave none; so it never
sends anything. One whose end never comes does not lock the keyboard: after two seconds, or at Ctrl+C, it is taken as it is.
*/
export function keyboard(source: Source, options: KeyboardOptions = {}) {
	const {onFocus, onEnd, stalledMs = 2000} = options;
	let mode: Mode = {in: 'keys', begun: ''};
	let isFirst = true;
	let timer: NodeJS.Timeout | undefined;
	const waiting: string[] = [];
	let delivering = false;

	const stream = new Readable({objectMode: true, read() {}});
	const freshPaste = (): Paste => ({in: 'paste', parts: [], tail: ''});

	function deliver(): void {
		const key = waiting.shift();
		delivering = key !== undefined;
		if (key === undefined) return;
		stream.push(key);
		setImmediate(deliver);
	}

	function emit(...keys: string[]): void {
		for (const key of keys) {
			if (key === '\x1b[I' || key === '\x1b[O') onFocus?.(key === '\x1b[I');
			else waiting.push(key);
		}
		if (!delivering) deliver();
	}

	function emitPaste(text: string): void {
		if (text !== '') emit(pasteStart + text + pasteEnd);
	}

	/** Timers are late on a busy machine: what has arrived meanwhile is read first. */
	function after(ms: number, doing: () => void): void {
		clearTimeout(timer);
		const mine = setTimeout(() => {
			setImmediate(() => {
				if (timer === mine) doing();
			});
		}, ms);
		timer = mine;
	}

	function become(next: Mode): void {
		clearTimeout(timer);
		timer = undefined;
		mode = next;
		// More than ESC and one character can be no key: then it is only slow.
		if (next.in === 'keys' && next.begun !== '') after(next.begun.length > 2 ? slowKeyMs : keyMs, settle);
		if (next.in === 'gathering') after(gatherMs, settle);
		if (next.in === 'paste') after(stalledMs, stall);
	}

	/** Nothing more of it comes. */
	function settle(): void {
		const was = mode;
		become({in: 'keys', begun: ''});
		if (was.in === 'keys') emit(...begunKeys(was.begun));
		if (was.in === 'gathering' || was.in === 'paste') emitPaste(was.parts.join(''));
	}

	function stall(): void {
		if (mode.in !== 'paste') return;
		emitPaste(mode.parts.join(''));
		become({in: 'stalled'});
	}

	function take(chunk: string): void {
		if (mode.in !== 'keys' && isInterrupt(chunk)) settle();
		if (mode.in === 'paste' || (mode.in === 'stalled' && !isOneKey(chunk))) {
			takePaste(mode.in === 'paste' ? mode : freshPaste(), chunk);
			return;
		}
		if (mode.in === 'gathering') {
			// Enter alone is a key: a script pastes, and then presses it.
			if (isPlain(chunk) && chunk !== '\r') {
				mode.parts.push(chunk);
				become(mode);
				return;
			}
			settle();
		}
		const begun = mode.in === 'keys' ? mode.begun : '';
		takeKeys(begun + chunk);
	}

	function takeKeys(chunk: string): void {
		if (isUnmarkedPaste(chunk)) {
			become({in: 'gathering', parts: [chunk]});
			return;
		}
		const start = chunk.indexOf(pasteStart);
		const {keys, begun} = keysIn(start === -1 ? chunk : chunk.slice(0, start));
		emit(...keys);
		if (start === -1) {
			become({in: 'keys', begun});
			return;
		}
		emit(...begunKeys(begun));
		takePaste(freshPaste(), chunk.slice(start + pasteStart.length));
	}

	function takePaste({parts, tail}: Paste, chunk: string): void {
		const seam = tail + chunk;
		const end = seam.indexOf(pasteEnd);
		parts.push(chunk);
		if (end === -1) {
			become({in: 'paste', parts, tail: seam.slice(1 - pasteEnd.length)});
			return;
		}
		const text = parts.join('');
		const length = text.length - seam.length + end;
		become({in: 'keys', begun: ''});
		emitPaste(text.slice(0, length));
		takeKeys(text.slice(length + pasteEnd.length));
	}

	const onData = (chunk: string | Buffer) => {
		const text = chunk.toString();
		// Typed before this program read anything, when the terminal made a line feed of Enter.
		take(isFirst ? text.replace(/^([^\r\n\x1b]+)\n$/, '$1\r') : text);
		isFirst = false;
	};
	source.on('data', onData);
	source.pause();
	source.on('end', () => onEnd?.());
	source.on('error', () => onEnd?.());

	return Object.assign(stream, {
		isTTY: true as const,
		setRawMode(on: boolean) {
			source.setEncoding('utf8');
			source.setRawMode?.(on);
			// A program that is started meanwhile has the terminal for itself.
			if (on) source.resume();
			else source.pause();
			return stream;
		},
		ref() {
			source.ref?.();
			return stream;
		},
		unref() {
			source.unref?.();
			return stream;
		},
		/** What came in is still on its way to whoever reads. */
		isBusy(): boolean {
			const isOpen = (mode.in === 'keys' && mode.begun !== '') || mode.in === 'gathering';
			return isOpen || delivering || stream.readableLength > 0;
		},
	});
}

/** A person presses one key at a time; what still comes of a paste comes in larger pieces. */
function isOneKey(chunk: string): boolean {
	const {keys, begun} = keysIn(chunk);
	return (
		keys.length + (begun === '' ? 0 : 1) === 1 && (keys[0] ?? '').length <= 8 && !chunk.includes(pasteEnd)
	);
}

export type Keyboard = ReturnType<typeof keyboard>;
