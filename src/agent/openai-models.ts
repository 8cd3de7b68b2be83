import {GatewayError} from './gateway.ts';
import {type OpenaiOptions, requestHeaders} from './openai.ts';
import {record} from './openai-chunk.ts';
import {disconnection, Refused, refusal} from './openai-errors.ts';

/** The ids of the models that a server has, as it lists them. Rejects with a GatewayError. */
export async function listModels(options: OpenaiOptions, timeoutMs = 10_000): Promise<string[]> {
	const place = options.baseURL.replace(/\/$/, '');
	const asked = {place, model: '', secrets: [options.apiKey]};
	try {
		const response = await fetch(`${place}/models`, {
			headers: requestHeaders(options),
			redirect: 'manual',
			signal: AbortSignal.timeout(timeoutMs),
		});
		const text = await response.text();
		if (!response.ok) throw refusal(asked, new Refused(response.status, response.headers, text));
		const ids = idsOf(text);
		if (ids) return ids;
		throw new GatewayError(
			'protocol',
			`${place}/models did not answer with a list of models. Check the base URL.`,
		);
	} catch (error) {
		if (error instanceof GatewayError) throw error;
		if (error instanceof DOMException && error.name === 'TimeoutError') {
			throw new GatewayError('retry', `${place} did not answer within ${Math.round(timeoutMs / 1000)} s.`);
		}
		throw disconnection(asked, error);
	}
}

/** OpenAI's `{data: [{id}]}`, and the bare lists that some send. */
function idsOf(text: string): string[] | undefined {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return undefined;
	}
	const list = Array.isArray(value) ? value : (record(value).data ?? record(value).models);
	if (!Array.isArray(list)) return undefined;
	return list.flatMap((each) => {
		const {id, name} = record(each);
		const known = id ?? name;
		return typeof known === 'string' ? [known.replace(/^models\//, '')] : [];
	});
}
