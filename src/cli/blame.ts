import {createHash} from 'node:crypto';
import {existsSync, readFileSync, realpathSync, statSync} from 'node:fs';
import {basename, dirname, join, relative, resolve, sep} from 'node:path';
import {type Edit, editsIn, merged, type Since, since} from '../session/blame.ts';
import {type LineOrigin, lineOrigins, split} from '../session/blame-line.ts';
import {recordedWorkspace, sessionFiles} from '../session/sessions.ts';
import {plainLine} from '../tools/plain-text.ts';
import {oneLine} from '../ui/display.ts';
import {allFolders, placeOf} from './place.ts';
import {
	type Cell,
	type ColumnOf,
	localTime,
	print,
	printJson,
	printLine,
	styled,
	table,
	tell,
	thousands,
} from './table.ts';
import {UsageError} from './usage-error.ts';

export type BlameOptions = {folder?: string; json?: boolean};

/** `mca blame`: the recorded edits of a file, or of the line that `FILE:LINE` names, newest first. */
export async function blame(given: string, options: BlameOptions): Promise<number> {
	const {file, line} = locate(given, options.folder);
	if (statSync(file, {throwIfNoEntry: false})?.isDirectory())
		throw new UsageError(`${file} is a folder. mca blame takes a file.`);
	const edits = await editsOf(file);
	const bytes = existsSync(file) ? readFileSync(file) : null;
	const now = bytes === null ? null : sha256(bytes);
	if (line !== undefined) return blameLine({file, line, edits, bytes}, options);
	const became = since(edits, now);
	if (options.json) {
		await printJson({
			file,
			sha256: now,
			edits: edits.map((edit, index) => ({...jsonOf(edit), since: became[index]})).reverse(),
		});
		return 0;
	}
	if (edits.length === 0) {
		await printLine(`No session has recorded an edit of ${plainLine(file)}.`);
		return 0;
	}
	await printLine(`${styled(plainLine(file), 'bold')}  ${stateOf(became.at(-1), now)}`);
	const rows = edits.map((edit, index) =>
		blameColumns.map(({cell}) => cell({...edit, became: became[index]})),
	);
	await print(table(blameColumns, rows.reverse()));
	return 0;
}

async function blameLine(
	{file, line, edits, bytes}: {file: string; line: number; edits: Edit[]; bytes: Buffer | null},
	{json}: BlameOptions,
): Promise<number> {
	if (bytes === null)
		throw new UsageError(
			`${file} is not there, so it has no line ${line}. mca blame ${file} lists its edits.`,
		);
	const text = bytes.toString('utf8');
	const lines = split(text);
	const words = lines[line - 1];
	if (words === undefined) {
		throw new UsageError(`${file} has ${thousands(lines.length)} lines, so it has no line ${line}.`);
	}
	const origin: LineOrigin =
		edits.length === 0 ? {from: 'unknown'} : (lineOrigins(edits, text)[line - 1] ?? {from: 'unknown'});
	const edit = 'edit' in origin ? edits[origin.edit] : 'after' in origin ? edits[origin.after] : undefined;
	if (json) {
		await printJson({file, line, text: words, from: origin.from, edit: edit ? jsonOf(edit) : null});
		return 0;
	}
	await printLine(`${styled(`${line}`, 'dim')}  ${plainLine(words)}`);
	await printLine(lineSentence(origin, edit));
	if (edit) await printLine(styled(`“${oneLine(edit.prompt, 200)}”`, 'dim'));
	return 0;
}

function lineSentence({from}: LineOrigin, edit: Edit | undefined): string {
	const of = edit
		? `${edit.session}, turn ${edit.turn}, event ${edit.seq} (${plainLine(edit.tool)} of ${plainLine(edit.model)}, ${localTime(edit.ts)})`
		: '';
	switch (from) {
		case 'edit':
			return `Written by ${of}.`;
		case 'likely':
			return `Likely written by ${of}, whose words hold this line. What the file was in between is not recorded.`;
		case 'before':
			return 'It was there before the first recorded edit.';
		case 'outside':
			return `Written outside of mca's edits, after ${of}.`;
		case 'unknown':
			return 'No recorded edit tells where it comes from.';
	}
}

/** The file that is meant, as a real path, and the line. A name with a colon in it is a name where such a file is there. */
function locate(given: string, folder: string | undefined): {file: string; line?: number} {
	const whole = found(given, folder);
	if (existsSync(whole)) return {file: whole};
	const [, name = '', line = ''] = /^(.+):(\d+)$/.exec(given) ?? [];
	return line === '' ? {file: whole} : {file: found(name, folder), line: Number(line)};
}

