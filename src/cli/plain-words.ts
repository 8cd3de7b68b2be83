import type {AgentEvent, Answer, Question, Rest} from '../agent/agent-event.ts';
import {gateAnswers} from '../ui/gate-state.ts';
import {outcome} from '../ui/rows.ts';
import type {Item} from '../ui/view.ts';
import {visible} from '../ui/visible.ts';

/** What has happened, in words for somebody who hears them. '' where it is not worth a line. */
export function wordsOf(event: AgentEvent): string {
	switch (event.type) {
		case 'start':
			return 'Working.';
		case 'tool_start':
			return `Now: ${event.name} ${event.label}`;
		case 'retry':
			return event.wait
				? `${event.wait.why} Trying again in ${Math.max(1, Math.round((event.wait.until - Date.now()) / 1000))} s.`
				: '';
		case 'notice':
			return event.text;
		case 'moved':
			return `This conversation goes on in session ${event.session.id}.`;
		case 'writable':
			return 'The disk takes writes again: your next prompt goes on in a new session.';
		case 'rest':
			return restWords(event.rest);
		case 'logged': {
			const logged = event.event;
			if (logged.type === 'tool_end') return `${logged.name ?? 'tool'} ended: ${outcome(logged)}`;
			if (logged.type === 'error') return `Error: ${logged.message}`;
			if (logged.type !== 'message' || logged.message.role !== 'assistant') return '';
			return logged.message.content;
		}
		default:
			return '';
	}
}

function restWords(rest: Rest): string {
	if (rest.why === 'done') return '';
	return rest.why === 'cancelled' ? 'Stopped.' : rest.message;
}

/** A message of a session that was opened. */
export function itemWords(item: Item): string {
	switch (item.kind) {
		case 'user':
			return `You: ${item.text}`;
		case 'assistant':
			return item.text;
		case 'call':
			return `${item.call.name}${item.end ? `: ${outcome(item.end)}` : ''}`;
		case 'error':
			return `Error: ${item.text}`;
	}
}

/** The whole question, with what could not be seen or heard spelled out, and the words that answer it. */
export function questionWords(question: Question): string {
	const words = gateAnswers(question).includes('remember')
		? 'Type yes, no, no and a reason, or always (this command, in this session).'
		: 'Type yes, no, or no and a reason.';
	switch (question.kind) {
		case 'steps':
			return `This turn has asked the model ${question.steps} times. Go on? Type yes or no.`;
		case 'repeat':
			return `${question.tool} ${visible(question.label)} was called ${question.times} times in this turn with the same result. Go on? Type yes or no.`;
		case 'tool': {
			const {preview} = question;
			const what =
				preview.kind === 'diff' ? `Change the file ${visible(preview.path)}?` : `Allow ${question.tool}?`;
			return `Question: ${what} ${visible(question.why)}\n${visible(preview.text)}\n${words}`;
		}
	}
}

/** The answer in a line; undefined where it is none, and is asked again. An empty line is the default, no. */
export function answerOf(question: Question, line: string): Answer | undefined {
	const said = line.trim();
	if (/^y(es)?$/i.test(said)) return {allow: true};
	if (said === '' || /^no?$/i.test(said)) return {allow: false};
	const reason = /^no[ ,:]+(?:because +)?(.+)$/is.exec(said)?.[1];
	if (reason && question.kind === 'tool') return {allow: false, reason: reason.replace(/\s+/g, ' ')};
	if (/^always$/i.test(said) && question.kind === 'tool' && gateAnswers(question).includes('remember')) {
		return {allow: true, remember: {command: question.command ?? '', keep: false}};
	}
	return undefined;
}
