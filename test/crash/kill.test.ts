import {randomInt} from 'node:crypto';
import {expect, onTestFinished, test} from 'vitest';
import {bundle, makeFolder} from '../helpers/processes.ts';
import {killLineage} from './kill-lineage.ts';

// `npm run crash -- --rounds 5000` is the long run; a failure names the seed, and --seed plays its decisions again.
test('over 200 kills -9 every acknowledged line is found, every line found was issued, and the next writer goes on at once', async () => {
	const folder = makeFolder('kill');
	onTestFinished(folder.remove);
	const worker = bundle('test/crash/kill-worker.ts', folder.path);
	const tally = await killLineage(worker, folder.path, {rounds: 200, seed: randomInt(2 ** 32)});
	expect(tally.kills).toBe(200);
	expect(tally.found).toBeGreaterThan(200);
}, 120_000);
