import {type Edited, handOver, type Terminal} from '../ui/terminal.ts';
import {editText} from './editor.ts';

/** Tell when the window gets and loses the focus, and tell Shift+Enter from Enter where the terminal can. */
const modesOn = '\x1b[?1004h\x1b[>4;1m';
const modesOff = '\x1b[>4m\x1b[?1004l';
const inkOff = '\x1b[<u\x1b[?2004l\x1b[?1049l\x1b[?25h';

/** How long the stop may take, ms. In a process group without a shell that could continue it there is none. */
const stopMs = 300;

/**
The terminal while the screen has it: what mca switches on is off again whenever somebody else has it, and when the process
ends, however it ends. Only what nothing can catch (SIGKILL, out of memory) leaves it as it is; `reset` mends that.
*/
export function guardTerminal(write: (sequence: string) => void, term = process.env.TERM ?? '') {
	const {attach, away, isAway} = handOver();
	// The linux console takes the one sequence for a colour.
	const isPlainConsole = term === 'linux';
	let isOn = false;
	const on = () => {
		if (isOn || isPlainConsole) return;
		isOn = true;
		process.on('exit', off);
		write(modesOn);
	};
	const off = () => {
		if (!isOn) return;
		isOn = false;
		process.off('exit', off);
		write(modesOff);
	};
	const lend = (doing: () => Promise<void>) =>
		away(async () => {
			off();
			try {
				await doing();
			} finally {
				on();
			}
		});

	/** Stop, and wait to be continued. */
	async function stopped(stop: () => void): Promise<void> {
		let timer: NodeJS.Timeout | undefined;
		const continued = new Promise<void>((resolve) => {
			process.once('SIGCONT', resolve);
			// It also keeps the process alive meanwhile: nothing else does.
			timer = setTimeout(resolve, stopMs);
		});
		process.off('SIGTSTP', onStop);
		stop();
		await continued;
		clearTimeout(timer);
		process.on('SIGTSTP', onStop);
	}

	/** Somebody else stops mca: kill -TSTP, or an editor that Ctrl+Z was pressed in. */
	function onStop(): void {
		const stopSelf = () => process.kill(process.pid, 'SIGSTOP');
		if (isAway()) stopSelf();
		else void lend(() => stopped(stopSelf));
	}
	/** It was stopped without a word, and whoever had the terminal meanwhile has left it in another state. */
	const onContinue = () => void lend(async () => {});

	const canStop = process.platform !== 'win32';
	if (canStop) process.on('SIGTSTP', onStop).on('SIGCONT', onContinue);
	on();

	const terminal: Terminal = {
		attach,
		redraw: () => away(async () => {}),
		// The whole group: under npm start the shell waits for npm, and gets the terminal back only when that stops too.
		stop: () => (canStop ? lend(() => stopped(() => process.kill(0, 'SIGTSTP'))) : Promise.resolve()),
		async edit(text) {
			let edited: Edited = {problem: 'The terminal is not free.'};
			await lend(async () => {
				edited = await editText(text);
			});
			return edited;
		},
	};
	return {
		terminal,
		/** Somebody else has the terminal: its signals are meant for them. */
		isAway,
		release(): void {
			off();
			process.off('SIGTSTP', onStop).off('SIGCONT', onContinue);
		},
		/** All that ink switches on, off again. */
		rescue: () => write(inkOff),
	};
}
