import fc from 'fast-check';
import {expect, test} from 'vitest';
import {eventFields, parseLine} from '../../src/session/events.ts';
import {call, events, result, system, toolEnd, turnOne, usage, user} from '../helpers/log-file.ts';

const sound = events([...turnOne, system, user('hi'), usage(), call('a', 'b'), toolEnd('a'), result('a')]);

/** Every path into a value, and the value with what stands there replaced by `put`, or taken away. */
function paths(value: unknown, path: string[] = []): string[][] {
	if (typeof value !== 'object' || value === null) return [path];
	return [path, ...Object.entries(value).flatMap(([key, each]) => paths(each, [...path, key]))].filter(
		(p) => p.length > 0,
	);
}

function changed(event: object, path: readonly string[], put: unknown): object {
	const copy = structuredClone(event) as Record<string, unknown>;
	let at = copy;
	for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
	const last = path.at(-1) ?? '';
	if (put === undefined) delete at[last];
	else at[last] = put;
	return copy;
}

test('a line is taken exactly when its envelope is sound and its fields are those of its type', () => {
	const odd = fc.constantFrom(
		undefined,
		null,
		7,
		-1,
		1.5,
		Number.POSITIVE_INFINITY,
		true,
		'',
		'x',
		[],
		[7],
		[null],
		[{}],
		{},
		{a: 1},
	);
	fc.assert(
		fc.property(fc.constantFrom(...sound), fc.nat(), odd, (event, pick, put) => {
			const all = paths(event).filter(([first]) => first !== 'seq' && first !== 'ts' && first !== 'type');
			const text = JSON.stringify(changed(event, all[pick % all.length] ?? [], put));
			// What JSON writes is what is read: it has no Infinity.
			const fits = eventFields[event.type as keyof typeof eventFields].safeParse(JSON.parse(text)).success;
			expect(parseLine(text, 0).ok).toBe(fits);
		}),
		{numRuns: 5000},
	);
});

test('a number that is too large to be one does not fit', () => {
	const line = JSON.stringify({seq: 1, ts: '', ...usage()}).replace('812', '1e999');
	expect(parseLine(line, 0)).toMatchObject({ok: false, reason: expect.stringContaining('inputTokens')});
});
