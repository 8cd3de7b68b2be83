import {useEffect} from 'react';
import type {Library} from '../session/sessions.ts';
import type {Entry, ResumeState} from './ResumePicker.tsx';

type Change = (change: (state: ResumeState) => ResumeState) => void;

/** While the resume picker is open, learn of its sessions: first their names, then a few heads and tails at a time. */
export function useSessions(
	open: boolean,
	library: Library,
	visible: number,
	change: Change,
	fail: (error: unknown) => void,
) {
	// Starts anew when the picker opens, whatever else changes meanwhile.
	useEffect(() => {
		if (!open) return;
		const stop = new AbortController();
		load(library, visible, change, stop.signal).catch(fail);
		return () => stop.abort();
	}, [open]);
}

/** Names decide the order, so it does not change while the rest arrives. Only what the first screen shows is read whole. */
async function load(library: Library, visible: number, change: Change, signal: AbortSignal): Promise<void> {
	const paths = await library.files();
	if (signal.aborted) return;
	change((state) => ({...state, entries: paths.map((path) => ({path, id: idOf(path)}))}));
	const learn = (known: ReadonlyMap<string, Partial<Entry>>) => {
		if (signal.aborted) return;
		const more = (entry: Entry): Entry =>
			known.has(entry.path) ? {...entry, ...known.get(entry.path)} : entry;
		change((state) => ({...state, entries: state.entries?.map(more)}));
	};
	for (let at = 0; at < paths.length && !signal.aborted; at += visible) {
		const some = paths.slice(at, at + visible);
		learn(
			new Map(
				await Promise.all(some.map(async (path) => [path, {glance: await library.glance(path)}] as const)),
			),
		);
		if (at > 0) continue;
		for (const path of some) {
			const detail = await library.inspect(path);
			if (signal.aborted) return;
			if (detail) learn(new Map([[path, {detail}]]));
		}
	}
}

function idOf(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length);
}
