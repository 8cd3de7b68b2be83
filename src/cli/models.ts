import type {Agent} from '../agent/agent.ts';
import {GatewayError} from '../agent/gateway.ts';
import {openaiGateway} from '../agent/openai.ts';
import {listModels} from '../agent/openai-models.ts';
import {knownProviders, localProviders} from '../agent/providers.ts';
import type {ModelEntry, Models} from '../ui/ModelPicker.tsx';
import {type Chosen, usableProviders, useProvider} from './provider.ts';
import type {Setup} from './setup.ts';

const listMs = 4000;

/** The models of every provider that can be asked, and the way to ask one. */
export function modelsOf(setup: Setup, agent: Agent): Models {
	const present = setup.provider;
	return {
		async list() {
			const providers = [...(present ? [present] : []), ...usableProviders(process.env, setup.config)];
			const byAddress = new Map(providers.toReversed().map((each) => [each.options.baseURL, each]));
			const listed = await Promise.all([...byAddress.values()].reverse().map(entriesOf));
			const local = await Promise.all(
				localProviders.flatMap((name) => {
					const baseURL = knownProviders[name]?.baseURL ?? '';
					return byAddress.has(baseURL)
						? []
						: [entriesOf({name, options: {baseURL, apiKey: ''}, model: undefined})];
				}),
			);
			// A local server that is not there is not missed.
			return [...listed.flat(), ...local.flat().filter((entry) => 'model' in entry)];
		},
		async use(model, provider) {
			if (!provider || provider === present?.name) {
				if (!present) return 'A script plays the model here. Connect one first: see mca doctor.';
				agent.useModel(model, openaiGateway(present.options));
				return `${model} is asked from now on.`;
			}
			try {
				const chosen = useProvider(provider, process.env, setup.config);
				agent.useModel(model, openaiGateway(chosen.options));
				return `${model} at ${provider} is asked from now on.`;
			} catch (error) {
				return (error as Error).message;
			}
		},
	};
}

async function entriesOf({name, options}: Chosen): Promise<ModelEntry[]> {
	try {
		return (await listModels(options, listMs)).sort().map((model) => ({provider: name, model}));
	} catch (error) {
		if (error instanceof GatewayError) return [{provider: name, problem: error.message}];
		throw error;
	}
}
