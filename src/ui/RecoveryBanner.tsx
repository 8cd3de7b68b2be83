import {heldSentence} from '../agent/agent.ts';
import {display, type Row, size, wrap} from './display.ts';
import {glyph, theme} from './theme.ts';
import type {View} from './view.ts';

/** What has to be known about the session on the screen before the next prompt: it is cut, it is held, it is not saved. */
export function bannerRows(view: View, columns: number): Row[] {
	const {cut, holder, session, rest} = view;
	const rows: Row[] = [];
	const warn = (text: string, color: string = theme.warn) =>
		rows.push(...wrap([{text: `${glyph.warn} ${display(text)}`, color}], columns, 2));
	if (cut) warn(cutLine(cut));
	if (holder && session) warn(`${heldSentence(session.path, holder)} /fork does that.`);
	if (rest?.why === 'unsaved') warn(`${rest.message} ${whereNow(view)}`, theme.bad);
	return rows;
}

/** Where a cut log stops, why, what is left out, and where the conversation goes on. */
function cutLine(cut: NonNullable<View['cut']>): string {
	const {line, reason, ignoredBytes} = cut.end;
	return `${cut.id} stops at line ${line}: ${reason} (${size(ignoredBytes)} ignored). ${whereNext(cut)}`;
}

function whereNext(cut: NonNullable<View['cut']>): string {
	if (cut.movedTo) {
		return `This conversation goes on in ${cut.movedTo}; the damaged file is left as it is, ${cut.path}. Esc hides this.`;
	}
	if (cut.end.line === 1) return 'Nothing of it can be read. Your next prompt begins a new session.';
	if (cut.recoveredBy) {
		return `It was continued before: /resume ${cut.recoveredBy} opens that. Your next prompt continues in another new session.`;
	}
	return 'Your next prompt continues in a new session.';
}

function whereNow({session, writable}: View): string {
	if (!session) return 'Your text is in the composer; Enter tries again.';
	if (writable)
		return 'The disk takes writes again: your next prompt goes on in a new session, from the last whole line.';
	return 'What is on disk stays. As soon as the disk takes writes again you can go on in a new session.';
}
