import {Box, Text, useApp, useCursor, useInput, usePaste, useWindowSize} from 'ink';
import {useEffect, useMemo, useRef, useState} from 'react';
import type {Agent} from '../agent/agent.ts';
import type {Answer} from '../agent/agent-event.ts';
import {type ForkPoint, forkPoints} from '../session/fork.ts';
import {owesAnswer} from '../session/replay.ts';
import type {Library} from '../session/sessions.ts';
import {Composer} from './Composer.tsx';
import {Conversation, conversationBlocks} from './Conversation.tsx';
import {type Command, parseCommand, whyUnknown} from './commands.ts';
import {chunkOf, composerRows, type Draft, draftOf, type Edit, edit, emptyDraft, textOf} from './composer.ts';
import {count, dollars, oneLine, type Row, spread} from './display.ts';
import {ForkPicker} from './ForkPicker.tsx';
import {
	freshGate,
	GatePrompt,
	type GateState,
	gateAnswers,
	previewHeight,
	questionRows,
} from './GatePrompt.tsx';
import {Help, helpRows} from './Help.tsx';
import {Line, Lines} from './Line.tsx';
import {LogView, logBlocks} from './LogView.tsx';
import {moveSelection} from './Picker.tsx';
import {bannerRows} from './RecoveryBanner.tsx';
import {filtered, freshResume, ResumePicker, type ResumeState} from './ResumePicker.tsx';
import {resumedLine} from './resumed-line.ts';
import {Sidebar} from './Sidebar.tsx';
import {StatusLine} from './StatusLine.tsx';
import {glyph, theme} from './theme.ts';
import {useView, type ViewStore} from './use-agent.ts';
import type {View} from './view.ts';
import {type Scroll, scrollBy} from './window.ts';

/** What the main area shows. One at a time. */
type Screen =
	| {show: 'conversation'}
	| {show: 'activity'}
	| {show: 'help'; top: number}
	| {show: 'log'; scroll: Scroll}
	| {show: 'fork'; points: readonly ForkPoint[]; selected: number}
	| {show: 'resume'; state: ResumeState};

export type AppOptions = {
	agent: Agent;
	store: ViewStore;
	library: Library;
	/** The prompts that the demo's script knows; undefined where a real model answers. */
	demo?: readonly string[];
	draft: string;
	/** Show the resume picker first. */
	pick: boolean;
	/** Shortens a path of the home folder for the header. */
	home: string;
};

const sidebarColumns = 40;
/** The gate takes no answer this soon after it came up: those keys were meant for the composer. */
const deadMs = 400;
const leaveMs = 1500;

