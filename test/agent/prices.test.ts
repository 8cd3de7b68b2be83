import {expect, test} from 'vitest';
import {contextWindowOf, costOf} from '../../src/agent/prices.ts';

const usage = {inputTokens: 1_000_000, outputTokens: 100_000, cachedTokens: 400_000};
const openai = 'https://api.openai.com/v1';

test('a price of your own beats the catalogue', async () => {
	const own = {'my-model': {price: {input: 1, output: 10, cachedInput: 0.5}, contextWindow: 5000}};
	expect(await costOf(usage, {model: 'my-model', baseURL: openai}, own)).toBeCloseTo(0.6 + 0.2 + 1);
	expect(await contextWindowOf({model: 'my-model', baseURL: openai}, own)).toBe(5000);
});

test('the catalogue knows a model where its provider serves it', async () => {
	expect(await costOf(usage, {model: 'gpt-5-mini', baseURL: openai}, {})).toBeGreaterThan(0);
	expect(await contextWindowOf({model: 'gpt-5-mini', baseURL: openai}, {})).toBeGreaterThan(100_000);
});

test('the same model on your own machine, and one that nobody knows, have no price: null, never 0', async () => {
	expect(await costOf(usage, {model: 'gpt-5-mini', baseURL: 'http://127.0.0.1:1234/v1'}, {})).toBeNull();
	expect(await costOf(usage, {model: 'no-such-model', baseURL: openai}, {})).toBeNull();
	expect(await costOf(usage, {model: 'scripted', baseURL: undefined}, {})).toBeNull();
	expect(await contextWindowOf({model: 'no-such-model', baseURL: openai}, {})).toBeUndefined();
});
