import type {ToolResult} from './tool.ts';

/** What every tool answers when it could not do its work: `reason` is a sentence for the model. */
export function failure(reason: string): ToolResult {
	return {ok: false, content: reason, summary: 'failed'};
}

/** What every tool answers when the person stopped the turn before it was done. */
export function cancelled(): ToolResult {
	const content = 'Cancelled by the user before it was done; stop and wait.';
	return {ok: false, content, summary: 'cancelled', stoppedBy: 'cancel'};
}