export function App(options: AppOptions) {
	const {agent, store, library, demo} = options;
	const {exit, suspendTerminal} = useApp();
	const {columns, rows} = useWindowSize();
	const view = useView(store);
	const [screen, setScreen] = useState<Screen>(
		options.pick ? {show: 'resume', state: freshResume} : {show: 'conversation'},
	);
	const [draft, setDraft] = useState<Draft>(() => draftOf(options.draft));
	const [scroll, setScroll] = useState<Scroll>({follow: true});
	const [gate, setGate] = useState<GateState>(freshGate);
	const [hint, setHint] = useState<string | null>(null);
	const [sidebar, setSidebar] = useState(true);
	const lastKey = useRef<{key: 'ctrl+c' | 'escape'; at: number}>({key: 'escape', at: 0});

	const question = view.question;
	const askedAt = useRef({id: '', at: 0, typing: false});
	if (question && askedAt.current.id !== question.id) {
		askedAt.current = {id: question.id, at: Date.now(), typing: textOf(draft) !== ''};
		setGate(freshGate);
	}

	const past = useMemo(
		() => view.items.flatMap((item) => (item.kind === 'user' ? [item.text] : [])).reverse(),
		[view.items],
	);
	const suggestion = demo?.find((prompt) => !past.includes(prompt));

	// --- geometry ---
	const tooSmall = columns < 40 || rows < 10;
	const withSidebar =
		sidebar && columns >= 100 && screen.show !== 'fork' && screen.show !== 'resume' && screen.show !== 'help';
	const mainColumns = withSidebar ? columns - sidebarColumns - 3 : columns - 2;
	const banner = bannerRows(view.cut, columns - 2);
	const bannerHeight = Math.min(banner.length, Math.max(0, rows - 8));
	const laid = composerRows(draft, columns - 4, Math.max(1, Math.min(8, Math.floor(rows / 3))));
	const gateHeight = Math.max(7, Math.floor(rows * 0.6));
	const footHeight = question ? previewHeight(question, columns, gateHeight) + 4 : laid.rows.length + 1;
	const mainHeight = Math.max(1, rows - 2 - bannerHeight - footHeight);
	const composing = screen.show === 'conversation' && !question;

	const blocks = useMemo(() => conversationBlocks(view, mainColumns), [view, mainColumns]);
	const log = useMemo(() => logBlocks(view, mainColumns), [view, mainColumns]);

	const {setCursorPosition} = useCursor();
	setCursorPosition(
		composing && !tooSmall ? {x: 3 + laid.x, y: rows - 1 - laid.rows.length + laid.y} : undefined,
	);

	// --- what can be done ---
	const close = () => setScreen({show: 'conversation'});
	const say = (text: string) => setHint(text);

	const submit = (text: string) => {
		setDraft(emptyDraft);
		setScroll({follow: true});
		void agent.submit(text).then((rest) => {
			if ('unsent' in rest && rest.unsent) setDraft(draftOf(rest.unsent));
		}, fail);
	};
	/** A throw is a bug: it leaves by the same way as one while drawing. */
	const [failure, fail] = useState<unknown>(undefined);
	if (failure !== undefined) throw failure;

	const send = (text: string) => {
		const command = parseCommand(text);
		if (command) {
			setDraft(emptyDraft);
			void run(command).catch(fail);
			return;
		}
		if (text.trim() === '') {
			if (!view.busy && owesAnswer(view.events)) submit('');
			return;
		}
		if (view.busy) say('A turn is running. Esc stops it; your text stays here.');
		else submit(text);
	};

	const run = async (command: Command) => {
		switch (command.run) {
			case 'quit':
				exit();
				return;
			case 'help':
				setScreen({show: 'help', top: 0});
				return;
			case 'log':
				setScreen({show: 'log', scroll: {follow: true}});
				return;
			case 'cost':
				say(costLine(view));
				return;
			case 'unknown':
				say(whyUnknown(command.text));
				return;
		}
		if (view.busy) {
			say('A turn is running. Esc stops it first.');
			return;
		}
		switch (command.run) {
			case 'new':
				await agent.startNew();
				setScroll({follow: true});
				return;
			case 'fork':
				if (command.seq === undefined) openForkPicker();
				else await forkAt({seq: command.seq});
				return;
			case 'resume': {
				if (command.id === undefined) {
					setScreen({show: 'resume', state: freshResume});
					return;
				}
				const path = await library.find(command.id);
				if (path) await openSession(path);
				else say(`There is no session ${oneLine(command.id, 40)}. /resume lists those of this workspace.`);
			}
		}
	};

	const openForkPicker = () => {
		const points = forkPoints(view.events);
		if (points.length === 0) say('There is no point to fork at yet: nothing has been asked in this session.');
		else setScreen({show: 'fork', points, selected: points.length - 1});
	};

	const forkAt = async (at: {seq: number; before?: boolean}) => {
		const parent = view.session?.id;
		const forked = await agent.fork(at);
		if (!forked.ok) {
			say(forked.reason);
			return;
		}
		close();
		setScroll({follow: true});
		const note = owesAnswer(agent.events) ? ' The model has not answered yet: Enter asks it.' : '';
		say(`Forked ${parent} at ${forked.atSeq}. Files of the workspace are as they were.${note}`);
	};

	const forkBefore = async (point: ForkPoint) => {
		if (point.message.role !== 'user') {
			say('e asks a question differently: choose one of your own messages.');
			return;
		}
		// Before the first question there is nothing to keep: a new session, with its text.
		if (view.items[0]?.seq === point.seq) {
			await agent.startNew();
			close();
		} else {
			await forkAt({seq: point.seq, before: true});
		}
		setDraft(draftOf(point.message.content));
	};

	const openSession = async (path: string) => {
		const recorded = await library.recordedWorkspace(path);
		const read = await agent.open(path, recorded?.there ? recorded.path : undefined);
		close();
		setScroll({follow: true});
		say(resumedLine(read.events));
	};

	const answer = (reply: Answer) => {
		if (question) agent.answer(question.id, reply);
	};

	// --- the resume picker looks at its files ---
	const resume = screen.show === 'resume' ? screen.state : undefined;
	const setResume = (change: (state: ResumeState) => ResumeState) =>
		setScreen((now) => (now.show === 'resume' ? {show: 'resume', state: change(now.state)} : now));
	// biome-ignore lint/correctness/useExhaustiveDependencies: once each time the picker opens.
	useEffect(() => {
		if (screen.show !== 'resume') return;
		const stop = new AbortController();
		void loadSessions(library, rows, setResume, stop.signal).catch(fail);
		return () => stop.abort();
	}, [screen.show]);

	// --- keys ---
	usePaste(
		(text) => {
			if (composing) setDraft((now) => edit(now, {do: 'insert', text}));
		},
		{isActive: composing},
	);

	useInput((input, key) => {
		if (key.ctrl && input === 'c') return interrupt();
		if (key.ctrl && input === 'l') return void suspendTerminal(async () => {});
		if (hint) setHint(null);
		if (question) return gateKey(input, key);
		switch (screen.show) {
			case 'conversation':
				return composerKey(input, key);
			case 'activity':
				if (key.escape || (key.ctrl && input === 'b')) close();
				return;
			case 'help':
				if (key.escape || input === 'q') close();
				else setScreen({show: 'help', top: moveSelection(screen.top, helpRows().length, mainHeight, key)});
				return;
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
				return setScreen({show: 'log', scroll: scrollBy(log, mainHeight - 1, screen.scroll, by)});
			}
			case 'fork': {
				const point = screen.points[screen.selected];
				if (key.escape) close();
				else if (key.return && point) void forkAt({seq: point.seq}).catch(fail);
				else if (input === 'e' && point) void forkBefore(point).catch(fail);
				else
					setScreen({
						...screen,
						selected: moveSelection(screen.selected, screen.points.length, mainHeight - 2, key),
					});
				return;
			}
			case 'resume':
				if (key.escape) close();
				else
					setResume((state) => {
						const length = filtered(state.entries ?? [], state.filter).length;
						return {...state, selected: moveSelection(state.selected, length, mainHeight - 2, key)};
					});
		}
	});

	type Key = Parameters<Parameters<typeof useInput>[0]>[1];

	function interrupt() {
		const again = lastKey.current.key === 'ctrl+c' && Date.now() - lastKey.current.at < leaveMs;
		lastKey.current = {key: 'ctrl+c', at: 0};
		if (view.busy) agent.cancel();
		else if (screen.show !== 'conversation') close();
		else if (textOf(draft) !== '') setDraft(emptyDraft);
		else if (again) exit();
		else {
			lastKey.current = {key: 'ctrl+c', at: Date.now()};
			say('Ctrl+C again leaves.');
		}
	}

	function pressEscape(twice: boolean) {
		if (view.busy) {
			agent.cancel();
			return;
		}
		// Two presses may come as one: ESC ESC is how a terminal writes Alt+Esc.
		const again = twice || (lastKey.current.key === 'escape' && Date.now() - lastKey.current.at < leaveMs);
		lastKey.current = {key: 'escape', at: again ? 0 : Date.now()};
		if (again && textOf(draft) === '') openForkPicker();
	}

	function composerKey(input: string, key: Key) {
		if (key.escape) return pressEscape(key.meta);
		if (key.pageUp || key.pageDown) {
			const by = (key.pageUp ? -1 : 1) * Math.max(1, mainHeight - 2);
			return setScroll((now) => scrollBy(blocks, mainHeight, now, by));
		}
		if (key.ctrl && input === 'b') {
			return columns >= 100 ? setSidebar((now) => !now) : setScreen({show: 'activity'});
		}
		if (key.ctrl && input === 'd' && textOf(draft) === '') return exit();
		if (key.tab && suggestion && textOf(draft) === '') return setDraft(draftOf(suggestion));
		if (key.return && !key.meta && !key.shift) {
			// A backslash before Enter is a new line in every terminal.
			if (draft.before.endsWith('\\')) return setDraft({...draft, before: `${draft.before.slice(0, -1)}\n`});
			return send(textOf(draft));
		}
		const change = editOf(input, key);
		if (change) return setDraft((now) => edit(now, change, past));
		if (key.ctrl || key.meta || input === '') return;
		const chunk = chunkOf(input);
		const next = edit(draft, {do: 'insert', text: chunk.text});
		if (chunk.submit) send(textOf(next));
		else setDraft((now) => edit(now, {do: 'insert', text: chunk.text}));
	}

	function gateKey(input: string, key: Key) {
		if (!question || Date.now() - askedAt.current.at < deadMs) return;
		const total = questionRows(question, columns - 4).length;
		const shown = previewHeight(question, columns, gateHeight);
		const choose = (index: number) => {
			const chosen = gateAnswers[index];
			if (chosen === 'no') answer({allow: false});
			if (chosen === 'reason') setGate({...gate, selected: index, reason: ''});
			if (chosen === 'yes' && Math.max(gate.seen, shown) >= total) answer({allow: true});
		};
		if (gate.reason !== null) {
			if (key.escape) setGate({...gate, reason: null});
			return;
		}
		if (key.escape) return answer({allow: false});
		if (key.return) return choose(gate.selected);
		if (key.pageDown || key.pageUp || key.upArrow || key.downArrow) {
			const by = key.pageDown ? shown - 1 || 1 : key.pageUp ? -(shown - 1 || 1) : key.downArrow ? 1 : -1;
			const top = Math.max(0, Math.min(total - shown, gate.top + by));
			return setGate({...gate, top, seen: Math.max(gate.seen, top + shown)});
		}
		if (key.rightArrow || key.tab)
			return setGate({...gate, selected: (gate.selected + 1) % gateAnswers.length});
		if (key.leftArrow) {
			return setGate({...gate, selected: (gate.selected + gateAnswers.length - 1) % gateAnswers.length});
		}
		// A letter answers only where none was being typed when the question came up.
		if (askedAt.current.typing) return;
		if (input === 'n') answer({allow: false});
		if (input === 'y') choose(gateAnswers.indexOf('yes'));
		if (input === 'r') choose(gateAnswers.indexOf('reason'));
	}

	if (tooSmall) {
		return (
			<Box width={columns} height={rows}>
				<Text wrap="truncate">mca needs 40 columns and 10 rows.</Text>
			</Box>
		);
	}

	const title: Row = [
		{text: ' mca', color: theme.accent, bold: true},
		...(demo ? [{text: '  DEMO', color: theme.warn, bold: true}] : []),
		{text: `  ${view.session?.id ?? 'new session'} · ${shortPath(view.place.workspace, options.home)}`},
		{text: ` · ${oneLine(view.place.model, 40)}`, dim: true},
	];
	return (
		<Box flexDirection="column" width={columns} height={rows} overflow="hidden">
			<Line row={spread(title, [{text: `${totals(view)} `, dim: true}], columns)} />
			{bannerHeight > 0 && (
				<Box paddingLeft={1}>
					<Lines rows={banner} columns={columns - 2} height={bannerHeight} />
				</Box>
			)}
			<Box height={mainHeight} flexShrink={0}>
				<Box paddingLeft={1} width={mainColumns + (withSidebar ? 2 : 1)} flexShrink={0}>
					{screen.show === 'conversation' && (
						<Conversation blocks={blocks} columns={mainColumns} height={mainHeight} scroll={scroll} />
					)}
					{screen.show === 'activity' && <Sidebar view={view} columns={mainColumns} height={mainHeight} />}
					{screen.show === 'help' && <Help top={screen.top} columns={mainColumns} height={mainHeight} />}
					{screen.show === 'log' && (
						<LogView blocks={log} columns={mainColumns} height={mainHeight} scroll={screen.scroll} />
					)}
					{screen.show === 'fork' && (
						<ForkPicker
							view={view}
							points={screen.points}
							selected={screen.selected}
							columns={mainColumns}
							height={mainHeight}
						/>
					)}
					{resume && (
						<ResumePicker
							state={resume}
							now={new Date()}
							columns={mainColumns}
							height={mainHeight}
							onFilter={(filter) =>
								setResume((state) => ({...state, filter: filter.replace(/[\r\n]/g, ''), selected: 0}))
							}
							onSubmit={() => {
								const chosen = filtered(resume.entries ?? [], resume.filter)[resume.selected];
								if (chosen) void openSession(chosen.path).catch(fail);
							}}
						/>
					)}
				</Box>
				{withSidebar && (
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
					onReason={(reason) => setGate({...gate, reason: reason.replace(/[\r\n]/g, '')})}
					onSendReason={(reason) => answer({allow: false, reason: reason.trim()})}
				/>
			) : (
				<>
					<Line row={divider(columns, withSidebar)} />
					<Composer
						rows={laid.rows}
						empty={textOf(draft) === ''}
						active={composing}
						placeholder={placeholder(view, suggestion)}
					/>
				</>
			)}
			<StatusLine
				hint={` ${hint ? oneLine(hint, columns) : keysHere(screen, view)}`}
				state={state(view)}
				columns={columns}
			/>
		</Box>
	);
}

