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

test('session files are written in one place', () => {
	const writes = /\b(writeSync|appendFile|createWriteStream|linkSync)\b/;
	const writers = files.filter(
		(file) => file.startsWith('session/') && writes.test(readFileSync(join(source, file), 'utf8')),
	);
	expect(writers).toEqual(['session/log.ts']);
});

test('main.ts is the only one to end the process', () => {
	const enders = files.filter((file) => /process\.exit\(/.test(readFileSync(join(source, file), 'utf8')));
	expect(enders).toEqual(['main.ts']);
});
