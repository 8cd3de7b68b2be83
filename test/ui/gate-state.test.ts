import {expect, test} from 'vitest';
import type {Question} from '../../src/agent/agent-event.ts';
import {freshGate, type GateContext, type GateState, gateAnswers, gateKey} from '../../src/ui/gate-state.ts';
import type {KeyPress} from '../../src/ui/keys.ts';

const question: Question = {
	kind: 'tool',
	id: 'c1',
	tool: 'edit_file',
	label: 'src/calc.js',
	preview: {kind: 'diff', path: 'src/calc.js', text: '-a\n+b', basis: null},
	why: 'changes are asked',
};
const short: GateContext = {question, total: 3, shown: 3, typing: false};
const long: GateContext = {question, total: 25, shown: 10, typing: false};

type Name =
	| 'enter'
	| 'escape'
	| 'left'
	| 'right'
	| 'tab'
	| 'up'
	| 'down'
	| 'pageUp'
	| 'pageDown'
	| 'y'
	| 'n'
	| 'r'
	| 'x';
const flags: Partial<Record<Name, string>> = {
	enter: 'return',
	escape: 'escape',
	left: 'leftArrow',
	right: 'rightArrow',
	tab: 'tab',
	up: 'upArrow',
	down: 'downArrow',
	pageUp: 'pageUp',
	pageDown: 'pageDown',
};
const keyPress = (name: Name): KeyPress => {
	const flag = flags[name];
	return {input: flag ? '' : name, key: (flag ? {[flag]: true} : {}) as unknown as KeyPress['key']};
};

/** What the prompt is, or was answered, after these keys. */
function after(context: GateContext, ...names: Name[]) {
	let state: GateState = freshGate;
	for (const [index, name] of names.entries()) {
		const next = gateKey(state, keyPress(name), context);
		if ('allow' in next) {
			expect(index, 'the answer came before the last key').toBe(names.length - 1);
			return next;
		}
		state = next;
	}
	return state;
}
const no = {allow: false};
const yes = {allow: true};

test('Enter alone says no', () => {
	expect(gateAnswers(question)[freshGate.selected]).toBe('no');
	expect(after(short, 'enter')).toEqual(no);
	expect(after(short, 'escape')).toEqual(no);
	expect(after(short, 'n')).toEqual(no);
});

test('yes has to be chosen', () => {
	expect(after(short, 'right', 'enter')).toEqual(yes);
	expect(after(short, 'tab', 'enter')).toEqual(yes);
	expect(after(short, 'y')).toEqual(yes);
	expect(after(short, 'left', 'left', 'enter')).toEqual(yes);
});

test('other keys do nothing', () => {
	expect(after(short, 'x', 'up', 'pageDown')).toMatchObject({selected: 0, top: 0, reason: null});
});

test('yes is not said before all of it was shown', () => {
	expect(after(long, 'y')).toMatchObject({selected: 1});
	expect(after(long, 'right', 'enter', 'enter')).toMatchObject({selected: 1});
	expect(after(long, 'pageDown', 'y')).toMatchObject({selected: 1, top: 9, seen: 19});
	expect(after(long, 'pageDown', 'pageDown', 'y')).toEqual(yes);
	expect(after(long, 'pageDown', 'pageDown', 'pageUp', 'pageUp', 'y')).toEqual(yes);
});

test('row by row, yes waits for the last one', () => {
	const down = (times: number): Name[] => Array.from({length: times}, () => 'down');
	expect(after(long, ...down(14), 'y')).toMatchObject({seen: 24});
	expect(after(long, ...down(15), 'y')).toEqual(yes);
	expect(after(long, ...down(99), 'up')).toMatchObject({top: 14, seen: 25});
});

test('no row is passed over by a page', () => {
	let state: GateState = freshGate;
	for (let seen = long.shown; state.seen < long.total; ) {
		state = gateKey(state, keyPress('pageDown'), long) as GateState;
		expect(state.top).toBeLessThanOrEqual(seen);
		seen = state.seen;
	}
});

test('no can always be said', () => {
	expect(after(long, 'enter')).toEqual(no);
	expect(after(long, 'n')).toEqual(no);
	expect(after({...long, typing: true}, 'escape')).toEqual(no);
});

test('letters do not answer when a draft was being typed', () => {
	const typing = {...short, typing: true};
	expect(after(typing, 'y', 'n', 'r')).toEqual(freshGate);
	expect(after(typing, 'right', 'enter')).toEqual(yes);
});

test('a reason is typed into its own field, and Esc leaves it', () => {
	expect(after(short, 'r')).toMatchObject({reason: '', selected: 2});
	expect(after(short, 'left', 'enter')).toMatchObject({reason: ''});
	expect(after(short, 'r', 'y', 'n', 'enter', 'right')).toMatchObject({reason: '', selected: 2});
	expect(after(short, 'r', 'escape')).toMatchObject({reason: null});
	expect(after(short, 'r', 'escape', 'escape')).toEqual(no);
});

test('only a command of one line can be allowed for good, and only after all of it was shown', () => {
	const asked = (command: string): GateContext => ({...long, question: {...question, command}});
	const press = (context: GateContext, state = freshGate) =>
		gateKey(state, {input: 'a', key: {} as KeyPress['key']}, context);
	expect(gateAnswers(asked('ls').question)).toContain('remember');
	expect(gateAnswers(asked('ls\nrm x').question)).not.toContain('remember');
	expect(gateAnswers(question)).not.toContain('remember');
	expect(press(asked('ls\nrm x'))).toEqual(freshGate);
	expect(press(asked('ls'))).toMatchObject({rule: null});
	expect(press({...asked('ls'), total: 1, shown: 1})).toMatchObject({rule: {command: 'ls', keep: false}});
	expect(press({...asked('ls'), total: 1, shown: 1, typing: true})).toEqual(freshGate);
});
