import {inAnyTerminal} from '../table.ts';
import type {ExportedSession} from './document.ts';

/** One JSON object: what the head of the other formats says, and the events as they are in the log. */
export function json(session: ExportedSession): string {
	const {id, title, head, end, lineage, own, inherited, turns, models, hidden, events} = session;
	const answer = {
		id,
		title,
		head: head ?? null,
		end,
		lineage,
		own,
		inherited,
		turns: turns.map(({spend, ...turn}) => ({...turn, ...spend})),
		models: models.map(({model, spend}) => ({model, ...spend})),
		redacted: hidden !== undefined,
		hidden: hidden ?? [],
		events,
	};
	return `${inAnyTerminal(JSON.stringify(answer, null, '\t'))}\n`;
}
