import {readBeside} from '../session/log.ts';
import {exportedSession, partsOf} from './export/document.ts';
import {html} from './export/html.ts';
import {json} from './export/json.ts';
import {markdown} from './export/markdown.ts';
import {hiddenLines} from './export/words.ts';
import {cannotRead, readablePath} from './place.ts';
import {onTerminal, print, tell} from './table.ts';
import {UsageError} from './usage-error.ts';

const formats = {md: markdown, html, json};

export type ExportOptions = {format: string; redact: boolean};

/** `mca export`: the session as one file on stdout; what was hidden is told on stderr, and in the file. */
export async function exportSession(given: string, options: ExportOptions): Promise<number> {
	if (!isFormat(options.format)) {
		throw new UsageError(
			`There is no format ${options.format}. There are ${Object.keys(formats).join(', ')}.`,
		);
	}
	const path = await readablePath(given);
	const read = await readBeside(path).catch(cannotRead(path));
	const session = exportedSession(path, read, options);
	await print(formats[options.format](session, partsOf(session.events)));
	if (onTerminal) return 0;
	for (const line of hiddenLines(session)) tell(`Hidden: ${line}`);
	return 0;
}

function isFormat(name: string): name is keyof typeof formats {
	return Object.hasOwn(formats, name);
}
