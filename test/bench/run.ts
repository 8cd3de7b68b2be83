import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {appending, engine} from './engine.ts';
import {screen} from './screen.ts';
import {print} from './table.ts';
import {wire} from './wire.ts';

// `npm run bench [engine|wire|screen] [--small]`: every number is a ratio of two things measured in turn in this run; absolute
// times are only for the reader.
const folder = mkdtempSync(join(tmpdir(), 'mca-bench-'));
const wanted = (part: string) =>
	!['engine', 'wire', 'screen'].some((each) => process.argv.includes(each)) || process.argv.includes(part);
try {
	if (process.argv.includes('--appending')) {
		process.stdout.write(JSON.stringify(await appending(folder)));
	} else {
		if (wanted('engine')) print('engine', await engine(folder, !process.argv.includes('--small')));
		if (wanted('wire')) print('wire', await wire(folder));
		for (const size of [
			{columns: 120, rows: 40},
			{columns: 200, rows: 60},
		]) {
			if (wanted('screen'))
				print(`screen, ${size.columns}×${size.rows}`, await screen(join(folder, `${size.columns}`), size));
		}
	}
} finally {
	rmSync(folder, {recursive: true, force: true});
}
