import {existsSync} from 'node:fs';
import * as z from 'zod';
import {accumulator} from '../agent/accumulate.ts';
import {GatewayError, type StreamDelta} from '../agent/gateway.ts';
import {openaiGateway} from '../agent/openai.ts';
import {listModels} from '../agent/openai-models.ts';
import {contextWindowOf, costOf} from '../agent/prices.ts';
import {knownProviders, localProviders} from '../agent/providers.ts';
import {canWrite, syncing} from '../session/log.ts';
import {dataFolder} from '../session/sessions.ts';
import {plainLine} from '../tools/plain-text.ts';
import {defineTool} from '../tools/tool.ts';
import {configFolder, readConfig} from './config.ts';
import {type Chosen, chooseProvider} from './provider.ts';
import {makeFolder, ownModels, realFolder} from './setup.ts';
import {sandboxFor} from './terms.ts';
import {UsageError} from './usage-error.ts';

type Finding = {check: string; state: 'ok' | 'failed' | 'note'; says: string};

export type DoctorOptions = {folder?: string; model?: string; provider?: string; json?: boolean};

/** `mca doctor`: each check on its own line; exit status 1 where what is configured does not work. */
export async function doctor(options: DoctorOptions): Promise<number> {
	const findings: Finding[] = [];
	const tell = (check: string, state: Finding['state'], says: string) => {
		findings.push({check, state, says: plainLine(says)});
		if (!options.json) process.stdout.write(`${sign[state]} ${check.padEnd(10)} ${plainLine(says)}\n`);
	};
	checkHere(tell);
	const read = attempt(() => readConfig(configFolder(process.env)));
	const path = `${configFolder(process.env)}/config.json`;
	if (read.ok) tell('config', 'ok', existsSync(path) ? path : `none at ${path}`);
	else tell('config', 'failed', read.why);
	const config = read.ok ? read.value : {};
	const choice = attempt(() => chooseProvider(options.provider, process.env, config));
	if (!choice.ok) tell('provider', 'failed', choice.why);
	const chosen = choice.ok ? choice.value : undefined;
	if (chosen) {
		const model = options.model ?? (process.env.MCA_MODEL || undefined) ?? chosen.model ?? config.model;
		await checkProvider(chosen, model, ownModels(config), tell);
	} else if (choice.ok) {
		tell(
			'provider',
			'note',
			'none is configured: mca plays its demo. Set OPENAI_API_KEY, OPENAI_BASE_URL or --provider.',
		);
	}
	await checkSandbox(options, config, tell);
	await lookForLocal(chosen?.options.baseURL, tell);
	if (options.json) process.stdout.write(`${JSON.stringify(findings)}\n`);
	return findings.some((finding) => finding.state === 'failed') ? 1 : 0;
}

const sign = {ok: 'ok    ', failed: 'FAILED', note: '·     '};
/** What the person has wrong is a finding here, not the end of the looking. */
function attempt<T>(work: () => T): {ok: true; value: T} | {ok: false; why: string} {
	try {
		return {ok: true, value: work()};
	} catch (error) {
		if (error instanceof UsageError) return {ok: false, why: error.message};
		throw error;
	}
}

type Tell = (check: string, state: Finding['state'], says: string) => void;

function checkHere(tell: Tell): void {
	tell('node', 'ok', process.version);
	const data = dataFolder();
	makeFolder(data);
	if (canWrite(data)) tell('data', 'ok', `${data} takes synced writes`);
	else
		tell(
			'data',
			'failed',
			`${data} takes no writes: sessions could not be saved. Check its owner and the disk.`,
		);
	if (!syncing)
		tell('sync', 'note', 'MCA_FSYNC=0: lines are not synced; a power failure may lose the newest');
}

