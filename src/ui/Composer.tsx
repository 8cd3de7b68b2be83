import {Box, Text} from 'ink';
import type {Row} from './display.ts';
import {Line} from './Line.tsx';
import {glyph, theme} from './theme.ts';

/** The draft, laid out, below what waits to be sent. The terminal's own cursor is put into it by App, where the row is known. */
export function Composer(props: {
	rows: readonly string[];
	queued?: readonly Row[];
	placeholder: string;
	empty: boolean;
	active: boolean;
}) {
	const {rows, queued = [], placeholder, empty, active} = props;
	return (
		<Box flexDirection="column" flexShrink={0}>
			{queued.map((row, index) => (
				<Line key={`queued ${index}`} row={row} />
			))}
			{rows.map((row, index) => (
				<Text key={index} wrap="truncate">
					<Text {...(active ? {color: theme.accent} : {dimColor: true})} bold>
						{index === 0 ? ` ${glyph.prompt} ` : '   '}
					</Text>
					{empty ? <Text dimColor>{placeholder}</Text> : row}
				</Text>
			))}
		</Box>
	);
}
