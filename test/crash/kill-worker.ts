// A writer that is there to be killed. It takes one order, goes on with the session as mca does, and then appends events until it
// is killed. It says what it is about to append before it does, and what it was told was kept once it was: with a synchronous
// write, so that a kill cannot take back a word.
import {createHash} from 'node:crypto';
import {writeSync} from 'node:fs';
import {createInterface} from 'node:readline';
import type {Body, Event} from '../../src/session/events.ts';
import {fork, recover} from '../../src/session/fork.ts';
import {maxEventBytes, SessionLog} from '../../src/session/log.ts';
import {randomFrom} from '../helpers/processes.ts';

export type Order = {
	seed: number;
	folder: string;
	do: 'create' | 'goOn' | 'fork';
	/** The session to go on with. */
	path: string;
	/** Events to append before it ends by itself; without it it never does. */
	events?: number;
};

const filler = `${'The quick brown fox jumps over the lazy dog. '.repeat(30)}é\u2028漢😀\t"\\\n`;
const plain = 'x'.repeat(maxEventBytes);

function tell(told: string, more: object): void {
	writeSync(1, `${JSON.stringify({told, ...more})}\n`);
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

function issue(...bodies: Body[]): Body[] {
	for (const body of bodies) {
		const text = JSON.stringify(body);
		tell('issued', {sha: sha(text), bytes: text.length});
	}
	return bodies;
}

function acknowledge(log: SessionLog, events: readonly Event[]): void {
	for (const event of events) {
		tell('acked', {session: log.id, seq: event.seq, sha: sha(`${JSON.stringify(event)}\n`)});
	}
}

async function take(order: Order, bodies: (count: number) => Body[]): Promise<SessionLog> {
	if (order.do === 'create') {
		const {log, events} = await SessionLog.create(order.folder, (id) => {
			const session = {id, workspace: '/w', model: 'none', version: '0', format: 1};
			return issue(
				{type: 'message', message: {role: 'system', content: 'You are mca.'}, session},
				...bodies(1),
			);
		});
		acknowledge(log, events);
		return log;
	}
	if (order.do === 'fork') {
		const forked = await fork(order.path);
		if (!forked.ok) throw new Error(forked.reason);
		return forked.log;
	}
	const opened = await SessionLog.reopen(order.path);
	tell('opened', {at: opened.at});
	if (opened.at === 'held') throw new Error(`held by ${JSON.stringify(opened.holder)}`);
	if (opened.at === 'open') return opened.log;
	const {line, reason, ignoredBytes} = opened.end;
	const {log, events} = await recover(
		order.path,
		{...opened.read, cut: {line, reason, ignoredBytes}},
		issue(...bodies(1)),
	);
	await opened.lock.release();
	acknowledge(log, events);
	return log;
}

async function work(order: Order): Promise<void> {
	const random = randomFrom(order.seed);
	let made = 0;
	/** 300 B to 1 MiB a line; small ones are frequent, and the envelope is within the 200 bytes. */
	const body = (): Body => {
		const size = Math.min(
			300 * Math.exp(random() ** 2.5 * Math.log(maxEventBytes / 300)),
			maxEventBytes - 200,
		);
		const text = size < 4000 ? filler : plain;
		const content = `${order.seed}/${made++} ${text}`.slice(0, size - 150).toWellFormed();
		return random() < 0.2
			? {type: 'draft', text: content}
			: {type: 'message', message: {role: 'user', content}};
	};
	const bodies = (count: number) => Array.from({length: count}, body);

	const log = await take(order, (count) =>
		bodies(count).map((each) =>
			each.type === 'draft' ? {type: 'message', message: {role: 'user', content: each.text}} : each,
		),
	);
	tell('took', {path: log.path});
	while (made < (order.events ?? Number.POSITIVE_INFINITY)) {
		// Some are waited for, some are not, and some are two lines in one write.
		const appends = Array.from({length: 1 + Math.floor(random() * 3)}, () => {
			const batch = issue(...bodies(random() < 0.2 ? 2 : 1));
			return log.append(...batch).then((events) => acknowledge(log, events));
		});
		await Promise.all(appends);
	}
	await log.close();
}

tell('ready', {});
createInterface({input: process.stdin}).once('line', async (line) => {
	await work(JSON.parse(line));
	process.exit(0);
});
