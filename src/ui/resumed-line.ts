import type {Event} from '../session/events.ts';
import {replay} from '../session/replay.ts';

/** The line that a resume begins with. */
export function resumedLine(events: readonly Event[]): string {
	const {replayed, leftOut, tokens} = replay(events);
	return `${replayed} messages replayed, ${leftOut} events left out, ${tokens} tokens so far`;
}