const bar: Row = [{text: '│', dim: true}];

function divider(columns: number, withSidebar: boolean): Row {
	if (!withSidebar) return [{text: '─'.repeat(columns), dim: true}];
	const left = columns - sidebarColumns - 1;
	return [{text: `${'─'.repeat(left)}┴${'─'.repeat(columns - left - 1)}`, dim: true}];
}

function keysHere(screen: Screen, view: View): string {
	if (view.question) return '← → choose · Enter answer · ↑ ↓ PgUp PgDn read · Esc no';
	switch (screen.show) {
		case 'fork':
			return '↑ ↓ choose · Enter fork · e ask it differently · Esc back';
		case 'resume':
			return '↑ ↓ choose · Enter open · type to filter · Esc back';
		case 'conversation':
			return 'Enter send · Ctrl+J newline · Esc stop · Esc Esc fork · /resume · /help';
		default:
			return 'Esc back';
	}
}

function placeholder(view: View, suggestion: string | undefined): string {
	if (!view.busy && owesAnswer(view.events)) return 'Enter asks the model for the answer it owes';
	if (suggestion && !view.busy) return `${suggestion}   (Tab takes it)`;
	return '';
}

function state(view: View): Row {
	if (view.rest?.why === 'unsaved') return [{text: 'NOT SAVED', color: theme.bad, bold: true}];
	if (view.question) return [{text: 'waits for you', color: theme.warn, bold: true}];
	if (view.busy) return [{text: `${glyph.running} working`, color: theme.warn}];
	return [{text: 'idle', dim: true}];
}

