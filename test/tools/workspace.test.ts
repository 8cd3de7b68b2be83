import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {isSensitive, resolveForReading, resolveInside} from '../../src/tools/workspace.ts';
import {scene} from './scene.ts';

test('a path inside the workspace has a real path and a display path, whether it exists or not', async () => {
	const {context, workspace} = scene({'src/a.ts': ''});
	const inside = (display: string) => ({ok: true, path: join(workspace, display), display});
	expect(await resolveInside('src/a.ts', context())).toEqual(inside('src/a.ts'));
	expect(await resolveInside('./src/../src//a.ts', context())).toEqual(inside('src/a.ts'));
	expect(await resolveInside(`${workspace}/src/a.ts`, context())).toEqual(inside('src/a.ts'));
	expect(await resolveInside('new/deep/b.ts', context())).toEqual(inside('new/deep/b.ts'));
	expect(await resolveInside('..a/b', context())).toEqual(inside('..a/b'));
	expect(await resolveInside('.', context())).toEqual({ok: true, path: workspace, display: '.'});
});

test('links inside the workspace are followed to the real file', async () => {
	const {context, at, workspace} = scene({'real/a.ts': ''});
	symlinkSync('real', at('folder'));
	symlinkSync('folder/a.ts', at('file'));
	symlinkSync('real/later.ts', at('dangling'));
	const inside = (display: string) => ({ok: true, path: join(workspace, display), display});
	expect(await resolveInside('file', context())).toEqual(inside('real/a.ts'));
	expect(await resolveInside('folder/../folder/a.ts', context())).toEqual(inside('real/a.ts'));
	expect(await resolveInside('dangling', context())).toEqual(inside('real/later.ts'));
});

test('40: a link in the workspace does not lead out of it, in whatever component it is', async () => {
	const {context, at, outside} = scene();
	symlinkSync(outside, at('out'));
	symlinkSync('out', at('twice'));
	mkdirSync(join(outside, 'deep'));
	symlinkSync(join(outside, 'deep'), at('deep'));
	for (const path of ['out', 'out/x', 'twice/x', 'out/new/deeper/x', 'deep/../x', `${at('out')}/x`]) {
		const place = await resolveInside(path, context());
		expect(place, path).toMatchObject({ok: false, reason: expect.stringContaining('outside the workspace')});
	}
});

test('41: a dangling link is judged by what it names', async () => {
	const {context, at, outside} = scene();
	symlinkSync(join(outside, 'new'), at('draft.txt'));
	symlinkSync('draft.txt', at('again.txt'));
	for (const path of ['draft.txt', 'again.txt']) {
		expect(await resolveInside(path, context())).toEqual({
			ok: false,
			reason: expect.stringContaining(`leads to ${join(outside, 'new')}, which is outside the workspace`),
		});
	}
});

test('42: a folder whose name only begins like the workspace is outside', async () => {
	const {context, workspace, root} = scene();
	mkdirSync(`${workspace}-other`);
	for (const path of [`${workspace}-other/x`, '../work-other/x', '..', '../..', root, '/', '/etc/passwd']) {
		expect((await resolveInside(path, context())).ok, path).toBe(false);
	}
});

test('the folders of mca itself are refused, inside the workspace too', async () => {
	const {context, data, at} = scene({'own/log.jsonl': ''});
	symlinkSync(at('own'), at('link'));
	const forbidden = [data, at('own')];
	for (const path of [join(data, 'x'), 'own', 'own/log.jsonl', 'link/log.jsonl']) {
		const place = await resolveInside(path, context({forbidden}));
		expect(place).toEqual({ok: false, reason: expect.stringContaining('mca keeps for itself')});
	}
	expect((await resolveInside('own-not', context({forbidden}))).ok).toBe(true);
});

test('only reading reaches the output that was spilled in this session', async () => {
	const {context, data} = scene();
	const file = join(data, 'spill', 's-1', 'call-1.log');
	expect((await resolveInside(file, context())).ok).toBe(false);
	mkdirSync(join(data, 'spill', 's-1'), {recursive: true});
	writeFileSync(file, '');
	symlinkSync(join(data, 'secret'), join(data, 'spill', 's-1', 'link'));
	expect(await resolveForReading(file, context())).toEqual({ok: true, path: file, display: file});
	for (const path of [
		join(data, 'spill'),
		`${data}/spill/s-2/x`,
		`${data}/spill/s-1/../x`,
		`${data}/spill/s-1/link`,
	]) {
		expect((await resolveForReading(path, context())).ok, path).toBe(false);
	}
});

test.each([
	['', 'empty'],
	['a\0b', 'NUL'],
	['~/x', 'not expanded'],
])('a path like %j is refused with the reason', async (path, why) => {
	const place = await resolveInside(path, scene().context());
	expect(place).toEqual({ok: false, reason: expect.stringContaining(why)});
});

test('links in a circle are refused, and so is a name that is too long', async () => {
	const {context, at} = scene();
	symlinkSync('b', at('a'));
	symlinkSync('a', at('b'));
	expect(await resolveInside('a/x', context())).toEqual({
		ok: false,
		reason: expect.stringContaining('circle'),
	});
	expect(await resolveInside('x'.repeat(300), context())).toEqual({
		ok: false,
		reason: expect.stringContaining('too long'),
	});
});

test('what is likely to hold a secret is known by its name', () => {
	const secret = [
		...[
			'.env',
			'app/.env.local',
			'.ENV',
			'.envrc',
			'prod.env',
			'server.pem',
			'tls.key',
			'.ssh/config',
			'id_rsa',
			'id_ed25519',
		],
		...[
			'.npmrc',
			'.netrc',
			'_netrc',
			'.pypirc',
			'.aws/credentials',
			'.git/config',
			'.git/hooks/pre-commit',
			'.git-credentials',
		],
		...[
			'.git/modules/x/config',
			'.docker/config.json',
			'.config/gh/hosts.yml',
			'credentials.json',
			'.gnupg/x',
			'/home/me/.ssh',
		],
	];
	const harmless = [
		...[
			'.env.example',
			'.env.sample',
			'.env.template',
			'id_rsa.pub',
			'src/env.ts',
			'environment.ts',
			'.git/HEAD',
			'config',
		],
		...[
			'src/credentials.ts',
			'docs/keys.md',
			'.github/config',
			'.gitignore',
			'hooks/pre-commit',
			'package.json',
			'secrets.ts',
		],
	];
	expect(secret.filter((path) => !isSensitive(path))).toEqual([]);
	expect(harmless.filter((path) => isSensitive(path))).toEqual([]);
});
