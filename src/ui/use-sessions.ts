import {useEffect} from 'react';
import type {Library} from '../session/sessions.ts';
import {type Entry, type ResumeState, shown} from './ResumePicker.tsx';

type Change = (change: (state: ResumeState) => ResumeState) => void;

/**
While the resume picker is open, learn of its sessions: their names first, then a few heads and tails at a time, then whole logs,
of which only those on the screen are read. Names decide the order, so nothing moves while the rest arrives.
*/
export function useSessions(
	state: ResumeState | undefined,
	library: Library,
	height: number,
	change: Change,
	fail: (error: unknown) => void,
) {
	const isOpen = state !== undefined;
	useEffect(() => {
		if (!isOpen) return;
		const stop = new AbortController();
		list(library, state.all, height, change, stop.signal).catch(fail);
		return () => stop.abort();
		// Begins anew when the picker opens and when Tab changes what it lists.
	}, [isOpen, state?.all]);

	const visible = state ? shown(state, height).filter((entry) => !entry.detail) : [];
	const wanted = visible.map((entry) => entry.path).join('\n');
	useEffect(() => {
		if (wanted === '') return;
		const stop = new AbortController();
		read(library, wanted.split('\n'), change, stop.signal).catch(fail);
		return () => stop.abort();
	}, [wanted]);

	const chosen = state?.chosen ?? state?.entries?.[0]?.path;
	useEffect(() => {
		if (!chosen) return;
		let isOver = false;
		library.tail(chosen).then(
			(events) => isOver || change((now) => ({...now, preview: {path: chosen, events}})),
			() => {},
		);
		return () => {
			isOver = true;
		};
	}, [chosen]);
}

async function list(
	library: Library,
	all: boolean,
	few: number,
	change: Change,
	signal: AbortSignal,
): Promise<void> {
	const paths = await (all ? library.allFiles() : library.files());
	if (signal.aborted) return;
	change((state) => ({...state, entries: paths.map((path) => ({path, id: idOf(path)}))}));
	for (let at = 0; at < paths.length && !signal.aborted; at += few) {
		const some = paths.slice(at, at + few);
		const glances = await Promise.all(
			some.map(async (path) => [path, {glance: await library.glance(path)}] as const),
		);
		if (!signal.aborted) learn(change, new Map(glances));
	}
}

async function read(
	library: Library,
	paths: readonly string[],
	change: Change,
	signal: AbortSignal,
): Promise<void> {
	for (const path of paths) {
		const detail = await library.inspect(path, signal);
		if (signal.aborted) return;
		if (detail) learn(change, new Map([[path, {detail}]]));
	}
}

function learn(change: Change, known: ReadonlyMap<string, Partial<Entry>>): void {
	change((state) => ({
		...state,
		entries: state.entries?.map((entry) =>
			known.has(entry.path) ? {...entry, ...known.get(entry.path)} : entry,
		),
	}));
}

function idOf(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length);
}
