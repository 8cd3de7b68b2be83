import {Box} from 'ink';
import {useMemo} from 'react';
import type {ForkPoint} from '../session/fork.ts';
import {oneLine, type Row} from './display.ts';
import {Line, Lines} from './Line.tsx';
import {pickerRows} from './Picker.tsx';
import {Preview} from './Preview.tsx';
import {glyph} from './theme.ts';
import type {View} from './view.ts';

type Props = {view: View; points: readonly ForkPoint[]; selected: number; columns: number; height: number};

/** The clean boundaries of a session, and the conversation as it was at the one that is selected. */
export function ForkPicker({view, points, selected, columns, height}: Props) {
	const wide = columns >= 80;
	const listColumns = wide ? Math.floor(columns * 0.4) : columns;
	const rows = useMemo(() => points.map((point) => pointRow(point, listColumns - 2)), [points, listColumns]);
	const point = points[selected];
	const later = point ? view.events.filter((event) => event.seq > point.seq).length : 0;
	const note = `${later} later events stay out. Files stay as they are now.`;
	return (
		<Box flexDirection="column" width={columns} height={height}>
			<Line
				row={[
					{text: 'Fork: go on from here in a new session', bold: true},
					{text: '   this one stays as it is', dim: true},
				]}
			/>
			<Line row={[{text: oneLine(note, columns), dim: true}]} />
			<Box>
				<Lines rows={pickerRows(rows, selected, height - 2)} columns={listColumns} height={height - 2} />
				{wide && point && (
					<Preview
						items={view.items.filter((item) => item.seq <= point.seq)}
						columns={columns - listColumns - 2}
						height={height - 2}
					/>
				)}
			</Box>
		</Box>
	);
}

function pointRow({seq, message}: ForkPoint, columns: number): Row {
	const sign = message.role === 'user' ? `${glyph.prompt} ` : '  ';
	return [
		{text: `${String(seq).padEnd(4)} `, dim: true},
		{text: sign},
		{text: oneLine(message.content, columns - 7)},
	];
}
