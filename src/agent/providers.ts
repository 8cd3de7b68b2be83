/** Where models are served, and how the key gets there. */
export type Provider = {
	baseURL: string;
	/** The environment variable that holds the key; a key in the config beats it. */
	apiKeyEnv?: string;
	apiKey?: string;
	/** The model to ask where none is named. */
	model?: string;
	/** Azure takes its key under a name of its own. */
	keyHeader?: 'api-key';
	organization?: string;
	project?: string;
};

/** Profiles that everybody has. A provider of the same name in the config is laid over them, field by field. */
export const knownProviders: Readonly<Record<string, Provider>> = {
	openai: {baseURL: 'https://api.openai.com/v1', apiKeyEnv: 'OPENAI_API_KEY', model: 'gpt-5-mini'},
	ollama: {baseURL: 'http://127.0.0.1:11434/v1'},
	lmstudio: {baseURL: 'http://127.0.0.1:1234/v1'},
	llamacpp: {baseURL: 'http://127.0.0.1:8080/v1'},
	vllm: {baseURL: 'http://127.0.0.1:8000/v1'},
	openrouter: {baseURL: 'https://openrouter.ai/api/v1', apiKeyEnv: 'OPENROUTER_API_KEY'},
	deepseek: {baseURL: 'https://api.deepseek.com/v1', apiKeyEnv: 'DEEPSEEK_API_KEY', model: 'deepseek-chat'},
	gemini: {
		baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
		apiKeyEnv: 'GEMINI_API_KEY',
	},
	groq: {baseURL: 'https://api.groq.com/openai/v1', apiKeyEnv: 'GROQ_API_KEY'},
	/** Its address has the name of your resource in it, so `baseURL` has to be given in the config. */
	azure: {baseURL: '', apiKeyEnv: 'AZURE_OPENAI_API_KEY', keyHeader: 'api-key'},
};

/** Ports on which people run models on their own machine. */
export const localProviders = ['ollama', 'lmstudio', 'llamacpp', 'vllm'] as const;

/** A server on this machine wants no key, and nothing is lost by asking it. */
export function isLocal(baseURL: string): boolean {
	return URL.canParse(baseURL) && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(new URL(baseURL).hostname);
}
