import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {inflateSync} from 'node:zlib';
import {expect, test} from 'vitest';
import type {Body} from '../../src/session/events.ts';
import {answer, events, line, result, system, temporaryFolder, user} from '../helpers/log-file.ts';
import {cleanEnvironment} from '../helpers/terminal.ts';
import {a, b, makeScene, turn, writes} from './scene.ts';

const attack = `</title></pre></details><script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;
const secret = `ghp_${'aB3dE5gH7'.repeat(4)}`;
const sha = '44c2c9f0a1b2c3d4e5f60718293a4b5c6d7e8f90';

/** A session in which everything that can be said is an attack, and one thing is a secret. */
const hostile: Body[] = [
	user(attack),
	{
		type: 'message',
		message: {
			role: 'assistant',
			content: `${attack}\n\n\`\`\`html\n${attack}\n\`\`\``,
			reasoning: attack,
			toolCalls: [{id: 'c1', name: attack, args: JSON.stringify({command: attack})}],
		},
	},
	{type: 'tool_end', id: 'c1', name: attack, result: {ok: false, content: attack}, ms: 5},
	result('c1', `${attack}\n\u001b[31m${secret}\u001b[0m ${sha}`),
	{type: 'error', message: attack, did: 'retried'},
	answer(`Done with ${secret}.`),
	{type: 'name', title: attack},
];

/** Chromium without a screen: what it prints, and what it complains about. */
function chromium(file: string, ...flags: string[]): {stdout: string; complaints: string[]} {
	const folder = temporaryFolder();
	const complaints = join(folder, 'complaints');
	const stdout = execFileSync(
		'sh',
		[
			'-c',
			'chromium "$@" 2>"$COMPLAINTS"',
			'sh',
			'--headless=new',
			'--no-sandbox',
			'--disable-gpu',
			'--enable-logging=stderr',
			`--user-data-dir=${join(folder, 'profile')}`,
			...flags,
			`file://${file}`,
		],
		{encoding: 'utf8', env: cleanEnvironment({COMPLAINTS: complaints, HOME: folder}), maxBuffer: 1 << 26},
	);
	return {
		stdout,
		complaints: readFileSync(complaints, 'utf8')
			.split('\n')
			.filter((text) => text.includes('CONSOLE')),
	};
}

/** The colour of the picture's first pixel: it stands in the file as it is, whatever filter its row has. */
function corner(png: string): string {
	const data = readFileSync(png);
	const pieces: Buffer[] = [];
	for (let at = 8; at < data.length; at += 12 + data.readUInt32BE(at)) {
		if (data.toString('latin1', at + 4, at + 8) === 'IDAT')
			pieces.push(data.subarray(at + 8, at + 8 + data.readUInt32BE(at)));
	}
	return inflateSync(Buffer.concat(pieces)).subarray(1, 4).toString('hex');
}

async function exported(format: string, ...bodies: Body[]): Promise<{file: string; text: string}> {
	const scene = makeScene();
	scene.session(a, ...bodies);
	const {stdout, status} = await scene.run(['export', '--format', format, a]);
	expect(status).toBe(0);
	const file = join(temporaryFolder(), `session.${format}`);
	writeFileSync(file, stdout);
	return {file, text: stdout};
}

test('in a browser the HTML shows every word of a hostile session as a word, and runs nothing', async () => {
	const {file} = await exported('html', ...hostile);
	const {stdout, complaints} = chromium(file, '--dump-dom');
	const [, title] = /<title>([\s\S]*?)<\/title>/.exec(stdout) ?? [];
	expect(title).toMatch(/^&lt;\/title&gt;&lt;\/pre&gt;/);
	expect(stdout).not.toMatch(/<script|<img|\u001b/);
	// The title's three, the prompt's three, and so on: nothing was lost on the way either.
	expect(stdout.match(/&lt;img src=x/g)?.length).toBeGreaterThanOrEqual(9);
	expect(complaints).toEqual([]);
});

