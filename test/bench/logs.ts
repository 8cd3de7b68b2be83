import {closeSync, openSync, writeFileSync, writeSync} from 'node:fs';

/** Writes a log of about `bytes` as a working session would have left it: questions, answers, tool results of 1 to 13 kB. */
export function writeLog(path: string, bytes: number): {events: number; messageBytes: number} {
	const fd = openSync(path, 'w');
	const source = 'const value = compute(input); // keep the result\n';
	const prose = 'The value is computed twice; “once” is enough – done. ';
	let seq = 0;
	let written = 0;
	let messageBytes = 0;
	let buffer = '';
	const add = (event: {type: string; [field: string]: unknown}) => {
		seq++;
		const line = `${JSON.stringify({seq, ts: new Date(1_757_239_200_000 + seq * 1000).toISOString(), ...event})}\n`;
		const length = Buffer.byteLength(line);
		written += length;
		if (event.type === 'message') messageBytes += length;
		buffer += line;
		if (buffer.length > 1 << 20) {
			writeSync(fd, buffer);
			buffer = '';
		}
	};
	const message = (message: object, more: object = {}) => add({type: 'message', message, ...more});
	const usage = (finish: string) =>
		add({
			type: 'usage',
			model: 'm',
			inputTokens: 812,
			outputTokens: 41,
			estimated: false,
			ms: 1180,
			finish,
			costUsd: null,
		});
	const head = {id: 's-20260907-100000-ab12', workspace: '/w', model: 'm', version: '0.1.0', format: 1};
	message({role: 'system', content: 'You are mca.'}, {session: head});
	const verdict = {state: 'allow', by: 'builtin', why: 'it only reads inside the workspace'};
	while (written < bytes) {
		const id = `c${seq}`;
		message({role: 'user', content: `look at file ${seq} and mend what is wrong with it`});
		usage('tool_calls');
		const toolCalls = [{id, name: 'read_file', args: `{"path":"src/file-${seq}.ts"}`}];
		message({role: 'assistant', content: 'Let me read it first.', toolCalls});
		const content = source.repeat(20 + (seq % 7) * 40);
		add({
			type: 'tool_end',
			id,
			name: 'read_file',
			result: {ok: true, content: '84 lines'},
			ms: 3,
			chars: content.length,
			truncated: false,
			verdict,
		});
		message({role: 'tool', toolCallId: id, content});
		usage('stop');
		message({role: 'assistant', content: prose.repeat(3 + (seq % 5))});
	}
	writeSync(fd, buffer);
	closeSync(fd);
	return {events: seq, messageBytes};
}

/** Writes a conversation of `messages` messages of 20 to 80 words, with the usage of each answer. */
export function writeChat(path: string, messages: number): {events: number} {
	const lines: string[] = [];
	const add = (event: object) => {
		const seq = lines.length + 1;
		lines.push(JSON.stringify({seq, ts: new Date(1_757_239_200_000 + seq * 1000).toISOString(), ...event}));
	};
	const words = (n: number) =>
		Array.from({length: 20 + (n % 61)}, (_, at) => `word${(n * 7 + at) % 97}`).join(' ');
	const head = {id: 's-20260907-100000-ab12', workspace: '/w', model: 'm', version: '0.1.0', format: 1};
	add({type: 'message', message: {role: 'system', content: 'You are mca.'}, session: head});
	for (let n = 1; n < messages; n++) {
		if (n % 2 === 1) {
			add({type: 'message', message: {role: 'user', content: `look at file ${n}: ${words(n)}`}});
			continue;
		}
		const usage = {
			model: 'm',
			inputTokens: 812,
			outputTokens: 41,
			estimated: false,
			ms: 1180,
			finish: 'stop',
		};
		add({type: 'usage', ...usage, costUsd: null});
		add({type: 'message', message: {role: 'assistant', content: words(n)}});
	}
	writeFileSync(path, `${lines.join('\n')}\n`);
	return {events: lines.length};
}
