import {Command, CommanderError, Option} from 'commander';
import {isId} from '../session/sessions.ts';
import {addAuditCommands} from './audit-commands.ts';
import {crashed} from './crash.ts';
import {packageVersion} from './package-folder.ts';
import {UsageError} from './usage-error.ts';

export {crashed} from './crash.ts';

/** The exit status of one run of mca: 0 done, 1 failed or stopped, 2 bad usage, 3 a log is cut. */
export async function main(args: string[]): Promise<number> {
	try {
		if (process.env.SELFTEST === '1')
			return await (await import('./selftest.ts')).selfTest(process.argv[1] ?? '');
		return await parse(args);
	} catch (error) {
		if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
		if (error instanceof UsageError) {
			process.stderr.write(`mca: ${error.message}\n`);
			return error.status;
		}
		return crashed(error);
	}
}

/** Options that several commands have. */
const shared = {
	folder: new Option('-C, --folder <dir>', 'the folder to work in (the workspace)'),
	model: new Option('--model <name>', 'the model to ask'),
	provider: new Option('--provider <name>', 'where to ask it: a profile such as openai, ollama, openrouter'),
	mode: new Option(
		'--mode <mode>',
		'ask (default), edits (changes in the workspace pass), plan (nothing is changed)',
	),
	sandbox: new Option('--sandbox <on|off>', 'run commands in the sandbox unasked, or ask for each'),
	resume: new Option(
		'--resume [id]',
		'go on with a session; without an id with the newest of this workspace',
	),
	plain: new Option(
		'--plain',
		'line by line, without a screen: for a screen reader, a dumb terminal, a pipe',
	),
	altScreen: new Option('--no-alt-screen', 'draw the screen where the shell is, not on a screen of its own'),
};

