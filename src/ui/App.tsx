import {Box, Text, useAnimation, useApp, useCursor, useInput, usePaste, useWindowSize} from 'ink';
import {useEffect, useMemo, useRef, useState} from 'react';
import type {Agent} from '../agent/agent.ts';
import type {Library} from '../session/sessions.ts';
import {actions} from './actions.ts';
import {Composer} from './Composer.tsx';
import {Conversation, conversationBlocks} from './Conversation.tsx';
import {chunkOf, composerRows, type Draft, draftOf, edit, emptyDraft, textOf} from './composer.ts';
import type {Row} from './display.ts';
import {divider, header, nextMode, placeholder, ruleRows, statusRow} from './edges.ts';
import {ForkPicker} from './ForkPicker.tsx';
import {GatePrompt, previewHeight, questionRows} from './GatePrompt.tsx';
import {deadMs, freshGate, type GateState, gateKey} from './gate-state.ts';
import {Help, helpRows} from './Help.tsx';
import {editOf, type KeyPress} from './keys.ts';
import {Line, Lines} from './Line.tsx';
import {LogView, logBlocks} from './LogView.tsx';
import {ModelPicker, type ModelState, type Models, matching} from './ModelPicker.tsx';
import {moveSelection} from './Picker.tsx';
import {filtered, freshResume, ResumePicker, type ResumeState} from './ResumePicker.tsx';
import {Sidebar} from './Sidebar.tsx';
import {keysHere, layout, type Screen, sidebarColumns, smallest} from './screen.ts';
import {useView, type ViewStore} from './use-agent.ts';
import {useLatest} from './use-latest.ts';
import {useSessions} from './use-sessions.ts';
import type {View} from './view.ts';
import {type Scroll, scrollBy} from './window.ts';

