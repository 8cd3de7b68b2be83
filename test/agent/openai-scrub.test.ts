import {expect, test} from 'vitest';
import {scrub} from '../../src/agent/scrub.ts';

test.each([
	['Incorrect API key provided: sk-proj-abcdefghijklmnop1234.', 'Incorrect API key provided: [key removed].'],
	['Incorrect API key provided: sk-abcd****************wxyz', 'Incorrect API key provided: [key removed]'],
	['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [key removed]'],
	['key AIzaSyA1234567890abcdefghijklmnopqrstuv', 'key [key removed]'],
	['gsk_abcdefghijklmnopqrstuvwxyz', '[key removed]'],
	['ghp_abcdefghijklmnopqrstuvwxyz0123456789', '[key removed]'],
	['AKIAABCDEFGHIJKLMNOP', '[key removed]'],
	['token eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl', 'token [key removed]'],
	['{"api_key": "abcdef123456"}', '{"api_key": "[key removed]"}'],
	['https://h.example/v1?key=abcdef&x=1', 'https://h.example/v1?key=[key removed]&x=1'],
	['https://me:pass@h.example/v1', 'https://h.example/v1'],
	['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----', '[key removed]'],
])('%s', (text, clean) => {
	expect(scrub(text)).toBe(clean);
	expect(scrub(clean)).toBe(clean);
});

test('the key in use is removed whatever it looks like', () => {
	expect(scrub('no such user: correct horse battery', ['correct horse'])).toBe(
		'no such user: [key removed] battery',
	);
});

test('a placeholder is a word, and stays', () => {
	expect(scrub('none of the models', ['none', ''])).toBe('none of the models');
});

test.each([
	'The bearer of this letter may pass.',
	'Bearer authentication required',
	'Basic information about api_key: missing',
	'src/session/sk-utils.ts line 4',
	'commit 23a01bc0d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8',
	'This model has a maximum context length of 8192 tokens.',
	'call_abc123 in task-list-with-a-long-name',
])('what is no key stays: %s', (text) => {
	expect(scrub(text)).toBe(text);
});
