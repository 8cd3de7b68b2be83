import {Box, Text} from 'ink';
import TextInput from 'ink-text-input';
import {useMemo} from 'react';
import type {Event} from '../session/events.ts';
import type {SessionDetail, SessionGlance} from '../session/sessions.ts';
import {age, dollars, oneLine, type Row, type Span, size, spread} from './display.ts';
import {Line, Lines} from './Line.tsx';
import {pickerRows} from './Picker.tsx';
import {Preview} from './Preview.tsx';
import {glyph, theme} from './theme.ts';
import {emptyView, reduce} from './view.ts';

/** A session of the list: its id at once, what its head and tail say when they were looked at, the rest when it was read. */
export type Entry = {path: string; id: string; glance?: SessionGlance; detail?: SessionDetail};

export type ResumeState = {
	/** undefined while the folder is being listed. */
	entries: readonly Entry[] | undefined;
	/** Of all workspaces. */
	all: boolean;
	filter: string;
	/** Path of the selected session; null is the newest. A filter or a late title does not move it to another. */
	chosen: string | null;
	/** The end of the selected session. */
	preview: {path: string; events: readonly Event[]} | null;
	/** The session that was marked, to be compared with the next one. */
	marked: string | null;
	/** The session that is about to go into the trash, and how often it was asked. */
	removing: {path: string; asked: 1 | 2} | null;
};

export const freshResume: ResumeState = {
	entries: undefined,
	all: false,
	filter: '',
	chosen: null,
	preview: null,
	marked: null,
	removing: null,
};

/** The entries that the filter leaves: every word is in the id or the title. */
export function filtered(entries: readonly Entry[], filter: string): readonly Entry[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return entries;
	return entries.filter(({id, glance}) => {
		const text = `${id} ${glance?.title ?? ''}`.toLowerCase();
		return words.every((word) => text.includes(word));
	});
}

/** What is listed, and which of it is selected. */
export function listing(state: ResumeState): {entries: readonly Entry[]; at: number} {
	const entries = filtered(state.entries ?? [], state.filter);
	return {
		entries,
		at: Math.max(
			0,
			entries.findIndex((entry) => entry.path === state.chosen),
		),
	};
}

/** The entries that a list of this height shows. */
export function shown(state: ResumeState, height: number): readonly Entry[] {
	const {entries, at} = listing(state);
	const first = firstShown(at, entries.length, height);
	return entries.slice(first, first + height);
}

function firstShown(at: number, length: number, height: number): number {
	return Math.max(0, Math.min(at - Math.floor(height / 2), length - height));
}

type Props = {
	state: ResumeState;
	now: Date;
	columns: number;
	height: number;
	onFilter(text: string): void;
	onSubmit(): void;
};

/** The sessions of this workspace, or of all, newest id first. */
export function ResumePicker({state, now, columns, height, onFilter, onSubmit}: Props) {
	const isWide = columns >= 90;
	const listColumns = isWide ? Math.floor(columns * 0.6) : columns;
	const {entries, at} = listing(state);
	const entry = entries[at];
	return (
		<Box flexDirection="column" width={columns} height={height}>
			<Box>
				<Text bold>{state.all ? 'Resume a session of any folder ' : 'Resume a session '}</Text>
				<TextInput
					value={state.filter}
					placeholder="type to filter"
					onChange={onFilter}
					onSubmit={onSubmit}
				/>
			</Box>
			<Line row={noteOf(state, entry, columns)} />
			<Box>
				<Lines
					rows={listRows(state, now, listColumns, height - 2)}
					columns={listColumns}
					height={height - 2}
				/>
				{isWide && entry && (
					<SessionPreview
						state={state}
						entry={entry}
						columns={columns - listColumns - 2}
						height={height - 2}
					/>
				)}
			</Box>
		</Box>
	);
}

