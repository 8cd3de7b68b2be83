import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {sessionFolder} from '../../src/session/sessions.ts';
import {answer, call, events, line, result, system, toolEnd, usage, user} from '../helpers/log-file.ts';
import {makeWorld} from '../helpers/mca.ts';

/** Resident memory of a process, MB. */
function rss(pid: number): number {
	return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

const words = (n: number) =>
	Array.from({length: 20 + (n % 61)}, (_, at) => `word${(n * 7 + at) % 97}`).join(' ');

/** 10,000 messages, 2,000 of them the results of tools. */
function longSession() {
	const turns = Array.from({length: 2000}, (_, n) => [
		user(`${n}: ${words(n)}`),
		usage(),
		call(`c${n}`),
		toolEnd(`c${n}`),
		result(`c${n}`, `${words(n)}\n`.repeat(3)),
		usage(),
		answer(`## ${n}\n\n- ${words(n)}\n- \`code\` and **bold**, 漢字 🎉`),
		user(`and ${n}? ${words(n + 1)}`),
		answer(words(n + 2)),
	]);
	return events([system, ...turns.flat()]);
}

test('through 200 resizes, scrolling, keys and a streaming answer over 10,000 messages the memory stays flat', async () => {
	const say = Array.from(
		{length: 40},
		(_, n) => `### Part ${n}\n\n${words(n)}\n\n\`\`\`js\nconst x = ${n};\n\`\`\`\n`,
	).join('\n');
	const script = {name: 'long', turns: [{prompt: 'go', steps: [{say}]}]};
	const world = makeWorld({script, env: {MCA_SCRIPT_PACE_MS: '1'}});
	const folder = sessionFolder(world.home, world.workspace);
	mkdirSync(folder, {recursive: true});
	writeFileSync(join(folder, 's-20260907-100000-ab12.jsonl'), longSession().map(line).join(''));
	const terminal = world.open({args: ['--resume']});
	await terminal.untilIdle('messages replayed');

	const samples: number[] = [];
	for (let round = 0; round < 10; round++) {
		terminal.type('go\r');
		for (let n = 0; n < 20; n++) {
			terminal.resize(60 + ((round * 37 + n * 23) % 140), 16 + ((round * 11 + n * 7) % 40));
			terminal.press(n % 2 === 0 ? 'page up' : 'page down');
			terminal.type('x');
			const drawn = terminal.bytes.length;
			await terminal.until(() => terminal.bytes.length > drawn);
		}
		terminal.resize(120, 36);
		terminal.press('ctrl+u');
		await terminal.untilIdle(/ask · no sandbox/);
		samples.push(rss(terminal.pid()));
	}
	// The first rounds fill the caches; from then on nothing may grow with what was done.
	const [early, late] = [Math.max(...samples.slice(2, 5)), Math.max(...samples.slice(7))];
	expect(late / early, `MB after each round: ${samples.map(Math.round).join(' ')}`).toBeLessThan(1.25);
	expect(world.log().filter((event) => event.type === 'message').length).toBe(
		longSession().filter((event) => event.type === 'message').length + 20,
	);
}, 300_000);
