import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {readEvents} from '../../src/session/read.ts';
import {sessionFiles, sessionFolder} from '../../src/session/sessions.ts';
import {makeWorld} from '../helpers/mca.ts';
import {endings, kinds, oldId, polyglotLines} from '../helpers/recover.ts';

const prompt = 'which case failed?';

/** What the script says: a quote of the tool result, where one was replayed. */
const quoting = 'The case that failed was “durch null: 零 𝄞”.\n';
const nothing = 'There is no test run in the conversation that I was given, so there is nothing to quote.\n';

const every = 97;

test(`every ${every}th cut goes on in a process of its own, which says line, reason and bytes and quotes what it replayed`, async () => {
	const world = makeWorld();
	const lines = polyglotLines(world.workspace);
	const whole = Buffer.concat(lines);
	const ends = lines.map((_, index) => Buffer.concat(lines.slice(0, index + 1)).length);

	const goOn = async (size: number) => {
		const home = join(world.root, `home-${size}`);
		const path = join(sessionFolder(home, world.workspace), `${oldId}.jsonl`);
		mkdirSync(dirname(path), {recursive: true});
		writeFileSync(path, whole.subarray(0, size));
		const {status, stdout, stderr} = await world.run(['run', '--resume', oldId, prompt], {
			env: {MCA_HOME: home},
		});

		const count = ends.filter((end) => end <= size).length;
		const bytes = ends[count - 1] ?? 0;
		const torn = bytes < size;
		const [newest = ''] = await sessionFiles(dirname(path));
		const {events, end} = await readEvents(newest);
		const own = ['user', 'usage', 'assistant'];
		expect({
			size,
			status,
			problem: status === 0 ? '' : stderr,
			stdout,
			cut: /^Session .*$/m.exec(stderr)?.[0],
			file: readFileSync(path).subarray(0, size).equals(whole.subarray(0, size)),
			grew: readFileSync(path).length > size,
			kept: readFileSync(newest).subarray(0, bytes).equals(whole.subarray(0, bytes)),
			end,
			added: kinds(events.slice(count)),
		}).toEqual({
			size,
			status: 0,
			problem: '',
			stdout: count < 6 ? nothing : quoting,
			cut: torn
				? `Session ${oldId} stops at line ${count + 1}: the line does not end. ${size - bytes} bytes from there on are ignored and left as they are.`
				: expect.stringMatching(/^Session \S+\. Go on with: /),
			file: true,
			grew: !torn && count > 0,
			kept: true,
			end: {at: 'whole'},
			added:
				count === 0
					? ['system', ...own]
					: [...(torn ? ['fork'] : []), ...(endings[count]?.lost ?? []), ...own],
		});

		// The same cut again: no second recovery, the first one goes on.
		if (!torn || count === 0 || size % (5 * every) !== 0) return;
		const again = await world.run(['run', '--resume', oldId, prompt], {env: {MCA_HOME: home}});
		expect(again).toMatchObject({status: 0, stdout: count < 6 ? nothing : quoting});
		expect(again.stderr).toContain('It was recovered before; going on with');
		expect(await sessionFiles(dirname(path))).toEqual([newest, path]);
		expect(kinds((await readEvents(newest)).events.slice(-6))).toEqual([...own, ...own]);
		expect(readFileSync(path).equals(whole.subarray(0, size))).toBe(true);
	};

	const sizes = Array.from({length: Math.floor(whole.length / every)}, (_, index) => (index + 1) * every);
	for (let at = 0; at < sizes.length; at += 2) await Promise.all(sizes.slice(at, at + 2).map(goOn));
});
