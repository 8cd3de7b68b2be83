/** Names that say what they hold: OPENAI_API_KEY, DEEPSEEK_KEY, GH_TOKEN, AWS_SECRET_ACCESS_KEY, DB_PASSWORD. */
const secret =
	/(?<!PUBLIC)_KEY$|(_|^)(API_?KEY|(AUTH)?TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)$/i;

/** Secrets that do not say so. */
const knownSecrets = ['MYSQL_PWD', 'NPM_CONFIG__AUTH', 'PGPASSWORD', 'REDISCLI_AUTH', 'SSHPASS'];

/** What would change how the command's own programs start, or is meant for mca. */
const foreign = [
	'BASH_ENV',
	'ENV',
	'LD_PRELOAD',
	'MOCK',
	'NODE_CHANNEL_FD',
	'NODE_OPTIONS',
	'NODE_TEST_CONTEXT',
	'PROMPT_COMMAND',
	'RIPGREP_CONFIG_PATH',
	'SELFTEST',
];

const removed = new Set([...knownSecrets, ...foreign]);

/** Nobody is there to answer an editor, a pager or a question. */
const added = {
	GIT_EDITOR: 'true',
	GIT_SEQUENCE_EDITOR: 'true',
	EDITOR: 'true',
	VISUAL: 'true',
	GIT_TERMINAL_PROMPT: '0',
	GCM_INTERACTIVE: 'never',
	SSH_ASKPASS: '/bin/false',
	PAGER: 'cat',
	GIT_PAGER: 'cat',
	LESS: 'FRX',
	DEBIAN_FRONTEND: 'noninteractive',
	npm_config_yes: 'false',
	TERM: 'dumb',
	NO_COLOR: '1',
};

/** The environment that commands run in: ours, without secrets and what is `hidden` by name, and ready to run unattended. */
export function commandEnvironment(
	own: NodeJS.ProcessEnv,
	hidden: readonly string[] = [],
): NodeJS.ProcessEnv {
	const kept = Object.entries(own).filter(([name]) => {
		const upper = name.toUpperCase();
		return !secret.test(name) && !removed.has(upper) && !upper.startsWith('MCA_') && !hidden.includes(name);
	});
	return {...Object.fromEntries(kept), ...added};
}
