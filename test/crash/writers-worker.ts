// One of several who want the same session. It does as it is told and says what came of it.
import {writeSync} from 'node:fs';
import {createInterface} from 'node:readline';
import type {Body} from '../../src/session/events.ts';
import {maxEventBytes, SessionLog} from '../../src/session/log.ts';

export type Order =
	| {do: 'reopen'; path: string}
	/** Lines of 1 MiB, all of one letter. */
	| {do: 'append'; count: number; letter: string}
	| {do: 'create'; folder: string; count: number}
	| {do: 'close'};

function tell(told: string, more: object = {}): void {
	writeSync(1, `${JSON.stringify({told, ...more})}\n`);
}

const text = (letter: string) => letter.repeat(maxEventBytes - 200);
const user = (content: string): Body => ({type: 'message', message: {role: 'user', content}});

let log: SessionLog | undefined;

async function obey(order: Order): Promise<void> {
	switch (order.do) {
		case 'reopen': {
			const opened = await SessionLog.reopen(order.path);
			if (opened.at === 'open') log = opened.log;
			tell(opened.at, opened.at === 'held' ? {holder: opened.holder} : {});
			return;
		}
		case 'append': {
			const appends = Array.from({length: order.count}, () => log?.append(user(text(order.letter))));
			const [failed] = (await Promise.allSettled(appends)).filter((end) => end.status === 'rejected');
			tell('appended', failed ? {error: String(failed.reason.message)} : {});
			return;
		}
		case 'create': {
			const ids: string[] = [];
			while (ids.length < order.count) {
				const made = await SessionLog.create(order.folder, (id) => [
					{
						type: 'message',
						message: {role: 'system', content: 'You are mca.'},
						session: {id, workspace: '/w', model: 'none', version: '0', format: 1},
					},
					user(`from ${process.pid}`),
				]);
				ids.push(made.log.id);
				await made.log.close();
			}
			tell('created', {ids});
			return;
		}
		case 'close':
			await log?.close();
			log = undefined;
			tell('closed');
	}
}

tell('ready');
for await (const line of createInterface({input: process.stdin})) await obey(JSON.parse(line));
process.exit(0);