function totals(view: View): string {
	const {own, inherited} = view;
	const tokens = own.inputTokens + own.outputTokens;
	if (tokens === 0 && inherited.calls === 0) return '';
	const cost = own.unpriced === own.calls ? '' : ` · ${dollars(own.costUsd)}`;
	return `${own.estimated ? '≈' : ''}${count(tokens)} tokens${cost}`;
}

function costLine({own, inherited}: View): string {
	const sum = (spend: View['own']) => {
		const price = spend.unpriced > 0 ? `price of ${spend.unpriced} unknown` : dollars(spend.costUsd);
		return `${count(spend.inputTokens)} in, ${count(spend.outputTokens)} out in ${spend.calls} calls (${price})`;
	};
	return `This session: ${sum(own)}.${inherited.calls > 0 ? ` Inherited: ${sum(inherited)}.` : ''}`;
}

function shortPath(path: string, home: string): string {
	return oneLine(path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path, 40);
}

/** List the files, then look at them a few at a time, newest first; read the ones that fit the screen. */
async function loadSessions(
	library: Library,
	visible: number,
	change: (change: (state: ResumeState) => ResumeState) => void,
	signal: AbortSignal,
): Promise<void> {
	const paths = await library.files();
	if (signal.aborted) return;
	const idOf = (path: string) => path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length);
	change((state) => ({...state, entries: paths.map((path) => ({path, id: idOf(path)}))}));
	const learn = (known: Map<string, object>) =>
		change((state) => ({
			...state,
			entries: state.entries?.map((entry) =>
				known.has(entry.path) ? {...entry, ...known.get(entry.path)} : entry,
			),
		}));
	for (let at = 0; at < paths.length && !signal.aborted; at += visible) {
		const some = paths.slice(at, at + visible);
		const glances = await Promise.all(
			some.map(async (path) => [path, {glance: await library.glance(path)}] as const),
		);
		if (signal.aborted) return;
		learn(new Map(glances));
		if (at > 0) continue;
		for (const path of some) {
			const detail = await library.inspect(path);
			if (signal.aborted) return;
			if (detail) learn(new Map([[path, {detail}]]));
		}
	}
}

function editOf(input: string, key: Parameters<Parameters<typeof useInput>[0]>[1]): Edit | undefined {
	if (key.return) return {do: 'insert', text: '\n'};
	if (input === '\n' || (key.ctrl && input === 'j')) return {do: 'insert', text: '\n'};
	if (key.leftArrow) return {do: key.meta || key.ctrl ? 'wordLeft' : 'left'};
	if (key.rightArrow) return {do: key.meta || key.ctrl ? 'wordRight' : 'right'};
	if (key.upArrow) return {do: 'up'};
	if (key.downArrow) return {do: 'down'};
	if (key.home || (key.ctrl && input === 'a')) return {do: 'home'};
	if (key.end || (key.ctrl && input === 'e')) return {do: 'end'};
	if (key.backspace) return {do: key.meta ? 'wordBack' : 'backspace'};
	if (key.delete) return {do: 'delete'};
	if (key.ctrl && input === 'w') return {do: 'wordBack'};
	if (key.ctrl && input === 'u') return {do: 'killLine'};
	if (key.ctrl && input === 'k') return {do: 'killToEnd'};
	if (key.meta && input === 'b') return {do: 'wordLeft'};
	if (key.meta && input === 'f') return {do: 'wordRight'};
	return undefined;
}
