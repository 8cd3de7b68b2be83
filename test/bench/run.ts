import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {appending, engine} from './engine.ts';
import {print} from './table.ts';

// `npm run bench`: every number as a ratio of two things measured in turn in this run; absolute times are only for the reader.
const folder = mkdtempSync(join(tmpdir(), 'mca-bench-'));
try {
	if (process.argv.includes('--appending')) process.stdout.write(JSON.stringify(await appending(folder)));
	else print('engine', await engine(folder, !process.argv.includes('--small')));
} finally {
	rmSync(folder, {recursive: true, force: true});
}
