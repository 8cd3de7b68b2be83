import {render} from 'ink-testing-library';
import {expect, test} from 'vitest';
import type {Event} from '../../src/session/events.ts';
import {forkPoints} from '../../src/session/fork.ts';
import {Composer} from '../../src/ui/Composer.tsx';
import {ForkPicker} from '../../src/ui/ForkPicker.tsx';
import {GatePrompt} from '../../src/ui/GatePrompt.tsx';
import {freshGate} from '../../src/ui/gate-state.ts';
import {Line, Lines} from '../../src/ui/Line.tsx';
import {moveSelection, pickerRows} from '../../src/ui/Picker.tsx';
import {bannerRows} from '../../src/ui/RecoveryBanner.tsx';
import {Sidebar} from '../../src/ui/Sidebar.tsx';
import {emptyView, reduce} from '../../src/ui/view.ts';
import {events, turnOne, turnTwo} from '../helpers/log-file.ts';

const opened = reduce(emptyView, {
	type: 'opened',
	session: {id: 's-20260907-100000-ab12', path: '/data/s-20260907-100000-ab12.jsonl'},
	place: emptyView.place,
	events: events([...turnOne, ...turnTwo]),
	end: {at: 'whole'},
});

const still = () => {};

test('a line never becomes two', () => {
	const {lastFrame} = render(<Line row={[{text: 'x'.repeat(300)}]} />);
	expect(lastFrame()?.split('\n')).toHaveLength(1);
});

test('lines fill exactly their box', () => {
	const {lastFrame} = render(
		<Lines rows={[[{text: 'a'}], [], [{text: 'c'}], [{text: 'd'}]]} columns={9} height={3} />,
	);
	expect(lastFrame()).toBe('a\n\nc');
});

test('the sidebar shows the newest that fit, below its title', () => {
	const {lastFrame} = render(<Sidebar view={opened} columns={39} height={4} />);
	expect(
		lastFrame()
			?.split('\n')
			.map((row) => row.slice(0, 12).trimEnd()),
	).toEqual(['Activity', '14 usage  81', '16 ● run_com', '18 usage  81']);
	expect(render(<Sidebar view={opened} columns={39} height={1} />).lastFrame()).toBe('Activity');
});

test('the sidebar looks at no event that it does not show, however low it is', () => {
	const old = Object.defineProperty({}, 'type', {
		get() {
			throw new Error('an old event was looked at');
		},
	}) as Event;
	for (const height of [1, 4]) {
		const view = {...opened, activity: [old, ...opened.activity]};
		expect(render(<Sidebar view={view} columns={39} height={height} />).lastFrame()).toContain('Activity');
	}
});

test('the composer shows its placeholder where nothing is typed', () => {
	const {lastFrame} = render(<Composer rows={['']} empty active placeholder="then fix it" />);
	expect(lastFrame()).toBe(' ❯ then fix it');
	expect(render(<Composer rows={['a', 'b']} empty={false} active placeholder="x" />).lastFrame()).toBe(
		' ❯ a\n   b',
	);
});

test('a question is a frame of the height that its place was planned with', () => {
	const question = {
		kind: 'tool',
		id: 'c1',
		tool: 'run_command',
		label: 'ls',
		preview: {kind: 'command', text: 'ls -l'},
		why: 'commands are asked',
	} as const;
	const {lastFrame} = render(
		<GatePrompt
			question={question}
			state={freshGate}
			columns={60}
			height={9}
			onReason={still}
			onSendReason={still}
			onRule={still}
			onSendRule={still}
		/>,
	);
	expect(
		lastFrame()
			?.split('\n')
			.map((row) => row.trimEnd()),
	).toEqual([
		'─'.repeat(60),
		'  Run this command?  run_command  commands are asked',
		'    ls -l',
		'',
		'  ❯ No      Yes      No, and say why',
	]);
});

