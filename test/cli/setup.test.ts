import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {forbidden} from '../../src/cli/setup.ts';
import {resolveInside} from '../../src/tools/workspace.ts';
import {temporaryFolder} from '../helpers/log-file.ts';

/** mca's home, and what tools may reach there of some paths when they work in a folder of it. */
function home() {
	const folder = temporaryFolder();
	vi.stubEnv('MCA_HOME', folder);
	onTestFinished(() => void vi.unstubAllEnvs());
	for (const path of ['trust.json', 'old/rules.json.1', 'demo/repo/a.txt', 'demo/data/sessions/x/s.jsonl']) {
		mkdirSync(dirname(join(folder, path)), {recursive: true});
		writeFileSync(join(folder, path), '');
	}
	const isOpen = async (workspace: string, path: string) => {
		const place = {workspace: join(folder, workspace), forbidden: forbidden(join(folder, workspace), folder)};
		return (await resolveInside(join(folder, path), place)).ok;
	};
	return {folder, isOpen};
}

test.each([
	'config.json',
	'rules.json',
	'trust.json',
	'history/x',
	'trash/x',
	'sessions/x',
	'old/rules.json.1',
	'new',
])('%s is touched by no tool where the workspace is mca’s own folder, or holds it', async (path) => {
	const {isOpen} = home();
	expect(await isOpen('.', path)).toBe(false);
	expect(await isOpen('..', path)).toBe(false);
});

test('what lies in mca’s own folder beside the workspace is forbidden by name, and the workspace is not', async () => {
	const {folder, isOpen} = home();
	expect(await isOpen('demo/repo', 'demo/repo/a.txt')).toBe(true);
	expect(await isOpen('demo', 'demo/repo/a.txt')).toBe(true);
	expect(await isOpen('demo', 'demo/data/sessions/x/s.jsonl')).toBe(false);
	const names = [
		'config.json',
		'crash.log',
		'history',
		'rules.json',
		'sessions',
		'spill',
		'trash',
		'trust.json',
		'old',
	];
	expect(forbidden(join(folder, 'demo/repo'), folder).sort()).toEqual(
		[...names, 'demo/data'].map((name) => join(folder, name)).sort(),
	);
});

test('a workspace among the sessions is forbidden with them', async () => {
	const {isOpen} = home();
	expect(await isOpen('sessions/x', 'sessions/x/s.jsonl')).toBe(false);
});
