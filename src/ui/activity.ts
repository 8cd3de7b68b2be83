import type {Event} from '../session/events.ts';
import {count, dollars, oneLine, type Row, type Span, spread} from './display.ts';
import {outcome} from './rows.ts';
import {glyph, theme} from './theme.ts';

/** An event that rebuilds nothing, as one row of the sidebar or the log view: seq, what, outcome, time. */
export function activityRow(event: Event, columns: number, seqColumns = 3): Row {
	const seq: Span = {text: `${String(event.seq).padEnd(seqColumns)} `, dim: true};
	const time = columns >= 42 ? [{text: clock(event.ts), dim: true}] : [];
	return spread([seq, ...what(event, columns >= 60)], time, columns);
}

function what(event: Event, wide: boolean): Span[] {
	switch (event.type) {
		case 'tool_end': {
			const sign = event.result.ok
				? {text: glyph.good, color: theme.good}
				: {text: glyph.bad, color: theme.bad};
			const verdict = wide && event.verdict ? ` · ${event.verdict.state} by ${event.verdict.by}` : '';
			return [
				sign,
				{text: ` ${oneLine(event.name ?? 'tool', 16)}  `},
				{text: `${outcome(event)}${verdict}`, dim: true},
			];
		}
		case 'usage': {
			const about = event.estimated ? '≈' : '';
			const cost = typeof event.costUsd === 'number' ? ` · ${dollars(event.costUsd)}` : '';
			return [
				{text: 'usage  '},
				{text: `${about}${count(event.inputTokens)} → ${count(event.outputTokens)} tokens${cost}`, dim: true},
			];
		}
		case 'error':
			return [
				{text: `${event.did}  `, color: theme.bad},
				{text: oneLine(event.message, 200), dim: true},
			];
		case 'fork':
			return [
				{text: `${event.kind}  `, color: theme.accent},
				{text: `of ${oneLine(event.from, 40)} at ${event.atSeq}`, dim: true},
			];
		case 'name':
			return [{text: 'name  '}, {text: oneLine(event.title, 80), dim: true}];
		case 'draft':
			return [{text: 'draft  '}, {text: `${count(event.text.length)} characters`, dim: true}];
		case 'message': {
			const {message} = event;
			const said =
				message.role === 'assistant' && message.toolCalls
					? message.toolCalls.map((call) => call.name).join(', ')
					: message.content;
			return [
				{text: `${message.role}  `, bold: true},
				{text: oneLine(said, 200), dim: true},
			];
		}
		default:
			return [{text: oneLine(event.type as string, 30)}, {text: '  not known to this version', dim: true}];
	}
}

/** The time of day, in the reader's own zone. */
function clock(ts: string): string {
	const date = new Date(ts);
	return Number.isNaN(date.getTime()) ? '' : date.toTimeString().slice(0, 8);
}
