import {activityRow} from './activity.ts';
import {Lines} from './Line.tsx';
import type {View} from './view.ts';
import {type Blocks, paneRows, type Scroll} from './window.ts';

/** Every event of the session, a row each. */
export function logBlocks(view: View, columns: number): Blocks {
	const seqColumns = Math.max(3, String(view.events.at(-1)?.seq ?? 0).length);
	return {
		length: view.events.length,
		rows(index) {
			const event = view.events[index];
			return event ? [activityRow(event, columns, seqColumns)] : [];
		},
	};
}

export function LogView(props: {blocks: Blocks; columns: number; height: number; scroll: Scroll}) {
	const {blocks, columns, height, scroll} = props;
	const title = [
		{text: 'Log', bold: true},
		{text: `   ${blocks.length} events · ↑ ↓ PgUp PgDn · Esc closes`, dim: true},
	];
	const {rows} = paneRows(blocks, height - 1, scroll);
	return <Lines rows={[title, ...rows]} columns={columns} height={height} />;
}
