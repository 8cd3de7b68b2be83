import {activityRow} from './activity.ts';
import {Lines} from './Line.tsx';
import type {View} from './view.ts';

/** What happened beside the conversation: the newest of the events that rebuild nothing. */
export function Sidebar({view, columns, height}: {view: View; columns: number; height: number}) {
	const shown = view.activity.slice(-Math.max(1, height - 1));
	const seqColumns = Math.max(2, String(view.activity.at(-1)?.seq ?? 0).length);
	const rows = [
		[{text: 'Activity', bold: true}],
		...shown.map((event) => activityRow(event, columns, seqColumns)),
	];
	return <Lines rows={rows} columns={columns} height={height} />;
}
