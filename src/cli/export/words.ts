import {labelOf, outcome} from '../../ui/rows.ts';
import {cutSentence} from '../verify.ts';
import type {ExportedSession, Part} from './document.ts';

/** What every format says in the same words. None of it is fit for its format yet: the format escapes it. */

/** What the reader must know before the rest. */
export function noticesOf({id, end, hidden}: ExportedSession): string[] {
	const notices = end.at === 'cut' ? [cutSentence(id, end)] : [];
	if (hidden === undefined)
		notices.push('Nothing was hidden (--no-redact): secrets that the session held are in this file.');
	return notices;
}

/** `2 secrets of the kind GitHub token, in 3 places (events 6, 8)` */
export function hiddenLines({hidden}: ExportedSession): string[] {
	return (hidden ?? []).map(({kind, secrets, places, events}) => {
		const what = `${kind}: ${secrets} ${secrets === 1 ? 'secret' : 'secrets'}`;
		return `${what} in ${places} ${places === 1 ? 'place' : 'places'}, event ${events.join(', ')}`;
	});
}

export const hiddenNone = 'Nothing that looks like a secret was found, so nothing was hidden.';

export function lineageLines({lineage}: ExportedSession): string[] {
	return lineage.map(({kind, from, atSeq, cut}) => {
		const why = cut ? `, which stops at line ${cut.line}: ${cut.reason}` : '';
		return `${kind} of ${from} after event ${atSeq}${why}`;
	});
}

/** The one line of a call: what was called, then what became of it. */
export function callLine({call, end}: Extract<Part, {kind: 'call'}>): {what: string; outcome: string} {
	const what = `${call.name} ${labelOf(call)}`;
	if (!end) return {what, outcome: 'no outcome is recorded'};
	const verdict = end.verdict ? `${end.verdict.state} by ${end.verdict.by}` : '';
	return {what, outcome: [outcome(end), verdict].filter(Boolean).join(' · ')};
}

/** The arguments where the one line does not hold all of them. */
export function argsOf({call}: Extract<Part, {kind: 'call'}>): string {
	try {
		return JSON.stringify(JSON.parse(call.args), null, 2);
	} catch {
		return call.args;
	}
}