/** Where it is: from here or from `-C`, else (the demo) from the workspace. A file that is gone is where it would be. */
function found(name: string, folder: string | undefined): string {
	const {workspace} = placeOf(folder);
	const [first, second] = [resolve(folder ?? '.', name), resolve(workspace, name)];
	const path = existsSync(first) || !existsSync(second) ? first : second;
	let there = path;
	while (!existsSync(there)) there = dirname(there);
	return join(realpathSync(there), relative(there, path));
}

/**
The recorded edits of a file, from the sessions of every workspace that it lies in, and of those that were moved since: their
folder is gone, and what they left is here, with the same bytes or in a folder of the same name.
*/
async function editsOf(file: string): Promise<Edit[]> {
	const lists: Edit[][] = [];
	for (const folder of allFolders()) {
		const [paths, recorded] = await filesAndWorkspace(folder);
		if (!recorded) continue;
		if (recorded.there) {
			const name = nameIn(realpathSync(recorded.path), file);
			if (name !== undefined) lists.push(...(await editsInAll(paths, (path) => path === name)));
			continue;
		}
		const names = (path: string) => file.endsWith(`${sep}${path}`);
		const moved = await editsInAll(paths, names);
		for (const name of new Set(moved.flat().map(({change}) => change.path))) {
			const root = file.slice(0, -name.length - 1);
			const isHere =
				basename(root) === basename(recorded.path) ||
				(await editsInAll(paths, () => true))
					.flat()
					.some(({change}) => change.after !== null && hashOf(join(root, change.path)) === change.after);
			if (isHere) lists.push(...moved.map((edits) => edits.filter(({change}) => change.path === name)));
		}
	}
	return merged(lists);
}

async function filesAndWorkspace(folder: string) {
	const paths = await sessionFiles(folder);
	for (const path of paths) {
		const recorded = await recordedWorkspace(path);
		if (recorded) return [paths, recorded] as const;
	}
	return [paths, undefined] as const;
}

async function editsInAll(paths: readonly string[], wanted: (path: string) => boolean): Promise<Edit[][]> {
	const lists: Edit[][] = [];
	for (const path of paths) {
		const edits = await editsIn(path, wanted).catch((error: Error) => {
			tell(`${path} cannot be read: ${error.message}`);
			return [];
		});
		lists.push(edits);
	}
	return lists;
}

/** With `/`, as the log names it; undefined outside of the folder. */
function nameIn(folder: string, file: string): string | undefined {
	const name = relative(folder, file);
	return name === '' || name.startsWith('..') ? undefined : name.split(sep).join('/');
}

function hashOf(path: string): string | null {
	try {
		return sha256(readFileSync(path));
	} catch {
		return null;
	}
}

function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

function jsonOf({session, seq, ts, turn, prompt, model, call, tool, change}: Edit) {
	return {session, seq, ts, turn, prompt, model, tool, call: call ?? null, ...change};
}

function stateOf(last: Since | undefined, now: string | null): string {
	if (now === null) return styled('is not there now', 'yellow');
	if (last?.is === 'the file now') return styled('is as the last edit left it', 'green');
	return styled('was changed outside of mca’s edits since the last one', 'yellow');
}

type BlameRow = Edit & {became: Since | undefined};

const blameColumns: readonly ColumnOf<BlameRow>[] = [
	{title: 'time', leave: 2, cell: ({ts}) => ({text: localTime(ts), style: 'dim'})},
	{title: 'session', cell: ({session}) => session},
	{title: 'seq', right: true, cell: ({seq}) => `${seq}`},
	{title: 'turn', right: true, cell: ({turn}) => `${turn}`},
	{title: 'model', leave: 1, cell: ({model}) => ({text: model, style: 'dim'})},
	{title: 'call', leave: 3, cell: ({tool}) => tool},
	{title: '+', right: true, cell: ({change}) => ({text: `+${change.added}`, style: 'green'})},
	{title: '−', right: true, cell: ({change}) => ({text: `−${change.removed}`, style: 'red'})},
	{title: 'since', cell: ({became}) => sinceCell(became)},
	{title: 'prompt', rest: true, cell: ({prompt}) => prompt},
];

function sinceCell(became: Since | undefined): Cell {
	switch (became?.is) {
		case 'the file now':
			return {text: 'the file now', style: 'green'};
		case 'edited':
			return `edited by ${became.session.slice(-4)} ${became.seq}`;
		default:
			return {text: 'changed outside', style: 'yellow'};
	}
}
