// `node test/readme-tables.ts` writes the README's tables of keys and commands from the program's own.
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {commands} from '../src/ui/commands.ts';
import {keys} from '../src/ui/keys.ts';

const path = join(import.meta.dirname, '../README.md');
const table = (rows: readonly (readonly [string, string])[]) =>
	rows.map(([left, right]) => `| ${left} | ${right} |`).join('\n');

/** Puts `rows` below the head of the first table behind `heading`. */
function replace(text: string, heading: string, rows: string): string {
	const at = text.indexOf('|---|---|\n', text.indexOf(heading)) + '|---|---|\n'.length;
	const end = text.indexOf('\n\n', at);
	return `${text.slice(0, at)}${rows}${text.slice(end)}`;
}

/** The README with the tables as they have to be. */
export function withTables(readme: string): string {
	const keyRows = table(keys.map(({key, does}) => [key.replaceAll('|', '\\|'), does]));
	const commandRows = table(commands.map(({usage, does}) => [`\`${usage.replaceAll('|', '\\|')}\``, does]));
	const withKeys = replace(readme, '\n## Keys\n', keyRows);
	return replace(withKeys, '`/help` shows them with the commands:', commandRows);
}

if (process.argv[1] === import.meta.filename) writeFileSync(path, withTables(readFileSync(path, 'utf8')));
