import {Box} from 'ink';
import {Lines} from './Line.tsx';
import {rowsOf} from './rows.ts';
import type {Item} from './view.ts';
import {paneRows} from './window.ts';

type Props = {items: readonly Item[]; columns: number; height: number};

/** How a conversation ends, beside the list that it is chosen from. */
export function Preview({items, columns, height}: Props) {
	const blocks = {
		length: items.length,
		rows: (index: number) => (items[index] ? rowsOf(items[index], columns) : []),
	};
	const {rows} = paneRows(blocks, height, {follow: true});
	return (
		<Box
			borderStyle="single"
			borderTop={false}
			borderBottom={false}
			borderRight={false}
			borderDimColor
			paddingLeft={1}
		>
			<Lines rows={rows} columns={columns} height={height} />
		</Box>
	);
}
