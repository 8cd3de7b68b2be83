import {Box, Text, useAnimation, useApp, useCursor, useInput, usePaste, useWindowSize} from 'ink';
import {useEffect, useMemo, useRef, useState} from 'react';
import type {Agent} from '../agent/agent.ts';
import type {Library} from '../session/sessions.ts';
import {actions} from './actions.ts';
import {Composer} from './Composer.tsx';
import {Conversation} from './Conversation.tsx';
import type {Clipboard} from './clipboard.ts';
import {compareRows} from './compare-rows.ts';
import {chunkOf, draftOf, edit, isEmpty, textOf} from './composer.ts';
import type {Row} from './display.ts';
import {EventList} from './EventList.tsx';
import {divider, header, nextMode, placeholder, ruleRows, statusRows} from './edges.ts';
import {eventListKey, freshActivity} from './event-list.ts';
import {ForkPicker} from './ForkPicker.tsx';
import {GatePrompt, previewHeight, questionRows} from './GatePrompt.tsx';
import {deadMs, freshGate, type GateState, gateKey} from './gate-state.ts';
import {Help, helpRows} from './Help.tsx';
import {briefHistory, type History} from './history.ts';
import {editOf, type KeyPress} from './keys.ts';
import {Line, Lines} from './Line.tsx';
import {ModelPicker, type ModelState, type Models, matching} from './ModelPicker.tsx';
import {Pane} from './Pane.tsx';
import {moveSelection} from './Picker.tsx';
import {queueRows} from './queue.ts';
import {freshResume, listing, ResumePicker, type ResumeState} from './ResumePicker.tsx';
import {Sidebar} from './Sidebar.tsx';
import {keysHere, layout, type Screen, sidebarColumns, smallest} from './screen.ts';
import {bareTerminal, type Terminal} from './terminal.ts';
import {useView, type ViewStore} from './use-agent.ts';
import {useComposer} from './use-composer.ts';
import {useLatest} from './use-latest.ts';
import {useReading} from './use-reading.ts';
import {useSessions} from './use-sessions.ts';
import type {View} from './view.ts';
import {visible} from './visible.ts';

export type AppOptions = {
	agent: Agent;
	store: ViewStore;
	library: Library;
	models: Models;
	/** The prompts that the demo's script knows; absent where a real model answers. */
	demo?: readonly string[];
	draft: string;
	/** Begin at the message with this seq, or the one before it. */
	at?: number;
	/** Show the resume picker first. */
	pick: boolean;
	/** Shortens a path of the home folder for the header. */
	home: string;
	/** Takes copied text to the machine's clipboard; without it the terminal alone is asked. */
	clipboard?: Clipboard;
	/** Without one the prompts of this screen are remembered as long as it is there. */
	history?: History;
	terminal?: Terminal;
};

/** Two presses of Ctrl+C or Esc count as such within this time, ms. */
const twiceMs = 1500;

