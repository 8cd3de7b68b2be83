import {basename, sep} from 'node:path';
import {recordedWorkspace, sessionFiles, sessionFolder, startOf} from '../session/sessions.ts';
import type {Setup} from './setup.ts';
import {sessionPath} from './setup.ts';
import {UsageError} from './usage-error.ts';

/** What `--resume` names: the file, and the folder that its tools work in. */
export type Resumed = {
	path: string;
	id: string;
	workspace: string /** The recorded workspace, where that is gone. */;
	gone?: string;
	note: string;
};

/** `true` is the newest id of this workspace. */
export async function findResumed(resume: string | true, setup: Setup): Promise<Resumed> {
	if (resume === true) {
		const [newest] = await sessionFiles(sessionFolder(setup.data, setup.workspace));
		if (!newest)
			throw new UsageError(`${setup.workspace} has no session yet, so there is nothing to resume.`);
		const id = basename(newest, '.jsonl');
		return {path: newest, id, workspace: setup.workspace, note: `Resuming ${id}, begun ${ago(startOf(id))}.`};
	}
	const path = await sessionPath(resume);
	if (setup.demo && !path.startsWith(setup.data + sep)) {
		throw new UsageError(
			`${resume} is no session of the demo, and no model is configured to go on with it: set OPENAI_API_KEY, or OPENAI_BASE_URL and MCA_MODEL. mca log ${resume} prints it.`,
		);
	}
	const recorded = await recordedWorkspace(path);
	const place = {path, id: resume, note: `Resuming ${resume}.`};
	if (!recorded || recorded.there) return {...place, workspace: recorded?.path ?? setup.workspace};
	return {...place, workspace: setup.workspace, gone: recorded.path};
}

function ago(then: Date | undefined): string {
	if (!then) return 'at an unknown time';
	const minutes = Math.max(0, Math.round((Date.now() - then.getTime()) / 60_000));
	if (minutes < 1) return 'just now';
	if (minutes < 120) return `${minutes} min ago`;
	return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} d ago`;
}
