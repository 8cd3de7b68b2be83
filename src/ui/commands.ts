/** A line of the composer that is meant for mca and not for the model. */
export type Command =
	| {run: 'focus' | 'mouse'}
	| {run: 'help' | 'new' | 'log' | 'cost' | 'keep' | 'rules' | 'quit'}
	| {run: 'fork'; seq?: number}
	| {run: 'resume'; id?: string}
	| {run: 'model'; model?: string}
	| {run: 'rename'; title: string}
	| {run: 'find'; text: string}
	| {run: 'copy'; part: 'answer' | 'code' | 'all'}
	| {run: 'unknown'; text: string};

export const commands = [
	{
		usage: '/fork [N]',
		does: 'go on from an earlier point in a new session; N is an event, without it you choose',
	},
	{usage: '/resume [ID]', does: 'choose another session of this workspace, or open the one with this id'},
	{usage: '/new', does: 'start a new session'},
	{usage: '/rename NAME', does: 'give this session a name; the picker shows it'},
	{usage: '/model [NAME]', does: 'ask another model from now on; without a name you choose'},
	{usage: '/find TEXT', does: 'search the conversation; n and N go through what was found'},
	{usage: '/copy [code|all]', does: 'copy the last answer, its last block of code, or the conversation'},
	{usage: '/focus', does: 'the conversation alone, without borders, to select in'},
	{usage: '/mouse', does: 'let the wheel scroll, or give the mouse back to the terminal'},
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
		case 'focus':
		case 'mouse':
			return argument === undefined ? {run: name} : {run: 'unknown', text};
		case 'find':
			return argument === undefined ? {run: 'unknown', text} : {run: 'find', text: argument};
		case 'copy':
			if (argument === undefined) return {run: 'copy', part: 'answer'};
			return argument === 'code' || argument === 'all'
				? {run: 'copy', part: argument}
				: {run: 'unknown', text};
		case 'fork':
			if (argument === undefined) return {run: 'fork'};
			return /^\d+$/.test(argument) ? {run: 'fork', seq: Number(argument)} : {run: 'unknown', text};
		case 'rename':
			return argument === undefined ? {run: 'unknown', text} : {run: 'rename', title: argument};
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
	const own = commands.find(({usage}) => usage.split(' ')[0] === text.split(' ')[0]);
	if (own) return `${text} is not how it is used: ${own.usage} – ${own.does}.`;
	const known = commands.map((command) => command.usage).join('  ');
	return `${text} is not a command of mca. There are: ${known}`;
}
