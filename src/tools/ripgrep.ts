import {spawn} from 'node:child_process';
import {commandEnvironment} from './command-environment.ts';
import {because} from './files.ts';

/** `stopped`: not all records were wanted. */
export type Ran = {at: 'done'; stopped: boolean} | {at: 'cancelled'} | {at: 'failed'; reason: string};

type Options = {
	cwd: string;
	signal: AbortSignal;
	/** The byte that ends a record. */
	separator: number;
	/** Bytes of the longest record that is handed over; a longer one comes as null. */
	maxRecordBytes: number;
};

/** What goes before every list of arguments: no config (it can name programs to run), and what a person would look at. */
const common = [
	'--no-config',
	'--no-messages',
	'--no-require-git',
	'--hidden',
	'--sort=path',
	'--path-separator=/',
	'--color=never',
];

/** Run ripgrep and hand over its records one by one, until `onRecord` answers false. No match is not a failure. */
export async function ripgrep(
	args: readonly string[],
	{cwd, signal, separator, maxRecordBytes}: Options,
	onRecord: (record: Buffer | null) => boolean,
): Promise<Ran> {
	if (signal.aborted) return {at: 'cancelled'};
	let rgPath: string;
	try {
		({rgPath} = await import('@vscode/ripgrep'));
	} catch (error) {
		return {at: 'failed', reason: `ripgrep is not installed: ${because(error)}`};
	}
	return new Promise((resolve) => {
		const child = spawn(rgPath, [...common, ...args], {
			cwd,
			env: commandEnvironment(process.env),
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		let stopped = false;
		const cancel = () => {
			child.kill('SIGKILL');
			resolve({at: 'cancelled'});
		};
		signal.addEventListener('abort', cancel, {once: true});
		const finish = (ran: Ran) => {
			signal.removeEventListener('abort', cancel);
			resolve(ran);
		};
		const split = recordSplitter(separator, maxRecordBytes, onRecord);
		child.stdout.on('data', (chunk: Buffer) => {
			if (stopped || split(chunk)) return;
			stopped = true;
			child.kill('SIGKILL');
		});
		let problem = '';
		child.stderr.setEncoding('utf8').on('data', (text: string) => {
			if (problem.length < 2000) problem += text;
		});
		child.on('error', (error) => finish({at: 'failed', reason: `ripgrep did not start: ${because(error)}`}));
		child.on('close', (code, killed) => {
			if (stopped || code === 0 || code === 1) finish({at: 'done', stopped});
			// Exit 2 without a word: some file could not be read, the others were.
			else if (code === 2 && problem === '') finish({at: 'done', stopped});
			else finish({at: 'failed', reason: problem.trim() || `ripgrep ended with ${killed ?? `exit ${code}`}`});
		});
	});
}

/** Answers false once `onRecord` has. Keeps the pieces of a long record apart until it is whole, so that it stays linear. */
function recordSplitter(separator: number, maxBytes: number, onRecord: (record: Buffer | null) => boolean) {
	let pieces: Buffer[] = [];
	let size = 0;
	return (chunk: Buffer): boolean => {
		let from = 0;
		for (let at = chunk.indexOf(separator); at !== -1; at = chunk.indexOf(separator, from)) {
			size += at - from;
			pieces.push(chunk.subarray(from, at));
			const record = size <= maxBytes ? Buffer.concat(pieces) : null;
			pieces = [];
			size = 0;
			from = at + 1;
			if (!onRecord(record)) return false;
		}
		size += chunk.length - from;
		if (size <= maxBytes) pieces.push(chunk.subarray(from));
		else pieces = [];
		return true;
	};
}
