import {spawn} from 'node:child_process';

const patienceMs = 2000;

/**
Hand a text to the clipboard of the machine that the person sits at. Answers with the name of the program that took it; undefined
where there is none, and over ssh, where the clipboard here is not theirs. Never rejects.
*/
export async function copyToClipboard(text: string): Promise<string | undefined> {
	for (const [program, ...args] of programs(process.env, process.platform)) {
		const data = program === 'clip.exe' ? Buffer.from(text, 'utf16le') : Buffer.from(text);
		if (program && (await take(program, args, data))) return program;
	}
	return undefined;
}

function programs(env: NodeJS.ProcessEnv, platform: string): string[][] {
	const tmux = env.TMUX ? [['tmux', 'load-buffer', '-w', '-']] : [];
	if (env.SSH_TTY) return tmux;
	return [
		...tmux,
		...(platform === 'darwin' ? [['pbcopy']] : []),
		...(platform === 'win32' || env.WSL_DISTRO_NAME ? [['clip.exe']] : []),
		...(env.WAYLAND_DISPLAY ? [['wl-copy']] : []),
		...(env.DISPLAY ? [['xclip', '-selection', 'clipboard']] : []),
	];
}

/** Ends with the program, not with its pipes: what owns a clipboard goes on in the background. */
function take(program: string, args: string[], data: Buffer): Promise<boolean> {
	return new Promise((resolve) => {
		const child = spawn(program, args, {stdio: ['pipe', 'ignore', 'ignore'], timeout: patienceMs});
		child.once('error', () => resolve(false));
		child.once('exit', (status) => resolve(status === 0));
		child.stdin.on('error', () => {});
		child.stdin.end(data);
	});
}
