/** A line of the composer that is meant for mca and not for the model. */
export type Command =
	| {run: 'help' | 'new' | 'log' | 'cost' | 'keep' | 'rules' | 'quit'}
	| {run: 'fork'; seq?: number}
	| {run: 'resume'; id?: string}
	| {run: 'model'; model?: string}
	| {run: 'unknown'; text: string};

export const commands = [
	{
		usage: '/fork [N]',
		does: 'go on from an earlier point in a new session; N is an event, without it you choose',
	},
	{usage: '/resume [ID]', does: 'choose another session of this workspace, or open the one with this id'},
	{usage: '/new', does: 'start a new session'},
	{usage: '/model [NAME]', does: 'ask another model from now on; without a name you choose'},
	{usage: '/keep', does: 'take an interrupted answer into your next prompt'},
	{usage: '/rules', does: 'the commands that you allowed, and how to take that back'},
	{usage: '/log', does: 'every event of this session'},
	{usage: '/cost', does: 'tokens and cost, of this session and inherited'},
	{usage: '/help', does: 'keys and commands'},
	{usage: '/quit', does: 'leave'},
] as const;

/** undefined: an ordinary prompt. A path such as /etc/hosts is one too, as is anything over more than one line. */
export function parseCommand(text: string): Command | undefined {
	const match = /^\/([a-z]+)(?: +(\S.*?))? *$/.exec(text);
	if (!match) return undefined;
	const [, name, argument] = match;
	switch (name) {
		case 'help':
		case 'new':
		case 'log':
		case 'cost':
		case 'keep':
		case 'rules':
		case 'quit':
			return argument === undefined ? {run: name} : {run: 'unknown', text};
		case 'fork':
			if (argument === undefined) return {run: 'fork'};
			return /^\d+$/.test(argument) ? {run: 'fork', seq: Number(argument)} : {run: 'unknown', text};
		case 'model':
			return argument === undefined ? {run: 'model'} : {run: 'model', model: argument};
		case 'resume':
			return argument === undefined ? {run: 'resume'} : {run: 'resume', id: argument};
		default:
			return {run: 'unknown', text};
	}
}

/** What to say of a command that is none. */
export function whyUnknown(text: string): string {
	const known = commands.map((command) => command.usage).join('  ');
	return `${text} is not a command of mca. There are: ${known}`;
}
