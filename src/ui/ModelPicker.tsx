import {Box, Text} from 'ink';
import TextInput from 'ink-text-input';
import {oneLine, type Row, spread} from './display.ts';
import {Line, Lines} from './Line.tsx';
import {pickerRows} from './Picker.tsx';
import {theme} from './theme.ts';

/** A model that can be asked, or the sentence why a provider's could not be listed. */
export type ModelEntry = {provider: string; model: string} | {provider: string; problem: string};

/** Where models come from and how one is switched to. */
export type Models = {
	list(): Promise<ModelEntry[]>;
	/** Resolves with a sentence for the person. Without a provider it is the present one. */
	use(model: string, provider?: string): Promise<string>;
};

export type ModelState = {
	/** undefined while they are asked for. */
	entries: readonly ModelEntry[] | undefined;
	filter: string;
	selected: number;
};

export const freshModels: ModelState = {entries: undefined, filter: '', selected: 0};

/** What the filter leaves; a provider that did not answer stays, since its sentence is why its models are missing. */
export function matching({entries, filter}: ModelState): readonly ModelEntry[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
	return (entries ?? []).filter((entry) => {
		if ('problem' in entry) return words.length === 0;
		return words.every((word) => `${entry.provider} ${entry.model}`.toLowerCase().includes(word));
	});
}

type Props = {
	state: ModelState;
	current: string;
	columns: number;
	height: number;
	onFilter(text: string): void;
	onSubmit(): void;
};

export function ModelPicker({state, current, columns, height, onFilter, onSubmit}: Props) {
	const entries = matching(state);
	const rows = entries.map((entry) => entryRow(entry, current, columns - 2));
	const list: Row[] =
		state.entries === undefined
			? [[{text: 'Asking for the models …', dim: true}]]
			: rows.length === 0
				? [[{text: 'No model matches.', dim: true}]]
				: pickerRows(rows, state.selected, height - 2);
	return (
		<Box flexDirection="column" width={columns} height={height}>
			<Box>
				<Text bold>Ask another model </Text>
				<TextInput
					value={state.filter}
					placeholder="type to filter"
					onChange={onFilter}
					onSubmit={onSubmit}
				/>
			</Box>
			<Line row={[]} />
			<Lines rows={list} columns={columns} height={height - 2} />
		</Box>
	);
}

function entryRow(entry: ModelEntry, current: string, columns: number): Row {
	const provider = [{text: oneLine(entry.provider, 20), dim: true}];
	if ('problem' in entry)
		return spread([{text: oneLine(entry.problem, columns), color: theme.bad}], provider, columns);
	const now = entry.model === current ? [{text: '  now', color: theme.good}] : [];
	return spread([{text: oneLine(entry.model, columns)}, ...now], provider, columns);
}
