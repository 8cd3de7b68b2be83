import {createHash} from 'node:crypto';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {editsIn, merged, since} from '../../src/session/blame.ts';
import {type LineOrigin, lineOrigins} from '../../src/session/blame-line.ts';
import type {Body} from '../../src/session/events.ts';
import {answer, events, line, logFile, result, system, usage, user} from '../helpers/log-file.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

type Change = {write: string} | {edit: [old: string, now: string][]};

/** A call that takes a file from one text to another, its tool_end and its message. */
function change(id: string, before: string | null, after: string, how: Change): Body[] {
	const name = 'write' in how ? 'write_file' : 'edit_file';
	const args =
		'write' in how
			? {path: 'a.txt', content: how.write}
			: {path: 'a.txt', edits: how.edit.map(([old_text, new_text]) => ({old_text, new_text}))};
	return [
		{
			type: 'message',
			message: {role: 'assistant', content: '', toolCalls: [{id, name, args: JSON.stringify(args)}]},
		},
		{
			type: 'tool_end',
			id,
			name,
			result: {ok: true, content: '+1 −1'},
			files: [
				{
					path: 'a.txt',
					before: before === null ? null : sha256(before),
					after: sha256(after),
					added: 1,
					removed: 1,
				},
			],
		},
		result(id),
	];
}

const write = (id: string, before: string | null, after: string, content = after) =>
	change(id, before, after, {write: content});
const edit = (id: string, before: string, after: string, ...pairs: [string, string][]) =>
	change(id, before, after, {edit: pairs});

async function editsOf(...bodies: Body[]) {
	return editsIn(logFile(...events([system, user('do it'), ...bodies])).path, () => true);
}

/** Each line's origin in short: `1` the edit with that index, `1?` likely that one, `before`, `>0` outside after 0, `?`. */
async function origins(now: string, ...bodies: Body[]): Promise<string[]> {
	return lineOrigins(await editsOf(...bodies), now).map(short);
}

function short(origin: LineOrigin): string {
	switch (origin.from) {
		case 'edit':
			return `${origin.edit}`;
		case 'likely':
			return `${origin.edit}?`;
		case 'outside':
			return `>${origin.after}`;
		case 'before':
			return 'before';
		case 'unknown':
			return '?';
	}
}

test('an edit is known by session, turn, prompt, model and call', async () => {
	const file = logFile(
		...events([
			system,
			user('make it'),
			usage(),
			...write('c1', null, 'one\n'),
			answer('Done.'),
			user('more'),
		]),
	);
	expect(await editsIn(file.path, () => true)).toEqual([
		{
			session: file.id,
			seq: 5,
			ts: '2026-09-07T10:00:05.000Z',
			turn: 1,
			prompt: 'make it',
			model: 'scripted',
			call: {id: 'c1', name: 'write_file', args: '{"path":"a.txt","content":"one\\n"}'},
			tool: 'write_file',
			change: {path: 'a.txt', before: null, after: sha256('one\n'), added: 1, removed: 1},
		},
	]);
	expect(await editsIn(file.path, (path) => path === 'b.txt')).toEqual([]);
});

test('an edit that forks copied is one edit, of the session that made it', async () => {
	const root = logFile(...events([system, user('make it'), ...write('c1', null, 'one\n'), answer('Done.')]));
	const copied = events([system, user('make it'), ...write('c1', null, 'one\n'), answer('Done.')]);
	const own = events(
		[
			{type: 'fork', from: root.id, atSeq: 6, origin: root.id, kind: 'fork'},
			user('again'),
			...write('c2', 'one\n', 'two\n'),
		],
		7,
	);
	const fork = join(root.folder, 's-20260907-110000-cd34.jsonl');
	writeFileSync(fork, [...copied, ...own].map(line).join(''));
	const lists = await Promise.all([fork, root.path].map((path) => editsIn(path, () => true)));
	const edits = merged(lists);
	expect(edits.map(({session, seq}) => [session, seq])).toEqual([
		[root.id, 4],
		['s-20260907-110000-cd34', 10],
	]);
	expect(since(edits, sha256('two\n'))).toEqual([
		{is: 'edited', session: 's-20260907-110000-cd34', seq: 10},
		{is: 'the file now'},
	]);
});

