import {Box, Text} from 'ink';
import {memo} from 'react';
import type {Row} from './display.ts';

/** One row of the screen. Never wraps: whoever made the row fitted it. */
export const Line = memo(function Line({row}: {row: Row}) {
	if (row.length === 0) return <Text> </Text>;
	return (
		<Text wrap="truncate">
			{row.map((span, index) => (
				<Text key={index} {...style(span)}>
					{span.text}
				</Text>
			))}
		</Text>
	);
});

function style({color, bold, dim, italic, underline, strike, inverse}: Row[number]) {
	return {
		...(color ? {color} : {}),
		...(bold ? {bold} : {}),
		...(dim ? {dimColor: true} : {}),
		...(italic ? {italic} : {}),
		...(underline ? {underline} : {}),
		...(strike ? {strikethrough: true} : {}),
		...(inverse ? {inverse} : {}),
	};
}

/** Rows one below the other, in a box of exactly that size. */
export function Lines({rows, columns, height}: {rows: readonly Row[]; columns: number; height: number}) {
	return (
		<Box flexDirection="column" width={columns} height={height} flexShrink={0} overflow="hidden">
			{rows.slice(0, height).map((row, index) => (
				<Line key={index} row={row} />
			))}
		</Box>
	);
}
