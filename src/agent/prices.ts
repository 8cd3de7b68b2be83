import type {Usage} from './gateway.ts';

/** US dollars for a million tokens, as the user's config gives them. */
export type Price = {input: number; output: number; cachedInput?: number};

export type KnownModel = {price?: Price; contextWindow?: number};

/** What the user says of models: it beats the catalogue. */
export type OwnModels = Readonly<Record<string, KnownModel>>;

/**
What a model call cost, US dollars; null where nobody knows, never 0 for that.

The catalogue (genai-prices, with the package) knows a model by its name and the address that serves it: the same model on
your own machine has no price. It is loaded with the first call, since a program that starts does not need it.
*/
export async function costOf(
	usage: Usage,
	{model, baseURL}: {model: string; baseURL: string | undefined},
	own: OwnModels,
): Promise<number | null> {
	const price = own[model]?.price;
	if (price) {
		const cached = usage.cachedTokens ?? 0;
		const fresh = Math.max(0, usage.inputTokens - cached);
		return (
			(fresh * price.input +
				cached * (price.cachedInput ?? price.input) +
				usage.outputTokens * price.output) /
			1e6
		);
	}
	const found = await lookUp(model, baseURL, usage);
	return found?.total_price ?? null;
}

/** How many tokens the model takes in all; undefined where nobody knows. */
export async function contextWindowOf(
	{model, baseURL}: {model: string; baseURL: string | undefined},
	own: OwnModels,
): Promise<number | undefined> {
	const known = own[model]?.contextWindow;
	if (known !== undefined) return known;
	return (await lookUp(model, baseURL, {inputTokens: 0, outputTokens: 0}))?.model.context_window;
}

async function lookUp(model: string, baseURL: string | undefined, usage: Usage) {
	if (!baseURL) return null;
	const {calcPrice} = await import('@pydantic/genai-prices');
	const counts = {
		input_tokens: usage.inputTokens,
		output_tokens: usage.outputTokens,
		...(usage.cachedTokens ? {cache_read_tokens: usage.cachedTokens} : {}),
	};
	return calcPrice(counts, model, {providerApiUrl: baseURL});
}
