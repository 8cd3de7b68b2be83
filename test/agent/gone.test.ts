import {appendFileSync, copyFileSync, existsSync, renameSync, rmSync} from 'node:fs';
import {expect, test} from 'vitest';
import type {Gateway} from '../../src/agent/gateway.ts';
import {agentWorld, saying, text} from '../helpers/agent.ts';

async function afterOneTurn() {
	const world = agentWorld({gateway: saying(text('one'), text('two'), text('three'))});
	await world.agent.submit('first');
	return {...world, path: world.agent.path ?? ''};
}

for (const [what, act, said] of [
	['deleted', (path: string) => rmSync(path), 'was deleted or moved away'],
	['moved away', (path: string) => renameSync(path, `${path}.old`), 'was deleted or moved away'],
	[
		'replaced by a copy of itself',
		(path: string) => {
			copyFileSync(path, `${path}.copy`);
			renameSync(`${path}.copy`, path);
		},
		'was replaced by another one',
	],
] as const) {
	test(`a log that was ${what} takes nothing more, says so, and the prompt goes on in a new session`, async () => {
		const {agent, path} = await afterOneTurn();
		act(path);
		const rest = await agent.submit('second');
		expect(rest).toMatchObject({why: 'unsaved', unsent: 'second', message: expect.stringContaining(said)});
		expect(await agent.submit('second')).toEqual({why: 'done'});
		expect(agent.path).not.toBe(path);
		expect(existsSync(agent.path ?? '')).toBe(true);
		expect(agent.events.at(-1)).toMatchObject({message: {content: 'two'}});
	});
}

test('a name that cannot be kept is refused like any other line, and the session goes on in a new one', async () => {
	const {agent, path, view} = await afterOneTurn();
	appendFileSync(path, 'x');
	expect(await agent.rename('foo')).toMatch(/no longer being saved: its file is \d+ bytes long/);
	expect(view().rest).toMatchObject({why: 'unsaved'});
	expect(await agent.submit('second')).toEqual({why: 'done'});
	expect(agent.path).not.toBe(path);
});

test('a fork of a log that is gone is refused with a sentence', async () => {
	const {agent, path} = await afterOneTurn();
	rmSync(path);
	expect(await agent.fork({seq: 2})).toMatchObject({
		ok: false,
		reason: expect.stringContaining('The session cannot be read'),
	});
});

test('a folder that cannot be understood stops the prompt before anything is asked, until it is mended', async () => {
	let wrong = true;
	const world = agentWorld({
		gateway: saying(text('one')),
		termsOf: async () => {
			if (wrong) throw new Error('.mca.json is not JSON.');
			return {forbidden: [], instructions: '', rules: [], refused: []};
		},
	});
	await world.agent.startNew();
	expect(await world.agent.submit('go')).toEqual({
		why: 'failed',
		message: '.mca.json is not JSON.',
		unsent: 'go',
	});
	expect(await world.files()).toEqual([]);
	wrong = false;
	expect(await world.agent.submit('go')).toEqual({why: 'done'});
});

test('a model is asked where it was chosen: a new session and a resume go back to the configured provider', async () => {
	const named = (name: string): Gateway & {asked: string[]} => {
		const asked: string[] = [];
		return {
			name,
			asked,
			async *stream({model}) {
				asked.push(model);
				yield* text('ok');
			},
		};
	};
	const configured = named('configured');
	const other = named('other');
	const world = agentWorld({gateway: configured, defaultModel: 'usual'});
	world.agent.useModel('llama3', other);
	await world.agent.submit('one');
	const path = world.agent.path ?? '';
	expect((await world.agent.fork()).ok).toBe(true);
	await world.agent.submit('two');
	expect(other.asked).toEqual(['llama3', 'llama3']);
	await world.agent.startNew();
	await world.agent.submit('three');
	expect(configured.asked).toEqual(['usual']);
	await world.agent.close();

	const {agent, emitted} = world.another();
	await agent.open(path);
	expect(emitted).toContainEqual({
		type: 'notice',
		text: 'llama3 at other was asked before; from now on it is usual at configured. /model changes that.',
	});
	await agent.submit('four');
	expect(configured.asked).toEqual(['usual', 'usual']);
});
