#!/usr/bin/env node
// The entry. It loads nothing before it knows that this Node can run the rest, so that an old one gets a sentence and not a
// stack of syntax errors; and `--version` answers without the rest.
import {mkdirSync, readFileSync} from 'node:fs';
import module from 'node:module';
import {homedir} from 'node:os';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const args = process.argv.slice(2);
if (major < 22 || (major === 22 && minor < 19)) {
	process.stderr.write(
		`mca needs Node 22.19 or newer; this is ${process.version}. Install a current Node and start mca again.\n`,
	);
	process.exitCode = 2;
} else if (args.length === 1 && args[0] === '--version') {
	const {version} = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
	process.stdout.write(`${version}\n`);
} else {
	// Keys that are typed while the rest loads belong to the composer: not echoed, and with their Enter as it was pressed.
	if (opensScreen()) process.stdin.setRawMode(true);
	keepCompiled();
	const {crashed, main} = await import('./cli/cli.ts');
	process.on('uncaughtException', (error) => process.exit(crashed(error)));
	process.exit(await main(args));
}

/** Compiling what was compiled at the last start is a tenth of this one. Where the cache cannot be written, it is not. */
function keepCompiled(): void {
	const {MCA_HOME, XDG_CACHE_HOME} = process.env;
	const cache = MCA_HOME ? `${MCA_HOME}/cache` : `${XDG_CACHE_HOME || `${homedir()}/.cache`}/mca`;
	try {
		// $MCA_HOME is often made here first, and what it will hold is nobody else's.
		mkdirSync(cache, {recursive: true, mode: 0o700});
	} catch {
		return;
	}
	module.enableCompileCache?.(`${cache}/compiled`);
}

/** Whether the keys are for the screen. What looks like another command, or a line mode, waits until it is known. */
function opensScreen(): boolean {
	const {env, stdin, stdout} = process;
	const isLines = env.TERM === 'dumb' || env.INK_SCREEN_READER === 'true' || env.ACCESSIBLE;
	if (!stdin.isTTY || !stdout.isTTY || isLines || env.SELFTEST) return false;
	const [first = 'resume'] = args;
	return /^resume$|^-|\s/.test(first) && !args.some((arg) => /^(-h|--help|--version|--plain)$/.test(arg));
}
