import {expect, test} from 'vitest';
import {chooseProvider, keyVariables, usableProviders} from '../../src/cli/provider.ts';

test('without anything configured there is no provider', () => {
	expect(chooseProvider(undefined, {}, {})).toBeUndefined();
	expect(chooseProvider(undefined, {}, {model: 'gpt-5-mini'})).toBeUndefined();
});

test('a flag beats the environment, the environment beats the file', () => {
	const env = {MCA_PROVIDER: 'lmstudio', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'k'};
	const config = {provider: 'vllm'};
	expect(chooseProvider('ollama', env, config)?.name).toBe('ollama');
	expect(chooseProvider(undefined, env, config)?.name).toBe('lmstudio');
	expect(chooseProvider(undefined, {...env, MCA_PROVIDER: ''}, config)?.options.baseURL).toBe(
		'http://127.0.0.1:9/v1',
	);
	expect(chooseProvider(undefined, {}, config)?.name).toBe('vllm');
	expect(chooseProvider(undefined, {OPENAI_API_KEY: 'k'}, {})?.name).toBe('openai');
});

test('a base URL without a key is enough: local servers want none', () => {
	const chosen = chooseProvider(undefined, {OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1'}, {});
	expect(chosen?.options).toEqual({baseURL: 'http://127.0.0.1:11434/v1', apiKey: ''});
});

test('a profile of your own lies over the one that is known', () => {
	const config = {
		providers: {openrouter: {model: 'some/model', apiKey: 'mine'}, home: {baseURL: 'http://10.0.0.7/v1'}},
	};
	expect(chooseProvider('openrouter', {}, config)).toEqual({
		name: 'openrouter',
		model: 'some/model',
		options: {baseURL: 'https://openrouter.ai/api/v1', apiKey: 'mine'},
	});
	expect(chooseProvider('home', {}, config)?.options.baseURL).toBe('http://10.0.0.7/v1');
});

test('the model is the profile’s own, then the file’s, then the one that is usual there', () => {
	const key = {OPENAI_API_KEY: 'k'};
	expect(chooseProvider('openai', key, {})?.model).toBe('gpt-5-mini');
	expect(chooseProvider('openai', key, {model: 'm'})?.model).toBe('m');
	expect(chooseProvider('openai', key, {model: 'm', providers: {openai: {model: 'own'}}})?.model).toBe('own');
});

test('each mistake is a sentence with what to do', () => {
	expect(() => chooseProvider('nobody', {}, {})).toThrow(
		/There is no provider nobody\. There are openai, ollama/,
	);
	expect(() => chooseProvider('azure', {}, {})).toThrow(/set providers\.azure\.baseURL/);
	expect(() => chooseProvider('groq', {}, {})).toThrow(/needs a key: set GROQ_API_KEY/);
});

test('an organisation and a project are told to OpenAI and to nobody else', () => {
	const env = {OPENAI_API_KEY: 'k', OPENAI_ORG_ID: 'org', OPENAI_PROJECT_ID: 'proj'};
	expect(chooseProvider('openai', env, {})?.options).toMatchObject({organization: 'org', project: 'proj'});
	expect(chooseProvider('ollama', env, {})?.options).toEqual({
		baseURL: 'http://127.0.0.1:11434/v1',
		apiKey: '',
	});
});

test('the providers that can be switched to are those with a key, and those that were named', () => {
	const names = usableProviders(
		{GROQ_API_KEY: 'g'},
		{providers: {ollama: {}, home: {baseURL: 'http://10.0.0.7/v1'}}},
	);
	expect(names.map((each) => each.name)).toEqual(['ollama', 'groq', 'home']);
});

test('the variables that hold a key are those that a profile names, and any with the same value', () => {
	const config = {
		apiKey: 'sk-of-the-file',
		providers: {
			work: {baseURL: 'http://10.0.0.7/v1', apiKeyEnv: 'WORK_LLM'},
			home: {baseURL: 'http://10.0.0.8/v1', apiKey: 'none'},
		},
	};
	const env = {
		WORK_LLM: 'sk-of-the-work',
		COPY: 'sk-of-the-work',
		FILE: 'sk-of-the-file',
		PATH: '/bin',
		PROXY: 'none',
	};
	const hidden = keyVariables(env, config);
	expect(Object.keys(env).filter((name) => hidden.includes(name))).toEqual(['WORK_LLM', 'COPY', 'FILE']);
	expect(hidden).toContain('GROQ_API_KEY');
});
