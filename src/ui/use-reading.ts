import {useStdin, useStdout} from 'ink';
import {useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore} from 'react';
import {callName, conversationBlocks} from './Conversation.tsx';
import {type Clipboard, copyPart, type Part} from './clipboard.ts';
import {type Find, findIn, lookFurther, markedBlocks, placeOf, step} from './find.ts';
import {highlighter} from './highlight.ts';
import type {KeyPress} from './keys.ts';
import {arrowsBack, arrowsOff, wheel, wheelRows} from './mouse.ts';
import type {Screen} from './screen.ts';
import {useLatest} from './use-latest.ts';
import type {View} from './view.ts';
import {carry, paneRows, reveal, type Scroll, scrollBy, toStart} from './window.ts';

type Props = {
	view: View;
	/** Of the conversation pane. */
	columns: number;
	height: number;
	thinking: boolean;
	screen: Screen;
	setScreen(change: (now: Screen) => Screen): void;
	hint(text: string): void;
	/** Begin at the message with this seq; without it at the end. */
	at?: number | undefined;
	clipboard?: Clipboard | undefined;
};

/** How a person reads the conversation: where they are, which results are open, what is looked for, the wheel, and copying. */
export function useReading({view, columns, height, thinking, screen, setScreen, hint, clipboard, at}: Props) {
	const [scroll, setScroll, latestScroll] = useLatest<Scroll>(() => beginning(view, at));
	const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set());
	const colours = useSyncExternalStore(highlighter.subscribe, highlighter.version);
	const blocks = useMemo(
		() => conversationBlocks(view, columns, {thinking, open}),
		[view, columns, thinking, open, colours],
	);

	// Rows that are made anew have other numbers: the reader stays at the text.
	const before = useRef({blocks, columns, thinking, open});
	const was = before.current;
	if (was.columns !== columns || was.thinking !== thinking || was.open !== open) {
		const now = latestScroll();
		if (!now.follow) {
			const row = carry(now.row, was.blocks.rows(now.item), blocks.rows(now.item));
			if (row !== now.row) setScroll({...now, row});
		}
	}
	before.current = {blocks, columns, thinking, open};

	const total = view.items.length + (view.draft ? 1 : 0);
	const seen = useRef(total);
	if (scroll.follow || total < seen.current) seen.current = total;

	const find = screen.show === 'find' ? screen.find : null;
	const marked = useMemo(() => (find ? markedBlocks(blocks, find) : blocks), [blocks, find]);
	useEffect(() => {
		if (!find || find.next < 0) return;
		const timer = setTimeout(() => show(lookFurther(find, view.items)), 0);
		return () => clearTimeout(timer);
	});

	/** Where nothing is shown yet, what was found first; and the window around it. */
	function show(found: Find): void {
		const now = found.at ? found : step(found, 'older', blocks);
		if (!now.at && now.next < 0) {
			setScreen((screen) => (screen.show === 'find' ? {show: 'conversation'} : screen));
			hint(`“${now.text}” is not in this conversation.`);
			return;
		}
		setScreen(() => ({show: 'find', find: now}));
		const place = now.at === find?.at ? undefined : placeOf(now, blocks);
		if (place) setScroll((scroll) => reveal(blocks, height, scroll, place.item, place.row));
	}

	const {stdin} = useStdin();
	const {stdout} = useStdout();
	const [wheels, setWheels] = useState(false);
	const turn = useRef((_notches: number) => {});
	turn.current = (notches) => {
		if (screen.show === 'conversation' || screen.show === 'find' || screen.show === 'focus') {
			setScroll((now) => scrollBy(blocks, height, now, notches * wheelRows));
		}
	};
	const mouse = useMemo(
		() =>
			wheel(
				stdin,
				(sequence) => void stdout.write(sequence),
				(notches) => turn.current(notches),
			),
		[stdin, stdout],
	);
	// Layout effects: they are undone before the terminal is handed back, the others maybe after it.
	useLayoutEffect(() => {
		stdout.write(arrowsOff);
		return () => void stdout.write(arrowsBack);
	}, [stdout]);
	// Where text is to be selected with the mouse, it is left to the terminal.
	const on = wheels && screen.show !== 'focus';
	useLayoutEffect(() => {
		if (!on) return;
		mouse.on();
		return mouse.off;
	}, [mouse, on]);

	function toggleMouse(): void {
		setWheels(!wheels);
		hint(
			wheels
				? 'The mouse is the terminal’s again.'
				: 'The wheel scrolls. Hold Shift to select; Alt+M gives the mouse back.',
		);
	}

	/** Open those on the screen; where all of them are, close every one. */
	function toggleResults(): void {
		const {top, below} = paneRows(blocks, height, latestScroll());
		const calls = view.items
			.slice(top, blocks.length - below)
			.flatMap((item) => (item.kind === 'call' && item.end ? [callName(item)] : []));
		if (calls.length === 0 && open.size === 0) hint('No call on the screen has a result.');
		else setOpen(calls.every((name) => open.has(name)) ? new Set() : new Set([...open, ...calls]));
	}

	return {
		/** As they are drawn. */
		blocks: marked,
		scroll,
		setScroll,
		/** What came since the end was left. */
		news: total - seen.current,
		toggleMouse,
		copy: (part: Part) => copyPart(view.items, part, (sequence) => void stdout.write(sequence), clipboard),
		find: (text: string) => show(findIn(view.items, text)),

		/** Whether the key was one that scrolls or opens. `alone`: where nothing else takes the arrows. */
		scrollKey({input, key}: KeyPress, alone = false): boolean {
			const page = Math.max(1, height - 2);
			const by = (rows: number) => setScroll((now) => scrollBy(blocks, height, now, rows));
			if (key.pageUp) by(-page);
			else if (key.pageDown) by(page);
			else if (key.upArrow && (key.shift || alone)) by(-1);
			else if (key.downArrow && (key.shift || alone)) by(1);
			else if (key.home && (key.ctrl || alone)) setScroll(toStart(blocks, height));
			else if (key.end && (key.ctrl || alone)) setScroll({follow: true});
			else if (key.ctrl && input === 'o') toggleResults();
			else if (key.meta && input === 'm') toggleMouse();
			else return false;
			return true;
		},

		/** A key while something is looked for; false: the search is over. */
		findKey(press: KeyPress): boolean {
			const {input, key} = press;
			if (!find || key.escape || input === 'q') return false;
			if (input === 'n' || key.return) show(step(find, 'older', blocks));
			else if (input === 'N') show(step(find, 'newer', blocks));
			else this.scrollKey(press, true);
			return true;
		},

		/** Hand the terminal over to somebody else, with the mouse given back meanwhile. */
		lend: mouse.lend,
	};
}

function beginning(view: View, at: number | undefined): Scroll {
	const item = at === undefined ? -1 : view.items.findLastIndex((each) => each.seq <= at);
	return item === -1 ? {follow: true} : {follow: false, item, row: 0};
}
