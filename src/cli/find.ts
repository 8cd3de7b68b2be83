import {basename} from 'node:path';
import {type Hit, hitsIn, patternOf} from '../session/find.ts';
import {glance} from '../session/sessions.ts';
import {display, oneLine, truncate, width} from '../ui/display.ts';
import {allFolders, filesIn, placeOf} from './place.ts';
import {localTime, printJson, printLine, styled, tell, terminalColumns} from './table.ts';
import {UsageError} from './usage-error.ts';

export type FindOptions = {folder?: string; all?: boolean; json?: boolean};

/**
`mca find`: what was said, asked and answered in the sessions of this workspace, newest session first and each as soon as it was
read. A line that forks copied is found once, in the session that wrote it, or in a fork where that is gone. Exit status 1 where
nothing is found, as with grep.
*/
export async function find(given: string, options: FindOptions): Promise<number> {
	const looked = patternOf(given);
	if (!looked.ok) throw new UsageError(looked.reason);
	const paths = await filesIn(options.all ? allFolders() : placeOf(options.folder).folders);
	const there = new Set(paths.map((path) => basename(path, '.jsonl')));
	const shown = new Set<string>();
	let found = 0;
	for (const path of paths) {
		const id = basename(path, '.jsonl');
		const hits = await hitsIn(path, looked.pattern).catch((error: Error) => {
			tell(`${path} cannot be read: ${error.message}`);
			return [];
		});
		const own = hits.filter(({owner, seq}) => {
			if (owner !== id && (there.has(owner) || shown.has(`${owner} ${seq}`))) return false;
			shown.add(`${owner} ${seq}`);
			return true;
		});
		if (own.length === 0) continue;
		found += own.length;
		const {title} = await glance(path);
		const going = options.json ? await printHits(id, title, own) : await showSession(id, title, own);
		if (!going) break;
	}
	if (found === 0 && !options.json)
		tell(`Nothing found for ${given}${options.all ? '' : ' in this workspace; --all looks everywhere'}.`);
	return found === 0 ? 1 : 0;
}

async function printHits(id: string, title: string, hits: readonly Hit[]): Promise<boolean> {
	for (const {owner: _, ...hit} of hits) {
		if (!(await printJson({session: id, title, ...hit, resume: `mca --resume ${id} --at ${hit.seq}`})))
			return false;
	}
	return true;
}

async function showSession(id: string, title: string, hits: readonly Hit[]): Promise<boolean> {
	const columns = Math.min(terminalColumns(), 400);
	await printLine(`${styled(id, 'bold')}  ${oneLine(title, columns - id.length - 2)}`);
	for (const hit of hits) {
		const more = hit.matches > 1 ? `  ${hit.matches} lines` : '';
		await printLine(
			styled(`  ${hit.seq}  turn ${hit.turn}  ${oneLine(hit.in, 40)}  ${localTime(hit.ts)}${more}`, 'dim'),
		);
		if (hit.before.trim() !== '') await printLine(styled(`    ${oneLine(hit.before, columns - 4)}`, 'dim'));
		await printLine(`    ${around(hit, columns - 4)}`);
		if (hit.after.trim() !== '') await printLine(styled(`    ${oneLine(hit.after, columns - 4)}`, 'dim'));
	}
	// The screen opens at the last of them; the others are above.
	return printLine(`  ${styled(`mca --resume ${id} --at ${hits.at(-1)?.seq}`, 'cyan')}\n`);
}

/** As much of the line as fits, from the middle of the match outwards, with the match marked. */
function around({line, at, length}: Hit, columns: number): string {
	const end = at + length;
	const start = Math.max(0, Math.min(at, line.length - columns, Math.floor((at + end - columns) / 2)));
	const before = clean(line.slice(start, at)).trimStart();
	const match = truncate(clean(line.slice(at, end)), columns);
	const room = Math.max(1, columns - width(before) - width(match) - 2);
	const after = truncate(clean(line.slice(end, end + columns)), room).trimEnd();
	return `${start > 0 ? '…' : ''}${before}${styled(match, 'magenta')}${after}`;
}

function clean(text: string): string {
	return display(text.toWellFormed()).replace(/\s+/g, ' ');
}