/** What has to be known of the selected one, or what Ctrl+X is about to do. */
function noteOf({removing}: ResumeState, entry: Entry | undefined, columns: number): Row {
	if (!entry) return [];
	const title = oneLine(entry.glance?.title ?? '', 40) || entry.id;
	if (removing?.path === entry.path) {
		const text =
			removing.asked === 1
				? `Move “${title}” to the trash? Delete again.`
				: `Really? It leaves the list; its file stays in the trash folder. Delete once more.`;
		return [{text: oneLine(text, columns), color: theme.bad, bold: true}];
	}
	const {detail} = entry;
	if (detail?.end.at === 'cut') {
		const {line, reason} = detail.end;
		return [{text: oneLine(`${glyph.warn} stops at line ${line}: ${reason}`, columns), color: theme.warn}];
	}
	if (detail?.holder) {
		const who =
			detail.holder === 'unknown' ? 'a process that does not answer' : `process ${detail.holder.pid}`;
		return [
			{text: oneLine(`${glyph.warn} open in ${who}: it can be read and forked`, columns), color: theme.warn},
		];
	}
	return [];
}

function listRows(state: ResumeState, now: Date, columns: number, height: number): Row[] {
	if (!state.entries) return [[{text: 'Looking for sessions …', dim: true}]];
	const whose = state.all ? 'There is no session yet.' : 'This folder has no session yet. Tab looks in all.';
	if (state.entries.length === 0) return [[{text: whose, dim: true}]];
	const {entries, at} = listing(state);
	if (entries.length === 0) return [[{text: `No session of ${state.entries.length} matches.`, dim: true}]];
	const rows = shown(state, height).map((entry) => entryRow(entry, now, columns - 2, state));
	return pickerRows(rows, at, height, firstShown(at, entries.length, height));
}

function entryRow(
	{id, path, glance, detail}: Entry,
	now: Date,
	columns: number,
	{all, marked}: ResumeState,
): Row {
	if (!glance) return [{text: id, dim: true}];
	const title: Span = glance.problem
		? {text: oneLine(glance.problem, columns), color: theme.bad}
		: {text: oneLine(glance.title, columns) || (glance.size === 0 ? '(empty)' : '(no title)')};
	const fork: Span[] = detail?.fork
		? [{text: `  ↳ ${detail.fork.kind} of ${detail.fork.from.slice(-4)}  `, color: theme.accent}]
		: [];
	const marks: Span[] = [];
	if (detail?.end.at === 'cut') marks.push({text: `${glyph.warn} cut  `, color: theme.warn});
	if (detail?.holder) marks.push({text: 'open  ', color: theme.warn});
	if (detail) marks.push({text: `${detail.turns} ${detail.turns === 1 ? 'turn' : 'turns'}  `, dim: true});
	if (detail && detail.own.unpriced < detail.own.calls)
		marks.push({text: `${dollars(detail.own.costUsd)}  `, dim: true});
	marks.push({text: size(glance.size), dim: true});
	if (glance.lastActivity) marks.push({text: `  ${age(glance.lastActivity, now).padStart(10)}`, dim: true});
	const folder: Span[] = all ? [{text: `${oneLine(folderOf(path), 18)}  `, dim: true}] : [];
	const mark: Span[] = path === marked ? [{text: '= ', color: theme.accent, bold: true}] : [];
	return spread([...mark, {text: `${id.slice(-4)}  `, dim: true}, ...folder, ...fork, title], marks, columns);
}

/** The workspace's own name, without the hash that makes it certain. */
function folderOf(path: string): string {
	return (
		path
			.split('/')
			.at(-2)
			?.replace(/-[0-9a-f]{8}$/, '') ?? ''
	);
}

const nothing: readonly Event[] = [];

/** How the conversation of the selected session ends. */
function SessionPreview({
	state,
	entry,
	columns,
	height,
}: {
	state: ResumeState;
	entry: Entry;
	columns: number;
	height: number;
}) {
	const events = state.preview?.path === entry.path ? state.preview.events : nothing;
	const {items} = useMemo(
		() => events.reduce((view, event) => reduce(view, {type: 'logged', event}), emptyView),
		[events],
	);
	return <Preview items={items} columns={columns} height={height} />;
}
