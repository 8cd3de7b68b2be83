import {stat} from 'node:fs/promises';
import * as z from 'zod';
import {bytesText, count, durationText} from './amounts.ts';
import {type CommandOutput, commandOutput, type Shown} from './command-output.ts';
import {because} from './files.ts';
import {
	CANCEL_GRACE_MS,
	COMMAND_MAX_SECONDS,
	COMMAND_SECONDS,
	EXIT_GRACE_MS,
	SPILL_BYTES,
	TERM_GRACE_MS,
} from './limits.ts';
import {cancelled, failure} from './outcome.ts';
import {plainLine} from './plain-text.ts';
import {type Member, type ProcessGroup, startGroup} from './process-group.ts';
import {defineTool, type ToolContext, type ToolResult} from './tool.ts';

export const runCommand = defineTool({
	name: 'run_command',
	description: `Run a shell command (bash) in the workspace folder and see its output and exit code. There is no stdin and no terminal: nothing can be asked, editors and pagers do not open. It ends when the command exits; what that leaves in the background is named and runs on until mca ends (redirect its output into a file). Long output is shown with its middle left out.`,
	readOnly: false,
	schema: z.object({
		command: z
			.string()
			.min(1, 'is empty')
			.refine((command) => !command.includes('\0'), 'holds a NUL character'),
		timeout_seconds: z
			.number()
			.positive()
			.max(COMMAND_MAX_SECONDS)
			.optional()
			.describe(`After this it is stopped; ${COMMAND_SECONDS} if left out.`),
	}),
	label: ({command}) => plainLine(command),
	paths: () => [],
	preview: async ({command}) => ({kind: 'command', text: command}),
	run: ({command, timeout_seconds = COMMAND_SECONDS}, context) => run(command, timeout_seconds, context),
});

type Exit = {code: number | null; signal: NodeJS.Signals | null};
type Stop = 'timeout' | 'cancel' | 'limit';

async function run(command: string, seconds: number, context: ToolContext): Promise<ToolResult> {
	const {signal, workspace, spillFolder, callId, onOutput} = context;
	if (signal.aborted) return cancelled();
	const start = performance.now();
	const folder = await stat(workspace).catch(() => null);
	if (!folder?.isDirectory()) return failure(`The workspace ${workspace} is not there any more.`);
	let group: ProcessGroup;
	try {
		group = startGroup(command, workspace);
	} catch (error) {
		return failure(`The command could not be started: ${because(error)}.`);
	}
	const {promise: stopped, resolve: stop} = Promise.withResolvers<Stop>();
	const output = commandOutput({spillFolder, callId, onOutput, onLimit: () => stop('limit')});
	const onAbort = () => stop('cancel');
	signal.addEventListener('abort', onAbort, {once: true});
	if (signal.aborted) onAbort();
	const timer = setTimeout(() => stop('timeout'), seconds * 1000);
	try {
		const drained = drain(group, output);
		const first = await Promise.race([group.exited, stopped]);
		const ms = performance.now() - start;
		if (typeof first === 'string') {
			if (first === 'cancel') await group.end(CANCEL_GRACE_MS);
			else {
				await group.end(TERM_GRACE_MS, signal);
				await Promise.race([drained, pause(EXIT_GRACE_MS)]);
			}
			return report(first, ms, seconds, await close(group, output), []);
		}
		await Promise.race([drained, pause(EXIT_GRACE_MS), stopped]);
		const shown = await close(group, output);
		return report(first, ms, seconds, shown, await group.settle());
	} catch (error) {
		await close(group, output);
		return failure(`The command could not be started: ${because(error)}.`);
	} finally {
		clearTimeout(timer);
		signal.removeEventListener('abort', onAbort);
	}
}

/** Resolves when both pipes are at their end, that is when nobody holds them any more. */
async function drain({stdout, stderr}: ProcessGroup, output: CommandOutput): Promise<void> {
	const ends = [stdout, stderr].map((stream) => new Promise((resolve) => stream.once('close', resolve)));
	output.take(stdout);
	output.take(stderr);
	await Promise.all(ends);
}

function close({stdout, stderr}: ProcessGroup, output: CommandOutput): Promise<Shown> {
	stdout.destroy();
	stderr.destroy();
	return output.close();
}

/** A timer, and a round of reading after it: on a busy machine it may be late, with all of the output waiting behind it. */
async function pause(ms: number): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, ms).unref());
	await new Promise(setImmediate);
	await new Promise(setImmediate);
}

function report(end: Exit | Stop, ms: number, seconds: number, shown: Shown, left: Member[]): ToolResult {
	const took = durationText(ms);
	const {sentence, word} = outcome(end, took, seconds);
	const background = left.map(({pid, command}) => `${pid} (${plainLine(command).slice(0, 80)})`).join(', ');
	const notes = [
		sentence,
		...(shown.note === '' ? [] : [shown.note]),
		...(left.length === 0
			? []
			: [`Still running in the background, its output not read any more: ${background}.`]),
	];
	const more = left.length === 0 ? '' : ` · ${count(left.length, 'process', 'processes')} left running`;
	return {
		ok: typeof end !== 'string' && end.code === 0,
		content: `${notes.join('\n')}\n\n${shown.text === '' ? '(no output)' : shown.text}`,
		summary: `${word} · ${took}${more}`,
		truncated: shown.truncated,
		...(typeof end === 'string' ? {stoppedBy: end} : {}),
		...(shown.spill === undefined ? {} : {spill: shown.spill}),
	};
}

function outcome(end: Exit | Stop, took: string, seconds: number): {sentence: string; word: string} {
	switch (end) {
		case 'timeout':
			return {
				word: 'timeout',
				sentence: `Stopped after ${durationText(seconds * 1000)}, its timeout, with all that it had started. Give a larger timeout_seconds (up to ${COMMAND_MAX_SECONDS}) if it needs longer.`,
			};
		case 'cancel':
			return {word: 'cancelled', sentence: `Cancelled by the user after ${took}; stop and wait.`};
		case 'limit':
			return {
				word: 'too much output',
				sentence: `Stopped after ${took}, since it wrote more than ${bytesText(SPILL_BYTES)}. Write less, or into a file.`,
			};
	}
	if (end.signal !== null) return {word: end.signal, sentence: `Ended by ${end.signal} after ${took}.`};
	return {word: `exit ${end.code}`, sentence: `Exit code ${end.code} after ${took}.`};
}
