/** ink's way to hand the terminal over to somebody else for a while. */
export type Suspend = (doing: () => Promise<void>) => Promise<void>;

/** What the screen asks of the terminal that it is drawn on. Whoever starts the screen knows how that is done. */
export type Terminal = {
	/** Called as long as there is a screen; the result ends it. */
	attach(suspend: Suspend): () => void;
	/** Draw everything anew. */
	redraw(): Promise<void>;
	/** Stop mca and the processes it was started by, as Ctrl+Z does. Resolves when it goes on. */
	stop(): Promise<void>;
	/** Let the person change the text in an editor of their own. */
	edit(text: string): Promise<Edited>;
};

export type Edited = {text: string} | {problem: string};

/** Hands the terminal over to one at a time: a second one who asks meanwhile does not get it, and nothing happens. */
export function handOver() {
	let suspend: Suspend | undefined;
	let isAway = false;
	return {
		attach(given: Suspend) {
			suspend = given;
			return () => {
				suspend = undefined;
			};
		},
		isAway: () => isAway,
		async away(doing: () => Promise<void>): Promise<void> {
			if (isAway || !suspend) return;
			isAway = true;
			try {
				await suspend(doing);
			} finally {
				isAway = false;
			}
		},
	};
}

/** For a screen whose process cannot be stopped and has no editor: one of a test. */
export function bareTerminal(): Terminal {
	const {attach, away} = handOver();
	return {
		attach,
		redraw: () => away(async () => {}),
		stop: async () => {},
		edit: async () => ({problem: 'There is no editor here.'}),
	};
}
