import {useSyncExternalStore} from 'react';
import type {Agent} from '../agent/agent.ts';
import type {AgentEvent} from '../agent/agent-event.ts';
import {emptyView, reduce, type View} from './view.ts';

/** Streams arrive faster than a screen is worth drawing; this many ms of them make one frame. */
const mergeMs = 40;

export type ViewStore = {get(): View; subscribe(listener: () => void): () => void};

/** The agent's events folded into a View, for whoever draws it. */
export function viewStore(agent: Pick<Agent, 'subscribe'>): ViewStore {
	let view = emptyView;
	let pending: AgentEvent[] = [];
	let timer: NodeJS.Timeout | undefined;
	const listeners = new Set<() => void>();
	const flush = () => {
		clearTimeout(timer);
		timer = undefined;
		if (pending.length === 0) return;
		view = pending.reduce(reduce, view);
		pending = [];
		for (const listener of listeners) listener();
	};
	agent.subscribe((event) => {
		pending.push(event);
		if (event.type === 'draft' || event.type === 'tool_output') timer ??= setTimeout(flush, mergeMs);
		else flush();
	});
	return {
		get: () => view,
		subscribe(listener) {
			listeners.add(listener);
			return () => listeners.delete(listener);
		},
	};
}

export function useView(store: ViewStore): View {
	return useSyncExternalStore(store.subscribe, store.get);
}
