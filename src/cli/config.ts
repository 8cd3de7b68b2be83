import {readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join, resolve} from 'node:path';
import * as z from 'zod';
import {UsageError} from './usage-error.ts';

const provider = z.strictObject({
	baseURL: z.url().optional(),
	apiKey: z.string().optional(),
	/** The environment variable that holds the key. */
	apiKeyEnv: z.string().optional(),
	model: z.string().min(1).optional(),
	keyHeader: z.literal('api-key').optional(),
	organization: z.string().optional(),
	project: z.string().optional(),
});

/** US dollars for a million tokens. */
const price = z.strictObject({
	input: z.number().nonnegative(),
	output: z.number().nonnegative(),
	cachedInput: z.number().nonnegative().optional(),
});

const config = z.strictObject({
	/** The profile to use: one that mca knows, or one of `providers`. */
	provider: z.string().optional(),
	/** Base URL of an OpenAI-compatible server, where no profile is needed. */
	baseURL: z.url().optional(),
	apiKey: z.string().optional(),
	model: z.string().min(1).optional(),
	providers: z.record(z.string(), provider).optional(),
	prices: z.record(z.string(), price).optional(),
	/** Tokens, by model. */
	contextWindows: z.record(z.string(), z.int().positive()).optional(),
	/** `off`: commands are not run in the sandbox, and each is asked. */
	sandbox: z.enum(['on', 'off']).optional(),
	mode: z.enum(['ask', 'edits', 'plan']).optional(),
	/** false: no bell and no notification when a turn rests or asks while you look at another window. */
	notify: z.boolean().optional(),
	/** Model calls in a turn before you are asked to go on. */
	maxSteps: z.int().min(1).optional(),
});

export type Config = z.infer<typeof config>;

/** Where mca's configuration is: `$MCA_HOME`, else the platform's own place. */
export function configFolder(env: NodeJS.ProcessEnv, platform = process.platform): string {
	if (env.MCA_HOME) return resolve(env.MCA_HOME);
	if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'mca');
	if (platform === 'darwin') return join(homedir(), 'Library', 'Preferences', 'mca');
	if (platform === 'win32') return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'mca');
	return join(homedir(), '.config', 'mca');
}

/** config.json of the folder, {} where there is none. A bad file is a UsageError that names the path, the field and what fits. */
export function readConfig(folder: string): Config {
	const path = join(folder, 'config.json');
	let text: string;
	try {
		text = readFileSync(path, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
		throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
	}
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (error) {
		throw new UsageError(`${path} is not JSON: ${(error as Error).message}`);
	}
	const checked = config.safeParse(value);
	if (checked.success) return checked.data;
	const problems = checked.error.issues.map((issue) =>
		issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message,
	);
	const inProvider = checked.error.issues.some(({path}) => path[0] === 'providers' && path.length > 1);
	const fields = Object.keys((inProvider ? provider : config).shape).join(', ');
	throw new UsageError(`${path} does not fit: ${problems.join('; ')}. Its fields are ${fields}.`);
}
