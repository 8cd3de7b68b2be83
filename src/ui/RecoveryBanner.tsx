import {display, type Row, size, wrap} from './display.ts';
import {glyph, theme} from './theme.ts';
import type {View} from './view.ts';

/** What a cut log's banner says: where it stops, why, what is left out, and where the conversation goes on. */
export function bannerRows(cut: View['cut'], columns: number): Row[] {
	if (!cut) return [];
	const {line, reason, ignoredBytes} = cut.end;
	const what = `${glyph.warn} ${cut.id} stops at line ${line}: ${display(reason)} (${size(ignoredBytes)} ignored).`;
	return wrap([{text: `${what} ${whereNext(cut)}`, color: theme.warn}], columns, 2);
}

function whereNext(cut: NonNullable<View['cut']>): string {
	if (cut.movedTo) return `This conversation goes on in ${cut.movedTo}; the damaged file is left as it is.`;
	if (cut.end.line === 1) return 'Nothing of it can be read. Your next prompt begins a new session.';
	if (cut.recoveredBy) {
		return `It was continued before: /resume ${cut.recoveredBy} opens that. Your next prompt continues in another new session.`;
	}
	return 'Your next prompt continues in a new session.';
}
