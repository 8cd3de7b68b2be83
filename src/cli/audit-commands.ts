import type {Command} from 'commander';

const folder = ['-C, --folder <dir>', 'the folder whose sessions are meant (the workspace)'] as const;
const session = 'its id, or the path of a session file';

/** The commands that answer from logs. `done` is told the exit status; what a command needs is loaded when it is called. */
export function addAuditCommands(program: Command, done: (status: number) => void): void {
	const example = (...lines: string[]) => `\nExamples:\n${lines.map((line) => `  $ mca ${line}`).join('\n')}`;
	const collect = (value: string, before: string[] = []) => [...before, value];

	program
		.command('sessions')
		.description('list the sessions of this workspace, newest first')
		.option(...folder)
		.option('--all', 'of every workspace')
		.option('--stats', 'count and bytes of every workspace, and the largest sessions')
		.option('--json', 'one JSON object a line')
		.addHelpText('after', example('sessions', 'sessions --all --stats'))
		.action(async (options) => {
			const {sessions} = await import('./sessions.ts');
			done(await sessions(options));
		});

	program
		.command('log')
		.description('what happened in a session, one row an event; exits 3 where its log is cut')
		.argument('<session>', session)
		.option('--type <type>', 'events of this type or role only; may be given again', collect)
		.option('--tool <name>', 'what is about calls of this tool only; may be given again', collect)
		.option('--turn <n>', 'of this turn only')
		.option('--file <path>', 'what changed or names this file only')
		.option('--errors', 'what went wrong only')
		.option('--since <when>', 'from then on: 30m, 2h, 1d, 2026-09-07, 2026-09-07T10:00')
		.option('--follow', 'go on as the session grows, until Ctrl+C; it is only read')
		.option('--json', 'one JSON object a line')
		.addHelpText(
			'after',
			example(
				'log s-20260907-100000-ab12 --errors',
				'log s-20260907-100000-ab12 --tool run_command --follow',
			),
		)
		.action(async (id: string, options) => {
			const {log} = await import('./log.ts');
			done(await log(id, options));
		});

	program
		.command('cost')
		.description('what a session cost turn by turn; without one, what the sessions of this workspace cost')
		.argument('[session]', session)
		.option(...folder)
		.option('--all', 'of every workspace')
		.option('--json', 'print one JSON object')
		.addHelpText('after', example('cost s-20260907-100000-ab12', 'cost --all'))
		.action(async (id: string | undefined, options) => {
			const {cost} = await import('./cost.ts');
			done(await cost(id, options));
		});

	program
		.command('blame')
		.description('which session, turn and call made each edit of a file, or wrote one of its lines')
		.argument('<file>', 'a file, or FILE:LINE')
		.option(...folder)
		.option('--json', 'print one JSON object')
		.addHelpText('after', example('blame src/calc.js', 'blame src/calc.js:7'))
		.action(async (file: string, options) => {
			const {blame} = await import('./blame.ts');
			done(await blame(file, options));
		});

	program
		.command('compare')
		.description('where two sessions part, and what each did from there on')
		.argument('<a>', session)
		.argument('<b>', session)
		.option('--json', 'print one JSON object')
		.addHelpText('after', example('compare s-20260907-100000-ab12 s-20260907-110000-cd34'))
		.action(async (a: string, b: string, options) => {
			const {compare} = await import('./compare.ts');
			done(await compare(a, b, options));
		});

	program
		.command('tree')
		.description('the sessions of this workspace and what was forked from what')
		.option(...folder)
		.option('--json', 'print one JSON object')
		.addHelpText('after', example('tree', 'tree -C ~/proj'))
		.action(async (options) => {
			const {tree} = await import('./tree.ts');
			done(await tree(options));
		});

	program
		.command('find')
		.description(
			'search titles and contents of the sessions of this workspace; exits 1 where nothing is found',
		)
		.argument('<text>', 'a text (in small letters: in any case), or /a pattern/')
		.option(...folder)
		.option('--all', 'of every workspace')
		.option('--json', 'one JSON object a line')
		.addHelpText('after', example('find "divide by zero"', "find --all '/time(out|d out)/i'"))
		.action(async (text: string, options) => {
			const {find} = await import('./find.ts');
			done(await find(text, options));
		});

	program
		.command('export')
		.description('print a session as one file to read elsewhere; secrets are hidden')
		.argument('<session>', session)
		.requiredOption('--format <format>', 'md, html or json')
		.option('--no-redact', 'hide nothing, and say so in the file')
		.addHelpText('after', example('export s-20260907-100000-ab12 --format html > session.html'))
		.action(async (id: string, options) => {
			const {exportSession} = await import('./export.ts');
			done(await exportSession(id, options));
		});

	program
		.command('rm')
		.description('move a session into the trash folder of mca’s data; asks twice')
		.argument('<id>', 'the session')
		.option('--yes', 'do not ask')
		.option('--json', 'print one JSON object')
		.addHelpText('after', example('rm s-20260907-100000-ab12'))
		.action(async (id: string, options) => {
			const {rm} = await import('./rm.ts');
			done(await rm(id, options));
		});

	program
		.command('rename')
		.description('give a session a name')
		.argument('<id>', 'the session')
		.argument('<name...>', 'its new name')
		.option('--json', 'print one JSON object')
		.addHelpText('after', example('rename s-20260907-100000-ab12 "Fix divide by zero"'))
		.action(async (id: string, name: string[], options) => {
			const {rename} = await import('./rename.ts');
			done(await rename(id, name, options));
		});

	program
		.command('path')
		.description('print where the file of a session is')
		.argument('<id>', 'the session')
		.option('--json', 'print one JSON object')
		.addHelpText('after', example('path s-20260907-100000-ab12', 'verify $(mca path s-20260907-100000-ab12)'))
		.action(async (id: string, options) => {
			const {path} = await import('./path.ts');
			done(await path(id, options));
		});
}
