import type {EventOf} from './events.ts';

/** A session where its forks hang from it. */
export type TreeNode<S> = {
	id: string;
	/** undefined for a session that its forks name, but whose file is not there. */
	session: S | undefined;
	/** Where it parted from the node above it; undefined at a root. */
	parted?: {atSeq: number; kind: EventOf<'fork'>['kind']};
	forks: TreeNode<S>[];
};

/**
The sessions of a workspace as trees, oldest first on every level.

A fork holds the fork events of everything above it, so a session that is gone is still in its place, between what it was
forked from and what was forked from it.
*/
export function lineageTrees<S extends {id: string; forks: readonly EventOf<'fork'>[]}>(
	sessions: readonly S[],
): TreeNode<S>[] {
	const nodes = new Map<string, TreeNode<S>>();
	const nodeOf = (id: string): TreeNode<S> => {
		const node = nodes.get(id) ?? {id, session: undefined, forks: []};
		nodes.set(id, node);
		return node;
	};
	const parents = new Map<string, {from: string; parted: NonNullable<TreeNode<S>['parted']>}>();
	for (const session of sessions) {
		nodeOf(session.id).session = session;
		// From the session itself upwards: the last fork event is its own, the one before it that of its parent, and so on.
		let child = session.id;
		for (const {from, atSeq, kind} of session.forks.toReversed()) {
			nodeOf(from);
			if (!parents.has(child) && !isAbove(parents, child, from))
				parents.set(child, {from, parted: {atSeq, kind}});
			child = from;
		}
	}
	const roots: TreeNode<S>[] = [];
	for (const node of [...nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
		const parent = parents.get(node.id);
		if (parent) {
			node.parted = parent.parted;
			nodeOf(parent.from).forks.push(node);
		} else roots.push(node);
	}
	return roots;
}

/** Whether `id` is `from` or above it. No log that mca wrote says so, but a tree that bites its tail would never be drawn. */
function isAbove(parents: ReadonlyMap<string, {from: string}>, id: string, from: string): boolean {
	for (let at: string | undefined = from; at !== undefined; at = parents.get(at)?.from)
		if (at === id) return true;
	return false;
}
