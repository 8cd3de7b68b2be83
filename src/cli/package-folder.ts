import {existsSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

/** The folder of mca's own package.json: the bundle lies one level below it, the sources two. */
export function packageFolder(): string {
	let folder = dirname(fileURLToPath(import.meta.url));
	while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
	return folder;
}

export function packageVersion(): string {
	return JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')).version;
}
