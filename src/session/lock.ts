import {createHash} from 'node:crypto';
import {mkdirSync, realpathSync, rmSync} from 'node:fs';
import {createConnection, createServer, type Server} from 'node:net';
import {tmpdir, userInfo} from 'node:os';
import {basename, dirname, join} from 'node:path';

/** Who holds a session, as far as it answers: its process, and when it took the session (ISO 8601). */
export type Holder = {pid: number; since: string} | 'unknown';

export type Lock = {release(): Promise<void>};
export type Locked = {ok: true; lock: Lock} | {ok: false; holder: Holder};

/** How long a holder may take to say who it is, ms. */
const answerMs = 500;

/**
Take the one writer's place of a session, or hear who has it.

The lock is a listening socket, which the kernel takes away from a dead process at once: nothing is left behind to be stale,
and neither a reused pid nor a clock that jumps can be mistaken for a holder. On Linux it has a name without a file (an abstract
unix socket), elsewhere it is a file that is probed by connecting. Other containers and other machines do not see it.
*/
export async function lockSession(path: string): Promise<Locked> {
	const address = addressOf(path);
	const since = new Date().toISOString();
	const server = createServer((socket) => {
		socket.on('error', () => {});
		// Not only ended: one that asks and then hangs would keep the holder from closing.
		socket.end(`${JSON.stringify({pid: process.pid, since})}\n`, () => socket.destroy());
	});
	server.unref();
	for (let attempt = 0; ; attempt++) {
		if (await listen(server, address)) return {ok: true, lock: {release: () => close(server)}};
		const holder = await ask(address);
		if (holder !== 'none' && holder !== 'gone') return {ok: false, holder};
		// Nobody is behind it: it ended in this moment, or it left a socket file when it died.
		if (attempt === 3) return {ok: false, holder: 'unknown'};
		if (isFile) rmSync(address, {force: true});
	}
}

/** Who holds a session now; undefined if nobody does. */
export async function holderOf(path: string): Promise<Holder | undefined> {
	const holder = await ask(addressOf(path));
	if (holder === 'gone') return 'unknown';
	return holder === 'none' ? undefined : holder;
}

/** Windows pipes are the kernel's own too; only where neither exists there is a file. */
const isFile = process.platform !== 'linux' && process.platform !== 'win32';

/** One name for a file however it is reached, the same in every version of Node: 107 bytes, which none of them pads. */
function addressOf(path: string): string {
	const real = join(realpathSync(dirname(path)), basename(path));
	const hash = createHash('sha256').update(existing(real)).digest('hex');
	const name = `mca-${userInfo().uid}-${hash}`;
	if (process.platform === 'linux') return `\0${name.padEnd(107, '-')}`;
	if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
	const folder = join(tmpdir(), `mca-${userInfo().uid}`);
	mkdirSync(folder, {recursive: true, mode: 0o700});
	return join(folder, `${hash.slice(0, 32)}.sock`);
}

/** The file itself may be a link; one that is still to be made has no other name. */
function existing(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

function listen(server: Server, address: string): Promise<boolean> {
	return new Promise((resolve, reject) => {
		const onError = (error: NodeJS.ErrnoException) => {
			if (error.code === 'EADDRINUSE') resolve(false);
			else reject(error);
		};
		server.once('error', onError);
		server.listen(address, () => {
			server.off('error', onError);
			resolve(true);
		});
	});
}

function close(server: Server): Promise<void> {
	return new Promise((resolve) => server.close(() => resolve()));
}

/**
`none`: nobody listens there. `gone`: somebody did, and hung up without a word, as one does that dies in this moment. Who listens
but says nothing in time holds it all the same.
*/
function ask(address: string): Promise<Holder | 'none' | 'gone'> {
	return new Promise((resolve) => {
		let text = '';
		const socket = createConnection(address);
		const timer = setTimeout(() => done('unknown'), answerMs);
		const done = (holder: Holder | 'none' | 'gone') => {
			clearTimeout(timer);
			socket.destroy();
			resolve(holder);
		};
		socket.setEncoding('utf8');
		socket.on('data', (data: string) => {
			text += data;
			if (text.length > 1000) done('unknown');
		});
		socket.on('end', () => done(text === '' ? 'gone' : parseHolder(text)));
		socket.on('error', (error: NodeJS.ErrnoException) => {
			if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') done('none');
			else done(error.code === 'ECONNRESET' && text === '' ? 'gone' : 'unknown');
		});
	});
}

function parseHolder(text: string): Holder {
	try {
		const {pid, since} = JSON.parse(text);
		if (Number.isSafeInteger(pid) && typeof since === 'string') return {pid, since};
	} catch {
		// Whoever it is, it is not one of ours that is well.
	}
	return 'unknown';
}
