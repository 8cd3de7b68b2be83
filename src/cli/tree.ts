import {noSpend, type Spend, spend} from '../session/audit.ts';
import {type Summary, summarise} from '../session/summary.ts';
import {lineageTrees, type TreeNode} from '../session/tree.ts';
import {count} from '../tools/amounts.ts';
import {oneLine} from '../ui/display.ts';
import {filesIn, placeOf} from './place.ts';
import {price} from './spend-cells.ts';
import {printJson, printLine, styled, tell, terminalColumns} from './table.ts';

export type TreeOptions = {folder?: string; json?: boolean};

/** `mca tree`: the sessions of this workspace and what was forked from what, oldest first. */
export async function tree(options: TreeOptions): Promise<number> {
	const summaries: Summary[] = [];
	const unreadable: {path: string; problem: string}[] = [];
	for (const path of await filesIn(placeOf(options.folder).folders)) {
		await summarise(path).then(
			(summary) => summaries.push(summary),
			(error: Error) => unreadable.push({path, problem: error.message}),
		);
	}
	const roots = lineageTrees(summaries);
	if (options.json) {
		await printJson({sessions: roots.map(jsonOf), unreadable});
		return 0;
	}
	for (const {path, problem} of unreadable) tell(`${path} cannot be read: ${problem}`);
	if (roots.length === 0) await printLine('There is no session here yet.');
	for (const root of roots) await printNode(root, '', '');
	return 0;
}

async function printNode(node: TreeNode<Summary>, branch: string, below: string): Promise<void> {
	const parted = node.parted ? `${node.parted.kind} at ${node.parted.atSeq}  ` : '';
	const {session} = node;
	const facts = session
		? `${count(session.turns, 'turn')}  ${price(ownSpend(session))}  `
		: '(its file is gone)';
	const start = `${branch}${node.id}  ${parted}${facts}`;
	const room = Math.min(200, terminalColumns() - start.length);
	const line = [
		styled(branch, 'dim'),
		session ? node.id : styled(node.id, 'yellow'),
		'  ',
		styled(parted, 'cyan'),
		session ? styled(facts, 'dim') : styled(facts, 'yellow'),
		oneLine(session?.title ?? '', room),
	];
	await printLine(line.join('').trimEnd());
	for (const [index, fork] of node.forks.entries()) {
		const last = index === node.forks.length - 1;
		await printNode(fork, `${below}${last ? '└─ ' : '├─ '}`, `${below}${last ? '   ' : '│  '}`);
	}
}

/** What came after its last fork event. */
function ownSpend({usages, forks}: Summary): Spend {
	const parted = forks.at(-1)?.seq ?? 0;
	return usages.filter(({seq}) => seq > parted).reduce(spend, noSpend);
}

type TreeJson = {
	id: string;
	there: boolean;
	title: string | null;
	turns: number | null;
	own: Spend | null;
	fork: {atSeq: number; kind: string} | null;
	forks: TreeJson[];
};

function jsonOf({id, session, parted, forks}: TreeNode<Summary>): TreeJson {
	return {
		id,
		there: session !== undefined,
		title: session?.title ?? null,
		turns: session?.turns ?? null,
		own: session ? ownSpend(session) : null,
		fork: parted ?? null,
		forks: forks.map(jsonOf),
	};
}
