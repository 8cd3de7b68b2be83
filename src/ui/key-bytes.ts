export const pasteStart = '\x1b[200~';
export const pasteEnd = '\x1b[201~';

/** What a terminal writes for one key, in the order in which it is looked for. */
const sequences = {
	/** Of a mouse, in the old form: three bytes that look like text follow. */
	mouse: /\x1b\[M[\s\S]{3}/y,
	/** An answer to a question that was not ours, or too late. */
	reply: /\x1b[\]P][^\x07\x1b]*(?:\x07|\x1b\\)/y,
	/** The linux console's and rxvt's own forms would else end too early or too late. */
	key: /\x1b\[\[[A-E]|\x1b\[[235678]\$|\x1b\x1b?(?:\[[0-?]*[ -/]*[@-~]|O[0-9;]*[@-~])/y,
	/** The rest of it is still to come. */
	begun: /\x1b\x1b?(?:\[[0-?]*[ -/]*|\[M[\s\S]{0,2}|O[0-9;]*)?$/y,
	/** Two presses of Esc that came as one. */
	escapes: /\x1b(?=\x1b)/y,
	alt: /\x1b[^\x1b]/uy,
	control: /[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]/y,
	text: /[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+/y,
};

type Kind = keyof typeof sequences;

/** As a terminal that knows the kitty protocol writes it: a lone ESC byte might be the beginning of anything. */
const escapeKey = '\x1b[27u';

/** The keys of a chunk of input, each for itself, and what is at its end of a key that has not come whole. */
export function keysIn(chunk: string): {keys: string[]; begun: string} {
	const keys: string[] = [];
	let at = 0;
	while (at < chunk.length) {
		const [kind, found] = next(chunk, at);
		if (kind === 'begun') return {keys, begun: found};
		at += found.length;
		if (kind === 'text') keys.push(...textAndEnter(found));
		else if (kind === 'escapes') keys.push(escapeKey);
		else if (kind === 'key') keys.push(modified(found));
		else if (kind !== 'mouse' && kind !== 'reply') keys.push(found);
	}
	return {keys, begun: ''};
}

/** What was begun and did not go on: Esc itself, or a part of something that is no key. */
export function begunKeys(begun: string): string[] {
	if (/^\x1b+$/.test(begun)) return Array.from(begun, () => escapeKey);
	return begun.length === 2 ? [begun] : [];
}

function next(chunk: string, at: number): [Kind, string] {
	for (const [kind, pattern] of Object.entries(sequences)) {
		pattern.lastIndex = at;
		const found = pattern.exec(chunk)?.[0];
		if (found) return [kind as Kind, found];
	}
	return ['control', chunk.charAt(at)];
}

/** `hello⏎` is a text and a key, as tmux send-keys, ssh and fast fingers hand it over. What has line ends within is one text. */
function textAndEnter(text: string): string[] {
	if (/^(?:\t+|\r+|\n+)$/.test(text)) return [...text];
	const match = /^([^\r\n]*)([\r\n])$/.exec(text);
	return match ? [match[1] ?? '', match[2] ?? ''].filter((part) => part !== '') : [text];
}

/** xterm's modifyOtherKeys says the same as the kitty protocol in other words, which ink does not know: Shift+Enter is one. */
function modified(key: string): string {
	return key.replace(/^\x1b\[27;(\d+);(\d+)~$/, '\x1b[$2;$1u');
}

const unmarkedPaste = 1000;

/** Text and line ends only: what a paste is in a terminal that does not mark it. */
export function isPlain(chunk: string): boolean {
	return !/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(chunk);
}

/** More at once than a person types: several lines, or very much. */
export function isUnmarkedPaste(chunk: string): boolean {
	if (!isPlain(chunk) || /^[\r\n]*$/.test(chunk)) return false;
	return chunk.length >= unmarkedPaste || /[\r\n]./s.test(chunk);
}

export function isInterrupt(chunk: string): boolean {
	return /^(?:\x03|\x1b\[99;5u|\x1b\[27;5;99~)$/.test(chunk);
}
