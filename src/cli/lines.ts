import {createInterface} from 'node:readline';

/** What is read at once from a terminal was pasted: several lines are one. */
const pasteMs = 30;

/**
The lines of an input, each handed to `onLine` when it is complete; null where there are no more. From a terminal, lines that
come at once are one text with line ends in it: nobody types that fast.
*/
export function readLines(input: NodeJS.ReadStream, onLine: (line: string | null) => void): {close(): void} {
	const lines = createInterface({input, terminal: false});
	let pasted: string[] = [];
	let timer: NodeJS.Timeout | undefined;
	const flush = () => {
		clearTimeout(timer);
		if (pasted.length > 0) onLine(pasted.join('\n'));
		pasted = [];
	};
	lines.on('line', (line) => {
		if (!input.isTTY) {
			onLine(line);
			return;
		}
		pasted.push(line);
		clearTimeout(timer);
		// What has arrived meanwhile is read before it: a busy machine is no slow typist.
		timer = setTimeout(() => setImmediate(flush), pasteMs);
	});
	lines.on('close', () => {
		flush();
		onLine(null);
	});
	return {close: () => lines.close()};
}