export type AppOptions = {
	agent: Agent;
	store: ViewStore;
	library: Library;
	models: Models;
	/** The prompts that the demo's script knows; absent where a real model answers. */
	demo?: readonly string[];
	draft: string;
	/** Show the resume picker first. */
	pick: boolean;
	/** Shortens a path of the home folder for the header. */
	home: string;
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
	const [draft, setDraft, latestDraft] = useLatest<Draft>(() => draftOf(initial.draft));
	const [scroll, setScroll] = useLatest<Scroll>(() => ({follow: true}));
	const [gate, setGate, latestGate] = useLatest<GateState>(() => freshGate);
	const [hint, setHint] = useState<string | null>(null);
	const [sidebar, setSidebar] = useState(true);
	const [thinking, setThinking] = useState(false);
	const lastPress = useRef({what: '', at: 0});

	const {question} = view;
	// By identity: some servers count their calls from 0 in each message, so two questions may have one id.
	const asked = useRef<{question: View['question']; columns: number; at: number; typing: boolean}>(undefined);
	if (question && asked.current?.question !== question) {
		asked.current = {question, columns, at: Date.now(), typing: textOf(draft) !== ''};
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

	const past = useMemo(
		() => view.items.flatMap((item) => (item.kind === 'user' ? [item.text] : [])).reverse(),
		[view.items],
	);
	const suggestion = demo?.find((prompt) => !past.includes(prompt));

	const laid = composerRows(draft, columns - 4, Math.max(1, Math.min(8, Math.floor(rows / 3))));
	const gateHeight = Math.max(7, Math.floor(rows * 0.6));
	const foot = question ? previewHeight(question, columns, gateHeight) + 4 : laid.rows.length + 1;
	const place = layout(size, screen, view, {sidebar, foot});
	const {mainColumns, mainHeight} = place;
	const composing = screen.show === 'conversation' && !question;
	const blocks = useMemo(
		() => conversationBlocks(view, mainColumns, thinking),
		[view, mainColumns, thinking],
	);
	const log = useMemo(() => logBlocks(view, mainColumns), [view, mainColumns]);

	const {setCursorPosition} = useCursor();
	const cursor = {x: 3 + laid.x, y: rows - 1 - laid.rows.length + laid.y};
	setCursorPosition(composing && !place.tooSmall ? cursor : undefined);

	const {send, openForkPicker, forkAt, forkBefore, openSession, useModel} = actions(
		agent,
		library,
		models,
		store.get,
		{
			screen: setScreen,
			draft: setDraft,
			scroll: setScroll,
			hint: setHint,
			leave: exit,
		},
	);
	const close = () => setScreen({show: 'conversation'});

	const setResume = (change: (state: ResumeState) => ResumeState) =>
		setScreen((now) => (now.show === 'resume' ? {show: 'resume', state: change(now.state)} : now));
	useSessions(screen.show === 'resume', library, rows, setResume, (error) => setFailure({error}));

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

	usePaste((text) => setDraft((now) => edit(now, {do: 'insert', text})), {isActive: composing});

	useInput((input, key) => {
		if (key.ctrl && input === 'c') return interrupt();
		if (key.ctrl && input === 'l') return attempt(suspendTerminal(async () => {}));
		// What cannot be seen takes no key.
		if (place.tooSmall) return;
		setHint(null);
		if (store.get().question) return pressGate({input, key});
		const screen = latestScreen();
		switch (screen.show) {
			case 'conversation':
				return pressComposer({input, key});
			case 'activity':
				if (key.escape || (key.ctrl && input === 'b')) close();
				return;
			case 'help':
				if (key.escape || input === 'q') return close();
				return setScreen({...screen, top: moveSelection(screen.top, helpRows().length, mainHeight, key)});
			case 'log': {
				if (key.escape || input === 'q') return close();
				const by = key.upArrow
					? -1
					: key.downArrow
						? 1
						: key.pageUp
							? -mainHeight
							: key.pageDown
								? mainHeight
								: 0;
				return setScreen({...screen, scroll: scrollBy(log, mainHeight - 1, screen.scroll, by)});
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
			case 'rules': {
				if (key.escape) return close();
				const rule = agent.rules[screen.selected];
				if (input === 'd' && rule !== undefined) agent.removeRule(rule);
				const selected = moveSelection(screen.selected, agent.rules.length, mainHeight - 1, key);
				return setScreen({show: 'rules', selected});
			}
			case 'models':
				if (key.escape) return close();
				return setModels((state) => ({
					...state,
					selected: moveSelection(state.selected, matching(state).length, mainHeight - 2, key),
				}));
			case 'resume':
				if (key.escape) return close();
				return setResume((state) => {
					const {length} = filtered(state.entries ?? [], state.filter);
					return {...state, selected: moveSelection(state.selected, length, mainHeight - 2, key)};
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
		if (agent.busy) return agent.cancel();
		if (latestScreen().show !== 'conversation') return close();
		if (textOf(latestDraft()) !== '') return setDraft(emptyDraft);
		if (isTwice('ctrl+c')) return exit();
		setHint('Ctrl+C again leaves.');
	}

	function pressComposer(press: KeyPress) {
		const {input, key} = press;
		const draft = latestDraft();
		if (key.escape) {
			if (agent.busy) return agent.cancel();
			// Two presses may come as one: ESC ESC is how a terminal writes Alt+Esc.
			if ((isTwice('escape') || key.meta) && textOf(draft) === '') openForkPicker();
			return;
		}
		if (key.pageUp || key.pageDown) {
			const by = (key.pageUp ? -1 : 1) * Math.max(1, mainHeight - 2);
			return setScroll((now) => scrollBy(blocks, mainHeight, now, by));
		}
		if (key.ctrl && input === 'b') {
			return columns >= 100 ? setSidebar((now) => !now) : setScreen({show: 'activity'});
		}
		if (key.ctrl && input === 't') return setThinking((now) => !now);
		if (view.retry && input === 'r' && textOf(draft) === '') return agent.retryNow();
		if (key.ctrl && input === 'd' && textOf(draft) === '') return exit();
		if (key.tab && key.shift) return agent.useMode(nextMode(agent.mode));
		if (key.tab) return suggestion && textOf(draft) === '' ? setDraft(draftOf(suggestion)) : undefined;
		if (key.return && !key.meta && !key.shift) {
			if (!draft.before.endsWith('\\')) return attempt(send(textOf(draft)));
			// A backslash before Enter is a new line in every terminal.
			return setDraft({...draft, before: `${draft.before.slice(0, -1)}\n`});
		}
		const change = editOf(press);
		if (change) return setDraft((now) => edit(now, change, past));
		if (key.ctrl || key.meta || input === '') return;
		const {text, submit} = chunkOf(input);
		const typed = edit(draft, {do: 'insert', text});
		setDraft(typed);
		if (submit) attempt(send(textOf(typed)));
	}

	function refuse(reason: string) {
		if (question) agent.answer(question.id, {allow: false, reason: oneLineInput(reason).trim()});
	}

	function openSelected() {
		const now = latestScreen();
		if (now.show !== 'resume') return;
		const {entries, filter, selected} = now.state;
		const chosen = filtered(entries ?? [], filter)[selected];
		if (chosen) attempt(openSession(chosen.path));
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
	return (
		<Box flexDirection="column" width={columns} height={rows} overflow="hidden">
			<Line row={header(view, demo !== undefined, initial.home, columns)} />
			<Box paddingLeft={1}>
				<Lines rows={place.banner} columns={columns - 2} height={place.banner.length} />
			</Box>
			<Box height={mainHeight} flexShrink={0}>
				<Box paddingLeft={1} width={mainColumns + (place.sidebar ? 2 : 1)} flexShrink={0}>
					{main()}
				</Box>
				{place.sidebar && (
					<>
						<Lines rows={Array.from({length: mainHeight}, () => bar)} columns={1} height={mainHeight} />
						<Box paddingLeft={1}>
							<Sidebar view={view} columns={sidebarColumns - 1} height={mainHeight} />
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
					onRule={(command) =>
						setGate((now) => ({...now, rule: now.rule && {...now.rule, command: oneLineInput(command)}}))
					}
					onSendRule={() => {
						const {rule} = latestGate();
						if (rule) agent.answer(question.id, {allow: true, remember: rule});
					}}
					onSendReason={refuse}
				/>
			) : (
				<>
					<Line row={divider(columns, place.sidebar)} />
					<Composer
						rows={laid.rows}
						empty={textOf(draft) === ''}
						active={composing}
						placeholder={placeholder(view, suggestion)}
					/>
				</>
			)}
			<Line row={statusRow(hint ?? keysHere(screen, view), view, columns)} />
		</Box>
	);

	function main() {
		const room = {columns: mainColumns, height: mainHeight};
		switch (screen.show) {
			case 'conversation':
				return <Conversation blocks={blocks} scroll={scroll} {...room} />;
			case 'activity':
				return <Sidebar view={view} {...room} />;
			case 'help':
				return <Help top={screen.top} {...room} />;
			case 'log':
				return <LogView blocks={log} scroll={screen.scroll} {...room} />;
			case 'fork':
				return <ForkPicker view={view} points={screen.points} selected={screen.selected} {...room} />;
			case 'rules':
				return <Lines rows={ruleRows(agent.rules, screen.selected, room)} {...room} />;
			case 'models':
				return (
					<ModelPicker
						state={screen.state}
						current={view.place.model}
						onFilter={(text) => setModels((state) => ({...state, filter: oneLineInput(text), selected: 0}))}
						onSubmit={() => {
							const chosen = matching(screen.state)[screen.state.selected];
							if (chosen && 'model' in chosen) attempt(useModel(chosen.model, chosen.provider));
						}}
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
							setResume((state) => ({...state, filter: oneLineInput(text), selected: 0}));
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
