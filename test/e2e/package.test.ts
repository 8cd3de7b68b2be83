import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, realpathSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeAll, expect, test} from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mca-package-')));
/** npm as it is for somebody who installs a package: without what the run of these tests has set for it. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
let packed: string[] = [];

beforeAll(() => {
	const said = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
		cwd: root,
		env,
		encoding: 'utf8',
	});
	// npm 11 prints a list, npm 12 an object by name.
	const [packing] = Object.values(JSON.parse(said)) as {filename: string; files: {path: string}[]}[];
	packed = packing?.files.map((file) => file.path) ?? [];
	writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
	execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `./${packing?.filename}`], {
		cwd: folder,
		env,
	});
});

function node(...args: string[]): string {
	return execFileSync(process.execPath, args, {
		cwd: folder,
		env: {...env, MCA_HOME: join(folder, 'home')},
		encoding: 'utf8',
	});
}

const bin = join('node_modules', 'mca', 'dist', 'main.js');

test('the package holds what it needs to run and nothing else', () => {
	const others = packed.filter(
		(path) => !/^(dist\/|fixtures\/(repo|scripts)\/|package\.json$|README\.md$)/.test(path),
	);
	expect(others).toEqual([]);
	expect(packed).toEqual(
		expect.arrayContaining(['dist/main.js', 'dist/session/index.js', 'fixtures/repo/src/calc.js']),
	);
});

test('an installed mca knows its version', () => {
	const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
	expect(node(bin, '--version')).toBe(`${version}\n`);
});

test('an installed mca passes its self-test', () => {
	const said = execFileSync(process.execPath, [bin], {
		cwd: folder,
		env: {...env, MOCK: '1', SELFTEST: '1'},
		encoding: 'utf8',
	});
	expect(said.trimEnd().split('\n').at(-1)).toBe('11/11 passed');
});

test('the README’s example of the library runs from the package, and its types fit', () => {
	const readme = readFileSync(join(root, 'README.md'), 'utf8');
	const example = /^```js\n(import [\s\S]*?)^```$/m.exec(readme)?.[1] ?? '';
	expect(example).toContain("from 'mca/session'");
	writeFileSync(join(folder, 'example.js'), example);
	const log = join(root, 'fixtures', 'logs', 'whole.jsonl');
	expect(node('example.js', log)).toBe('11 messages, 8 events left out, fork points at 2, 8, 9, 19\n');
	writeFileSync(join(folder, 'example.ts'), `${example}\nconst wrong: number = end;\n`);
	const tsc = join(root, 'node_modules', '.bin', 'tsc');
	const options = [
		'--noEmit',
		'--strict',
		'--module',
		'nodenext',
		'--target',
		'es2022',
		'--types',
		'node',
		'--typeRoots',
		join(root, 'node_modules', '@types'),
	];
	const checked = (() => {
		try {
			return execFileSync(tsc, [...options, 'example.ts'], {cwd: folder, env, encoding: 'utf8'});
		} catch (error) {
			return (error as {stdout: string}).stdout;
		}
	})();
	// The one mistake that was put in is the one that is found: the types are really there.
	expect(
		checked
			.trim()
			.split('\n')
			.filter((line) => line.includes('error TS')),
	).toEqual([expect.stringMatching(/example\.ts.*TS2322/)]);
});
