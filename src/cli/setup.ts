import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	statSync,
} from 'node:fs';
import {homedir} from 'node:os';
import {join, relative, resolve, sep} from 'node:path';
import {Agent, type AgentOptions} from '../agent/agent.ts';
import {type Mode, modes} from '../agent/gate.ts';
import type {Gateway} from '../agent/gateway.ts';
import {openaiGateway} from '../agent/openai.ts';
import type {OwnModels, Price} from '../agent/prices.ts';
import {type Script, scriptedGateway} from '../agent/scripted.ts';
import {allSessionFiles, dataFolder, findSession} from '../session/sessions.ts';
import {tools} from '../tools/index.ts';
import {isInside} from '../tools/workspace.ts';
import {type Config, configFolder, readConfig} from './config.ts';
import {packageFolder, packageVersion} from './package-folder.ts';
import {type Chosen, chooseProvider} from './provider.ts';
import {keepRule, removeRule} from './rules.ts';
import {termsOf} from './terms.ts';
import {UsageError} from './usage-error.ts';

export type Flags = {
	/** `-C DIR` */
	folder?: string | undefined;
	model?: string | undefined;
	provider?: string | undefined;
	mode?: string | undefined;
	sandbox?: string | undefined;
	/** Commands that are allowed to the letter. */
	allow?: string[] | undefined;
	maxSteps?: string | undefined;
	maxCost?: string | undefined;
};

/** Everything that a command needs to know of where and with what it works. */
export type Setup = {
	/** Real path. */
	workspace: string;
	data: string;
	config: Config;
	configFolder: string;
	mode: Mode;
	sandbox: 'on' | 'off';
	allow: readonly string[];
	maxSteps?: number;
	/** US dollars. */
	maxCostUsd?: number;
	/** Where the scripted demo plays instead of the workspace; its prompts, in order. */
	demo?: {folder: string; prompts: string[]};
	/** Absent where a script plays. */
	provider?: Chosen;
	gateway: Gateway;
	/** A flag or the environment names the model, so a resumed session does not keep its own. */
	chosenModel?: string;
	defaultModel: string;
	/** Prices and context windows of the config. */
	models: OwnModels;
	/** Real paths that no tool may touch. */
	forbidden: string[];
};

const env = process.env;

/** Flags beat the environment, the environment beats config.json, that beats the defaults. */
export function setUp(flags: Flags): Setup {
	const folder = configFolder(env);
	const config = readConfig(folder);
	const here = realFolder(flags.folder ?? process.cwd());
	const chosenModel = flags.model ?? (env.MCA_MODEL || undefined);
	const maxSteps = positive('--max-steps', flags.maxSteps) ?? config.maxSteps;
	const maxCostUsd = positive('--max-cost', flags.maxCost);
	const common = {
		config,
		configFolder: folder,
		models: ownModels(config),
		mode: oneOf('--mode', flags.mode ?? config.mode ?? 'ask', modes),
		sandbox: oneOf('--sandbox', flags.sandbox ?? config.sandbox ?? 'on', ['on', 'off'] as const),
		allow: flags.allow ?? [],
		...(maxSteps === undefined ? {} : {maxSteps}),
		...(maxCostUsd === undefined ? {} : {maxCostUsd}),
	};
	const mock = env.MOCK === '1';
	const provider = mock ? undefined : chooseProvider(flags.provider, env, config);
	if (!provider) {
		if (!mock && (chosenModel ?? config.model)) {
			throw new UsageError(
				'A model is configured, but nobody to ask: set OPENAI_API_KEY, OPENAI_BASE_URL or --provider.',
			);
		}
		return {...common, ...scriptedSetup(here, mock)};
	}
	const defaultModel = provider.model ?? config.model ?? chosenModel;
	if (!defaultModel) {
		throw new UsageError(
			`${provider.options.baseURL} is configured, but no model: set MCA_MODEL, --model or "model" in config.json. mca doctor lists the models it has.`,
		);
	}
	const data = dataFolder(env);
	return {
		workspace: here,
		data,
		...common,
		provider,
		gateway: openaiGateway(provider.options),
		...(chosenModel ? {chosenModel} : {}),
		defaultModel,
		forbidden: forbidden(here, data),
	};
}

/** The script plays in the workspace for MOCK=1, else, and in mca's own folder, in the demo's. */
function scriptedSetup(here: string, mock: boolean) {
	const script = readScript();
	const gateway = scriptedGateway(script, Number(env.MCA_SCRIPT_PACE_MS ?? 0));
	const scripted = {gateway, defaultModel: 'scripted'};
	if (mock && here !== realpathSync(packageFolder())) {
		const data = dataFolder(env);
		return {workspace: here, data, ...scripted, forbidden: forbidden(here, data)};
	}
	const folder = demoFolder();
	const data = join(folder, 'data');
	mkdirSync(join(folder, 'repo'), {recursive: true});
	const workspace = realpathSync(join(folder, 'repo'));
	const prompts = script.turns.map((turn) => turn.prompt);
	return {workspace, data, demo: {folder, prompts}, ...scripted, forbidden: forbidden(workspace, data)};
}