test('a cut log is told with its line, its reason, its bytes and what comes next', () => {
	const cut = {
		id: 's-20260907-100000-ab12',
		path: '/data/s-20260907-100000-ab12.jsonl',
		end: {at: 'cut', line: 14, reason: 'the line does not end', ignoredBytes: 212},
	} as const;
	const told = (view: Partial<typeof emptyView>) =>
		bannerRows({...emptyView, ...view}, 400).map((row) => row.map((span) => span.text).join(''));
	const begin = '⚠ s-20260907-100000-ab12 stops at line 14: the line does not end (212 B ignored).';
	expect(told({})).toEqual([]);
	expect(told({cut})).toEqual([`${begin} Your next prompt continues in a new session.`]);
	expect(told({cut: {...cut, recoveredBy: 's-20260907-110000-cd34'}})).toEqual([
		`${begin} It was continued before: /resume s-20260907-110000-cd34 opens that. Your next prompt continues in another new session.`,
	]);
	expect(told({cut: {...cut, movedTo: 's-20260907-110000-cd34'}})).toEqual([
		`${begin} This conversation goes on in s-20260907-110000-cd34; the damaged file is left as it is, ${cut.path}. Esc hides this.`,
	]);
	expect(told({cut: {...cut, end: {...cut.end, line: 1}}})[0]).toContain(
		'Your next prompt begins a new session.',
	);
});

test('a session that is not saved says so, and when the disk takes writes again', () => {
	const session = opened.session;
	const rest = {why: 'unsaved', message: 'Session x is no longer being saved: the disk is full.'} as const;
	const told = (view: Partial<typeof emptyView>) =>
		bannerRows({...emptyView, rest, ...view}, 400).map((row) => row.map((span) => span.text).join(''))[0];
	expect(told({session})).toContain('no longer being saved: the disk is full. What is on disk stays.');
	expect(told({session, writable: true})).toContain('your next prompt goes on in a new session');
	expect(told({})).toContain('Your text is in the composer; Enter tries again.');
});

test('the selected row is marked by a sign, and is always in the window', () => {
	const rows = Array.from({length: 9}, (_, index) => [{text: `row ${index}`}]);
	const shown = (selected: number) =>
		pickerRows(rows, selected, 3).map((row) => row.map((span) => span.text).join(''));
	expect(shown(0)).toEqual(['❯ row 0', '  row 1', '  row 2']);
	expect(shown(4)).toEqual(['  row 3', '❯ row 4', '  row 5']);
	expect(shown(8)).toEqual(['  row 6', '  row 7', '❯ row 8']);
});

test('a selection stays in its list, whatever is pressed', () => {
	const none = {upArrow: false, downArrow: false, pageUp: false, pageDown: false, home: false, end: false};
	expect(moveSelection(0, 3, 10, {...none, upArrow: true})).toBe(0);
	expect(moveSelection(0, 3, 10, {...none, pageDown: true})).toBe(2);
	expect(moveSelection(2, 3, 10, {...none, home: true})).toBe(0);
	expect(moveSelection(0, 3, 10, {...none, end: true})).toBe(2);
	expect(moveSelection(0, 0, 10, {...none, end: true})).toBe(0);
	expect(moveSelection(5, 3, 10, none)).toBe(2);
});

test('the fork picker without room for a preview lists only', () => {
	const points = forkPoints(opened.events);
	const {lastFrame} = render(
		<ForkPicker view={opened} points={points} selected={1} columns={60} height={7} />,
	);
	expect(
		lastFrame()
			?.split('\n')
			.map((row) => row.trimEnd()),
	).toEqual([
		'Fork: go on from here in a new session   this one stays as …',
		'11 later events stay out. Files stay as they are now.',
		'  2    ❯ run the tests',
		'❯ 8      The failing case is “divide by zero”.',
		'  9    ❯ then fix it',
		'  19     All 4 cases pass.',
		'',
	]);
});