async function checkProvider(
	chosen: Chosen,
	model: string | undefined,
	models: ReturnType<typeof ownModels>,
	tell: Tell,
): Promise<void> {
	const {baseURL} = chosen.options;
	tell('provider', 'ok', `${chosen.name} at ${baseURL}`);
	try {
		const listed = await listModels(chosen.options);
		tell('reachable', 'ok', `it answers, and accepts the key; ${listed.length} models`);
		if (!model) {
			tell('model', 'failed', `no model is chosen: set MCA_MODEL. There are ${some(listed)}.`);
			return;
		}
		if (listed.includes(model)) tell('model', 'ok', model);
		else tell('model', 'note', `${model} is not in its list; there are ${some(listed)}`);
	} catch (error) {
		if (!(error instanceof GatewayError)) throw error;
		if (error.status === 404 && model) tell('reachable', 'note', 'it answers, but lists no models');
		else {
			tell('reachable', 'failed', error.message);
			return;
		}
	}
	if (!model) return;
	const gateway = openaiGateway(chosen.options);
	const ask = async (prompt: string) => {
		const answer = accumulator();
		const kinds = new Map<StreamDelta['type'], number>();
		const request = {model, messages: [{role: 'user', content: prompt} as const], tools: [addTool]};
		for await (const delta of gateway.stream(request, AbortSignal.timeout(120_000))) {
			answer.add(delta);
			kinds.set(delta.type, (kinds.get(delta.type) ?? 0) + 1);
		}
		return {...answer.end(), kinds};
	};
	try {
		const said = await ask('Count from one to twenty in words, without using a tool.');
		const pieces = said.kinds.get('text') ?? 0;
		if (pieces > 1) tell('streams', 'ok', `the answer came in ${pieces} pieces`);
		else if (pieces === 0)
			tell('streams', 'failed', 'the answer had no text, though it was asked to count in words');
		else tell('streams', 'note', 'the answer came in one piece: nothing will be seen until it is done');
		if (said.usage) {
			const cost = await costOf(said.usage, {model, baseURL}, models);
			const price = cost === null ? 'its price is not known' : `that was $${cost.toFixed(5)}`;
			tell('usage', 'ok', `${said.usage.inputTokens} tokens in, ${said.usage.outputTokens} out; ${price}`);
		} else {
			tell('usage', 'note', 'it reports no usage: tokens are estimated and marked with ≈');
		}
		const window = await contextWindowOf({model, baseURL}, models);
		tell(
			'context',
			window ? 'ok' : 'note',
			window ? `${window} tokens` : 'not known: set contextWindows in config.json',
		);
		const {message} = await ask('Use the tool add to add 17 and 25.');
		const call = message.toolCalls?.[0];
		if (call && addTool.prepare(call.args).ok)
			tell('tools', 'ok', `it called ${call.name} with ${call.args}`);
		else if (call)
			tell('tools', 'failed', `it called ${call.name} with arguments that do not fit: ${call.args}`);
		else
			tell(
				'tools',
				'failed',
				`it called no tool and said: ${message.content.slice(0, 80)}. mca needs a model that calls tools.`,
			);
	} catch (error) {
		if (!(error instanceof GatewayError)) throw error;
		tell('answers', 'failed', error.message);
	}
}

/** Nobody runs this: only whether a model calls it is looked at. */
const addTool = defineTool({
	name: 'add',
	description: 'Add two numbers.',
	readOnly: true,
	schema: z.object({a: z.number(), b: z.number()}),
	label: ({a, b}) => `${a} + ${b}`,
	paths: () => [],
	run: async ({a, b}) => ({ok: true, content: String(a + b), summary: 'added'}),
});

async function checkSandbox(
	options: DoctorOptions,
	config: ReturnType<typeof readConfig>,
	tell: Tell,
): Promise<void> {
	const workspace = realFolder(options.folder ?? process.cwd());
	const state = await sandboxFor({sandbox: config.sandbox ?? 'on', data: dataFolder()}, workspace);
	if (state.state === 'on')
		tell('sandbox', 'ok', 'commands run in it unasked: the workspace read-only, no network');
	else tell('sandbox', 'note', state.why);
}

async function lookForLocal(configured: string | undefined, tell: Tell): Promise<void> {
	for (const name of localProviders) {
		const baseURL = knownProviders[name]?.baseURL ?? '';
		if (baseURL === configured) continue;
		const models = await listModels({baseURL, apiKey: ''}, 1000).catch(() => undefined);
		if (models)
			tell(
				'found',
				'note',
				`${name} runs at ${baseURL} with ${some(models)}: mca --provider ${name} --model …`,
			);
	}
}

function some(names: readonly string[]): string {
	if (names.length === 0) return 'no models';
	return names.length > 8 ? `${names.slice(0, 8).join(', ')} and ${names.length - 8} more` : names.join(', ');
}