async function parse(args: string[]): Promise<number> {
	let status = 0;
	const program = new Command('mca')
		.description(
			'A coding agent in the terminal. Every session is an append-only log that can be resumed and forked.',
		)
		.version(packageVersion(), '--version')
		.enablePositionalOptions()
		.configureOutput({outputError: (text, write) => write(text.replace(/^error: /, 'mca: '))})
		.exitOverride();

	program
		.command('chat', {isDefault: true, hidden: true})
		.summary('open the screen')
		.argument('[prompt...]', 'the first prompt')
		.addOption(shared.folder)
		.addOption(shared.model)
		.addOption(shared.provider)
		.addOption(shared.mode)
		.addOption(shared.sandbox)
		.addOption(shared.resume)
		.option('--at <seq>', 'show it from this event on')
		.addOption(shared.plain)
		.addOption(shared.altScreen)
		.action(async (words: string[], options) => {
			const {prompt, resume} = resumeAndPrompt(words, options.resume);
			const {chat} = await import('./chat.tsx');
			status = await chat({...options, prompt, resume});
		});

	program
		.command('resume')
		.description('choose a session of this workspace and go on with it')
		.addOption(shared.folder)
		.addOption(shared.model)
		.addOption(shared.provider)
		.addOption(shared.plain)
		.addOption(shared.altScreen)
		.addHelpText('after', '\nExample:\n  mca resume -C ~/project')
		.action(async (options) => {
			const {chat} = await import('./chat.tsx');
			status = await chat({...options, prompt: '', resume: undefined, pick: true});
		});

	program
		.command('run')
		.description('one turn without a screen: prints the answer; what would be asked is refused')
		.argument('[prompt...]')
		.addOption(shared.folder)
		.addOption(shared.model)
		.addOption(shared.provider)
		.addOption(shared.mode)
		.addOption(shared.sandbox)
		.addOption(shared.resume)
		.option('--allow <command>', 'allow exactly this command; can be given more than once', collect, [])
		.option('--max-steps <n>', 'model calls before it stops')
		.option('--max-cost <dollars>', 'US dollars after which no further model call is made')
		.option('--yes', 'allow what would be asked (never what is denied); no limit is lifted')
		.option('--json', 'print what happens as JSON, one AgentEvent a line')
		.addHelpText('after', '\nExample:\n  git diff | mca run "review this" --max-steps 5')
		.action(async (words: string[], options) => {
			const {prompt, resume} = resumeAndPrompt(words, options.resume);
			const {run} = await import('./run.ts');
			status = await run({...options, prompt, resume});
		});

	program
		.command('trust')
		.description('let AGENTS.md and .mca.json of a folder be read, or no longer')
		.argument('[dir]', 'the folder; the current one without it', '.')
		.option('--revoke', 'no longer')
		.addHelpText('after', '\nExample:\n  mca trust ~/project')
		.action(async (dir: string, options) => {
			const {realFolder} = await import('./setup.ts');
			const {trust} = await import('./trust.ts');
			const {dataFolder} = await import('../session/sessions.ts');
			const folder = realFolder(dir);
			trust(dataFolder(), folder, !options.revoke);
			process.stdout.write(`${folder} is ${options.revoke ? 'not trusted' : 'trusted'}.\n`);
		});

	program
		.command('doctor')
		.description(
			'check that the configured model answers, streams and calls tools, and that mca can work here',
		)
		.addOption(shared.folder)
		.option('--model <name>', 'the model to check')
		.option('--provider <name>', 'the provider to check')
		.option('--json', 'print the checks as JSON')
		.addHelpText('after', '\nExample:\n  mca doctor --provider ollama --model qwen3-coder')
		.action(async (options) => {
			const {doctor} = await import('./doctor.ts');
			status = await doctor(options);
		});

	program
		.command('verify')
		.description('say whether logs are whole; exits 3 where one is cut')
		.argument('<session...>', 'ids or files')
		.option('--json', 'one JSON object a line')
		.addHelpText('after', '\nExample:\n  mca verify s-20260907-100000-ab12')
		.action(async (sessions: string[], options) => {
			const {verify} = await import('./verify.ts');
			status = await verify(sessions, options);
		});

	program
		.command('fork')
		.description('go on from an earlier point in a new session; the parent stays as it is')
		.argument('<id>', 'the session to fork')
		.option('--at <seq>', 'the event to fork at; without it the last fork point')
		.option('--json', 'print the new session as JSON')
		.addHelpText('after', '\nExample:\n  mca fork s-20260907-100000-ab12 --at 8')
		.action(async (id: string, options) => {
			const {forkSession} = await import('./fork.ts');
			status = await forkSession(id, options);
		});

	addAuditCommands(program, (ended) => {
		status = ended;
	});

	const commands = program.commands.map((command) => command.name());
	const chatOptions = program.commands.find((command) => command.name() === 'chat')?.options ?? [];
	const lines = chatOptions.map((option) => `  ${option.flags.padEnd(22)} ${option.description}`);
	program.usage('[options] [prompt] | <command>');
	program.addHelpText(
		'after',
		`\nOptions of the screen:\n${lines.join('\n')}\n\nExample:\n  mca -C ~/project --resume`,
	);

	const ordered = commandFirst(args, chatOptions, commands);
	// The screen's keys were got ready where an option came first; this is no screen.
	if (ordered !== args && process.stdin.isTTY) process.stdin.setRawMode(false);
	await program.parseAsync(ordered, {from: 'user'});
	return status;
}

/**
Options before a command are meant for it: `mca -C DIR run …` is `mca run -C DIR …`, and one that the command does not have it
refuses by name. Without this they would be the screen's, and the command's name a prompt.
*/
function commandFirst(args: string[], options: readonly Option[], commands: readonly string[]): string[] {
	let at = 0;
	while (at < args.length) {
		const [name, value] = (args[at] ?? '').split('=', 2);
		const option = options.find((each) => each.short === name || each.long === name);
		// `--resume` may take the word behind it.
		if (!option || option.optional) break;
		at += option.required && value === undefined ? 2 : 1;
	}
	const command = args[at];
	if (at === 0 || command === undefined || !commands.includes(command)) return args;
	return [command, ...args.slice(0, at), ...args.slice(at + 1)];
}

function collect(value: string, others: string[]): string[] {
	return [...others, value];
}

/** `--resume` takes an id or nothing: a word behind it that is no id belongs to the prompt. */
function resumeAndPrompt(words: string[], resume: string | true | undefined) {
	// What begins like an id is meant to be one, and a wrong one is said to be wrong.
	if (typeof resume !== 'string' || isId(resume) || /^s-\d/.test(resume) || /^s-\S+$/.test(resume))
		return {prompt: words.join(' '), resume};
	return {prompt: [resume, ...words].join(' '), resume: true as const};
}
