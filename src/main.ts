#!/usr/bin/env node
// The entry. It loads nothing before it knows that this Node can run the rest, so that an old one gets a sentence and not a
// stack of syntax errors; and `--version` answers without the rest.
import {readFileSync} from 'node:fs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
	process.stderr.write(
		`mca needs Node 22.19 or newer; this is ${process.version}. Install a current Node and start mca again.\n`,
	);
	process.exitCode = 2;
} else if (process.argv.length === 3 && process.argv[2] === '--version') {
	const {version} = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
	process.stdout.write(`${version}\n`);
} else {
	const {main} = await import('./cli/cli.ts');
	process.exit(await main(process.argv.slice(2)));
}
