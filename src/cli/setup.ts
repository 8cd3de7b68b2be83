import {cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync} from 'node:fs';
import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import {Agent, type AgentOptions} from '../agent/agent.ts';
import type {Gateway} from '../agent/gateway.ts';
import {openaiGateway} from '../agent/openai.ts';
import {type Script, scriptedGateway} from '../agent/scripted.ts';
import {dataFolder, findSession} from '../session/sessions.ts';
import {tools} from '../tools/index.ts';
import {configFolder, readConfig} from './config.ts';
import {packageFolder, packageVersion} from './package-folder.ts';
import {UsageError} from './usage-error.ts';

export type Flags = {
	/** `-C DIR` */
	folder?: string | undefined;
	model?: string | undefined;
};

/** Everything that a command needs to know of where and with what it works. */
export type Setup = {
	/** Real path. */
	workspace: string;
	data: string;
	/** Where the scripted demo plays instead of the workspace; its prompts, in order. */
	demo?: {folder: string; prompts: string[]};
	gateway: Gateway;
	/** A flag or the environment names the model, so a resumed session does not keep its own. */
	chosenModel?: string;
	defaultModel: string;
	maxSteps?: number;
	/** Real paths that no tool may touch. */
	forbidden: string[];
};

const env = process.env;

/** Flags beat the environment, the environment beats config.json, that beats the defaults. */
export function setUp(flags: Flags): Setup {
	const config = readConfig(configFolder(env));
	const apiKey = env.OPENAI_API_KEY || config.apiKey;
	const baseURL = env.OPENAI_BASE_URL || config.baseURL;
	const chosenModel = flags.model ?? (env.MCA_MODEL || undefined);
	const unconfigured = !apiKey && !baseURL && !chosenModel && !config.model;
	const here = realFolder(flags.folder ?? process.cwd());
	const mock = env.MOCK === '1';
	const maxSteps = config.maxSteps === undefined ? {} : {maxSteps: config.maxSteps};

	if (mock || unconfigured) {
		const script = readScript();
		const gateway = scriptedGateway(script, Number(env.MCA_SCRIPT_PACE_MS ?? 0));
		const scripted = {gateway, defaultModel: 'scripted', ...maxSteps};
		const inPlace = mock && here !== realpathSync(packageFolder());
		if (inPlace) {
			const data = dataFolder(env);
			return {workspace: here, data, ...scripted, forbidden: forbidden(here, data)};
		}
		const folder = demoFolder();
		const workspace = join(folder, 'repo');
		const data = join(folder, 'data');
		mkdirSync(workspace, {recursive: true});
		const prompts = script.turns.map((turn) => turn.prompt);
		const real = realpathSync(workspace);
		return {workspace: real, data, demo: {folder, prompts}, ...scripted, forbidden: forbidden(real, data)};
	}

	const defaultModel = config.model ?? (baseURL ? undefined : 'gpt-5-mini');
	if (!defaultModel && !chosenModel) {
		throw new UsageError(
			`${baseURL} is configured, but no model: set MCA_MODEL, --model or "model" in config.json.`,
		);
	}
	const url = baseURL ?? 'https://api.openai.com/v1';
	if (!apiKey && !baseURL) {
		throw new UsageError(
			'A model is configured, but no OPENAI_API_KEY and no OPENAI_BASE_URL to reach it with.',
		);
	}
	const data = dataFolder(env);
	return {
		workspace: here,
		data,
		// Local servers need no key, but the protocol has a place for one.
		gateway: openaiGateway({baseURL: url, apiKey: apiKey ?? 'none'}),
		...(chosenModel ? {chosenModel} : {}),
		defaultModel: defaultModel ?? chosenModel ?? '',
		...maxSteps,
		forbidden: forbidden(here, data),
	};
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
		...(setup.maxSteps === undefined ? {} : {maxSteps: setup.maxSteps}),
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
	const path =
		(await findSession(dataFolder(env), id)) ?? (await findSession(join(demoFolder(), 'data'), id));
	if (path) return path;
	throw new UsageError(
		`There is no session ${id} in ${join(dataFolder(env), 'sessions')}. Its id looks like s-20260907-100000-ab12.`,
	);
}

function realFolder(folder: string): string {
	try {
		const real = realpathSync(folder);
		if (statSync(real).isDirectory()) return real;
	} catch {
		// Said below.
	}
	throw new UsageError(`${folder} is not a folder. -C takes the folder that mca is to work in.`);
}

/** mca's own folders, or where the workspace lies inside them (the demo under $MCA_HOME) what they hold. */
function forbidden(workspace: string, data: string): string[] {
	return [data, dataFolder(env), configFolder(env)].flatMap((folder) => {
		const real = existsSync(folder) ? realpathSync(folder) : folder;
		if (!`${workspace}/`.startsWith(`${real}/`)) return [real];
		return ['sessions', 'spill', 'config.json'].map((name) => join(real, name));
	});
}

function readScript(): Script {
	const path = env.MCA_SCRIPT ?? join(packageFolder(), 'fixtures', 'scripts', 'calculator.json');
	try {
		return JSON.parse(readFileSync(path, 'utf8'));
	} catch (error) {
		throw new UsageError(`The script ${path} cannot be played: ${(error as Error).message}`);
	}
}
