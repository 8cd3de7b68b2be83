import type {Event} from '../session/events.ts';
import type {Holder} from '../session/lock.ts';
import type {End} from '../session/read.ts';
import type {Preview} from '../tools/tool.ts';
import type {Mode} from './gate.ts';

/** The session that the agent holds. Before the first prompt there is none. */
export type SessionRef = {id: string; path: string};

/** Where tools work (a real path), and which model is asked where. */
export type Place = {
	workspace: string;
	model: string;
	/** The gateway's name. */
	provider: string;
	/** What passes unasked. */
	mode: Mode;
	/** Whether commands have a sandbox to run in unasked. */
	sandbox: boolean;
	/** Tokens that the model takes in all; absent while that is not known. */
	contextWindow?: number;
};

/** What the turn waits for a person to say. It is an awaited promise, not an exception: nothing else happens meanwhile. */
export type Question =
	| {
			kind: 'tool';
			/** The call's id. */
			id: string;
			tool: string;
			label: string;
			preview: Preview;
			/** Why it is asked. */
			why: string;
			/** A command that may be allowed for the times to come, to the letter. */
			command?: string;
	  }
	/** The same call has had the same result so many times in this turn. */
	| {kind: 'repeat'; id: string; tool: string; label: string; times: number}
	/** The turn has used as many model calls as it may without asking. */
	| {kind: 'steps'; id: string; steps: number};

/** A refusal may tell the model why. */
export type Answer = {allow: true; remember?: Remember} | {allow: false; reason?: string};

/** A command to be allowed from now on, to the letter, in this workspace; `keep` outlasts the session. */
export type Remember = {command: string; keep: boolean};

/** Why the agent is at rest. Only `done` is what was asked for. */
export type Rest =
	| {why: 'done'}
	| {why: 'cancelled'}
	/** `message` is a sentence for the person; `unsent` is a prompt that did not get into the session. */
	| {why: 'failed'; message: string; unsent?: string}
	| {why: 'limit'; message: string}
	/** The log is closed: nothing said from here on would be kept. */
	| {why: 'unsaved'; message: string; unsent?: string};

/** The one stream that leaves the agent: what the loop did, in the order in which it did it. */
export type AgentEvent =
	/**
	A session is on the screen: all its events, and how its log ends. null: a new one, which begins with its first prompt.
	`recoveredBy` is the newest session that went on from this cut before. With a `holder` another process writes it: it is shown
	as far as it had come, and takes no prompt.
	*/
	| {
			type: 'opened';
			session: SessionRef | null;
			place: Place;
			events: readonly Event[];
			end: End;
			recoveredBy?: string;
			holder?: Holder;
	  }
	/** A cut session goes on in a new file, which holds the same lines so far. */
	| {type: 'moved'; session: SessionRef}
	/** This event is on disk. */
	| {type: 'logged'; event: Event}
	| {type: 'start'}
	/** After an `unsaved` rest: the disk takes writes again, and the next prompt goes on in a new session. */
	| {type: 'writable'}
	/** The next piece of the answer that is streaming. It is not on disk. */
	| {type: 'draft'; text: string; reasoning: string}
	/** A failed try is waited out: until when (epoch ms), and why. null: the wait is over. */
	| {type: 'retry'; wait: {until: number; why: string} | null}
	/** The model was switched, or more is known of it. */
	| {type: 'placed'; place: Place}
	| {type: 'gate'; question: Question}
	| {type: 'answered'; id: string}
	| {type: 'tool_start'; id: string; name: string; label: string}
	| {type: 'tool_output'; id: string; text: string}
	/** One sentence for the person. */
	| {type: 'notice'; text: string}
	| {type: 'rest'; rest: Rest};
