import type {Question} from '../agent/agent-event.ts';
import type {ForkPoint} from '../session/fork.ts';
import {type Library, library} from '../session/sessions.ts';
import {plainText} from '../tools/plain-text.ts';
import {actions, type Ui} from '../ui/actions.ts';
import {activityRow} from '../ui/activity.ts';
import {commands} from '../ui/commands.ts';
import {age, oneLine, type Row} from '../ui/display.ts';
import {deadMs} from '../ui/gate-state.ts';
import {bannerRows} from '../ui/RecoveryBanner.tsx';
import type {Screen} from '../ui/screen.ts';
import {viewStore} from '../ui/use-agent.ts';
import {readLines} from './lines.ts';
import {modelsOf} from './models.ts';
import {begin, type ChatOptions, farewell, openingOf} from './opening.ts';
import {answerOf, itemWords, questionWords, wordsOf} from './plain-words.ts';
import {UsageError} from './usage-error.ts';

const signals = {SIGHUP: 129, SIGTERM: 143} as const;
const twiceMs = 1500;
const mostListed = 20;
const mostRecalled = 6;

/** What a line that is typed now is. */
type Waiting =
	| {for: 'prompt'}
	| {for: 'answer'; question: Question; since: number}
	/** One of the numbered things that were listed; an empty line is none of them. */
	| {for: 'choice'; choose: ((line: number) => Promise<void>) | undefined; most: number};

