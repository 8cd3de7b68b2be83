import {basename} from 'node:path';
import type {Verdict} from '../session/events.ts';
import type {PreparedCall, ToolContext} from '../tools/tool.ts';
import {isSensitive, resolveForReading, resolveInside} from '../tools/workspace.ts';

/** `ask`: changes and commands are asked. `edits`: changes inside the workspace pass. `plan`: nothing is changed at all. */
export const modes = ['ask', 'edits', 'plan'] as const;
export type Mode = (typeof modes)[number];

/** What a person has decided before the call came. Always that of the present run, never that of the log. */
export type Policy = {
	mode: Mode;
	/** Commands that a person allowed in this workspace, to the letter. */
	rules: readonly string[];
	/** Commands that the workspace's own settings refuse, to the letter: those can only tighten. */
	refused: readonly string[];
	/** Whether commands have a sandbox to run in. */
	hasSandbox: boolean;
};

export type GateContext = Pick<ToolContext, 'workspace' | 'forbidden' | 'spillFolder'>;

/** `sandboxed`: it is allowed because it runs where it can do no harm, and nowhere else. */
export type Judged = {verdict: Verdict; sandboxed: boolean};

/**
Decide about one call. Nothing that the model says can change the verdict but the arguments that will really be used.

deny comes first and is absolute: no rule and no mode lifts it. allow is earned by enforcement, not by what a command looks
like: a read-only tool inside the workspace, a command inside the sandbox, a rule that a person made for exactly this, a change
that the mode lets pass. Everything else is an ask.
*/
export async function judge(call: PreparedCall, context: GateContext, policy: Policy): Promise<Judged> {
	const {acts} = call;
	const judged = (state: Verdict['state'], by: Verdict['by'], why: string, sandboxed = false): Judged => ({
		verdict: {state, by, why},
		sandboxed,
	});

	let secret: string | undefined;
	let governs: string | undefined;
	for (const path of call.paths) {
		const place = await (acts.kind === 'read' ? resolveForReading : resolveInside)(path, context);
		if (!place.ok) return judged('deny', 'builtin', place.reason);
		if (acts.kind === 'change' && /(^|\/)\.git(\/|$)/.test(place.display)) {
			return judged(
				'deny',
				'builtin',
				`${place.display} belongs to git, whose settings can run commands. Use git itself.`,
			);
		}
		if (isSensitive(place.path)) secret ??= place.display;
		if (acts.kind === 'change' && (await isGoverning(place.path, context))) governs ??= place.display;
	}
	if (acts.kind === 'command' && policy.refused.includes(acts.command)) {
		return judged('deny', 'rule', 'the settings of this workspace refuse this command');
	}
	const inSandbox = acts.kind === 'command' && policy.hasSandbox && !acts.outside;
	if (policy.mode === 'plan' && acts.kind !== 'read' && !inSandbox) {
		return judged(
			'deny',
			'builtin',
			'in plan mode nothing is changed. Say what you would do; the person can switch the mode',
		);
	}
	if (secret !== undefined) return judged('ask', 'builtin', `${secret} may hold secrets`);
	switch (acts.kind) {
		case 'read':
			return judged('allow', 'builtin', 'it only reads inside the workspace');
		case 'change':
			if (governs !== undefined) {
				return judged(
					'ask',
					'builtin',
					`${governs} says how mca works in this folder from the next session on`,
				);
			}
			if (policy.mode === 'edits')
				return judged('allow', 'builtin', 'the mode lets changes in the workspace pass');
			return judged('ask', 'builtin', 'changes are asked');
		case 'command':
			if (inSandbox) return judged('allow', 'sandbox', 'it runs in the sandbox', true);
			if (policy.rules.includes(acts.command))
				return judged('allow', 'rule', 'you allowed exactly this command');
			return judged(
				'ask',
				'builtin',
				acts.outside && policy.hasSandbox ? 'outside of the sandbox' : 'commands are asked',
			);
	}
}

/** What mca reads of a folder that is trusted. */
const governing = ['AGENTS.md', 'CLAUDE.md', '.mca.json'];

/**
Whether a real path is one of those files, in any folder, since any may be worked in later, and in any case (`agents.md` is
`AGENTS.md` on some disks); or what one of the workspace is a link to.
*/
async function isGoverning(path: string, context: GateContext): Promise<boolean> {
	const name = basename(path).toLowerCase();
	if (governing.some((each) => each.toLowerCase() === name)) return true;
	const places = await Promise.all(governing.map((each) => resolveInside(each, context)));
	return places.some((place) => place.ok && place.path === path);
}
