import type {Spend} from '../session/audit.ts';
import {count, dollars} from './display.ts';
import type {View} from './view.ts';

/** `12.4k tokens · $0.031`, of this session itself. A price that is not known is not shown as nothing. */
export function totals({own, inherited}: View): string {
	if (own.calls === 0 && inherited.calls === 0) return '';
	const cost = own.unpriced === own.calls ? '' : ` · ${dollars(own.costUsd)}`;
	return `${own.estimated ? '≈' : ''}${count(own.inputTokens + own.outputTokens)} tokens${cost}`;
}

/** How full the model's context is, 0 to 1 and beyond; undefined where its size is not known. */
export function contextShare({place, contextTokens}: View): number | undefined {
	if (!place.contextWindow || contextTokens === 0) return undefined;
	return contextTokens / place.contextWindow;
}

/** The same in a sentence, with what was inherited. */
export function costLine({own, inherited}: View): string {
	return `This session: ${sum(own)}.${inherited.calls > 0 ? ` Inherited: ${sum(inherited)}.` : ''}`;
}

function sum(spend: Spend): string {
	const price = spend.unpriced > 0 ? `price of ${spend.unpriced} unknown` : dollars(spend.costUsd);
	const calls = `${spend.calls} ${spend.calls === 1 ? 'call' : 'calls'}`;
	return `${count(spend.inputTokens)} in, ${count(spend.outputTokens)} out in ${calls} (${price})`;
}
