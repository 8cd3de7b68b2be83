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
import {type Member, type ProcessGroup, shellCommand, startGroup} from './process-group.ts';
import {defineTool, type ToolContext, type ToolResult} from './tool.ts';

export const runCommand = defineTool({
	name: 'run_command',
	description: `Run a shell command (bash) in the workspace folder and see its output and exit code. There is no stdin and no terminal: nothing can be asked, editors and pagers do not open. It ends when the command exits; what that leaves in the background is named and runs on until mca ends (redirect its output into a file). Long output is shown with its middle left out. Where there is a sandbox, commands run in it without anybody being asked: they can read the workspace and the installed tools and write to /tmp, but not to the workspace, and have no network; what they leave in the background or in /tmp is gone when they end.`,
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
		outside: z
			.boolean()
			.optional()
			.describe(
				'Ask the person to run it outside of the sandbox, with write access and network. For what has to write to the workspace or needs the network.',
			),
	}),
	label: ({command}) => plainLine(command),
	paths: () => [],
	acts: ({command, outside = false}) => ({kind: 'command', command, outside}),
	preview: async ({command}) => ({kind: 'command', text: command}),
	run: ({command, timeout_seconds = COMMAND_SECONDS}, context) => run(command, timeout_seconds, context),
});

/** Where it ran: `hidden` is what it could not see of the workspace. */
type Where = {at: 'outside'} | {at: 'sandbox'; hidden: readonly string[]};
type Exit = {code: number | null; signal: NodeJS.Signals | null};
type Stop = 'timeout' | 'cancel' | 'limit';

async function run(command: string, seconds: number, context: ToolContext): Promise<ToolResult> {
	const {signal, workspace, spillFolder, callId, onOutput, sandbox, hiddenVariables} = context;
	if (signal.aborted) return cancelled();
	const start = performance.now();
	const folder = await stat(workspace).catch(() => null);
	if (!folder?.isDirectory()) return failure(`The workspace ${workspace} is not there any more.`);
	let group: ProcessGroup;
	let where: Where = {at: 'outside'};
	try {
		let start = shellCommand(command, hiddenVariables);
		if (sandbox) {
			if (sandbox.workspace !== workspace) {
				return failure(
					`The command was not run: the sandbox is made for ${sandbox.workspace}, not for ${workspace}.`,
				);
			}
			const wrapped = await sandbox.wrap(start, signal);
			if (signal.aborted) return cancelled();
			if (!wrapped.ok) return failure(wrapped.reason);
			start = wrapped.start;
			where = {at: 'sandbox', hidden: wrapped.hidden};
		}
		group = startGroup(start, workspace);
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
			return report(first, ms, seconds, await close(group, output), [], where);
		}
		await Promise.race([drained, pause(EXIT_GRACE_MS), stopped]);
		const shown = await close(group, output);
		return report(first, ms, seconds, shown, await group.settle(), where);
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

function report(
	end: Exit | Stop,
	ms: number,
	seconds: number,
	shown: Shown,
	left: Member[],
	where: Where,
): ToolResult {
	const took = durationText(ms);
	const {sentence, word} = outcome(end, took, seconds);
	const background = left.map(({pid, command}) => `${pid} (${plainLine(command).slice(0, 80)})`).join(', ');
	const notes = [
		sentence,
		...(shown.note === '' ? [] : [shown.note]),
		...(left.length === 0
			? []
			: [`Still running in the background, its output not read any more: ${background}.`]),
		...(where.at === 'sandbox' ? [sandboxNote(where.hidden)] : []),
	];
	const wanting = where.at === 'sandbox' && isFailure(end) ? wants(shown.text) : '';
	const more = left.length === 0 ? '' : ` · ${count(left.length, 'process', 'processes')} left running`;
	return {
		ok: typeof end !== 'string' && end.code === 0,
		content: `${notes.join('\n')}\n\n${shown.text === '' ? '(no output)' : shown.text}${wanting}`,
		summary: `${word} · ${took}${more}`,
		truncated: shown.truncated,
		...(typeof end === 'string' ? {stoppedBy: end} : {}),
		...(shown.spill === undefined ? {} : {spill: shown.spill}),
	};
}

/** As many hidden files are named. */
const NAMED_HIDDEN = 10;

function sandboxNote(hidden: readonly string[]): string {
	const ran = 'It ran in the sandbox: the workspace read-only, no network.';
	const secrets = hidden.filter((path) => !path.startsWith('.git/'));
	if (secrets.length === 0) return ran;
	const named = secrets.slice(0, NAMED_HIDDEN).map(plainLine).join(', ');
	const more = secrets.length > NAMED_HIDDEN ? ` and ${secrets.length - NAMED_HIDDEN} more` : '';
	return `${ran} Hidden in there, since they may hold secrets: ${named}${more}.`;
}

function isFailure(end: Exit | Stop): boolean {
	return typeof end !== 'string' && end.code !== 0;
}

/** How programs say that they may not write, cannot reach the network, or were refused by the sandbox. */
const denied =
	/read-only file system|\bEROFS\b|permission denied|\bEACCES\b|operation not permitted|\bEPERM\b/i;
const unreachable =
	/network is unreachable|\bENETUNREACH\b|\bEAI_AGAIN\b|\bENOTFOUND\b|could not resolve|temporary failure in name resolution|name or service not known|no address associated|connection refused|\bECONNREFUSED\b|failed to connect|unable to access 'https?:/i;

/** A sentence at the end of what failed for want of something that the sandbox keeps away; empty for everything else. */
function wants(output: string): string {
	const wanting = [
		...(denied.test(output) ? ['may not write to the workspace, nor open what is hidden'] : []),
		...(unreachable.test(output) ? ['has no network'] : []),
	];
	if (/^bwrap: /.test(output)) wanting.push('could not be set up');
	if (wanting.length === 0) return '';
	return `\n\nThis may be the sandbox's doing, where a command ${wanting.join(' and ')}. If it has to, call run_command again with outside: true: the person is then asked to run it outside of the sandbox.`;
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
