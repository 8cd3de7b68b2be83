import {expect, test} from 'vitest';
import type {Event} from '../../src/session/events.ts';
import {freshLog} from '../../src/ui/event-list.ts';
import {keysHere, layout, type Screen} from '../../src/ui/screen.ts';
import {costLine, totals} from '../../src/ui/totals.ts';
import {emptyView, reduce, type View} from '../../src/ui/view.ts';
import {events, turnOne, usage} from '../helpers/log-file.ts';

const conversation = {show: 'conversation'} as Screen;
const wanted = {sidebar: true, foot: 2};
const cut: View = {
	...emptyView,
	cut: {
		id: 's-20260907-100000-ab12',
		path: '/data/s-20260907-100000-ab12.jsonl',
		end: {at: 'cut', line: 14, reason: 'the line does not end', ignoredBytes: 212, growing: false} as never,
	},
};

test('the sidebar has room from 100 columns, in the conversation and the log', () => {
	const has = (columns: number, screen = conversation, sidebar = true) =>
		layout({columns, rows: 30}, screen, emptyView, {sidebar, foot: 2}).sidebar;
	expect([has(99), has(100), has(100, conversation, false)]).toEqual([false, true, false]);
	expect(has(120, {show: 'log', state: freshLog})).toBe(true);
	expect(has(120, {show: 'help', top: 0})).toBe(false);
});

test('under 40 columns or 10 rows there is only a notice', () => {
	const tooSmall = (columns: number, rows: number) =>
		layout({columns, rows}, conversation, emptyView, wanted).tooSmall;
	expect([tooSmall(40, 10), tooSmall(39, 10), tooSmall(40, 9)]).toEqual([false, true, true]);
});

test('the rows of every size add up', () => {
	for (let rows = 10; rows <= 60; rows++) {
		for (let columns = 40; columns <= 160; columns += 7) {
			for (const view of [emptyView, cut]) {
				const most = Math.max(7, Math.floor(rows * 0.6)) - 1;
				for (let foot = 2; foot <= most; foot++) {
					const {banner, mainHeight, mainColumns} = layout({columns, rows}, conversation, view, {
						sidebar: true,
						foot,
					});
					expect(1 + banner.length + mainHeight + foot + 1, `${columns}×${rows}, foot ${foot}`).toBe(rows);
					expect(mainColumns).toBeGreaterThan(0);
				}
			}
		}
	}
});

test('the keys that are told are those of what is shown', () => {
	expect(keysHere(conversation, emptyView)).toContain('Enter send');
	expect(keysHere({show: 'fork', points: [], selected: 0}, emptyView)).toContain('e ask it differently');
	expect(keysHere({show: 'help', top: 0}, emptyView)).toContain('Esc back');
	const question = {kind: 'steps', id: 'steps-51', steps: 50} as const;
	expect(keysHere(conversation, {...emptyView, question})).toContain('Esc no');
});

const opened = (of: readonly Event[]) =>
	reduce(emptyView, {type: 'opened', session: null, place: emptyView.place, events: of, end: {at: 'whole'}});

test('the header tells tokens, and money only where a price is known', () => {
	expect(totals(emptyView)).toBe('');
	expect(totals(opened(events(turnOne)))).toBe('2.1k tokens');
	expect(totals(opened(events([usage(812, 41, 0.0312)])))).toBe('853 tokens · $0.031');
});

test('tokens that mca counted itself are told as such', () => {
	expect(totals(opened(events([{...usage(), estimated: true} as never])))).toBe('≈853 tokens');
});

test('the cost of a fork is told apart from what it inherited', () => {
	const fork = {type: 'fork', from: 'x', atSeq: 8, origin: 'x', kind: 'fork'} as const;
	expect(costLine(opened(events([usage(800, 40, 0.5), fork, usage(10, 20, 1.25)])))).toBe(
		'This session: 10 in, 20 out in 1 call ($1.25). Inherited: 800 in, 40 out in 1 call ($0.500).',
	);
	expect(costLine(opened(events(turnOne)))).toBe(
		'This session: 2.0k in, 101 out in 2 calls (price of 2 unknown).',
	);
});
