import * as z from 'zod';
import type {FileChange} from '../session/events.ts';
import type {Sandbox} from './process-group.ts';

/** What a tool is given beside its arguments. Nothing in here comes from the model. */
export type ToolContext = {
	/** Real path of the folder that tools work in. */
	workspace: string;
	/** Folders that no tool may read or write (mca's own data and config), as real paths. */
	forbidden: readonly string[];
	/** Folder for output that is too long for the conversation; made on demand, 0700. */
	spillFolder: string;
	/** The call's id: names the spill file. */
	callId: string;
	/** Aborted when the person stops the turn. Every tool ends within 200 ms of it. */
	signal: AbortSignal;
	/** Called with text as it comes, for the screen only, already as bounded as the tool makes it. */
	onOutput?: (text: string) => void;
	/** The `basis` of the preview that was approved: a tool that writes refuses if the file is no longer that. */
	approvedBasis?: string | null;
	/** With it a command runs in the sandbox, whatever its arguments say; without it as mca itself does. */
	sandbox?: Sandbox;
	/** Environment variables that no command may see, beside those whose names say that they hold a secret. */
	hiddenVariables?: readonly string[];
	/** sha256 (hex) of files as the model last saw or left them in this session, by real path. The tools keep it. */
	seen?: Map<string, string>;
};

/** A failure is a result like any other: `ok: false` and a sentence that tells the model what to do instead. */
export type ToolResult = {
	ok: boolean;
	/** What the model is told. */
	content: string;
	/** One line for people: `exit 1`, `84 lines`, `+1 −1`. */
	summary: string;
	/** Whether `content` holds less than there was. */
	truncated?: boolean;
	stoppedBy?: 'timeout' | 'cancel' | 'limit';
	files?: FileChange[];
	/** Path of the file with the full output. */
	spill?: string;
};

/** What a call would do, for the person who is asked. */
export type Preview =
	| {kind: 'command'; text: string}
	/**
	`basis` is the sha256 (hex) of the file that the diff starts from, null where there is none. `approximate` says that the text
	to replace was not found to the letter, and where it is meant to be: only a person may let that pass.
	*/
	| {kind: 'diff'; path: string; text: string; basis: string | null; approximate?: string}
	/** It would fail: why. Running it gives the same sentence as a result. */
	| {kind: 'fails'; text: string};

/** What a call would do, as far as the gate has to know. */
export type Acts =
	| {kind: 'read'}
	| {kind: 'change'}
	/** `outside`: the model asks to run it outside of the sandbox. */
	| {kind: 'command'; command: string; outside: boolean};

/** A call whose arguments fit the tool's schema. */
export type PreparedCall = {
	tool: Tool;
	/** One line that tells this call from another: the command, the path, the pattern. */
	label: string;
	/** The paths it names, as the model wrote them. */
	paths: readonly string[];
	acts: Acts;
	preview(context: ToolContext): Promise<Preview>;
	run(context: ToolContext): Promise<ToolResult>;
};

export type Tool = {
	name: string;
	description: string;
	/** It can change nothing: inside the workspace it runs unasked, and beside other read-only calls. */
	readOnly: boolean;
	/** JSON Schema of the arguments, as the model is told. */
	parameters: Record<string, unknown>;
	/** Check the model's own JSON text. The reason is a sentence for the model. */
	prepare(argsText: string): {ok: true; call: PreparedCall} | {ok: false; reason: string};
};

type Definition<S extends z.ZodObject> = {
	name: string;
	description: string;
	readOnly: boolean;
	/** Both the check and, through `describe`, what the model is told. */
	schema: S;
	label(args: z.infer<S>): string;
	paths(args: z.infer<S>): string[];
	/** Left out where `readOnly` says it all. */
	acts?(args: z.infer<S>): Acts;
	/** Left out by read-only tools: nobody is asked about them but for what they read. */
	preview?(args: z.infer<S>, context: ToolContext): Promise<Preview>;
	run(args: z.infer<S>, context: ToolContext): Promise<ToolResult>;
};

export function defineTool<S extends z.ZodObject>(definition: Definition<S>): Tool {
	const {name, description, readOnly, schema} = definition;
	const {$schema, ...parameters} = z.toJSONSchema(schema, {io: 'input'});
	const tool: Tool = {
		name,
		description,
		readOnly,
		parameters,
		prepare(argsText) {
			let value: unknown;
			try {
				value = JSON.parse(argsText);
			} catch {
				return {
					ok: false,
					reason: `The arguments of ${name} are not valid JSON, so nothing was run. Send the call again.`,
				};
			}
			const checked = schema.safeParse(value);
			if (!checked.success) {
				return {
					ok: false,
					reason: `The arguments of ${name} do not fit, so nothing was run: ${issues(checked.error)}.`,
				};
			}
			const args = checked.data;
			const label = definition.label(args);
			const call: PreparedCall = {
				tool,
				label,
				paths: definition.paths(args),
				acts: definition.acts?.(args) ?? {kind: readOnly ? 'read' : 'change'},
				preview: async (context) =>
					definition.preview
						? definition.preview(args, context)
						: {kind: 'command', text: `${name} ${label}`},
				run: (context) => definition.run(args, context),
			};
			return {ok: true, call};
		},
	};
	return tool;
}

function issues(error: z.ZodError): string {
	return error.issues
		.map((issue) => (issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message))
		.join('; ');
}
