import {mkdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {beforeAll, expect, onTestFinished, test} from 'vitest';
import {sessionFolder} from '../../src/session/sessions.ts';
import {bundle, makeFolder, startProcess} from '../helpers/processes.ts';
import {needStrace} from './fault-journey.ts';

beforeAll(needStrace);

/** One line of `strace -f -y`, put together where another thread came between its beginning and its end. */
type Call = {name: string; path: string; text: string; result: string};

function callsOf(trace: string): Call[] {
	const begun = new Map<string, string>();
	return trace.split('\n').flatMap((line) => {
		const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
		if (rest.endsWith('<unfinished ...>')) {
			begun.set(thread, rest.slice(0, -'<unfinished ...>'.length));
			return [];
		}
		const whole = rest.replace(/^<\.\.\. \w+ resumed>/, () => begun.get(thread) ?? '');
		const match = /^(\w+)\((?:\d+<([^>]*)>|"([^"]*)")(.*?) = (\S+)/.exec(whole);
		if (!match) return [];
		const [, name = '', ofDescriptor, ofName, text = '', result = ''] = match;
		return [{name, path: ofDescriptor ?? ofName ?? '', text, result}];
	});
}

test('each line is synced before it is acknowledged and before anything has an effect; a new name with all its new folders', async () => {
	const {path: root, remove} = makeFolder('order');
	onTestFinished(remove);
	const [workspace, data, trace] = [join(root, 'repo'), join(root, 'data'), join(root, 'trace')];
	mkdirSync(workspace);
	const folder = sessionFolder(data, workspace);
	const strace = [
		'strace',
		'-f',
		'-qq',
		'-y',
		'-s',
		'60',
		'-o',
		trace,
		'-e',
		'trace=write,fsync,fdatasync,link,mkdir',
	];
	const driver = bundle('test/crash/driver.ts', root);
	const {status} = await startProcess([...strace, process.execPath, driver, workspace, data]).ended;
	expect(status).toBe(0);

	const [files, folders] = [new Set<string>(), new Set<string>()];
	const counted = {folders: 0, writes: 0, syncs: 0, links: 0, acknowledged: 0, effects: 0};
	for (const {name, path, text, result} of callsOf(readFileSync(trace, 'utf8'))) {
		if (name !== 'mkdir') expect(result).toMatch(/^\d+$/);
		if (name === 'write' && path.startsWith(folder)) {
			counted.writes++;
			files.add(path);
		}
		if (name === 'fsync' || name === 'fdatasync') {
			if (files.delete(path) || folders.delete(path)) counted.syncs++;
		}
		if (name === 'link') {
			counted.links++;
			// What is put in place is on disk already; its name is once the folder is.
			expect([...files]).toEqual([]);
			folders.add(folder);
		}
		if (name === 'mkdir' && result === '0') {
			counted.folders++;
			folders.add(dirname(path));
		}
		const told = /told\\":\\"(acked|effect|forked)\\"/.exec(text)?.[1];
		if (name !== 'write' || !told) continue;
		expect([...files, ...folders]).toEqual([]);
		if (told === 'acked') counted.acknowledged++;
		if (told === 'effect') counted.effects++;
	}
	expect(counted).toEqual({folders: 3, writes: 15, syncs: 19, links: 2, acknowledged: 23, effects: 3});
});
