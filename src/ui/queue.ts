import type {Rest} from '../agent/agent-event.ts';
import {type Draft, draftOf, isEmpty, textOf} from './composer.ts';
import {oneLine, type Row} from './display.ts';

/** Messages that were sent while a turn ran, in their order: each is a turn of its own once the one before has come to rest. */
export type Queue = readonly string[];

const shownRows = 3;

export function queueRows(queue: Queue, columns: number): Row[] {
	const rows = queue.slice(-shownRows).map((text, index): Row => {
		const isLast = index === Math.min(shownRows, queue.length) - 1;
		const note = isLast ? '   ↑ takes it back' : '';
		const label = ` queued  ${oneLine(text, Math.max(8, columns - 11 - note.length))}`;
		return [{text: label, dim: true}, ...(note ? [{text: note, dim: true}] : [])];
	});
	const more = queue.length - rows.length;
	return more > 0 ? [[{text: ` queued  ${more} more`, dim: true}], ...rows] : rows;
}

/** The last one is taken back into the composer. */
export function takenBack(queue: Queue): {queue: Queue; draft: Draft} | undefined {
	const last = queue.at(-1);
	return last === undefined ? undefined : {queue: queue.slice(0, -1), draft: draftOf(last)};
}

/**
What becomes of the queue when a turn rests: the next message is sent. After a turn that did not end as asked all of them go
back to the person, behind the prompt that did not get into the session and before what is being written.
*/
export function afterRest(
	rest: Rest,
	queue: Queue,
	draft: Draft,
): {send: string} | {draft: Draft} | undefined {
	const [next] = queue;
	if (rest.why === 'done') return next === undefined ? undefined : {send: next};
	const unsent = 'unsent' in rest && rest.unsent ? [rest.unsent] : [];
	const back = [...unsent, ...queue];
	if (back.length === 0) return undefined;
	return {draft: draftOf([...back, ...(isEmpty(draft) ? [] : [textOf(draft)])].join('\n'))};
}
