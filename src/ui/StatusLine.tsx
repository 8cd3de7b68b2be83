import {fit, type Row, spread} from './display.ts';
import {Line} from './Line.tsx';

/** The last row: what the keys do here, and on the right how things stand. */
export function StatusLine({hint, state, columns}: {hint: string; state: Row; columns: number}) {
	const left: Row = [{text: hint, dim: true}];
	// One column stays free: writing the last cell of the last row scrolls some terminals.
	return <Line row={fit(spread(left, state, columns - 1), columns - 1)} />;
}
