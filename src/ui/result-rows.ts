import type {Event, EventOf} from '../session/events.ts';
import {diffLines} from './diff-rows.ts';
import {display, fit, type Row, type Span, wrap} from './display.ts';

/** Rows that an open result takes at most, from its beginning and from its end. */
const headRows = 16;
const tailRows = 8;
const indent: Span = {text: '    '};
/** Where there is less room than this the text is not put further in. */
const leastRoom = 6;

/** What a call answered, below its row. The middle of a long one is left out. */
export function resultRows(content: string, columns: number): Row[] {
	const lines = withoutNames(display(content).trimEnd().split('\n'));
	const diffFrom = lines.findIndex((line) => /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/.test(line));
	const styled = (from: number, to: number): Span[][] => {
		const plain = lines.slice(from, to).map((text) => (text === '' ? [] : [{text, dim: true}]));
		if (diffFrom === -1 || to <= diffFrom) return plain;
		// A hunk is read from its beginning, wherever what is shown of it begins.
		return [
			...plain.slice(0, Math.max(0, diffFrom - from)),
			...diffLines(lines.slice(diffFrom, to)).slice(Math.max(0, from - diffFrom)),
		];
	};
	const before = columns - 4 >= leastRoom ? [indent] : [];
	const rowsOf = (line: Span[]) =>
		wrap(line, columns - 4 * before.length, 2).map(
			(row): Row => (row.length === 0 ? [] : [...before, ...row]),
		);
	const most = headRows + tailRows;
	const begin = styled(0, Math.min(lines.length, most)).flatMap(rowsOf);
	if (lines.length <= most && begin.length <= most) return begin;
	const end = lines.length <= most ? begin : styled(lines.length - tailRows, lines.length).flatMap(rowsOf);
	const left = `… of ${lines.length} lines`;
	return [
		...begin.slice(0, headRows),
		fit([...before, {text: left, dim: true, italic: true}], columns),
		...end.slice(-tailRows),
	];
}

/** A diff of one file needs no header: the call's own row names it. */
function withoutNames(lines: readonly string[]): string[] {
	const at = lines.findIndex(
		(line, index) => line.startsWith('--- ') && lines[index + 1]?.startsWith('+++ '),
	);
	return at === -1 ? [...lines] : [...lines.slice(0, at), ...lines.slice(at + 2)];
}

/** What the model was told of a call: the message behind its tool_end. Found in as many steps as the log's length has digits. */
export function resultOf(events: readonly Event[], end: EventOf<'tool_end'>): string | undefined {
	let low = 0;
	let high = events.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((events[middle]?.seq ?? 0) <= end.seq) low = middle + 1;
		else high = middle;
	}
	const event = events[low];
	if (event?.type !== 'message' || event.message.role !== 'tool') return undefined;
	return event.message.toolCallId === end.id ? event.message.content : undefined;
}
