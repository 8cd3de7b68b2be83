import {expect, test} from 'vitest';
import {joinDrafts, redactor} from '../../src/cli/export/redact.ts';
import type {Body} from '../../src/session/events.ts';
import {events, result, user} from '../helpers/log-file.ts';

/** What is left of a text, and of which kinds it was told that something was hidden. */
function redacted(text: string): [left: string, kinds: string[]] {
	const redacting = redactor();
	const [event] = events([user(text)]).map(redacting.event);
	if (event?.type !== 'message') throw new Error('the event is no message any more');
	return [event.message.content, redacting.hidden().map(({kind}) => kind)];
}

/** Letters and digits, so many, that are no secret of anybody. Put together here, so that this file holds none either. */
const some = (length: number, alphabet = 'aB3dE5gH7jK9mN1pQ') => alphabet.repeat(length).slice(0, length);

const secrets: [kind: string, secret: string][] = [
	['OpenAI or OpenRouter key', `sk-proj-${some(48)}`],
	['OpenAI or OpenRouter key', `sk-${some(48)}`],
	['OpenAI or OpenRouter key', `sk-or-v1-${some(64, '0123456789abcdef')}`],
	['Anthropic key', `sk-ant-api03-${some(80)}`],
	['GitHub token', `ghp_${some(36)}`],
	['GitHub token', `github_pat_${some(82)}`],
	['GitLab token', `glpat-${some(20)}`],
	['AWS access key id', `AKIA${some(16, 'ABCDEFGH234567')}`],
	['Google key', `AIza${some(35)}`],
	['Slack token', `xoxb-${some(12, '123')}-${some(24)}`],
	['Slack webhook', `https://hooks.slack.com/services/${some(9)}/${some(11)}/${some(24)}`],
	['Stripe key', `sk_live_${some(24)}`],
	['npm token', `npm_${some(36)}`],
	['Hugging Face token', `hf_${some(34, 'abcDEF')}`],
	['SendGrid key', `SG.${some(22)}.${some(43)}`],
	['Telegram bot token', `123456789:AA${some(33)}`],
	['JSON web token', `eyJ${some(20)}.eyJ${some(40)}.${some(43)}`],
	['DigitalOcean token', `dop_v1_${some(64, '0123456789abcdef')}`],
	[
		'private key',
		`-----BEGIN OPENSSH PRIVATE KEY-----\n${some(64)}\n${some(64)}\n-----END OPENSSH PRIVATE KEY-----`,
	],
	['private key', `-----BEGIN RSA PRIVATE KEY-----\n${some(64)}`],
];

test('what only a secret looks like is hidden, wherever it stands', () => {
	for (const [kind, secret] of secrets) {
		const hidden = `[${kind} 1, hidden]`;
		expect(redacted(secret)).toEqual([hidden, [kind]]);
		expect(redacted(`KEY="${secret}"; echo`)[0]).not.toContain(secret.slice(-20));
		expect(redacted(`(${secret})`)[0]).toBe(`(${hidden})`);
		expect(redacted(`\u001b[31m${secret}\u001b[0m`)[0]).toBe(hidden);
		expect(redacted(`${secret.slice(0, 3)}\u001b[1m${secret.slice(3)}`)[0]).toBe(hidden);
		expect(redacted(`${secret.slice(0, 3)}\u200b${secret.slice(3)}`)[0]).toBe(hidden);
		// As it stands in the arguments of a call, which are JSON.
		expect(JSON.parse(redacted(JSON.stringify({content: `\n${secret}`}))[0])).toEqual({
			content: `\n${hidden}`,
		});
		expect(redacted(JSON.stringify(`\u001b[31m${secret}`))[0]).toBe(JSON.stringify(`\u001b[31m${hidden}`));
		expect(JSON.parse(redacted(JSON.stringify({content: secret}))[0])).toEqual({content: hidden});
	}
});

test('of an address the password is hidden, and of a header the token', () => {
	const [address, header, aws] = ['password in an address 1', 'bearer token 1', 'AWS secret key 1'];
	expect(redacted('postgres://admin:admin@db.local/x')[0]).toBe(
		`postgres://admin:[${address}, hidden]@db.local/x`,
	);
	expect(redacted('https://me:p$w*d@host')[0]).toBe(`https://me:[${address}, hidden]@host`);
	expect(redacted(`-H "Authorization: Bearer ${some(40)}"`)[0]).toBe(
		`-H "Authorization: Bearer [${header}, hidden]"`,
	);
	expect(redacted(`aws_secret_access_key = ${some(40)}`)[0]).toBe(`aws_secret_access_key = [${aws}, hidden]`);
});

test('hashes, ids, addresses, placeholders and prose stay', () => {
	for (const text of [
		'commit 44c2c9f0a1b2c3d4e5f60718293a4b5c6d7e8f90',
		'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
		'TOKEN=44c2c9f0a1b2c3d4e5f60718293a4b5c6d7e8f90',
		'sha512-9NET910DNaIPngYnLLPeg+Ogzqsi9uM4mSboU5y6p8S5DzMTVEsJZrawi+BoDNUVBa2DhJqQYUFvMDfgU062LQ==',
		'123e4567-e89b-12d3-a456-426614174000 s-20260907-100000-ab12',
		'https://user@github.com/me/proj.git git@github.com:me/proj.git http://localhost:8080/a@b',
		`postgres://admin:$PASSWORD@db postgres://admin:\${PASSWORD}@db postgres://admin:***@db`,
		'sk-short a sk-learn-model-with-a-long-name task-1234567890123456789012345678901234567890',
		'Authorization: Bearer $TOKEN',
		'\u001b[31mred\u001b[0m',
		'-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----',
	]) {
		expect(redacted(text)).toEqual([text, []]);
	}
});

test('every string of an event is looked through, and one secret keeps its number', () => {
	const [one, two] = [`ghp_${some(36)}`, `ghp_${some(36, 'zY8xW')}`];
	const call: Body = {
		type: 'message',
		message: {
			role: 'assistant',
			content: '',
			toolCalls: [{id: 'c1', name: `tool ${one}`, args: `{"a":"${two}"}`, extra: {[one]: [two]}}],
		},
	};
	const title: Body = {type: 'name', title: one};
	const redacting = redactor();
	const left = JSON.stringify(events([call, result('c1', one), title]).map(redacting.event));
	expect(left).not.toMatch(/ghp_/);
	expect(left.match(/GitHub token \d/g)?.join()).toBe(
		[1, 2, 1, 2, 1, 1].map((n) => `GitHub token ${n}`).join(),
	);
	expect(redacting.hidden()).toEqual([{kind: 'GitHub token', secrets: 2, places: 6, events: [1, 2, 3]}]);
});

test('a secret that streamed in two pieces is found', () => {
	const secret = `ghp_${some(36)}`;
	const drafts: Body[] = [
		{type: 'draft', text: `the key is ${secret.slice(0, 20)}`},
		{type: 'draft', text: `${secret.slice(20)} I think`, reasoning: 'hm'},
	];
	const [joined, ...more] = joinDrafts(events([user('a'), ...drafts]))
		.slice(1)
		.map(redactor().event);
	expect(joined).toMatchObject({
		type: 'draft',
		seq: 3,
		text: 'the key is [GitHub token 1, hidden] I think',
		reasoning: 'hm',
	});
	expect(more).toEqual([]);
});
