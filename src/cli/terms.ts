import {promises} from 'node:fs';
import type {Terms} from '../agent/agent.ts';
import type {Mode} from '../agent/gate.ts';
import {hasInstructions} from '../agent/prompt.ts';
import {openSandbox, type SandboxState} from '../agent/sandbox.ts';
import type {Event} from '../session/events.ts';
import {hasSomethingToTrust, readInstructions, readSettings} from './instructions.ts';
import {keyVariables} from './provider.ts';
import {keptRules} from './rules.ts';
import {forbidden, type Setup} from './setup.ts';
import {isTrusted} from './trust.ts';

/** What holds in a folder: the person's own rules, and what the folder says of itself where it is trusted. */
export async function termsOf(setup: Setup, workspace: string): Promise<Terms> {
	const trusted = !!setup.demo || isTrusted(setup.data, workspace);
	const state = await sandboxFor(setup, workspace);
	return {
		forbidden: forbidden(workspace, setup.data),
		instructions: trusted ? readInstructions(workspace).text : '',
		rules: [...setup.allow, ...keptRules(setup.configFolder, workspace)],
		refused: trusted ? readSettings(workspace).refuse : [],
		hiddenVariables: keyVariables(process.env, setup.config),
		...(state.state === 'on' ? {sandbox: state.sandbox} : {}),
	};
}

/** The mode to begin with: what the person chose, or what a trusted folder asks for where that is stricter. */
export function tightened(setup: Setup, workspace: string): Mode {
	const asked = isTrusted(setup.data, workspace) ? readSettings(workspace).mode : undefined;
	return asked && strictness.indexOf(asked) > strictness.indexOf(setup.mode) ? asked : setup.mode;
}

const strictness: readonly Mode[] = ['edits', 'ask', 'plan'];

/** What a person should know of the folder's instructions: how large they are, whether they are read, whether they changed. */
export function whatTheFolderSays(setup: Setup, workspace: string, events: readonly Event[]): string[] {
	if (setup.demo) return [];
	if (!isTrusted(setup.data, workspace)) {
		const says = hasSomethingToTrust(workspace);
		return says.length > 0
			? [`Not read, since this folder is not trusted: ${says.join(', ')}. mca trust . changes that.`]
			: [];
	}
	const {text, files} = readInstructions(workspace);
	const [first] = events;
	if (first?.type === 'message' && !hasInstructions(first.message.content, text)) {
		return [
			'The instructions of this folder have changed since this session began. New sessions follow the new ones.',
		];
	}
	return files.map(({path, bytes}) => `${path} (${bytes} bytes) goes into the system message.`);
}

/** The sandbox for the commands in a folder, or why there is none. */
export async function sandboxFor(
	setup: Pick<Setup, 'sandbox' | 'data'>,
	workspace: string,
): Promise<SandboxState> {
	if (setup.sandbox === 'off')
		return {state: 'off', why: 'The sandbox is switched off: every command is asked.'};
	return openSandbox({workspace, forbidden: forbidden(workspace, setup.data), disk: promises});
}
