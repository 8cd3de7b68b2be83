import type {Message} from '../session/events.ts';
import type {Gateway, Request, StreamDelta} from './gateway.ts';

/** What the model says in one step. */
export type Step = {
	/** `{name}` stands for what `quote.name` finds. */
	say?: string;
	/** Patterns whose first group is looked for in the tool messages of the request, newest first. */
	quote?: Record<string, string>;
	/** Said instead where a quote is not found: there is nothing to quote if the conversation was not replayed. */
	otherwise?: string;
	calls?: {name: string; args: unknown}[];
};

/** What the scripted gateway plays: `fixtures/scripts/*.json`. */
export type Script = {
	/** The line of the model's name. */
	name: string;
	turns: {prompt: string; steps: Step[]}[];
};

/**
A gateway that plays a script: no key, no network, the same answers each time.

It is a pure function of the request, without a counter of its own. Its place is found from the messages it is given: the last
user message names the turn, the assistant messages after it the step. So a resumed process goes on where the log ended, and
an answer that quotes a result proves that the result was replayed. `paceMs` is the time between two words.
*/
export function scriptedGateway(script: Script, paceMs = 0): Gateway {
	return {
		name: `scripted (${script.name})`,
		async *stream(request, signal) {
			const step = findStep(script, request.messages);
			const text = fill(step, request.messages);
			for (const piece of text.match(/\S+\s*|\s+/g) ?? []) {
				if (paceMs > 0) await pause(paceMs, signal);
				if (signal.aborted) return;
				yield {type: 'text', text: piece};
			}
			const answered = request.messages.filter((message) => message.role === 'assistant').length;
			for (const [index, {name, args}] of (step.calls ?? []).entries()) {
				yield {
					type: 'call',
					index,
					id: `call_${answered + 1}_${index + 1}`,
					name,
					args: JSON.stringify(args),
				};
			}
			yield {
				type: 'usage',
				usage: {inputTokens: tokens(request), outputTokens: Math.ceil(JSON.stringify(step).length / 4)},
			};
			yield {type: 'finish', reason: step.calls ? 'tool_calls' : 'stop'} satisfies StreamDelta;
		},
	};
}

function findStep(script: Script, messages: readonly Message[]): Step {
	const last = messages.findLastIndex((message) => message.role === 'user');
	const asked = messages[last]?.content ?? '';
	const turn = script.turns.find((each) => plain(each.prompt) === plain(asked));
	if (!turn) {
		const prompts = script.turns.map((each) => `“${each.prompt}”`).join(', ');
		return {say: `I am a script, not a model, and know only these prompts: ${prompts}.`};
	}
	const done = messages.slice(last + 1).filter((message) => message.role === 'assistant').length;
	return turn.steps[done] ?? {say: 'The script of this turn ends here.'};
}

/** Capitals, punctuation and spaces do not make another prompt. */
function plain(text: string): string {
	return text
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]+/gu, ' ')
		.trim();
}

function fill(step: Step, messages: readonly Message[]): string {
	let text = step.say ?? '';
	for (const [name, pattern] of Object.entries(step.quote ?? {})) {
		const found = find(pattern, messages);
		if (found === undefined) return step.otherwise ?? '';
		text = text.replaceAll(`{${name}}`, () => found);
	}
	return text;
}

function find(pattern: string, messages: readonly Message[]): string | undefined {
	for (const message of messages.toReversed()) {
		if (message.role !== 'tool') continue;
		const found = new RegExp(pattern, 'm').exec(message.content)?.[1];
		if (found !== undefined) return found.trim();
	}
	return undefined;
}

function tokens(request: Request): number {
	const tools = request.tools.map(({name, description, parameters}) => ({name, description, parameters}));
	return Math.ceil((JSON.stringify(request.messages).length + JSON.stringify(tools).length) / 4);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(done, ms);
		signal.addEventListener('abort', done, {once: true});
		function done() {
			clearTimeout(timer);
			signal.removeEventListener('abort', done);
			resolve();
		}
	});
}
