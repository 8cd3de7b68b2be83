import {Box, Text} from 'ink';
import TextInput from 'ink-text-input';
import type {SessionDetail, SessionGlance} from '../session/sessions.ts';
import {age, oneLine, type Row, type Span, size, spread} from './display.ts';
import {Line, Lines} from './Line.tsx';
import {pickerRows} from './Picker.tsx';
import {glyph, theme} from './theme.ts';

/** A session of the list: its id at once, what its head and tail say when they were looked at, the rest when it was read. */
export type Entry = {path: string; id: string; glance?: SessionGlance; detail?: SessionDetail};

export type ResumeState = {
	/** undefined while the folder is being listed. */
	entries: readonly Entry[] | undefined;
	filter: string;
	selected: number;
};

export const freshResume: ResumeState = {entries: undefined, filter: '', selected: 0};

/** The entries that the filter leaves: every word is in the id or the title. */
export function filtered(entries: readonly Entry[], filter: string): readonly Entry[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return entries;
	return entries.filter(({id, glance}) => {
		const text = `${id} ${glance?.title ?? ''}`.toLowerCase();
		return words.every((word) => text.includes(word));
	});
}

type Props = {
	state: ResumeState;
	now: Date;
	columns: number;
	height: number;
	onFilter(text: string): void;
	onSubmit(): void;
};

/** The sessions of this workspace, newest id first. */
export function ResumePicker({state, now, columns, height, onFilter, onSubmit}: Props) {
	return (
		<Box flexDirection="column" width={columns} height={height}>
			<Box>
				<Text bold>Resume a session </Text>
				<TextInput
					value={state.filter}
					placeholder="type to filter"
					onChange={onFilter}
					onSubmit={onSubmit}
				/>
			</Box>
			<Line row={[]} />
			<Lines rows={listRows(state, now, columns, height - 2)} columns={columns} height={height - 2} />
		</Box>
	);
}

function listRows(
	{entries, filter, selected}: ResumeState,
	now: Date,
	columns: number,
	height: number,
): Row[] {
	if (!entries) return [[{text: 'Looking for sessions …', dim: true}]];
	if (entries.length === 0) return [[{text: 'This workspace has no session yet.', dim: true}]];
	const left = filtered(entries, filter);
	if (left.length === 0) return [[{text: `No session of ${entries.length} matches.`, dim: true}]];
	const first = Math.max(0, Math.min(selected - Math.floor(height / 2), left.length - height));
	const rows = left.slice(first, first + height).map((entry) => entryRow(entry, now, columns - 2));
	return pickerRows(rows, selected, height, first);
}

function entryRow({id, glance, detail}: Entry, now: Date, columns: number): Row {
	if (!glance) return [{text: id, dim: true}];
	const title: Span = glance.problem
		? {text: oneLine(glance.problem, columns), color: theme.bad}
		: {text: oneLine(glance.title, columns) || (glance.size === 0 ? '(empty)' : '(no title)')};
	const marks: Span[] = [];
	if (detail?.end.at === 'cut')
		marks.push({text: `${glyph.warn} cut at line ${detail.end.line}  `, color: theme.warn});
	if (detail?.holder) marks.push({text: 'open elsewhere  ', color: theme.warn});
	if (detail?.fork)
		marks.push({text: `${detail.fork.kind} of ${detail.fork.from.slice(-4)}  `, color: theme.accent});
	if (detail) marks.push({text: `${detail.turns} ${detail.turns === 1 ? 'turn' : 'turns'}  `, dim: true});
	marks.push({text: size(glance.size), dim: true});
	if (glance.lastActivity) marks.push({text: `  ${age(glance.lastActivity, now).padStart(10)}`, dim: true});
	return spread([{text: `${id.slice(-4)}  `, dim: true}, title], marks, columns);
}
