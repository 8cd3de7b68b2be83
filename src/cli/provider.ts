import type {OpenaiOptions} from '../agent/openai.ts';
import {isLocal, knownProviders, type Provider} from '../agent/providers.ts';
import type {Config} from './config.ts';
import {UsageError} from './usage-error.ts';

/** A provider that can be asked, by the name that it was chosen by. */
export type Chosen = {name: string; options: OpenaiOptions; model: string | undefined};

/**
The provider that is configured, undefined where none is. `--provider` beats MCA_PROVIDER, that beats an address or a key in the
environment, those beat config.json. Nothing is read from the workspace.
*/
export function chooseProvider(
	flag: string | undefined,
	env: NodeJS.ProcessEnv,
	config: Config,
): Chosen | undefined {
	const named = flag ?? (env.MCA_PROVIDER || undefined);
	if (named) return useProvider(named, env, config);
	if (env.OPENAI_BASE_URL) {
		return make(
			'OPENAI_BASE_URL',
			{baseURL: env.OPENAI_BASE_URL, ...key(env.OPENAI_API_KEY || config.apiKey)},
			env,
		);
	}
	if (config.provider) return useProvider(config.provider, env, config);
	if (config.baseURL) {
		return make('config.json', {baseURL: config.baseURL, ...key(env.OPENAI_API_KEY || config.apiKey)}, env);
	}
	if (env.OPENAI_API_KEY || config.apiKey) return useProvider('openai', env, config);
	return undefined;
}

/** A profile by its name. */
export function useProvider(name: string, env: NodeJS.ProcessEnv, config: Config): Chosen {
	const names = profileNames(config);
	if (!names.includes(name)) {
		throw new UsageError(
			`There is no provider ${name}. There are ${names.join(', ')}; more can be named in config.json under "providers".`,
		);
	}
	const own = Object.fromEntries(
		Object.entries(config.providers?.[name] ?? {}).filter(([, value]) => value !== undefined),
	);
	const known = knownProviders[name];
	const model = config.providers?.[name]?.model ?? config.model ?? known?.model;
	const provider: Provider = {baseURL: '', ...known, ...own, ...(model ? {model} : {})};
	if (provider.baseURL === '') {
		throw new UsageError(
			`The provider ${name} needs its address: set providers.${name}.baseURL in config.json.`,
		);
	}
	if (name === 'openai' && !provider.apiKey) Object.assign(provider, key(config.apiKey));
	return make(name, provider, env);
}

export function profileNames(config: Config): string[] {
	return [...new Set([...Object.keys(knownProviders), ...Object.keys(config.providers ?? {})])];
}

/** Profiles that could be asked now: on this machine, or with a key. */
export function usableProviders(env: NodeJS.ProcessEnv, config: Config): Chosen[] {
	return profileNames(config).flatMap((name) => {
		try {
			const chosen = useProvider(name, env, config);
			const named = config.providers?.[name] !== undefined || config.provider === name;
			return named || chosen.options.apiKey !== '' ? [chosen] : [];
		} catch {
			// Without an address or a key it is none that could be asked.
			return [];
		}
	});
}

/** The environment variables that hold the key of a provider: those that a profile names, and any with the same value. */
export function keyVariables(env: NodeJS.ProcessEnv, config: Config): string[] {
	const profiles = [...Object.values(knownProviders), ...Object.values(config.providers ?? {})];
	const named = profiles.flatMap(({apiKeyEnv}) => apiKeyEnv ?? []);
	const keys = [config.apiKey, ...profiles.map(({apiKey}) => apiKey), ...named.map((name) => env[name])];
	// What is given to a server that wants no key, such as "none", is no secret, and may well be the value of something else.
	const secrets = new Set(keys.filter((each) => each !== undefined && each.length >= minSecret));
	const same = Object.keys(env).filter((name) => secrets.has(env[name]));
	return [...new Set([...named, ...same])];
}

/** UTF-16 units of the shortest key that a provider gives out. */
const minSecret = 8;

function key(apiKey: string | undefined): {apiKey?: string} {
	return apiKey ? {apiKey} : {};
}

function make(name: string, provider: Provider, env: NodeJS.ProcessEnv): Chosen {
	const {
		baseURL,
		apiKeyEnv,
		keyHeader,
		organization = env.OPENAI_ORG_ID,
		project = env.OPENAI_PROJECT_ID,
		model,
	} = provider;
	const apiKey = provider.apiKey ?? (apiKeyEnv ? env[apiKeyEnv] : undefined) ?? '';
	if (apiKey === '' && apiKeyEnv && !isLocal(baseURL)) {
		throw new UsageError(
			`The provider ${name} needs a key: set ${apiKeyEnv}, or providers.${name}.apiKey in config.json.`,
		);
	}
	const isOpenai = URL.canParse(baseURL) && new URL(baseURL).hostname === 'api.openai.com';
	const options: OpenaiOptions = {
		baseURL,
		apiKey,
		...(keyHeader ? {keyHeader} : {}),
		// Whose account it is, is nobody's business but OpenAI's.
		...(isOpenai && organization ? {organization} : {}),
		...(isOpenai && project ? {project} : {}),
	};
	return {name, options, model};
}
