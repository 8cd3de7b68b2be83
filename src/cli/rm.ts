import {createInterface, type Interface} from 'node:readline/promises';
import {heldSentence} from '../agent/agent.ts';
import {glance, inspect} from '../session/sessions.ts';
import {moveToTrash} from '../session/trash.ts';
import {count} from '../tools/amounts.ts';
import {oneLine, size} from '../ui/display.ts';
import {sessionPath} from './setup.ts';
import {printJson, printLine} from './table.ts';
import {UsageError} from './usage-error.ts';

export type RmOptions = {yes?: boolean; json?: boolean};

/** `mca rm`: moves a session into the trash folder, after two questions or with --yes. */
export async function rm(id: string, options: RmOptions): Promise<number> {
	const path = await sessionPath(id);
	if (!options.yes && !(await isMeant(id, path))) {
		await printLine('Nothing was removed.');
		return 1;
	}
	const moved = await moveToTrash(path).catch((error: Error) => {
		throw new UsageError(`${id} could not be moved into the trash: ${error.message}`, 1);
	});
	if (!moved.ok) throw new UsageError(`${heldSentence(path, moved.holder)} It was not removed.`, 1);
	await (options.json
		? printJson({id, from: path, to: moved.path})
		: printLine(`${id} is in the trash: ${moved.path}`));
	return 0;
}

/** Asked twice, and the second time for what a slip of the finger does not type. */
async function isMeant(id: string, path: string): Promise<boolean> {
	if (!process.stdin.isTTY || !process.stdout.isTTY) {
		throw new UsageError(
			`mca rm asks before it removes ${id}, and nobody is there to be asked. --yes removes it unasked.`,
		);
	}
	const [{title, size: bytes}, detail] = await Promise.all([glance(path), inspect(path)]);
	const asking = createInterface({input: process.stdin, output: process.stdout});
	try {
		const turns = detail ? `${count(detail.turns, 'turn')}, ` : '';
		const first = await ask(asking, `Remove ${id} “${oneLine(title, 60)}” (${turns}${size(bytes)})? [y/N] `);
		if (!/^y(es)?$/i.test(first)) return false;
		const code = id.slice(-4);
		return (
			(await ask(asking, `It goes to the trash. Type ${code}, the end of its id, to remove it: `)) === code
		);
	} finally {
		asking.close();
	}
}

/** '' where the input ends or Ctrl+C is pressed: no answer is a no. */
function ask(asking: Interface, question: string): Promise<string> {
	return new Promise((resolve) => {
		const unanswered = () => {
			process.stdout.write('\n');
			resolve('');
		};
		asking.once('close', unanswered);
		asking.question(question).then((answer) => {
			asking.off('close', unanswered);
			resolve(answer.trim());
		}, unanswered);
	});
}
