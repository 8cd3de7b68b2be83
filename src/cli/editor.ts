import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {Edited} from '../ui/terminal.ts';

/** Let the person change a text in the editor that $VISUAL or $EDITOR names. The terminal must be theirs meanwhile. */
export async function editText(text: string, env = process.env): Promise<Edited> {
	const editor = env.VISUAL || env.EDITOR;
	if (!editor) return {problem: 'Set $VISUAL or $EDITOR to the editor that Ctrl+G is to open.'};
	const folder = mkdtempSync(join(tmpdir(), 'mca-'));
	const path = join(folder, 'prompt.md');
	try {
		writeFileSync(path, `${text}\n`, {mode: 0o600});
		const status = await run(editor, path);
		if (status !== 0) return {problem: `${editor} ended with ${status}; your text is as it was.`};
		return {text: readFileSync(path, 'utf8').replace(/\r?\n$/, '')};
	} catch (error) {
		return {problem: `${editor}: ${(error as Error).message}. Your text is as it was.`};
	} finally {
		rmSync(folder, {recursive: true, force: true});
	}
}

/** Through the shell: the variable may hold arguments, as in `code --wait`. */
function run(editor: string, path: string): Promise<number | string> {
	const [file, args] =
		process.platform === 'win32'
			? [editor, [`"${path}"`]]
			: ['/bin/sh', ['-c', `${editor} "$1"`, 'mca', path]];
	const child = spawn(file, args, {stdio: 'inherit', shell: process.platform === 'win32'});
	return new Promise((resolve, reject) => {
		child.once('error', reject);
		child.once('exit', (status, signal) => resolve(signal ?? status ?? 1));
	});
}
