import type {Spend} from '../session/audit.ts';
import {count, dollars} from './display.ts';
import type {View} from './view.ts';

/** `12.4k tokens · $0.031`, of this session itself. A price that is not known is not shown as nothing. */
export function totals({own, inherited}: View): string {
	if (own.calls === 0 && inherited.calls === 0) return '';
	const cost = own.unpriced === own.calls ? '' : ` · ${dollars(own.costUsd)}`;
	return `${own.estimated ? '≈' : ''}${count(own.inputTokens + own.outputTokens)} tokens${cost}`;
}

/** The same in a sentence, with what was inherited. */
export function costLine({own, inherited}: View): string {
	return `This session: ${sum(own)}.${inherited.calls > 0 ? ` Inherited: ${sum(inherited)}.` : ''}`;
}

function sum(spend: Spend): string {
	const price = spend.unpriced > 0 ? `price of ${spend.unpriced} unknown` : dollars(spend.costUsd);
	return `${count(spend.inputTokens)} in, ${count(spend.outputTokens)} out in ${spend.calls} calls (${price})`;
}
