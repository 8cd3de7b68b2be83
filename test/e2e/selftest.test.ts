import {afterAll, describe, expect, test} from 'vitest';
import {checks, makeWorld} from '../../src/cli/selftest.ts';
import {makeWorld as tidyWorld} from '../helpers/mca.ts';
import {entry} from '../helpers/terminal.ts';

describe('the eleven checks', () => {
	// One world, and each check on what the ones before it left, as SELFTEST=1 runs them.
	const world = makeWorld(entry);
	afterAll(() => world.remove());

	for (const check of checks) {
		test(check.name, async () => {
			const {expected, seen} = await check.run(world);
			expect(seen).toEqual(expected);
		});
	}
});

test('MOCK=1 SELFTEST=1 runs them all and closes with 11/11 passed', async () => {
	const {status, stdout} = await tidyWorld().run([], {env: {MOCK: '1', SELFTEST: '1'}});
	expect(stdout.trimEnd().split('\n').at(-1)).toBe('11/11 passed');
	expect(stdout.split('\n').filter((line) => line.startsWith('ok '))).toHaveLength(11);
	expect(status).toBe(0);
});