test('the policy of the HTML stops a script that would be in it, and the file asks nothing of any network', async () => {
	const {file, text} = await exported('html', ...hostile);
	writeFileSync(
		file,
		text.replace('</body>', `<script>document.title='owned'</script><img src="http://127.0.0.1:9/x"></body>`),
	);
	const {stdout, complaints} = chromium(file, '--dump-dom');
	expect(stdout).not.toContain('<title>owned');
	expect(complaints.join('\n')).toMatch(/script[\s\S]*Content Security Policy/);
	expect(complaints.join('\n')).toMatch(/127\.0\.0\.1:9[\s\S]*Content Security Policy/);
	const outside = text
		.replace(/&[a-z]+;|&#39;/g, '')
		.match(/<[^>]*\s(?:src|srcset|action)=|<[^>]*\shref="(?!#)|url\(|@import/g);
	expect(outside).toBe(null);
});

test('the HTML has a light and a dark look of its own', async () => {
	const {file} = await exported('html', ...turn('first'));
	const folder = temporaryFolder();
	for (const [scheme, color] of [
		[1, 'ffffff'],
		[0, '14171a'],
	]) {
		const picture = join(folder, `${color}.png`);
		chromium(
			file,
			`--blink-settings=preferredColorScheme=${scheme}`,
			`--screenshot=${picture}`,
			'--window-size=800,600',
		);
		expect(corner(picture)).toBe(color);
	}
});

test('tool output is folded, the costs and the lineage are there', async () => {
	const scene = makeScene();
	scene.session(a, ...turn('first'));
	scene.forked(b, a, turn('first'), ...turn('own', null), ...writes('a.txt', null, 'content of it\n'));
	const {stdout} = await scene.run(['export', '--format', 'html', b]);
	expect(stdout).toMatch(
		/<details class="call"><summary>.*write_file a\.txt.*<\/summary>[\s\S]*content of it[\s\S]*Created a\.txt\.<\/pre><\/details>/,
	);
	expect(stdout).not.toContain('<details open');
	expect(stdout).toContain(`fork of ${a} after event 4`);
	expect(stdout).toContain(
		'<tr class="inherited"><td>1</td><td>1</td><td>100</td><td>10</td><td>$0.250</td><td>first <em>(inherited)</em></td></tr>',
	);
	expect(stdout).toContain('<tr class="sum"><td>own</td><td>1</td><td>100</td><td>10</td><td>?</td>');
});

test('secrets are hidden in every format, with a list; hashes stay', async () => {
	for (const format of ['html', 'md', 'json']) {
		const {text} = await exported(format, ...hostile);
		expect(text).not.toContain(secret);
		expect(text.match(/\[GitHub token 1, hidden\]|\\\[GitHub token 1, hidden\\\]/g)).toHaveLength(2);
		expect(text).toMatch(/GitHub token: 1 secret in 2 places, event 5, 7|"places": 2/);
		expect(text).toContain(sha);
	}
	const scene = makeScene();
	scene.session(a, ...hostile);
	const {stderr} = await scene.run(['export', '--format', 'md', a]);
	expect(stderr).toBe('Hidden: GitHub token: 1 secret in 2 places, event 5, 7\n');
});

test('--no-redact hides nothing and says so in the file', async () => {
	const scene = makeScene();
	scene.session(a, ...hostile);
	for (const [format, says] of [
		['html', /Nothing was hidden \(--no-redact\)/],
		['md', /Nothing was hidden \(--no-redact\)/],
		['json', /"redacted": false/],
	] as const) {
		const {stdout, stderr} = await scene.run(['export', '--format', format, '--no-redact', a]);
		expect(stdout).toContain(secret);
		expect(stdout).toMatch(says);
		expect(stderr).toBe('');
	}
});

test('the JSON is the head of the session and its events as they are', async () => {
	const scene = makeScene();
	scene.session(a, ...turn('first'));
	const {stdout} = await scene.run(['export', '--format', 'json', a]);
	const own = {calls: 1, inputTokens: 100, outputTokens: 10, estimated: false, costUsd: 0.25, unpriced: 0};
	expect(JSON.parse(stdout)).toEqual({
		id: a,
		title: 'first',
		head: {id: a, workspace: scene.workspace, model: 'gpt-5-mini', version: '0.1.0', format: 1},
		end: {at: 'whole'},
		lineage: [],
		own,
		inherited: {...own, calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0},
		turns: [{turn: 1, prompt: 'first', ts: '2026-09-07T10:00:02.000Z', inherited: false, ...own}],
		models: [{model: 'gpt-5-mini', ...own}],
		redacted: true,
		hidden: [],
		events: scene.log(a),
	});
});

test('the Markdown holds its fences and its HTML together, whatever was said', async () => {
	const fence = '```\n</details>\n````\n# no heading';
	const {text} = await exported(
		'md',
		user('# no *heading*\n--- and <b>no</b> HTML\n1. no list'),
		...writes('a_b.txt', null, fence),
		result('w1', fence),
		answer('**Markdown** of the model'),
	);
	expect(text).toContain('# \\# no \\*heading\\* --- and \\<b\\>no\\</b\\> HTML 1. no list\n');
	expect(text).toContain('> \\# no \\*heading\\*  \n> \\--- and \\<b\\>no\\</b\\> HTML  \n> 1\\. no list');
	expect(text).toContain('<summary>● write_file a_b.txt — +1 −0 · 3 ms · allow by person</summary>');
	expect(text).toMatch(/^`{5}\n\{[\s\S]*```\n<\/details>\n````\n# no heading\n`{5}$/m);
	expect(text).toContain('\n**Markdown** of the model\n');
});

test('a cut log is exported as far as it is whole, and the file says so', async () => {
	const folder = temporaryFolder();
	const path = join(folder, 'other-name.jsonl');
	writeFileSync(
		path,
		`${events([system, ...turn('first')])
			.map(line)
			.join('')}{"seq"`,
	);
	const scene = makeScene();
	for (const format of ['md', 'html']) {
		const {stdout, status} = await scene.run(['export', '--format', format, path]);
		expect(stdout).toContain(
			'Session other-name stops at line 5: the line does not end. 6 bytes from there on are ignored and left as they are.',
		);
		expect(status).toBe(0);
	}
	const unknown = await scene.run(['export', '--format', 'pdf', path]);
	expect(unknown).toMatchObject({
		status: 2,
		stderr: 'mca: There is no format pdf. There are md, html, json.\n',
	});
});
