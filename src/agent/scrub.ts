/** What a key looks like wherever it stands. Each shape is narrow enough that prose, paths and hashes do not fit it. */
const shapes: readonly RegExp[] = [
	/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
	/\bsk-[\w*-]{8,}/g, // OpenAI and those who copied it; also as servers mask it in their own errors
	/\b[sr]k_(?:live|test)_\w{8,}/g,
	/\bAIza[\w-]{30,}/g, // Google
	/\b(?:gsk|hf|r8|glpat|github_pat|gh[pousr])[_-]\w{16,}/g,
	/\b(?:xai|pplx|nvapi|csk|fw)-[\w-]{16,}/g,
	/\bxox[abeprs]-[\w-]{10,}/g, // Slack
	/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, // AWS
	/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, // JSON web tokens
	/\b[\w-]{2,}\*{4,}[\w-]*/g, // a key that the server has masked by itself still shows its ends
];

/**
The same, known by what stands before it, which is kept. A digit is asked for where a word of prose could follow (`Bearer
authentication required`).
*/
const named: readonly RegExp[] = [
	/(\b(?:Bearer|Basic)\s+)(?=\S*\d)[\w.~+/=-]{8,}/gi,
	/(\b(?:api[_-]?key|access[_-]?token|client[_-]?secret|password)["']?\s*[:=]\s*["']?)(?=\S*\d)[^\s"',;&[\]]{6,}/gi,
	/([?&](?:key|api_key|apikey|token|sig|signature)=)[^\s&#"'[\]]+/gi,
];

/** A name and a password in front of a host. */
const login = /(\bhttps?:\/\/)[^\s/@:]+(?::[^\s/@]*)?@/gi;

const gone = '[key removed]';

/**
Take keys and tokens out of a text that will be shown or logged.

`secrets` are removed wherever they stand, whatever they look like; those under 8 characters are left, since a placeholder such
as `none` is a word too.
*/
export function scrub(text: string, secrets: readonly string[] = []): string {
	let clean = text;
	for (const secret of secrets) {
		if (secret.length >= 8) clean = clean.replaceAll(secret, gone);
	}
	for (const shape of shapes) clean = clean.replace(shape, gone);
	for (const shape of named) clean = clean.replace(shape, `$1${gone}`);
	return clean.replace(login, '$1');
}
