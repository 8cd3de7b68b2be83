import {spawn} from 'node:child_process';
import {cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';

type Patch = {file: string; from: string; to: string};
/** `only` narrows the tests to those whose name holds it. */
type Mutant = {name: string; patches: Patch[]; tests: string; only?: string};

const read = 'src/session/read.ts';
const log = 'src/session/log.ts';
const forks = 'src/session/fork.ts';
const sessions = 'src/session/sessions.ts';
const audit = 'src/session/audit.ts';
const agent = 'src/agent/agent.ts';

/** What other agents do, and what would be easy to do here. Each has to be caught by the tests that are named with it. */
const mutants: Mutant[] = [
	{
		name: 'skip bad lines',
		patches: [
			{
				file: read,
				from: 'if (!parsed.ok) return await stopAt(parsed.reason);',
				to: 'if (!parsed.ok) continue;',
			},
		],
		tests: 'crash/damage',
	},
	{
		name: 'accept an unterminated line if it parses',
		patches: [
			{
				file: read,
				from: 'if (pieces.length > 0) return await stopAt(unfinished);',
				to: `if (pieces.length > 0) {
			const last = Buffer.concat(pieces);
			const parsed = parseLine(last.toString('utf8'), seq);
			if (!parsed.ok) return await stopAt(unfinished);
			visit(parsed.event, bytes + last.length);
			return {end: {at: 'whole'}, bytes: bytes + last.length};
		}`,
			},
		],
		tests: 'crash/cuts.test',
	},
	{
		name: 'split with readline',
		patches: [
			{
				file: read,
				from: "import {isUtf8} from 'node:buffer';",
				to: "import {isUtf8} from 'node:buffer';\nimport {createReadStream} from 'node:fs';\nimport {createInterface} from 'node:readline';",
			},
			{
				file: read,
				from: 'export async function readEvents(path: string): Promise<LogRead> {',
				to: `export async function readEvents(path: string): Promise<LogRead> {
	const read: LogRead = {events: [], end: {at: 'whole'}, bytes: 0};
	const {size} = await (await import('node:fs/promises')).stat(path);
	for await (const text of createInterface({input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY})) {
		const parsed = parseLine(text, read.events.at(-1)?.seq ?? 0);
		const line = read.events.length + 1;
		if (!parsed.ok) return {...read, end: {at: 'cut', line, reason: parsed.reason, ignoredBytes: size - read.bytes}};
		read.events.push(parsed.event);
		read.bytes += Buffer.byteLength(text) + 1;
	}
	return read;
}

export async function readEventsBefore(path: string): Promise<LogRead> {`,
			},
		],
		tests: 'crash/damage',
	},
	{
		name: 'append after a tear',
		patches: [
			{
				file: log,
				from: "if (read.end.at === 'cut') return {at: 'cut', read, end: read.end, lock};",
				to: '',
			},
			{
				file: log,
				from: 'const log = new SessionLog(path, lock, fd, read.events.at(-1)?.seq ?? 0, read.bytes);',
				to: 'const log = new SessionLog(path, lock, fd, read.events.at(-1)?.seq ?? 0, fstatSync(fd).size);',
			},
		],
		tests: 'crash/cuts.test',
	},
	{
		name: 'truncate the torn line away',
		patches: [
			{file: log, from: '\trmSync,\n', to: '\trmSync,\n\ttruncateSync,\n'},
			{
				file: log,
				from: "if (read.end.at === 'cut') return {at: 'cut', read, end: read.end, lock};",
				to: "if (read.end.at === 'cut') truncateSync(path, read.bytes);",
			},
		],
		tests: 'crash/cuts.test',
	},
	{
		name: 'give the torn line its newline on opening',
		patches: [
			{
				file: log,
				from: "if (read.end.at === 'cut') return {at: 'cut', read, end: read.end, lock};",
				to: "if (read.end.at === 'cut') {\n\t\t\t\tconst torn = openSync(path, 'a');\n\t\t\t\twriteSync(torn, '\\n');\n\t\t\t\tcloseSync(torn);\n\t\t\t\treturn {at: 'cut', read, end: read.end, lock};\n\t\t\t}",
			},
		],
		tests: 'crash/cuts.test',
	},
	{
		name: 'renumber: a recovery counts from 1 again',
		patches: [{file: log, from: 'encode(bodies, prefix?.seq ?? 0)', to: 'encode(bodies, 0)'}],
		tests: 'crash/cuts.test',
	},
	{
		name: 're-stamp the lines that a fork copies',
		patches: [
			{
				file: log,
				from: 'writeWhole(to, chunk.subarray(0, read));',
				to: 'const text = chunk.toString(\'latin1\', 0, read).replace(/"ts":"[^"]{24}"/g, \'"ts":"\' + new Date().toISOString() + \'"\');\n\t\t\twriteWhole(to, Buffer.from(text, \'latin1\'));',
			},
		],
		tests: 'crash/cuts.test',
	},
	{
		name: 'copy one line too many into a fork',
		patches: [
			{file: forks, from: 'const bytes = ends[last];', to: 'const bytes = ends[last + 1] ?? ends[last];'},
		],
		tests: 'crash/property',
	},
	{
		name: 'fork at any message',
		patches: [{file: forks, from: 'if (conversation.settled) points.push', to: 'points.push'}],
		tests: 'crash/property',
	},
	{
		name: 'name the parent as the owner of every line',
		patches: [{file: forks, from: 'origin: ownerOf(events, from, atSeq)', to: 'origin: from'}],
		tests: 'crash/property',
	},
	{
		name: 'copy usage as own',
		patches: [{file: audit, from: 'own: events.slice(lastFork + 1)', to: 'own: events'}],
		tests: 'crash/property',
	},
	{
		name: 'count a call once for each file that has its line',
		patches: [{file: audit, from: 'if (counted.has(key)) continue;', to: ''}],
		tests: 'crash/property',
	},
	{
		name: 'leave calls without an answer',
		patches: [
			{
				file: agent,
				from: 'const bodies = [...lostAnswers(this.#events), ...user];',
				to: 'const bodies = [...user];',
			},
		],
		tests: 'crash/cuts.test',
	},
	{
		name: 'recover the same cut again and again',
		patches: [
			{
				file: sessions,
				from: 'if (read.events.length === 0) return undefined;',
				to: 'if (read.events.length >= 0) return undefined;',
			},
		],
		tests: 'crash/cuts.test',
	},
	{
		name: 'sort by mtime',
		patches: [
			{
				file: sessions,
				from: "import {type Dirent, existsSync, realpathSync} from 'node:fs';",
				to: "import {type Dirent, existsSync, realpathSync, statSync} from 'node:fs';",
			},
			{
				file: sessions,
				from: '\t\t.sort()\n\t\t.reverse()\n',
				to: '\t\t.sort((a, b) => (statSync(join(folder, b), {throwIfNoEntry: false})?.mtimeMs ?? 0) - (statSync(join(folder, a), {throwIfNoEntry: false})?.mtimeMs ?? 0))\n',
			},
		],
		tests: 'session/cases',
	},
	{
		name: 'append with a promise that nobody waits for',
		patches: [
			{
				file: log,
				from: "import {basename, dirname, join} from 'node:path';",
				to: "import {appendFile} from 'node:fs/promises';\nimport {basename, dirname, join} from 'node:path';",
			},
			{file: log, from: 'writeWhole(this.#fd, data);', to: 'void appendFile(this.path, data);'},
		],
		tests: 'crash/states',
		only: 'every state',
	},
	{
		name: 'call a line kept before it is synced',
		patches: [{file: log, from: 'if (syncing) await syncData(this.#fd);', to: ''}],
		tests: 'crash/states',
		only: 'every state',
	},
	{
		name: 'give a session its name before its bytes are synced',
		patches: [{file: log, from: 'if (syncing) fsyncSync(fd);', to: ''}],
		tests: 'crash/states',
		only: 'every state',
	},
	{
		name: 'call a session made before its folder is synced',
		patches: [{file: log, from: 'if (syncing) syncFolder(dirname(path));', to: ''}],
		tests: 'crash/states',
		only: 'every state',
	},
	{
		name: 'leave the folders of the first session unsynced',
		patches: [{file: log, from: 'syncNames(dirname(path));', to: ''}],
		tests: 'crash/states',
		only: 'every state',
	},
];

/**
Prove that these tests can fail: break a copy of mca in one way after the other and print which test caught it.

Resolves with an exit status: 1 where a mutant survived, where a patch no longer fits the source, or where the copy fails as it
is, since then nothing that fails proves anything.
*/
export async function runMutants(): Promise<number> {
	const root = join(import.meta.dirname, '../..');
	const copy = mkdtempSync(join(tmpdir(), 'mca-mutants-'));
	try {
		for (const name of ['src', 'test', 'fixtures', 'package.json', 'tsconfig.json']) {
			cpSync(join(root, name), join(copy, name), {recursive: true});
		}
		symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
		const files = [...new Set(mutants.map(({tests}) => tests))];
		const failing = await firstFailure(copy, files);
		if (failing !== undefined) {
			print(`The copy fails before anything is changed in it: ${failing}`);
			return 1;
		}
		const width = Math.max(...mutants.map(({name}) => name.length));
		print(`${'mutant'.padEnd(width)} | caught by`);
		print(`${'-'.repeat(width)} | ---------`);
		let status = 0;
		for (const mutant of mutants) {
			const verdict = await judge(copy, root, mutant);
			if (!verdict.caught) status = 1;
			print(`${mutant.name.padEnd(width)} | ${verdict.says}`);
		}
		return status;
	} finally {
		rmSync(copy, {recursive: true, force: true, maxRetries: 5});
	}
}

async function judge(
	copy: string,
	root: string,
	{patches, tests, only}: Mutant,
): Promise<{caught: boolean; says: string}> {
	try {
		for (const {file, from, to} of patches) {
			const source = readFileSync(join(copy, file), 'utf8');
			if (source.split(from).length !== 2) {
				return {
					caught: false,
					says: `not tried: the patch no longer fits, ${file} does not hold “${from.trim()}” once`,
				};
			}
			writeFileSync(
				join(copy, file),
				source.replace(from, () => to),
			);
		}
		const caughtBy = await firstFailure(copy, [tests], only);
		return caughtBy === undefined
			? {caught: false, says: `SURVIVED ${tests}`}
			: {caught: true, says: caughtBy};
	} finally {
		for (const {file} of patches) cpSync(join(root, file), join(copy, file));
	}
}

/** The first test that fails in these files, undefined where none does. */
async function firstFailure(
	folder: string,
	files: readonly string[],
	only?: string,
): Promise<string | undefined> {
	const report = join(folder, 'report.json');
	rmSync(report, {force: true});
	const {status, output} = await runNode(folder, [
		'node_modules/vitest/vitest.mjs',
		'run',
		'--dir=test',
		'--bail=1',
		'--testTimeout=120000',
		'--reporter=json',
		`--outputFile=${report}`,
		...(only ? ['-t', only] : []),
		...files,
	]);
	if (status === 0) return undefined;
	const {testResults} = JSON.parse(readFileSync(report, 'utf8')) as {
		testResults: {name: string; message: string; assertionResults: {status: string; title: string}[]}[];
	};
	for (const {name, message, assertionResults} of testResults) {
		const failed = assertionResults.find((result) => result.status === 'failed');
		if (failed) return failed.title;
		if (message) return `${name.slice(folder.length + 1)}, which does not load: ${message.split('\n')[0]}`;
	}
	throw new Error(`vitest ended with ${status} and no failed test:\n${output}`);
}

function runNode(cwd: string, args: string[]): Promise<{status: number | null; output: string}> {
	const env: NodeJS.ProcessEnv = {
		...process.env,
		PATH: `${join(cwd, 'node_modules/.bin')}${delimiter}${process.env.PATH ?? ''}`,
	};
	delete env.CRASH_RUNS;
	const child = spawn(process.execPath, args, {cwd, env, stdio: ['ignore', 'pipe', 'pipe']});
	let output = '';
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding('utf8').on('data', (text: string) => {
			output = (output + text).slice(-4000);
		});
	}
	return new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('close', (status) => resolve({status, output}));
	});
}

function print(text: string): void {
	process.stdout.write(`${text}\n`);
}
