/** Rows that one notch of the wheel scrolls. */
export const wheelRows = 3;

/** Buttons and the wheel, with coordinates as text (1006): the older form would leak characters into the composer. */
export const mouseOn = '\x1b[?1000h\x1b[?1006h';
export const mouseOff = '\x1b[?1006l\x1b[?1000l';

/**
In the alternate screen many terminals write arrows for the wheel (1007), which would walk the prompt history. How it was is
kept by the terminals that can; for the others it is on again afterwards, as they begin with.
*/
export const arrowsOff = '\x1b[?1007s\x1b[?1007l';
export const arrowsBack = '\x1b[?1007h\x1b[?1007r';

/** How far the wheel was turned in a chunk of input, in notches, down if positive. */
export function wheelOf(chunk: string): number {
	let notches = 0;
	for (const [, button] of chunk.matchAll(/\x1b\[<(\d+);\d+;\d+M/g)) {
		// Shift, Alt and Ctrl are in three bits of it.
		const plain = Number(button) & ~0b11100;
		if (plain === 64) notches--;
		if (plain === 65) notches++;
	}
	return notches;
}

type Input = Pick<NodeJS.ReadableStream, 'on' | 'off'>;

/** The wheel of a terminal: on or off, and off in any case when the process ends. */
export function wheel(input: Input, write: (sequence: string) => void, onTurn: (notches: number) => void) {
	let isOn = false;
	const onData = (chunk: string | Buffer) => {
		const notches = wheelOf(chunk.toString());
		if (notches !== 0) onTurn(notches);
	};
	const off = () => {
		if (!isOn) return;
		isOn = false;
		input.off('data', onData);
		process.off('exit', off);
		write(mouseOff);
	};
	const on = () => {
		if (isOn) return;
		isOn = true;
		// Before it is on: whatever happens then, it is switched off.
		process.on('exit', off);
		input.on('data', onData);
		write(mouseOn);
	};
	return {
		on,
		off,
		/** Hand the terminal over to somebody else, with the mouse given back meanwhile. */
		lend(suspend: () => Promise<void>): Promise<void> {
			if (!isOn) return suspend();
			off();
			return suspend().finally(on);
		},
	};
}
