import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {judge, type Mode, type Policy} from '../../src/agent/gate.ts';
import {tools} from '../../src/tools/index.ts';
import {temporaryFolder} from '../helpers/log-file.ts';

const workspace = () => {
	const root = temporaryFolder();
	const folder = join(root, 'work');
	mkdirSync(join(folder, '.git'), {recursive: true});
	mkdirSync(join(root, 'data'));
	writeFileSync(join(folder, 'a.txt'), 'a');
	writeFileSync(join(folder, '.env'), 'KEY=1');
	symlinkSync(root, join(folder, 'out'));
	mkdirSync(join(folder, 'docs'));
	symlinkSync('docs/for-agents.txt', join(folder, 'CLAUDE.md'));
	return {workspace: folder, forbidden: [join(root, 'data')], spillFolder: join(root, 'data', 'spill')};
};

/** `allow by sandbox`, `deny by builtin`, … of one call. */
async function verdict(name: string, args: object, policy: Partial<Policy> = {}) {
	const prepared = tools.find((tool) => tool.name === name)?.prepare(JSON.stringify(args));
	if (!prepared?.ok) throw new Error('the call does not fit');
	const judged = await judge(prepared.call, workspace(), {
		mode: 'ask',
		rules: [],
		refused: [],
		hasSandbox: false,
		...policy,
	});
	return `${judged.verdict.state} by ${judged.verdict.by}${judged.sandboxed ? ', in the sandbox' : ''}`;
}

const read = (path: string, policy?: Partial<Policy>) => verdict('read_file', {path}, policy);
const write = (path: string, policy?: Partial<Policy>) => verdict('write_file', {path, content: 'x'}, policy);
const command = (text: string, policy?: Partial<Policy>, more = {}) =>
	verdict('run_command', {command: text, ...more}, policy);

const everyMode: Mode[] = ['ask', 'edits', 'plan'];

test.each(everyMode)(
	'in mode %s reading inside the workspace passes, and what leaves it is denied',
	async (mode) => {
		expect(await read('a.txt', {mode})).toBe('allow by builtin');
		for (const path of ['../data/x', 'out/data/x', '/etc/passwd', 'out/../../etc']) {
			expect(await read(path, {mode}), path).toBe('deny by builtin');
			expect(await write(path, {mode}), path).toBe('deny by builtin');
		}
	},
);

test('a change is asked; in mode edits it passes; in mode plan it is denied', async () => {
	expect(await write('a.txt')).toBe('ask by builtin');
	expect(await write('a.txt', {mode: 'edits'})).toBe('allow by builtin');
	expect(await write('a.txt', {mode: 'plan'})).toBe('deny by builtin');
});

test('a file that may hold secrets is asked whatever the mode, even for reading', async () => {
	expect(await read('.env')).toBe('ask by builtin');
	expect(await read('.env', {mode: 'plan'})).toBe('ask by builtin');
	expect(await write('.env', {mode: 'edits'})).toBe('ask by builtin');
});

test('what governs the next session is asked in mode edits too, in any folder and through a link', async () => {
	const paths = ['AGENTS.md', 'CLAUDE.md', '.mca.json', 'packages/one/agents.md', 'docs/for-agents.txt'];
	for (const path of paths) {
		expect(await write(path, {mode: 'edits'}), path).toBe('ask by builtin');
		expect(await write(path, {mode: 'plan'}), path).toBe('deny by builtin');
		expect(await read(path), path).toBe('allow by builtin');
	}
	expect(await write('docs/AGENTS.md.txt', {mode: 'edits'})).toBe('allow by builtin');
});

test('what belongs to git is never written by a file tool: its settings run commands', async () => {
	for (const path of ['.git/config', '.git/hooks/pre-commit', '.git/x']) {
		expect(await write(path, {mode: 'edits'})).toBe('deny by builtin');
	}
	expect(await write('.github/x.yml', {mode: 'edits'})).toBe('allow by builtin');
});

test('a command is asked where there is no sandbox, and passes inside of one', async () => {
	expect(await command('ls')).toBe('ask by builtin');
	expect(await command('ls', {mode: 'edits'})).toBe('ask by builtin');
	expect(await command('rm -rf /', {hasSandbox: true})).toBe('allow by sandbox, in the sandbox');
	expect(await command('ls', {hasSandbox: true, mode: 'plan'})).toBe('allow by sandbox, in the sandbox');
});

test('the model can ask for the outside, which is an ask and never more', async () => {
	expect(await command('npm install', {hasSandbox: true}, {outside: true})).toBe('ask by builtin');
	expect(await command('npm install', {hasSandbox: true, mode: 'plan'}, {outside: true})).toBe(
		'deny by builtin',
	);
	expect(
		await command(
			'ls',
			{},
			{outside: false, sandbox: false, read_only: true, dangerouslyDisableSandbox: true},
		),
	).toBe('ask by builtin');
});

test('a rule is that command to the letter and nothing near it', async () => {
	const rules = ['npm test'];
	expect(await command('npm test', {rules})).toBe('allow by rule');
	for (const near of ['npm test ', 'npm test && rm -rf src', 'npm  test', 'NPM test', 'npm test\n', 'npm']) {
		expect(await command(near, {rules}), near).toBe('ask by builtin');
	}
	expect(await command('npm test', {rules, mode: 'plan'})).toBe('deny by builtin');
});

test('what the folder’s settings refuse is denied, whatever else allows it', async () => {
	const refused = ['npm publish'];
	expect(await command('npm publish', {refused, rules: refused, hasSandbox: true})).toBe('deny by rule');
});

test.each([
	'sort -o a.txt a.txt',
	'git status',
	'find . -exec rm {} +',
	'awk "BEGIN{system(1)}"',
	'echo x > a.txt',
	'env ls',
	'./cat a',
])('no command is taken for harmless by its looks: %s', async (text) => {
	for (const mode of ['ask', 'edits'] as const) expect(await command(text, {mode})).toBe('ask by builtin');
});
