import {basename} from 'node:path';
import type {EventOf} from './events.ts';
import {forEachEvent} from './read.ts';

/** What accounts and lineages are made of: a log without its words. */
export type Summary = {
	id: string;
	path: string;
	/** The name it was given, else its first prompt, else ''. As it stands in the file. */
	title: string;
	/** The folder that it was recorded for; '' where line 1 does not say. */
	workspace: string;
	turns: number;
	usages: EventOf<'usage'>[];
	forks: EventOf<'fork'>[];
};

/** Read one log through for its summary. Rejects where the file cannot be read. */
export async function summarise(path: string): Promise<Summary> {
	const summary: Summary = {
		id: basename(path, '.jsonl'),
		path,
		title: '',
		workspace: '',
		turns: 0,
		usages: [],
		forks: [],
	};
	let name: string | undefined;
	await forEachEvent(path, (event) => {
		if (event.type === 'usage') summary.usages.push(event);
		if (event.type === 'fork') summary.forks.push(event);
		if (event.type === 'name') name = event.title;
		if (event.type !== 'message') return;
		if (event.session) summary.workspace = event.session.workspace;
		if (event.message.role !== 'user') return;
		if (summary.turns === 0) summary.title = event.message.content;
		summary.turns++;
	});
	return {...summary, title: name ?? summary.title};
}