/**
The same chat line by line, for a screen reader, a dumb terminal or a pipe: what was written stays where it is, nothing moves,
nothing ticks, and a question is answered with a word.
*/
export async function plain(options: ChatOptions): Promise<number> {
	const {stdin, stdout} = process;
	if (options.pick && !stdin.isTTY)
		throw new UsageError(
			'mca resume asks which session; here nobody can answer. mca --plain --resume ID opens one.',
		);
	const opening = await openingOf(options, true);
	if (!opening) return 1;
	const {setup} = opening;
	const out = (text: string) => void stdout.write(`${plainText(text).trimEnd()}\n`);
	const mark = () => {
		if (stdin.isTTY) stdout.write('> ');
	};

	let store = viewStore({subscribe: () => () => {}});
	let waiting: Waiting = {for: 'prompt'};
	let told = '';
	/** Lines that came while something else was going on, in their order. */
	const lines: (string | null)[] = [];
	let isBusy = false;

	const {agent, notices} = await begin(opening, options, (made) => {
		store = viewStore(made);
		made.subscribe((event) => {
			const words = wordsOf(event);
			if (words !== '') out(words);
			if (event.type === 'opened') told = '';
			if (event.type === 'gate') {
				waiting = {for: 'answer', question: event.question, since: Date.now()};
				out(questionWords(event.question));
				mark();
				// From a pipe the answer may be there already.
				if (!stdin.isTTY) setImmediate(answerFromLines);
			}
			if (event.type === 'answered' && waiting.for === 'answer') waiting = {for: 'prompt'};
		});
	});

	/** The banner, whenever it says something new. */
	function tellBanner(): void {
		const banner = bannerRows(store.get(), 10_000).map(textOfRow).join('\n');
		if (banner !== told && banner !== '') out(banner);
		told = banner;
	}

	let end: (status: number) => void = () => {};
	const ended = new Promise<number>((resolve) => {
		end = resolve;
	});
	const needsScreen = () => out('That needs the screen.');
	const ui: Ui = {
		screen: (screen) => show(screen),
		draft: () => {},
		scroll: () => {},
		hint: out,
		leave: () => end(0),
		sent: () => {},
		queue: (text) => lines.push(text),
		rested(rest) {
			if ('unsent' in rest && rest.unsent) out('Your message was not taken; type it again.');
			return undefined;
		},
		find: needsScreen,
		copy: needsScreen,
		mouse: needsScreen,
	};
	const all = library(setup.data, setup.workspace);
	const doing = actions(agent, all, modelsOf(setup, agent), store.get, ui);

	function show(screen: Screen) {
		switch (screen.show) {
			case 'conversation':
				return tellConversation();
			case 'help':
				return out(commands.map(({usage, does}) => `${usage}: ${does}`).join('\n'));
			case 'log':
				return out(
					store
						.get()
						.events.map((event) => textOfRow(activityRow(event, 200)))
						.join('\n'),
				);
			case 'rules':
				return out(agent.rules.length > 0 ? agent.rules.join('\n') : 'No command runs unasked.');
			case 'models':
				return out('Name the model: /model NAME. mca doctor lists those that the server has.');
			case 'fork':
				return choose(screen.points.map(pointWords), (index) => {
					const point = screen.points[index];
					return point ? doing.forkAt({seq: point.seq}) : Promise.resolve();
				});
			case 'resume':
				waiting = {for: 'choice', choose: undefined, most: 0};
				void listSessions(all)
					.then(({paths, words}) => {
						if (paths.length === 0) {
							waiting = {for: 'prompt'};
							return out('This workspace has no session yet.');
						}
						return choose(words, (index) => doing.openSession(paths[index] ?? ''));
					})
					.catch(fail)
					.finally(() => void go());
				return;
			default:
				return needsScreen();
		}
	}

	function tellConversation(): void {
		const {session, items, place} = store.get();
		out(session ? `Session ${session.id}, model ${place.model}.` : `New session, model ${place.model}.`);
		if (items.length > mostRecalled) out(`The last ${mostRecalled} of ${items.length} messages:`);
		for (const item of items.slice(-mostRecalled)) out(itemWords(item));
	}

	function choose(words: readonly string[], chosen: (index: number) => Promise<void>): void {
		const shown = words.slice(-mostListed);
		const first = words.length - shown.length;
		out(shown.map((each, index) => `${first + index + 1}. ${each}`).join('\n'));
		out('Type a number and Enter; Enter alone chooses none.');
		waiting = {for: 'choice', choose: (number) => chosen(number - 1), most: words.length};
		mark();
	}

	function fail(error: unknown): void {
		failure = error;
		end(1);
	}
	let failure: unknown;

	/** One line, as what it is now. */
	async function take(line: string | null): Promise<void> {
		if (waiting.for === 'choice') {
			const {choose, most} = waiting;
			waiting = {for: 'prompt'};
			const number = Number(line);
			if (line === null) return end(0);
			if (line.trim() === '' || !choose) return;
			if (Number.isInteger(number) && number >= 1 && number <= most) return choose(number);
			return out(`${line} is none of 1 to ${most}. Nothing was chosen.`);
		}
		if (line === null) return end(0);
		if (/^\/keep *$/.test(line)) return out('/keep needs the screen.');
		await doing.send(line);
		tellBanner();
		// After a turn that did not end as asked, what was typed meanwhile may mean something else by now.
		if (store.get().rest && stdin.isTTY) {
			for (const unsent of lines.splice(0)) {
				if (unsent === null) lines.push(unsent);
				else out(`Not sent: ${unsent}`);
			}
		}
	}

	/** Takes what has come, one after the other, as long as nothing runs. */
	async function go(): Promise<void> {
		if (isBusy) return;
		isBusy = true;
		for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
			await take(line);
			if (waiting.for === 'choice' && !waiting.choose) break;
			if (waiting.for === 'prompt' && lines.length === 0) mark();
		}
		isBusy = false;
	}

	function answerFromLines(): void {
		while (waiting.for === 'answer') {
			const line = lines.shift();
			if (line === undefined) return;
			onLine(line);
		}
	}

	function onLine(line: string | null) {
		if (waiting.for === 'answer') {
			const {question, since} = waiting;
			if (stdin.isTTY && line !== null && Date.now() - since < deadMs) {
				return out('Not taken as an answer: it came too soon.');
			}
			const answer = line === null ? {allow: false as const} : answerOf(question, line);
			if (!answer) return out('That is no answer. Type yes or no.');
			waiting = {for: 'prompt'};
			agent.answer(question.id, answer);
			if (line !== null) return;
		} else if (stdin.isTTY && agent.busy && line?.trim()) {
			out('It waits until this turn has come to rest.');
		}
		lines.push(line);
		go().catch(fail);
	}

	for (const notice of notices) out(notice);
	tellConversation();
	tellBanner();
	out('/help lists the commands, /quit leaves.');
	if (setup.demo) out(`The script knows: ${setup.demo.prompts.join(' · ')}`);

	let lastInterrupt = 0;
	const onInterrupt = () => {
		if (agent.busy) return agent.cancel();
		if (Date.now() - lastInterrupt < twiceMs) return end(0);
		lastInterrupt = Date.now();
		out('Ctrl+C again leaves.');
	};
	process.on('SIGINT', onInterrupt);
	for (const [signal, status] of Object.entries(signals)) process.once(signal, () => end(status));
	stdout.on('error', () => end(signals.SIGHUP));

	if (options.pick) show({show: 'resume', state: (await import('../ui/ResumePicker.tsx')).freshResume});
	if (options.prompt) lines.push(options.prompt);
	const reader = readLines(stdin, onLine);
	if (options.prompt) go().catch(fail);
	else if (waiting.for === 'prompt') mark();

	const status = await ended;
	reader.close();
	await agent.close();
	process.off('SIGINT', onInterrupt);
	if (failure !== undefined) throw failure;
	const rest = store.get().rest;
	if (rest?.why === 'unsaved') {
		process.stderr.write('mca: the session is no longer being saved; what came last is lost.\n');
		return 1;
	}
	const line = farewell(agent);
	if (line) stdout.write(line);
	return status;
}

async function listSessions(all: Library): Promise<{paths: string[]; words: string[]}> {
	const paths = (await all.files()).slice(0, mostListed);
	const words = await Promise.all(
		paths.map(async (path) => {
			const {id, title, lastActivity, problem} = await all.glance(path);
			const when = lastActivity ? `, ${age(lastActivity, new Date())}` : '';
			return `${oneLine(problem ?? title, 100) || 'no title'} (${id}${when})`;
		}),
	);
	return {paths, words};
}

function pointWords({seq, message}: ForkPoint): string {
	return `event ${seq}, ${message.role === 'user' ? 'your message' : 'answer'}: ${oneLine(message.content, 100)}`;
}

function textOfRow(row: Row): string {
	return row
		.map((span) => span.text)
		.join('')
		.trimEnd();
}
