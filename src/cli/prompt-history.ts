import {appendFileSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {sessionFolder} from '../session/sessions.ts';
import {type History, mostPrompts, withPrompt} from '../ui/history.ts';
import {makeFolder} from './setup.ts';

/** A longer prompt is remembered while mca runs, and not beyond. */
const mostCharacters = 32_000;

/**
The prompts of a workspace, in `<data>/history/<workspace key>.jsonl`: a JSON string a line, the newest last. It is a
convenience, so nothing fails for it: what cannot be read is none, what cannot be written is forgotten. Two that run at the same
time append side by side; the file is cut to the newest prompts when it is read.
*/
export function promptHistory(data: string, workspace: string): History {
	const path = join(data, 'history', `${basename(sessionFolder(data, workspace))}.jsonl`);
	let all: readonly string[] | undefined;
	const past = () => {
		all ??= read(path);
		return all;
	};
	return {
		past,
		add(prompt) {
			const before = past();
			all = withPrompt(before, prompt);
			if (all === before || prompt.length > mostCharacters) return;
			try {
				makeFolder(dirname(path));
				appendFileSync(path, `${JSON.stringify(prompt)}\n`, {mode: 0o600});
			} catch {
				// The prompt itself is in the session's log.
			}
		},
	};
}

function read(path: string): readonly string[] {
	let lines: string[];
	try {
		lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
	} catch {
		return [];
	}
	const prompts = lines.reduce<readonly string[]>((all, line) => withPrompt(all, promptOf(line)), []);
	if (lines.length > 2 * mostPrompts) rewrite(path, prompts);
	return prompts;
}

function promptOf(line: string): string {
	try {
		const prompt: unknown = JSON.parse(line);
		return typeof prompt === 'string' ? prompt : '';
	} catch {
		return '';
	}
}

function rewrite(path: string, prompts: readonly string[]): void {
	const temporary = `${path}.${process.pid}`;
	try {
		const lines = prompts.toReversed().map((prompt) => `${JSON.stringify(prompt)}\n`);
		writeFileSync(temporary, lines.join(''), {mode: 0o600});
		renameSync(temporary, path);
	} catch {
		// It is only longer than it need be.
	}
}
