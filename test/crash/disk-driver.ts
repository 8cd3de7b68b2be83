// Talks until the disk is full, then does what a person can do. It runs where the disk is small and says what it finds there, since
// nobody else may be able to look.
import {createHash} from 'node:crypto';
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync} from 'node:fs';
import {basename, join} from 'node:path';
import {createInterface} from 'node:readline';
import {Agent} from '../../src/agent/agent.ts';
import type {Rest} from '../../src/agent/agent-event.ts';
import {scriptedGateway} from '../../src/agent/scripted.ts';
import {type End, readEvents} from '../../src/session/read.ts';
import {sessionFolder} from '../../src/session/sessions.ts';
import {script} from './driver-script.ts';

export type Found = {
	id: string;
	/** sha256 of the file. */
	hash: string;
	end: End;
	/** The user messages, by their first word. */
	asked: string[];
	cut?: object;
};

function tell(told: string, more: object = {}): void {
	writeSync(1, `${JSON.stringify({told, ...more})}\n`);
}

const [place = ''] = process.argv.slice(2);
const [workspace, data, ballast] = [join(place, 'repo'), join(place, 'data'), join(place, 'ballast')];
mkdirSync(workspace, {recursive: true});
const folder = sessionFolder(data, workspace);
const agent = new Agent({
	workspace,
	data,
	forbidden: [data],
	gateway: scriptedGateway(script),
	defaultModel: 'scripted',
	version: '0.1.0',
	tools: [],
	decide: () => ({allow: true}),
});

async function found(): Promise<{sessions: Found[]; others: string[]}> {
	const names = readdirSync(folder).sort();
	const sessions = names
		.filter((name) => name.endsWith('.jsonl'))
		.map(async (name) => {
			const path = join(folder, name);
			const {events, end} = await readEvents(path);
			const asked = events.flatMap((event) =>
				event.type === 'message' && event.message.role === 'user'
					? [event.message.content.split(' ')[0] ?? '']
					: [],
			);
			const fork = events.findLast((event) => event.type === 'fork');
			const cut = fork?.type === 'fork' && fork.cut ? {cut: fork.cut} : {};
			const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
			return {id: basename(name, '.jsonl'), hash, end, asked, ...cut};
		});
	return {
		sessions: await Promise.all(sessions),
		others: names.filter((name) => !name.endsWith('.jsonl')),
	};
}

/** Take what room there is, down to the last byte. */
function fill(): void {
	for (let bytes = 2 ** 20; bytes >= 1; bytes /= 2) {
		try {
			for (;;) writeFileSync(ballast, Buffer.alloc(bytes), {flag: 'a'});
		} catch {
			// Half of it may still fit.
		}
	}
}

/** The first word of what came back unsent, which is long. */
function short(rest: Rest): object {
	return 'unsent' in rest && rest.unsent ? {...rest, unsent: rest.unsent.split(' ')[0]} : rest;
}

async function talkUntilFull(): Promise<string> {
	for (let n = 1; n < 100; n++) {
		const rest = await agent.submit(`p${n} ${'x'.repeat(100_000)}`);
		if (rest.why === 'done') continue;
		tell('full', {rest: short(rest), asked: n, ...(await found())});
		return 'unsent' in rest ? (rest.unsent ?? '') : '';
	}
	throw new Error('this disk is not small');
}

const orders = createInterface({input: process.stdin})[Symbol.asyncIterator]();

/** Each order is one step; without one more it ends. */
for (let unsent = ''; ; ) {
	const {value} = await orders.next();
	const {step} = JSON.parse(value ?? '{"step":"end"}');
	if (step === 'ballast') writeFileSync(ballast, Buffer.alloc(700_000));
	if (step === 'talk') unsent = await talkUntilFull();
	if (step === 'again') {
		const rest = await agent.submit(unsent);
		tell('again', {rest: short(rest), ...(await found())});
	}
	if (step === 'free') {
		const alive = setInterval(() => {}, 1000);
		const writable = new Promise<void>((resolve) => {
			agent.subscribe((event) => event.type === 'writable' && resolve());
		});
		rmSync(ballast);
		await writable;
		clearInterval(alive);
		tell('again', {rest: short(await agent.submit(unsent)), ...(await found())});
	}
	if (step === 'newOnFull') {
		fill();
		await agent.startNew();
		const rest = await agent.submit('new');
		tell('again', {rest, session: agent.session, ...(await found())});
		rmSync(ballast);
		tell('again', {rest: await agent.submit('new'), ...(await found())});
	}
	if (step === 'end') break;
}
await agent.close();
process.exit(0);