/** The root: it owns the size, what is shown, and every key. */
export function App({agent, store, library, models, demo, ...initial}: AppOptions) {
	const {exit, suspendTerminal} = useApp();
	const size = useWindowSize();
	const {columns, rows} = size;
	const view = useView(store);
	const [screen, setScreen, latestScreen] = useLatest<Screen>(() =>
		initial.pick ? {show: 'resume', state: freshResume} : {show: 'conversation'},
	);
	const [gate, setGate, latestGate] = useLatest<GateState>(() => freshGate);
	const [hint, setHint] = useState<string | null>(null);
	/** The cut session whose banner was read. */
	const [dismissed, setDismissed] = useState<string | null>(null);
	const [sidebar, setSidebar] = useState(true);
	const [thinking, setThinking] = useState(false);
	const lastPress = useRef({what: '', at: 0});
	const [terminal] = useState(() => initial.terminal ?? bareTerminal());
	useEffect(() => terminal.attach((doing) => reading.lend(() => suspendTerminal(doing))), []);

	const said = useMemo(
		() => view.items.flatMap((item) => (item.kind === 'user' ? [item.text] : [])).reverse(),
		[view.items],
	);
	const suggestion = demo?.find((prompt) => !said.includes(prompt));
	const [history] = useState(() => initial.history ?? briefHistory());
	const composer = useComposer({draft: initial.draft, history, said});
	const {draft, setDraft, latestDraft} = composer;

	const {question} = view;
	// By identity: some servers count their calls from 0 in each message, so two questions may have one id.
	const asked = useRef<{question: View['question']; columns: number; at: number; typing: boolean}>(undefined);
	if (question && asked.current?.question !== question) {
		asked.current = {question, columns, at: Date.now(), typing: !isEmpty(draft)};
		setGate(freshGate);
	}
	if (question && asked.current && asked.current.columns !== columns) {
		// Other rows than those that were read: it is read anew.
		asked.current.columns = columns;
		setGate((now) => ({...now, top: 0, seen: 0}));
	}

	/** A throw is a bug: wherever it happens, it leaves by the same way as one while drawing. */
	const [failure, setFailure] = useState<{error: unknown}>();
	if (failure) throw failure.error;
	const attempt = (doing: void | Promise<void>) => {
		doing?.catch((error: unknown) => setFailure({error}));
	};

	const laid = composer.lay(columns - 4, Math.max(1, Math.min(8, Math.floor(rows / 3))));
	const queued = queueRows(composer.queue, columns);
	const gateHeight = Math.max(7, Math.floor(rows * 0.6));
	const status = statusRows(hint, keysHere(screen, view), view, columns);
	const foot =
		status.length -
		1 +
		(question ? previewHeight(question, columns, gateHeight) + 4 : queued.length + laid.rows.length + 1);
	const isDismissed = dismissed !== null && dismissed === view.cut?.id;
	const place = layout(size, screen, isDismissed ? {...view, cut: null} : view, {sidebar, foot});
	const {mainColumns, mainHeight} = place;
	const composing = screen.show === 'conversation' && !question;
	const reading = useReading({
		view,
		columns: mainColumns,
		height: mainHeight,
		thinking,
		screen,
		setScreen,
		hint: setHint,
		clipboard: initial.clipboard,
		at: initial.at,
	});

	const {setCursorPosition} = useCursor();
	const cursor = {x: 3 + laid.x, y: rows - status.length - laid.rows.length + laid.y};
	setCursorPosition(composing && !place.tooSmall ? cursor : undefined);

	const {send, openForkPicker, forkAt, forkBefore, openSession, useModel} = actions(
		agent,
		library,
		models,
		store.get,
		{
			screen: setScreen,
			draft: setDraft,
			scroll: reading.setScroll,
			find: reading.find,
			copy: (part) => attempt(reading.copy(part).then(setHint)),
			mouse: reading.toggleMouse,
			hint: setHint,
			leave: exit,
			sent: composer.remember,
			queue: composer.enqueue,
			rested: composer.rested,
		},
	);
	const close = () => setScreen({show: 'conversation'});

	const setResume = (change: (state: ResumeState) => ResumeState) =>
		setScreen((now) => (now.show === 'resume' ? {show: 'resume', state: change(now.state)} : now));
	const resuming = screen.show === 'resume' ? screen.state : undefined;
	useSessions(resuming, library, Math.max(1, mainHeight - 2), setResume, (error) => setFailure({error}));

	const setModels = (change: (state: ModelState) => ModelState) =>
		setScreen((now) => (now.show === 'models' ? {show: 'models', state: change(now.state)} : now));
	useEffect(() => {
		if (screen.show !== 'models') return;
		models.list().then(
			(entries) => setModels((state) => ({...state, entries})),
			(error) => setFailure({error}),
		);
	}, [screen.show]);
	useAnimation({interval: 1000, isActive: view.retry !== null});

	// A paste answers no question, whatever letters are in it.
	const isAnswering = question !== null && gate.reason === null && gate.rule === null;
	usePaste((text) => composing && composer.paste(text), {isActive: composing || isAnswering});

	useInput((input, key) => {
		if (key.ctrl && input === 'c') return interrupt();
		if (key.ctrl && input === 'l') return attempt(terminal.redraw());
		if (key.ctrl && input === 'z') return attempt(terminal.stop());
		// What cannot be seen takes no key.
		if (place.tooSmall) return;
		setHint(null);
		if (store.get().question) return pressGate({input, key});
		const screen = latestScreen();
		switch (screen.show) {
			case 'conversation':
				return pressComposer({input, key});
			case 'find':
				return reading.findKey({input, key}) ? undefined : close();
			case 'focus':
				if (key.escape || input === 'q' || (key.ctrl && input === 'b')) return close();
				reading.scrollKey({input, key}, true);
				return;
			case 'help':
				if (key.escape || input === 'q') return close();
				return setScreen({...screen, top: moveSelection(screen.top, helpRows().length, mainHeight, key)});
			case 'log': {
				const state = eventListKey(screen.state, {input, key}, view, mainHeight - 2);
				return state ? setScreen({show: 'log', state}) : close();
			}
			case 'fork': {
				const point = screen.points[screen.selected];
				if (key.escape) return close();
				if (key.return && point) return attempt(forkAt({seq: point.seq}));
				if (input === 'e' && point) return attempt(forkBefore(point));
				return setScreen({
					...screen,
					selected: moveSelection(screen.selected, screen.points.length, mainHeight - 2, key),
				});
			}
			case 'compare':
				if (key.escape || input === 'q') return close();
				return setScreen({...screen, top: moveSelection(screen.top, 10_000, mainHeight, key)});
			case 'rules': {
				if (key.escape) return close();
				const rule = agent.rules[screen.selected];
				if (input === 'd' && rule !== undefined) agent.removeRule(rule);
				const selected = moveSelection(screen.selected, agent.rules.length, mainHeight - 1, key);
				return setScreen({show: 'rules', selected});
			}
			case 'models':
				if (key.escape) return close();
				if (key.ctrl && input.length === 1)
					return setModels((state) => ({...state, filter: withoutControl(state.filter, input)}));
				return setModels((state) => ({
					...state,
					selected: moveSelection(state.selected, matching(state).length, mainHeight - 2, key),
				}));
			case 'resume':
				if (key.escape) return close();
				if (key.ctrl && input.length === 1)
					return setResume((state) => ({...state, filter: withoutControl(state.filter, input)}));
				if (key.tab) return setResume((state) => ({...freshResume, filter: state.filter, all: !state.all}));
				if (key.rightArrow) return attempt(markChosen());
				if (key.delete) return attempt(removeChosen());
				return setResume((state) => {
					const {entries, at} = listing(state);
					const to = entries[moveSelection(at, entries.length, mainHeight - 2, key)];
					return {...state, removing: null, chosen: to?.path ?? null};
				});
		}
	});

	/** Whether this is the second press of it in a short time. */
	function isTwice(what: string): boolean {
		const twice = lastPress.current.what === what && Date.now() - lastPress.current.at < twiceMs;
		lastPress.current = twice ? {what: '', at: 0} : {what, at: Date.now()};
		return twice;
	}

	function interrupt() {
		if (composer.isSearching()) return composer.closeSearch();
		if (agent.busy) return agent.cancel();
		if (latestScreen().show !== 'conversation') return close();
		if (!isEmpty(latestDraft())) return composer.change({do: 'clear'});
		if (isTwice('ctrl+c')) return exit();
		setHint('Ctrl+C again leaves.');
	}

	function pressComposer(press: KeyPress) {
		const {input, key} = press;
		if (composer.searchKey(press)) return;
		const draft = latestDraft();
		if (key.escape) {
			if (agent.busy) return agent.cancel();
			const {cut} = store.get();
			if (cut?.movedTo && cut.id !== dismissed) return setDismissed(cut.id);
			// Two presses may come as one: ESC ESC is how a terminal writes Alt+Esc.
			if ((isTwice('escape') || key.meta) && isEmpty(draft)) openForkPicker();
			return;
		}
		if (reading.scrollKey(press)) return;
		if (key.ctrl && input === 'b') {
			if (columns < 100) return setScreen({show: 'log', state: freshActivity});
			// With the activity, without it, the text alone, and so on.
			if (!sidebar) setScreen({show: 'focus'});
			return setSidebar(!sidebar);
		}
		if (key.ctrl && input === 'p') return setScreen({show: 'log', state: freshActivity});
		if (key.ctrl && input === 't') return setThinking((now) => !now);
		if (key.ctrl && input === 'r') return composer.openSearch();
		if (key.ctrl && input === 'g') return attempt(editElsewhere());
		if (input === '?' && !key.ctrl && !key.meta && isEmpty(draft)) return setScreen({show: 'help', top: 0});
		if (key.upArrow && isEmpty(draft) && composer.takeBack()) return;
		if (view.retry && input === 'r' && !key.meta && isEmpty(draft)) return agent.retryNow();
		if (key.ctrl && input === 'd' && isEmpty(draft)) return exit();
		if (key.tab && key.shift) return agent.useMode(nextMode(agent.mode));
		if (key.tab) return suggestion && isEmpty(draft) ? setDraft(draftOf(suggestion)) : undefined;
		if (key.return && !key.meta && !key.shift) {
			if (!draft.before.endsWith('\\')) return attempt(send(textOf(draft)));
			// A backslash before Enter is a new line in every terminal.
			return setDraft({...draft, before: `${draft.before.slice(0, -1)}\n`});
		}
		const change = editOf(press);
		if (change) return composer.change(change);
		if (key.ctrl || key.meta || input === '') return;
		const {text, submit} = chunkOf(input);
		const typed = edit(draft, {do: 'insert', text});
		setDraft(typed);
		if (submit) attempt(send(textOf(typed)));
	}

	/** The draft, in full, in the person's own editor. */
	async function editElsewhere() {
		const edited = await terminal.edit(composer.text());
		if ('problem' in edited) setHint(edited.problem);
		else if (edited.text !== composer.text()) composer.change({do: 'replace', text: edited.text});
	}

	function refuse(reason: string) {
		if (question) agent.answer(question.id, {allow: false, reason: oneLineInput(reason).trim()});
	}

	function allowByRule() {
		const {rule} = latestGate();
		if (question && rule) agent.answer(question.id, {allow: true, remember: rule});
	}

	function chooseModel() {
		const now = latestScreen();
		if (now.show !== 'models') return;
		const chosen = matching(now.state)[now.state.selected];
		if (chosen && 'model' in chosen) attempt(useModel(chosen.model, chosen.provider));
	}

	function openSelected() {
		const now = latestScreen();
		if (now.show !== 'resume') return;
		const {entries, at} = listing(now.state);
		const chosen = entries[at];
		if (chosen) attempt(openSession(chosen.path));
	}

	/** The second session that is marked is compared with the first. */
	async function markChosen() {
		const now = latestScreen();
		if (now.show !== 'resume') return;
		const {entries, at} = listing(now.state);
		const entry = entries[at];
		const {marked} = now.state;
		if (!entry) return;
		if (!marked || marked === entry.path) {
			return setResume((state) => ({...state, marked: marked ? null : entry.path}));
		}
		const first = now.state.entries?.find((each) => each.path === marked);
		const logs = await Promise.all([library.read(marked), library.read(entry.path)]);
		setScreen({show: 'compare', names: [first?.id ?? '', entry.id], logs, top: 0});
	}

	/** Asked twice, then the session lies in the trash. The one on the screen is not the list's to remove. */
	async function removeChosen() {
		const now = latestScreen();
		if (now.show !== 'resume' || now.state.filter !== '') return;
		const {entries, at} = listing(now.state);
		const path = entries[at]?.path;
		if (!path) return;
		if (path === agent.path) return setHint('This session is on the screen. Open another one first.');
		const {removing} = now.state;
		if (removing?.path !== path) return setResume((state) => ({...state, removing: {path, asked: 1}}));
		if (removing.asked === 1) return setResume((state) => ({...state, removing: {path, asked: 2}}));
		const problem = await library.remove(path);
		if (problem) setHint(problem);
		setResume((state) => ({
			...state,
			removing: null,
			chosen: entries[at + 1]?.path ?? null,
			entries: problem ? state.entries : state.entries?.filter((entry) => entry.path !== path),
		}));
	}

	function pressGate(press: KeyPress) {
		const {question} = store.get();
		// One that is not drawn yet is not asked yet.
		if (!question || asked.current?.question !== question || Date.now() - asked.current.at < deadMs) return;
		const next = gateKey(latestGate(), press, {
			question,
			total: questionRows(question, columns - 4).length,
			shown: previewHeight(question, columns, gateHeight),
			typing: asked.current.typing,
		});
		if ('allow' in next) agent.answer(question.id, next);
		else setGate(next);
	}

	if (place.tooSmall) {
		return <Text wrap="truncate">{`mca needs ${smallest.columns} columns and ${smallest.rows} rows.`}</Text>;
	}
	if (screen.show === 'focus' && !question) {
		return (
			<Box flexDirection="column" width="100%" height={rows} overflow="hidden">
				<Pane columns={mainColumns} height={mainHeight}>
					{main()}
				</Pane>
				<Lines rows={status} columns={columns} height={status.length} />
			</Box>
		);
	}
	return (
		<Box flexDirection="column" width="100%" height={rows} overflow="hidden">
			<Line row={header(view, demo !== undefined, initial.home, columns)} />
			<Box paddingLeft={1}>
				<Lines rows={place.banner} columns={columns - 2} height={place.banner.length} />
			</Box>
			<Box height={mainHeight} flexShrink={0}>
				<Box paddingLeft={1} width={mainColumns + (place.sidebar ? 2 : 1)} flexShrink={0}>
					<Pane key={screen.show} columns={mainColumns} height={mainHeight}>
						{main()}
					</Pane>
				</Box>
				{place.sidebar && (
					<>
						<Lines rows={Array.from({length: mainHeight}, () => bar)} columns={1} height={mainHeight} />
						<Box paddingLeft={1}>
							<Pane columns={sidebarColumns(columns) - 1} height={mainHeight}>
								<Sidebar view={view} columns={sidebarColumns(columns) - 1} height={mainHeight} />
							</Pane>
						</Box>
					</>
				)}
			</Box>
			{question ? (
				<GatePrompt
					question={question}
					state={gate}
					columns={columns}
					height={gateHeight}
					onReason={(typed) => {
						const {text, submit} = chunkOf(typed);
						setGate((now) => ({...now, reason: oneLineInput(text)}));
						if (submit) refuse(text);
					}}
					onRule={(typed) => {
						const {text, submit} = chunkOf(typed);
						const command = oneLineInput(text);
						// What could not be seen in the field does not get into it.
						if (visible(command) === command)
							setGate((now) => ({...now, rule: now.rule && {...now.rule, command}}));
						if (submit) allowByRule();
					}}
					onSendRule={allowByRule}
					onSendReason={() => refuse(latestGate().reason ?? '')}
				/>
			) : (
				<>
					<Line row={divider(columns, place.sidebar)} />
					<Composer
						rows={laid.rows}
						queued={queued}
						empty={isEmpty(draft) && !composer.isSearching()}
						active={composing}
						placeholder={placeholder(view, suggestion)}
					/>
				</>
			)}
			<Lines rows={status} columns={columns} height={status.length} />
		</Box>
	);

	function main() {
		const room = {columns: mainColumns, height: mainHeight};
		switch (screen.show) {
			case 'conversation':
			case 'find':
			case 'focus':
				return <Conversation blocks={reading.blocks} scroll={reading.scroll} news={reading.news} {...room} />;
			case 'help':
				return <Help top={screen.top} {...room} />;
			case 'log':
				return <EventList view={view} state={screen.state} {...room} />;
			case 'fork':
				return <ForkPicker view={view} points={screen.points} selected={screen.selected} {...room} />;
			case 'compare':
				return (
					<Lines rows={compareRows(screen.names, screen.logs, mainColumns).slice(screen.top)} {...room} />
				);
			case 'rules':
				return <Lines rows={ruleRows(agent.rules, screen.selected, room)} {...room} />;
			case 'models':
				return (
					<ModelPicker
						state={screen.state}
						current={view.place.model}
						onFilter={(typed) => {
							const {text, submit} = chunkOf(typed);
							setModels((state) => ({...state, filter: oneLineInput(text), selected: 0}));
							if (submit) chooseModel();
						}}
						onSubmit={chooseModel}
						{...room}
					/>
				);
			case 'resume':
				return (
					<ResumePicker
						state={screen.state}
						now={new Date()}
						onFilter={(typed) => {
							const {text, submit} = chunkOf(typed);
							setResume((state) => ({...state, filter: oneLineInput(text), chosen: null}));
							if (submit) openSelected();
						}}
						onSubmit={openSelected}
						{...room}
					/>
				);
		}
	}
}

const bar: Row = [{text: '│', dim: true}];

/** A one-line field takes no line ends, whatever is pasted into it. */
function oneLineInput(text: string): string {
	return text.replace(/[\r\n]+/g, ' ');
}

/** The field has taken a control key for its letter by now: that goes out again, and Ctrl+U clears. */
function withoutControl(filter: string, letter: string): string {
	return letter === 'u' ? '' : filter.endsWith(letter) ? filter.slice(0, -1) : filter;
}
