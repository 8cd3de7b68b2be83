import {basename} from 'node:path';
import type {Agent} from '../agent/agent.ts';
import type {Rest} from '../agent/agent-event.ts';
import {type ForkPoint, forkPoints} from '../session/fork.ts';
import {owesAnswer} from '../session/replay.ts';
import type {Library} from '../session/sessions.ts';
import type {Part} from './clipboard.ts';
import {type Command, parseCommand, whyUnknown} from './commands.ts';
import {type Draft, draftOf, emptyDraft} from './composer.ts';
import {oneLine} from './display.ts';
import {freshLog} from './event-list.ts';
import {freshModels, type Models} from './ModelPicker.tsx';
import {freshResume} from './ResumePicker.tsx';
import {resumedLine} from './resumed-line.ts';
import type {Screen} from './screen.ts';
import {costLine} from './totals.ts';
import type {View} from './view.ts';
import type {Scroll} from './window.ts';

/** What the screen can be told to show. */
export type Ui = {
	screen(screen: Screen): void;
	draft(draft: Draft): void;
	scroll(scroll: Scroll): void;
	/** Search the conversation. */
	find(text: string): void;
	copy(part: Part): void;
	/** Let the wheel scroll, or leave the mouse to the terminal again. */
	mouse(): void;
	/** One sentence in the status line, until the next key. */
	hint(text: string): void;
	leave(): void;
	/** This text has left the composer. */
	sent(text: string): void;
	/** It waits until the turn has come to rest. */
	queue(text: string): void;
	/** A turn has come to rest. The message that is to be sent now, if one waited for that. */
	rested(rest: Rest): string | undefined;
};

/** What a person can do here beside editing text. Each says on the screen how it went. */
export function actions(agent: Agent, library: Library, models: Models, latestView: () => View, ui: Ui) {
	const toEnd = () => {
		ui.screen({show: 'conversation'});
		ui.scroll({follow: true});
	};

	/** A prompt, a command, or nothing, which asks for the answer that is owed. */
	async function send(text: string): Promise<void> {
		const command = parseCommand(text);
		// It may be a prompt that only looks like a command: its text stays.
		if (command?.run === 'unknown') {
			ui.draft(draftOf(text));
			return ui.hint(whyUnknown(command.text));
		}
		if (command) {
			ui.draft(emptyDraft);
			ui.sent(text);
			return run(command);
		}
		if (text.trim() === '' && (agent.busy || !owesAnswer(agent.events))) return;
		if (agent.busy) {
			ui.draft(emptyDraft);
			ui.sent(text);
			return ui.queue(text);
		}
		if (latestView().rest?.why === 'unsaved' && agent.session && !latestView().writable) {
			return ui.hint('The disk takes no writes yet; your text stays here.');
		}
		ui.draft(emptyDraft);
		ui.sent(text);
		ui.scroll({follow: true});
		let next: string | undefined = text.trim() === '' ? '' : text;
		while (next !== undefined) next = ui.rested(await agent.submit(next));
	}

	async function run(command: Exclude<Command, {run: 'unknown'}>): Promise<void> {
		switch (command.run) {
			case 'quit':
				return ui.leave();
			case 'help':
				return ui.screen({show: 'help', top: 0});
			case 'log':
				return ui.screen({show: 'log', state: freshLog});
			case 'cost':
				return ui.hint(costLine(latestView()));
			case 'find':
				return ui.find(command.text);
			case 'copy':
				return ui.copy(command.part);
			case 'focus':
				return ui.screen({show: 'focus'});
			case 'mouse':
				return ui.mouse();
			case 'rules':
				return ui.screen({show: 'rules', selected: 0});
			case 'keep': {
				const {interrupted} = latestView();
				if (!interrupted) return ui.hint('There is no interrupted answer to keep.');
				return ui.draft(draftOf(quoted(interrupted.text || interrupted.reasoning)));
			}
		}
		if (agent.busy) return ui.hint('A turn is running. Esc stops it first.');
		switch (command.run) {
			case 'new':
				await agent.startNew();
				return toEnd();
			case 'fork':
				return command.seq === undefined ? openForkPicker() : forkAt({seq: command.seq});
			case 'rename': {
				const title = oneLine(command.title, 200);
				return ui.hint((await agent.rename(title)) ?? `This session is now named ${title}.`);
			}
			case 'model':
				if (command.model === undefined) return ui.screen({show: 'models', state: freshModels});
				return useModel(command.model);
			case 'resume': {
				if (command.id === undefined) return ui.screen({show: 'resume', state: freshResume});
				const path = await library.find(command.id);
				if (path) return openSession(path);
				ui.hint(`There is no session ${oneLine(command.id, 40)}. /resume lists those of this workspace.`);
			}
		}
	}

	function openForkPicker(): void {
		const points = forkPoints(agent.events);
		if (points.length > 0) ui.screen({show: 'fork', points, selected: points.length - 1});
		else ui.hint('There is no point to fork at yet: nothing has been asked in this session.');
	}

	async function forkAt(at: {seq: number; before?: boolean}): Promise<void> {
		const parent = agent.session?.id;
		const forked = await agent.fork(at);
		if (!forked.ok) return ui.hint(forked.reason);
		toEnd();
		const note =
			!at.before && owesAnswer(agent.events) ? ' The model has not answered yet: Enter asks it.' : '';
		ui.hint(`Forked ${parent} at ${forked.atSeq}. Files of the workspace are as they were.${note}`);
	}

	/** Ask a question differently: fork before it, with its text to be changed. */
	async function forkBefore(point: ForkPoint): Promise<void> {
		if (point.message.role !== 'user')
			return ui.hint('e asks a question differently: choose one of your own messages.');
		if (latestView().items[0]?.seq === point.seq) {
			// Before the first question there is nothing to keep: a new session, with its text.
			await agent.startNew();
			toEnd();
		} else {
			await forkAt({seq: point.seq, before: true});
		}
		ui.draft(draftOf(point.message.content));
	}

	async function openSession(path: string): Promise<void> {
		const {problem} = await library.glance(path);
		if (problem) return ui.hint(problem);
		const recorded = await library.recordedWorkspace(path);
		// The one that is open was opened in this folder on purpose.
		if (recorded && !recorded.there && path !== agent.session?.path) {
			const id = basename(path, '.jsonl');
			return ui.hint(
				`The workspace of ${id}, ${recorded.path}, is gone. In a shell, mca --resume ${id} -C DIR asks whether to work in DIR.`,
			);
		}
		await agent.open(path, recorded?.there ? recorded.path : undefined);
		toEnd();
		ui.hint(resumedLine(agent.events));
	}

	async function useModel(model: string, provider?: string): Promise<void> {
		toEnd();
		ui.hint(await models.use(model, provider));
	}

	return {useModel, send, openForkPicker, forkAt, forkBefore, openSession};
}

/** An interrupted answer as the start of a prompt: the model never had it as its own. */
function quoted(text: string): string {
	const lines = text.trim().split('\n');
	return `Your last answer was interrupted. It began:\n${lines.map((line) => `> ${line}`).join('\n')}\nGo on from there.`;
}
