import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {readEvents} from '../src/session/read.ts';
import {temporaryFolder} from './helpers/log-file.ts';
import {withTables} from './readme-tables.ts';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The fenced blocks of one language. */
function blocks(language: string): string[] {
	return [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text]) =>
		name === language && text ? [text] : [],
	);
}

test('the README’s tables of keys and commands are the program’s, row by row', () => {
	expect(readme, 'node test/readme-tables.ts writes them').toBe(withTables(readme));
});

test('a row that the program does not have, and one that is missing, are put right in the tables', () => {
	const row = readme.slice(readme.indexOf('| Ctrl+L |')).split('\n', 1)[0] ?? '';
	const command = readme.slice(readme.indexOf('| `/quit` |')).split('\n', 1)[0] ?? '';
	expect(withTables(readme.replace(row, `| Ctrl+Q | no such key |\n${row}`))).toBe(readme);
	expect(withTables(readme.replace(command, `| \`/none\` | no such command |\n${command}`))).toBe(readme);
	expect(withTables(readme.replace(`${row}\n`, ''))).toBe(readme);
});

test('the lines of a log in the README are a whole log', async () => {
	const path = join(temporaryFolder(), 'log.jsonl');
	writeFileSync(path, blocks('jsonl').join(''));
	const {events, end} = await readEvents(path);
	expect([end, events.length]).toEqual([{at: 'whole'}, 8]);
});

test('every file that the README links to is there', () => {
	const links = [...readme.matchAll(/\]\((?!https?:|#)([^)]+)\)/g)].map(([, path]) => path ?? '');
	expect(links.length).toBeGreaterThan(5);
	expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('the scripts that the README tells to run are in package.json', () => {
	const {scripts} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
	expect(scripts).toMatchObject({start: expect.any(String), test: expect.any(String)});
	expect(blocks('sh')[0]).toMatch(/^npm ci && npm start .*\nnpm ci && npm test /);
});

test('nothing at the top level but what belongs there', () => {
	const names = execFileSync('git', ['ls-files'], {cwd: root, encoding: 'utf8'}).split('\n').filter(Boolean);
	const top = new Set(names.map((name) => name.split('/')[0] ?? '').filter((name) => !name.startsWith('.')));
	expect([...top].sort()).toEqual([
		'README.md',
		'fixtures',
		'package-lock.json',
		'package.json',
		'src',
		'test',
		'tsconfig.json',
	]);
});

test('the lock file holds no addresses', () => {
	expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved": "http/);
});
