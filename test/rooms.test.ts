import {readdirSync, readFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {expect, test} from 'vitest';

const source = join(import.meta.dirname, '../src');
const rooms = ['session', 'tools', 'agent', 'ui', 'cli', 'main.ts'];

const files = readdirSync(source, {recursive: true, encoding: 'utf8'}).filter((file) => /\.tsx?$/.test(file));

/** Every module that a file imports, as written; type imports too, since a type has its room as well. */
function imports(file: string): string[] {
	const text = readFileSync(join(source, file), 'utf8');
	const patterns = [
		/^(?:import|export)\b[^;]*?\bfrom '([^']+)'/gm,
		/^import '([^']+)'/gm,
		/\bimport\('([^']+)'\)/g,
	];
	return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''));
}

function roomOf(file: string): number {
	const room = file.split('/')[0] ?? '';
	if (!rooms.includes(room)) throw new Error(`src/${file} is in no room`);
	return rooms.indexOf(room);
}

test('every import points to the left: session ← tools ← agent ← ui ← cli ← main', () => {
	const wrong = files.flatMap((file) =>
		imports(file)
			.filter((name) => name.startsWith('.'))
			.map((name) => relative(source, resolve(source, dirname(file), name)))
			.filter((target) => roomOf(target) > roomOf(file))
			.map((target) => `${file} imports ${target}`),
	);
	expect(wrong).toEqual([]);
});

/** Where each package may appear. A package that is not named here may appear nowhere. */
const homes: [pattern: RegExp, allowed: RegExp][] = [
	[/^node:fs/, /^(session|tools|cli)\/|^main\.ts$/],
	[/^node:child_process$/, /^(tools|cli)\//],
	[/^node:/, /./],
	[/^zod$/, /^session\/events\.ts$|^tools\/|^cli\/(config|doctor|instructions)\.ts$/],
	[/^@pydantic\/genai-prices$/, /^agent\/prices\.ts$/],
	[/^(openai(\/.*)?|undici)$/, /^agent\/openai/],
	[/^(ink|ink-text-input|react)$/, /^ui\/|^cli\/chat\.tsx$/],
	[/^string-width$/, /^ui\//],
	[/^marked$/, /^ui\//],
	[/^highlight\.js\//, /^ui\/languages\.ts$/],
	[/^diff$/, /^tools\//],
	[/^@vscode\/ripgrep$/, /^tools\//],
	[/^commander$/, /^cli\//],
];

test('each package appears only where it belongs', () => {
	const wrong = files.flatMap((file) =>
		imports(file)
			.filter((name) => !name.startsWith('.'))
			.filter((name) => !homes.find(([pattern]) => pattern.test(name))?.[1].test(file))
			.map((name) => `${file} imports ${name}`),
	);
	expect(wrong).toEqual([]);
});

test('the engine imports node and zod, nothing else', () => {
	const packages = files.filter((file) => file.startsWith('session/')).flatMap(imports);
	expect(packages.filter((name) => !/^(\.|node:|zod$)/.test(name))).toEqual([]);
});

/** What changes a file or where it is, out of node:fs and node:fs/promises. */
const changing =
	/^(write|writev|writeFile|appendFile|truncate|ftruncate|rename|link|symlink|cp|copyFile|rm|rmdir|unlink)(Sync)?$|^createWriteStream$/;

/** The ways in which a source file can change files, by name; `*` where it takes all of node:fs. */
function writesOf(text: string): string[] {
	const imported = [
		...text.matchAll(/^(?:import|export)\s+([^;]*?)\s+from 'node:fs(?:\/promises)?'/gm),
	].flatMap(([, names = '']) =>
		names.startsWith('type ')
			? []
			: names.startsWith('{')
				? names
						.slice(1, -1)
						.split(',')
						.map((name) => name.trim().split(' as ')[0] ?? '')
				: ['*'],
	);
	const methods = [...text.matchAll(/\.(writeFile|appendFile|truncate|createWriteStream|writev)\(/g)];
	const opens = /\bO_(WRONLY|RDWR|APPEND|CREAT|TRUNC)\b|\bopen(Sync)?\([^;]*?'(a|w|r\+|as|rs\+)x?\+?'/.test(
		text,
	);
	return [
		...new Set([
			...imported.map((name) => (name === 'promises' ? '*' : name)),
			...methods.map(([, name = '']) => name),
			...(opens ? ['open to write'] : []),
			...(/\b(import|require|getBuiltinModule)\(['"](node:)?fs\b/.test(text) ? ['*'] : []),
		]),
	]
		.filter((name) => changing.test(name) || name === '*' || name === 'open to write')
		.sort();
}

const writers = new Map(
	files
		.map((file) => [file, writesOf(readFileSync(join(source, file), 'utf8'))] as const)
		.filter(([, writes]) => writes.length > 0),
);

test('session files are written in one place', () => {
	expect(Object.fromEntries([...writers].filter(([file]) => file.startsWith('session/')))).toEqual({
		'session/log.ts': ['linkSync', 'open to write', 'rmSync', 'unlinkSync', 'writeSync'],
		// Moves a whole session and its outputs, and writes nothing.
		'session/trash.ts': ['renameSync'],
		// Removes the socket that a holder left behind.
		'session/lock.ts': ['rmSync'],
	});
});

/** Who else changes files, and which. */
const otherWriters: Record<string, string> = {
	'tools/files.ts': 'files of the workspace, which mca’s own folders are no part of',
	'tools/command-output.ts': 'outputs that are too long for the log, in a folder beside it',
	'tools/process-group.ts': 'opens /dev/null',
	'cli/terms.ts': 'hands node:fs/promises to the sandbox, whose Disk only reads',
	'cli/setup.ts': 'the repository of the demo',
	'cli/selftest.ts': 'damages logs of its own in a temporary folder, to see them noticed',
	'cli/editor.ts': 'the prompt that an editor is given',
	'cli/trust.ts': 'the folders that are trusted',
	'cli/rules.ts': 'the commands that are allowed',
	'cli/prompt-history.ts': 'the earlier prompts',
	'cli/crash.ts': 'crash.log',
};

test('whoever else changes files is known, with what he changes', () => {
	const others = [...writers.keys()].filter((file) => !file.startsWith('session/'));
	expect(others.sort()).toEqual(Object.keys(otherWriters).sort());
});

test.each([
	["import {renameSync} from 'node:fs';", ['renameSync']],
	["import {\n\tcp,\n\ttruncate as cut,\n} from 'node:fs/promises';", ['cp', 'truncate']],
	["import * as fs from 'node:fs';", ['*']],
	["import {promises} from 'node:fs';", ['*']],
	["const {writeFileSync} = await import('node:fs');", ['*']],
	["import {open} from 'node:fs/promises';\nawait (await open(path, 'a')).write(line);", ['open to write']],
	['await handle.appendFile(line);', ['appendFile']],
	["import {open, stat} from 'node:fs/promises';\nawait open(path, 'r');", []],
	["import type {Stats} from 'node:fs';", []],
])('of %j it is noticed that it can write', (text, writes) => {
	expect(writesOf(text)).toEqual(writes);
});

test('main.ts is the only one to end the process', () => {
	const enders = files.filter((file) => /process\.exit\(/.test(readFileSync(join(source, file), 'utf8')));
	expect(enders).toEqual(['main.ts']);
});
