import type {Stats} from 'node:fs';
import {diffOf} from './diff.ts';
import {decode, inQueue, readWhole, sha256, writeFileAtomically} from './files.ts';
import {CHANGE_FILE_BYTES, cutMiddle, DIFF_BYTES} from './limits.ts';
import {cancelled, failure} from './outcome.ts';
import type {Preview, ToolContext, ToolResult} from './tool.ts';
import {resolveInside} from './workspace.ts';

/**
A file as it is: its bytes, and their text without the byte order mark. `hasChanged`: it is not what the model last saw of it in
this session. Where it saw nothing of it, nothing is known.
*/
export type Before = {bytes: Buffer; text: string; bom: boolean; hasChanged: boolean};

/** What a tool wants the file to be, and a sentence that says so; or a sentence that says why not. */
export type Planned =
	| {ok: true; after: Buffer; did: string; approximate?: string}
	| {ok: false; reason: string};

/**
Decides from what is there, null for nothing. It touches nothing: it is asked for the preview and again for the run. Only where a
person sees the result first may it take a text that is not there to the letter for one that nearly is (`mayGuess`).
*/
export type Plan = (before: Before | null, display: string, mayGuess: boolean) => Planned;

type Change = {
	ok: true;
	path: string;
	display: string;
	before: Before | null;
	stats: Stats | null;
	after: Buffer;
	did: string;
	approximate?: string;
};

/** What the change would be, and the hash of what it starts from. */
export async function previewChange(given: string, context: ToolContext, plan: Plan): Promise<Preview> {
	const change = await planChange(given, context, plan, true);
	if (!change.ok) return {kind: 'fails', text: change.reason};
	const {text} = diffFor(change);
	const {display, approximate} = change;
	return {kind: 'diff', path: display, text, basis: basisOf(change), ...(approximate ? {approximate} : {})};
}

/**
Make the change: one at a time per file, from what the file is when its turn comes, all of it or nothing.

After an approval only the file that was shown is changed. `diffInResult`: the model is shown the diff.
*/
export async function applyChange(
	given: string,
	context: ToolContext,
	plan: Plan,
	{diffInResult}: {diffInResult: boolean},
): Promise<ToolResult> {
	const place = await resolveInside(given, context);
	if (!place.ok) return failure(place.reason);
	return inQueue(place.path, async () => {
		if (context.signal.aborted) return cancelled();
		const change = await planChange(given, context, plan, context.approvedBasis !== undefined);
		if (!change.ok) return failure(change.reason);
		const {path, display, stats, after} = change;
		const before = basisOf(change);
		if (context.approvedBasis !== undefined && context.approvedBasis !== before) {
			return failure(
				`${display} has changed since this was approved, so nothing was written. Read it again and send a new call.`,
			);
		}
		const problem = await writeFileAtomically(path, after, stats);
		if (problem !== null) return failure(`${display} could not be written: ${problem}.`);
		// An edit beside what somebody else changed does not show the model what that was.
		if (!change.before?.hasChanged) context.seen?.set(path, sha256(after));
		const {text, added, removed} = diffFor(change);
		return {
			ok: true,
			content: diffInResult
				? `${change.did}\n${cutMiddle(text, DIFF_BYTES / 2, DIFF_BYTES / 2)}`
				: change.did,
			summary: `+${added} −${removed}`,
			files: [{path: display, before, after: sha256(after), added, removed}],
		};
	});
}

async function planChange(
	given: string,
	context: ToolContext,
	plan: Plan,
	mayGuess: boolean,
): Promise<Change | {ok: false; reason: string}> {
	const place = await resolveInside(given, context);
	if (!place.ok) return place;
	const {path, display} = place;
	const content = await readWhole(path, display, CHANGE_FILE_BYTES);
	if (content.at === 'refused') return {ok: false, reason: content.reason};
	if (content.at === 'missing' && given.endsWith('/')) {
		return {ok: false, reason: `"${given}" names a folder. Give the path of a file; its folders are made.`};
	}
	let before: Before | null = null;
	if (content.at === 'file') {
		const decoded = decode(content.bytes);
		if (!decoded.ok) {
			const reason = `${display} is not UTF-8 text: it seems to be ${decoded.guess}. Nothing was written, since its bytes could not be kept. Use run_command to convert it first.`;
			return {ok: false, reason};
		}
		const last = context.seen?.get(path);
		const hasChanged = last !== undefined && last !== sha256(content.bytes);
		before = {bytes: content.bytes, text: decoded.text, bom: decoded.bom, hasChanged};
	}
	const planned = plan(before, display, mayGuess);
	if (!planned.ok) return planned;
	const stats = content.at === 'file' ? content.stats : null;
	const {after, did, approximate} = planned;
	return {ok: true, path, display, before, stats, after, did, ...(approximate ? {approximate} : {})};
}

function diffFor({display, before, after}: Change) {
	const text = after.toString();
	return diffOf(display, before?.text ?? null, text.startsWith('\ufeff') ? text.slice(1) : text);
}

function basisOf({before}: Change): string | null {
	return before === null ? null : sha256(before.bytes);
}
