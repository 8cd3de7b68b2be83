import {mkdirSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {hasSomethingToTrust, readInstructions, readSettings} from '../../src/cli/instructions.ts';
import {keepRule, keptRules, removeRule} from '../../src/cli/rules.ts';
import {answerOf, isTrusted, trust} from '../../src/cli/trust.ts';
import {temporaryFolder} from '../helpers/log-file.ts';

function repository() {
	const root = temporaryFolder();
	const inner = join(root, 'packages', 'one');
	mkdirSync(join(root, '.git'));
	mkdirSync(inner, {recursive: true});
	return {root, inner};
}

test('a folder is trusted once a person said so, and another that is put in its place is not', () => {
	const data = temporaryFolder();
	const {root, inner} = repository();
	expect(isTrusted(data, inner)).toBe(false);
	trust(data, inner);
	expect(isTrusted(data, inner)).toBe(true);
	renameSync(inner, join(root, 'elsewhere'));
	mkdirSync(inner);
	expect(isTrusted(data, inner)).toBe(false);
});

test('a trust file that is damaged trusts nobody', () => {
	const data = temporaryFolder();
	const {inner} = repository();
	trust(data, inner);
	writeFileSync(join(data, 'trust.json'), '[{"path":');
	expect(isTrusted(data, inner)).toBe(false);
});

test('instructions are those of the repository’s root and of every folder down to the workspace', () => {
	const {root, inner} = repository();
	writeFileSync(join(root, 'AGENTS.md'), 'Use tabs.\n');
	writeFileSync(join(inner, 'CLAUDE.md'), 'Run make test.\n');
	const {text, files} = readInstructions(inner);
	expect(text).toBe('From ../../AGENTS.md:\nUse tabs.\n\nFrom CLAUDE.md:\nRun make test.');
	expect(files).toEqual([
		{path: '../../AGENTS.md', bytes: 10},
		{path: 'CLAUDE.md', bytes: 15},
	]);
	expect(hasSomethingToTrust(inner)).toEqual(['../../AGENTS.md', 'CLAUDE.md']);
});

test('AGENTS.md comes before CLAUDE.md of the same folder', () => {
	const {inner} = repository();
	writeFileSync(join(inner, 'AGENTS.md'), 'a');
	writeFileSync(join(inner, 'CLAUDE.md'), 'b');
	expect(readInstructions(inner).text).toBe('From AGENTS.md:\na');
});

test('what is too long is cut, and the model is told', () => {
	const {inner} = repository();
	writeFileSync(join(inner, 'AGENTS.md'), 'é'.repeat(40_000));
	const {text, files} = readInstructions(inner);
	expect(files[0]?.bytes).toBe(80_000);
	expect(Buffer.byteLength(text)).toBeLessThan(33_000);
	expect(text).toMatch(/left out: it is too long/);
});

test('a link that leads out of the repository, or to a secret, carries nothing to the model', () => {
	const {root, inner} = repository();
	const outside = join(temporaryFolder(), 'secret.txt');
	writeFileSync(outside, 'secret');
	symlinkSync(outside, join(inner, 'AGENTS.md'));
	writeFileSync(join(root, '.env'), 'KEY=1');
	symlinkSync(join(root, '.env'), join(root, 'AGENTS.md'));
	expect(readInstructions(inner).text).toBe('');
});

test('a folder without anything to say is not worth a question', () => {
	expect(hasSomethingToTrust(repository().inner)).toEqual([]);
});

test('settings of a folder can refuse commands and tighten the mode, and nothing else', () => {
	const {inner} = repository();
	const write = (value: object) => writeFileSync(join(inner, '.mca.json'), JSON.stringify(value));
	expect(readSettings(inner)).toEqual({refuse: []});
	write({refuse: ['npm publish'], mode: 'plan'});
	expect(readSettings(inner)).toEqual({refuse: ['npm publish'], mode: 'plan'});
	for (const more of [
		{mode: 'edits'},
		{baseURL: 'http://evil.example'},
		{allow: ['rm -rf /']},
		{sandbox: 'off'},
	]) {
		write(more);
		expect(() => readSettings(inner)).toThrow(/\.mca\.json does not fit/);
	}
});

test('a kept rule is for one command in one folder, in the user’s own config', () => {
	const config = temporaryFolder();
	keepRule(config, {workspace: '/a', command: 'npm test'});
	keepRule(config, {workspace: '/a', command: 'npm test'});
	keepRule(config, {workspace: '/b', command: 'make'});
	expect([keptRules(config, '/a'), keptRules(config, '/b'), keptRules(config, '/c')]).toEqual([
		['npm test'],
		['make'],
		[],
	]);
	removeRule(config, {workspace: '/a', command: 'npm test'});
	expect(keptRules(config, '/a')).toEqual([]);
	writeFileSync(join(config, 'rules.json'), 'not json');
	expect(keptRules(config, '/b')).toEqual([]);
});

test('a no is remembered too, so that nobody is asked twice', () => {
	const data = temporaryFolder();
	const {inner} = repository();
	expect(answerOf(data, inner)).toBeUndefined();
	trust(data, inner, false);
	expect([answerOf(data, inner), isTrusted(data, inner)]).toEqual([false, false]);
	trust(data, inner);
	expect(answerOf(data, inner)).toBe(true);
});
