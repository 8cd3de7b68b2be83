import type {Verdict} from '../session/events.ts';
import type {PreparedCall, ToolContext} from '../tools/tool.ts';
import {isSensitive, resolveForReading, resolveInside} from '../tools/workspace.ts';

export type GateContext = Pick<ToolContext, 'workspace' | 'forbidden' | 'spillFolder'>;

/**
Decide about one call. Nothing that the model says can change the verdict but the arguments that will really be used.

deny comes first and is absolute: a path outside the workspace or in mca's own folders. allow is earned: a read-only tool on
files inside the workspace that are not sensitive. Everything else is an ask.
*/
export async function judge(call: PreparedCall, context: GateContext): Promise<Verdict> {
	for (const path of call.paths) {
		const resolve = call.tool.readOnly ? resolveForReading : resolveInside;
		const place = await resolve(path, context);
		if (!place.ok) return {state: 'deny', by: 'builtin', why: place.reason};
		if (isSensitive(place.path))
			return {state: 'ask', by: 'builtin', why: `${place.display} may hold secrets`};
	}
	if (call.tool.readOnly) return {state: 'allow', by: 'builtin', why: 'it only reads inside the workspace'};
	const why = call.tool.name === 'run_command' ? 'commands are asked' : 'changes are asked';
	return {state: 'ask', by: 'builtin', why};
}