test('what changed between two edits, and after the last, is told as changed outside', async () => {
	const edits = await editsOf(...write('c1', null, 'one\n'), ...write('c2', 'one!\n', 'two\n'));
	expect(since(edits, sha256('three\n'))).toEqual([{is: 'changed outside'}, {is: 'changed outside'}]);
	expect(since(edits, null)).toEqual([{is: 'changed outside'}, {is: 'changed outside'}]);
});

test('each line belongs to the edit that wrote it, from the file’s making on', async () => {
	const [a, b, c] = ['one\ntwo\nthree\n', 'one\n2\nthree\n', 'one\n2\nthree\nfour\n'];
	const bodies = [
		...write('c1', null, a),
		...edit('c2', a, b, ['two', '2']),
		...edit('c3', b, c, ['three\n', 'three\nfour\n']),
	];
	expect(await origins(c, ...bodies)).toEqual(['0', '1', '0', '2']);
});

test('a file that was there before is rebuilt backwards from what it is now', async () => {
	const [a, b, c] = ['x\nx\nold\nx\n', 'x\nx\nx\nx\n', 'x\nx\nx\nx\nend\n'];
	const bodies = [...edit('c1', a, b, ['old', 'x']), ...edit('c2', b, c, ['x\nx\nx\nx', 'x\nx\nx\nx\nend'])];
	expect(await origins(c, ...bodies)).toEqual(['before', 'before', '0', 'before', '1']);
});

test('a deletion is undone where it was', async () => {
	const [a, b] = ['one\ntwo\nthree\n', 'one\nthree\n'];
	expect(await origins(b, ...edit('c1', a, b, ['two\n', '']))).toEqual(['before', 'before']);
});

test('line ends and byte order marks that the tools keep do not hide a line', async () => {
	const [a, b] = ['\ufeffone\r\ntwo\r\n', '\ufeffone\r\nzwei\r\n'];
	expect(await origins(b, ...edit('c1', a, b, ['two', 'zwei']))).toEqual(['before', '0']);
	const c = '\ufeffeins\r\nzwei\r\n';
	const bodies = [
		...write('c0', null, a),
		...edit('c1', a, b, ['two', 'zwei']),
		...write('c2', b, c, 'eins\nzwei\n'),
	];
	expect(await origins(c, ...bodies)).toEqual(['2', '1']);
});

test('lines that somebody else wrote since are not laid at an edit’s door', async () => {
	const [a, b] = ['one\ntwo\n', 'one\ntwo\nthree\n'];
	const bodies = [...write('c1', null, a), ...edit('c2', a, b, ['two\n', 'two\nthree\n'])];
	expect(await origins('one\nTWO\nthree\n', ...bodies)).toEqual(['0', '>1', '1']);
});

test('what was changed between two edits belongs to neither', async () => {
	const [a, b, c] = ['one\n', 'one\nby hand\n', 'one\nby hand\ntwo\n'];
	const bodies = [...write('c1', null, a), ...edit('c2', b, c, ['by hand\n', 'by hand\ntwo\n'])];
	expect(await origins(c, ...bodies)).toEqual(['0', '>0', '1']);
});

test('where no content can be rebuilt, the edit that brought a line in is likely, and other lines are unknown', async () => {
	const pair: [string, string] = ['a\nold', 'a\nnew'];
	expect(await origins('a\nnew\nother\n\n', ...edit('c1', 'a\nold\n', 'a\nnew\n', pair))).toEqual([
		'?',
		'0?',
		'?',
		'?',
	]);
	const rewritten = [...edit('c1', 'a\nold\n', 'a\nnew\n', pair), ...write('c2', 'b\n', 'a\nnew\nmore\n')];
	expect(await origins('a\nnew\nmore\n', ...rewritten)).toEqual(['1?', '0?', '1?']);
});

test('arguments that are no arguments are no reason to fail', async () => {
	const [made, ended] = write('c1', null, 'one\n');
	for (const args of ['', '{', 'null', '[]', '{"edits":[null,{"old_text":1}]}']) {
		const call: Body = {
			type: 'message',
			message: {role: 'assistant', content: '', toolCalls: [{id: 'c1', name: 'edit_file', args}]},
		};
		expect(made && ended && (await origins('one\n', call, ended))).toEqual(['0']);
	}
});
