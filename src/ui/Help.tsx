import {commands} from './commands.ts';
import type {Row} from './display.ts';
import {keys} from './keys.ts';
import {Lines} from './Line.tsx';

export function helpRows(): Row[] {
	const table = (left: string, right: string): Row => [
		{text: `  ${left.padEnd(26)} `, bold: true},
		{text: right},
	];
	return [
		[{text: 'Keys', bold: true}],
		...keys.map(({key, does}) => table(key, does)),
		[],
		[{text: 'Commands', bold: true}],
		...commands.map(({usage, does}) => table(usage, does)),
	];
}

export function Help({top, columns, height}: {top: number; columns: number; height: number}) {
	return <Lines rows={helpRows().slice(top)} columns={columns} height={height} />;
}