/** The prices and context windows of the config, by model. */
export function ownModels(config: Config): OwnModels {
	const names = new Set([...Object.keys(config.prices ?? {}), ...Object.keys(config.contextWindows ?? {})]);
	return Object.fromEntries(
		[...names].map((name) => {
			const price = config.prices?.[name];
			const contextWindow = config.contextWindows?.[name];
			return [name, {...(price ? {price: price as Price} : {}), ...(contextWindow ? {contextWindow} : {})}];
		}),
	);
}

/** An agent that starts with a new session. */
export function newAgent(setup: Setup, decide?: AgentOptions['decide']): Agent {
	return new Agent({
		workspace: setup.workspace,
		data: setup.data,
		forbidden: setup.forbidden,
		gateway: setup.gateway,
		defaultModel: setup.defaultModel,
		...(setup.chosenModel ? {chosenModel: setup.chosenModel} : {}),
		version: packageVersion(),
		tools,
		models: setup.models,
		mode: setup.mode,
		termsOf: (workspace) => termsOf(setup, workspace),
		keepRule: (workspace, command) => keepRule(setup.configFolder, {workspace, command}),
		dropRule: (workspace, command) => removeRule(setup.configFolder, {workspace, command}),
		...(setup.maxSteps === undefined ? {} : {maxSteps: setup.maxSteps}),
		...(setup.maxCostUsd === undefined ? {} : {maxCostUsd: setup.maxCostUsd}),
		...(decide ? {decide} : {}),
	});
}

/** A plain start of the demo begins with the repository as it was made. */
export function layDemo(setup: Setup): void {
	if (!setup.demo) return;
	rmSync(setup.workspace, {recursive: true, force: true});
	cpSync(join(packageFolder(), 'fixtures', 'repo'), setup.workspace, {recursive: true});
}

export function demoFolder(): string {
	if (env.MCA_HOME) return join(resolve(env.MCA_HOME), 'demo');
	return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mca', 'demo');
}

/** The file of a session that was named on the command line, wherever mca keeps it. */
export async function sessionPath(id: string): Promise<string> {
	const places = [dataFolder(env), join(demoFolder(), 'data')];
	for (const data of places) {
		const path = await findSession(data, id);
		if (path) return path;
	}
	// The four characters that the lists show will do where they are one session's alone.
	if (/^[0-9a-z]{4}$/.test(id)) {
		const all = (await Promise.all(places.map(allSessionFiles)))
			.flat()
			.filter((path) => path.endsWith(`-${id}.jsonl`));
		const [only, another] = all;
		if (only && !another) return only;
		if (only)
			throw new UsageError(
				`${all.length} sessions end in ${id}. Give the whole id of the one that you mean.`,
			);
	}
	throw new UsageError(
		`There is no session ${id} in ${join(dataFolder(env), 'sessions')}. Its id looks like s-20260907-100000-ab12.`,
	);
}

function positive(flag: string, value: string | undefined): number | undefined {
	if (value === undefined) return undefined;
	const number = Number(value);
	if (Number.isFinite(number) && number > 0) return number;
	throw new UsageError(`${flag} takes a number above 0, not ${value}.`);
}

function oneOf<T extends string>(flag: string, value: string, choices: readonly T[]): T {
	const found = choices.find((choice) => choice === value);
	if (found) return found;
	throw new UsageError(
		`${flag} takes ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, not ${value}.`,
	);
}

/** mca's own folders are its user's alone. */
export function makeFolder(folder: string): void {
	mkdirSync(folder, {recursive: true, mode: 0o700});
}

/** The real path of a folder that was named; a UsageError where it is none. */
export function realFolder(folder: string): string {
	try {
		const real = realpathSync(folder);
		if (statSync(real).isDirectory()) return real;
	} catch {
		// Said below.
	}
	throw new UsageError(`${folder} is not a folder. -C takes the folder that mca is to work in.`);
}

/**
mca's own folders, as real paths. Where the workspace lies in one (the demo's under $MCA_HOME) that is all there is in it but the
way to the workspace; a workspace that is one is forbidden as a whole.
*/
export function forbidden(workspace: string, data: string): string[] {
	const folders = [data, dataFolder(env), configFolder(env), join(demoFolder(), 'data')];
	const paths = folders.flatMap((folder) => {
		const real = existsSync(folder) ? realpathSync(folder) : folder;
		if (workspace === real || !isInside(real, workspace)) return [real];
		const [way] = relative(real, workspace).split(sep);
		const others = readdirSync(real).filter((name) => name !== way);
		return [...ownNames, ...others].map((name) => join(real, name));
	});
	return [...new Set(paths)];
}

/** What mca keeps in its folders, there or not yet. */
const ownNames = [
	'config.json',
	'crash.log',
	'history',
	'rules.json',
	'sessions',
	'spill',
	'trash',
	'trust.json',
];

function readScript(): Script {
	const path = env.MCA_SCRIPT ?? join(packageFolder(), 'fixtures', 'scripts', 'calculator.json');
	try {
		return JSON.parse(readFileSync(path, 'utf8'));
	} catch (error) {
		throw new UsageError(`The script ${path} cannot be played: ${(error as Error).message}`);
	}
}
