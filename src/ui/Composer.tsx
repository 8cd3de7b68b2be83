import {Box, Text} from 'ink';
import {glyph, theme} from './theme.ts';

/** The draft, laid out by composerRows. The terminal's own cursor is put into it by App, where the row is known. */
export function Composer(props: {
	rows: readonly string[];
	placeholder: string;
	empty: boolean;
	active: boolean;
}) {
	const {rows, placeholder, empty, active} = props;
	return (
		<Box flexDirection="column" flexShrink={0}>
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
