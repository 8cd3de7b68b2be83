import type {AgentEvent, Place, Question, Rest, SessionRef} from '../agent/agent-event.ts';
import {noSpend, plus, type Spend, spend} from '../session/audit.ts';
import type {Event, EventOf, ToolCall} from '../session/events.ts';
import type {Holder} from '../session/lock.ts';
import type {End} from '../session/read.ts';

/** What the conversation pane shows, one entry a message or call, in the order of the log. */
export type Item =
	| {kind: 'user'; seq: number; text: string}
	| {kind: 'assistant'; seq: number; text: string; reasoning?: string}
	/** `end` comes with its tool_end event; until then it waits or, if it is in `View.running`, runs. */
	| {kind: 'call'; seq: number; call: ToolCall; end?: EventOf<'tool_end'>}
	| {kind: 'error'; seq: number; text: string; did: EventOf<'error'>['did']; partial?: string};

/** What is on the screen of the agent's doing. All of it is folded from AgentEvents, and what is not live from the log's events. */
export type View = {
	session: SessionRef | null;
	place: Place;
	/** Every event of the session; the pickers and the log view read them. */
	events: readonly Event[];
	items: readonly Item[];
	/** The events that rebuild nothing, for the sidebar. */
	activity: readonly Event[];
	/** Spent by this session itself, and before the last fork. */
	own: Spend;
	inherited: Spend;
	/** The damage of the log that was opened, and the session that goes on from it once there is one. */
	cut: {
		id: string;
		path: string;
		end: Extract<End, {at: 'cut'}>;
		recoveredBy?: string;
		movedTo?: string;
	} | null;
	/** Another process writes this session: it can be read and forked here. */
	holder: Holder | null;
	busy: boolean;
	/** The answer that is streaming. It is not on disk, so it is not an item. */
	draft: {text: string; reasoning: string} | null;
	/** What a killed process had streamed of an answer that never came: it is on disk, but no message. */
	interrupted: {text: string; reasoning: string} | null;
	/** A failed try is waited out. */
	retry: {until: number; why: string} | null;
	/** Tokens of the last request and its answer: how full the model's context is. */
	contextTokens: number;
	/** Calls that run now, with the last of what they printed. */
	running: Readonly<Record<string, string>>;
	question: Question | null;
	/** How the last turn came to rest, where that was not as asked. */
	rest: Exclude<Rest, {why: 'done'}> | null;
	notice: string | null;
	/** After an unsaved rest: the disk takes writes again. */
	writable: boolean;
};

const outputKept = 4000;
const neverCame = 'The process ended in the middle of this answer; the model does not know it.';

export const emptyView: View = {
	session: null,
	place: {workspace: '', model: '', provider: '', mode: 'ask', sandbox: false},
	events: [],
	items: [],
	activity: [],
	own: noSpend,
	inherited: noSpend,
	cut: null,
	holder: null,
	busy: false,
	draft: null,
	interrupted: null,
	retry: null,
	contextTokens: 0,
	running: {},
	question: null,
	rest: null,
	notice: null,
	writable: false,
};

/** The one reducer. `opened` folds its events through the same branch as `logged`, so a resumed screen equals the one left. */
export function reduce(view: View, event: AgentEvent): View {
	switch (event.type) {
		case 'opened': {
			const {session, place, end, recoveredBy, holder = null} = event;
			const known = recoveredBy ? {recoveredBy} : {};
			const cut = session && end.at === 'cut' ? {id: session.id, path: session.path, end, ...known} : null;
			return fold({...emptyView, session, place, cut, holder}, event.events);
		}
		case 'moved':
			return {
				...view,
				session: event.session,
				cut: view.cut && {...view.cut, movedTo: event.session.id},
			};
		case 'logged':
			return fold(view, [event.event]);
		case 'start':
			return {...view, busy: true, rest: null, notice: null, writable: false};
		case 'writable':
			return {...view, writable: true};
		case 'draft': {
			const draft = view.draft ?? {text: '', reasoning: ''};
			return {
				...view,
				draft: {text: draft.text + event.text, reasoning: draft.reasoning + event.reasoning},
			};
		}
		case 'retry':
			return {...view, retry: event.wait};
		case 'placed':
			return {...view, place: event.place};
		case 'gate':
			return {...view, question: event.question};
		case 'answered':
			return view.question?.id === event.id ? {...view, question: null} : view;
		case 'tool_start':
			return {...view, running: {...view.running, [event.id]: ''}};
		case 'tool_output': {
			const printed = (view.running[event.id] ?? '') + event.text;
			return {...view, running: {...view.running, [event.id]: printed.slice(-outputKept)}};
		}
		case 'notice':
			return {...view, notice: event.text};
		case 'rest':
			return {
				...view,
				busy: false,
				draft: null,
				retry: null,
				running: {},
				question: null,
				rest: event.rest.why === 'done' ? null : event.rest,
			};
	}
}

/** Take events of the log into the view. One copy of each list, however many events there are. */
function fold(view: View, added: readonly Event[]): View {
	const items = [...view.items];
	const activity = [...view.activity];
	let {own, inherited, draft, interrupted, contextTokens, running} = view;
	for (const event of added) {
		if (event.type !== 'draft' && interrupted) {
			// The answer came after all, or its error tells of it; anything else went on without it.
			if (event.type !== 'usage' && event.type !== 'error') {
				const partial = interrupted.text || interrupted.reasoning;
				items.push({kind: 'error', seq: event.seq - 1, text: neverCame, did: 'cancelled', partial});
			}
			interrupted = null;
		}
		if (event.type === 'message') {
			const {seq, message} = event;
			if (message.role === 'user') items.push({kind: 'user', seq, text: message.content});
			if (message.role === 'assistant') {
				draft = null;
				const {content, reasoning} = message;
				if (content !== '' || reasoning) {
					items.push({kind: 'assistant', seq, text: content, ...(reasoning ? {reasoning} : {})});
				}
				for (const call of message.toolCalls ?? []) items.push({kind: 'call', seq, call});
			}
			continue;
		}
		activity.push(event);
		if (event.type === 'usage') {
			own = spend(own, event);
			contextTokens = event.inputTokens + event.outputTokens;
		}
		if (event.type === 'draft') {
			const {text = '', reasoning = ''} = interrupted ?? {};
			interrupted = {text: text + event.text, reasoning: reasoning + (event.reasoning ?? '')};
		}
		if (event.type === 'fork') {
			inherited = plus(inherited, own);
			own = noSpend;
		}
		if (event.type === 'tool_end') {
			const at = items.findLastIndex(
				(item) => item.kind === 'call' && item.call.id === event.id && !item.end,
			);
			const item = items[at];
			if (item?.kind === 'call') items[at] = {...item, end: event};
			if (running[event.id] !== undefined) {
				const {[event.id]: _ended, ...rest} = running;
				running = rest;
			}
		}
		if (event.type === 'error') {
			draft = null;
			const {seq, message, did, partial} = event;
			items.push({kind: 'error', seq, text: message, did, ...(partial ? {partial} : {})});
		}
	}
	return {
		...view,
		events: [...view.events, ...added],
		items,
		activity,
		own,
		inherited,
		draft,
		interrupted,
		contextTokens,
		running,
	};
}
