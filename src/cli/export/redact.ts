import type {Event} from '../../session/events.ts';
import {plainText} from '../../tools/plain-text.ts';

/** Secrets of one kind that were replaced, and the events that held them. */
export type Hidden = {kind: string; secrets: number; places: number; events: number[]};

/**
What a secret looks like and nothing else does: issuers' prefixes with their lengths, keys in their armour, passwords in
addresses. A git sha, a hash, a uuid fit none of them. Each begins where a word begins, which is looked at apart.
*/
const patterns: readonly [kind: string, pattern: RegExp][] = [
	[
		'private key',
		/-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[\s\S]{0,16384}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|(?:\\[nr]|[\w+/=\s:,.-])*)/g,
	],
	['Anthropic key', /sk-ant-[\w-]{20,}/g],
	['OpenAI or OpenRouter key', /sk-(?:(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,}|[A-Za-z0-9]{32,})/g],
	['GitHub token', /gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}/g],
	['GitLab token', /gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[\w-]{20,}/g],
	['AWS access key id', /(?:AKIA|ASIA)[A-Z2-7]{16}\b/g],
	[
		'AWS secret key',
		/(?<=aws_?secret_?access_?key[\\"'\s]*[:=][\\"'\s]*)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi,
	],
	['Google key', /AIza[\w-]{35}(?![\w-])/g],
	['Google token', /ya29\.[\w-]{30,}|GOCSPX-[\w-]{28}/g],
	['Slack token', /xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}/g],
	['Slack webhook', /https:\/\/hooks\.slack\.com\/services\/[\w/]{20,}/g],
	['Stripe key', /[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{32,}/g],
	['npm token', /npm_[A-Za-z0-9]{36}\b/g],
	['PyPI token', /pypi-AgE[\w-]{50,}/g],
	['Hugging Face token', /hf_[A-Za-z]{30,}\b/g],
	[
		'other provider’s key',
		/gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{37}|tgp_v1_[\w-]{40,}/g,
	],
	['DigitalOcean token', /do[opr]_v1_[a-f0-9]{64}\b/g],
	['SendGrid key', /SG\.[\w-]{22}\.[\w-]{43}(?![\w-])/g],
	['Telegram bot token', /\d{8,10}:AA[\w-]{33}(?![\w-])/g],
	['age key', /AGE-SECRET-KEY-1[A-Z0-9]{58}\b/g],
	['JSON web token', /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g],
	['bearer token', /(?<=authorization[\\"'\s]*[:=][\\"'\s]*(?:bearer|basic|token)\s+)[\w.~+/=-]{16,}/gi],
	[
		'password in an address',
		/(?<=[a-z][a-z0-9+.-]*:\/\/[^\s:/@"'\\<>]*:)(?!\$|\*+@|\{|%\w+%@)[^\s/@"'\\<>]{3,}(?=@[^\s"'\\])/gi,
	],
];

/** What a word begins behind; in text that is a string of JSON or of a shell, an escape for a line end or a colour too. */
const wordStart =
	/(?:^|[^A-Za-z0-9]|\\[nrtbfv]|\\(?:u00|x)[0-9a-f]{2}|(?:\\u001b|\\x1b|\\033|\\e)\[[0-9;]*m)$/i;
const longestStart = 24;

/** One secret has one number however often it comes, so that a reader still sees what is the same. */
export function redactor() {
	const numbers = new Map<string, number>();
	const found = new Map<string, {secrets: Set<string>; places: number; events: Set<number>}>();

	const hide = (secret: string, kind: string, seq: number): string => {
		const number = numbers.get(secret) ?? numbers.size + 1;
		numbers.set(secret, number);
		const entry = found.get(kind) ?? {secrets: new Set(), places: 0, events: new Set()};
		found.set(kind, entry);
		entry.secrets.add(secret);
		entry.places++;
		entry.events.add(seq);
		return `[${kind} ${number}, hidden]`;
	};
	const search = (given: string, seq: number): string =>
		patterns.reduce(
			(sum, [kind, pattern]) =>
				sum.replace(pattern, (secret, at: number, whole: string) =>
					wordStart.test(whole.slice(Math.max(0, at - longestStart), at)) ? hide(secret, kind, seq) : secret,
				),
			given,
		);
	/** Also where a colour begins inside of a secret or right before it: whoever reads the file does not see that. */
	const text = (given: string, seq: number): string => {
		const left = search(given, seq);
		const plain = plainText(left);
		if (plain === left) return left;
		const plainLeft = search(plain, seq);
		return plainLeft === plain ? left : plainLeft;
	};
	const value = (given: unknown, seq: number): unknown => {
		if (typeof given === 'string') return text(given, seq);
		if (Array.isArray(given)) return given.map((each) => value(each, seq));
		if (typeof given !== 'object' || given === null) return given;
		return Object.fromEntries(
			Object.entries(given).map(([name, each]) => [text(name, seq), value(each, seq)]),
		);
	};
	return {
		event: (event: Event): Event => value(event, event.seq) as Event,
		hidden: (): Hidden[] =>
			[...found].map(([kind, {secrets, places, events}]) => ({
				kind,
				secrets: secrets.size,
				places,
				events: [...events],
			})),
	};
}

/** Drafts that follow each other as one: a secret that streamed in two pieces is whole again, and found. */
export function joinDrafts(events: readonly Event[]): Event[] {
	const joined: Event[] = [];
	for (const event of events) {
		const last = joined.at(-1);
		if (event.type !== 'draft' || last?.type !== 'draft') {
			joined.push(event);
			continue;
		}
		const reasoning = `${last.reasoning ?? ''}${event.reasoning ?? ''}`;
		joined[joined.length - 1] = {...event, text: last.text + event.text, ...(reasoning ? {reasoning} : {})};
	}
	return joined;
}
