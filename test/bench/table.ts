/** One measured fact: what was compared, both values as printed, and their ratio, which is what may be judged. */
export type Row = {what: string; ours: string; against: string; ratio: number; reach?: number};

/** Middle of the values; of an even number of them the upper. */
export function median(values: readonly number[]): number {
	return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Runs both in turn, so that what else the machine does falls on both, and gives the medians in ms. */
export async function sideBySide(
	rounds: number,
	ours: () => unknown,
	against: () => unknown,
): Promise<{ours: number; against: number}> {
	const times: {ours: number[]; against: number[]} = {ours: [], against: []};
	for (let round = 0; round <= rounds; round++) {
		for (const [name, work] of [['ours', ours] as const, ['against', against] as const]) {
			globalThis.gc?.();
			const begun = performance.now();
			await work();
			// The first round warms up.
			if (round > 0) times[name].push(performance.now() - begun);
		}
	}
	return {ours: median(times.ours), against: median(times.against)};
}

export function timed(what: string, {ours, against}: {ours: number; against: number}, reach?: number): Row {
	const row = {what, ours: ms(ours), against: ms(against), ratio: ours / against};
	return reach === undefined ? row : {...row, reach};
}

export function ms(value: number): string {
	return value < 1
		? `${(value * 1000).toFixed(0)} µs`
		: value < 100
			? `${value.toFixed(2)} ms`
			: `${value.toFixed(0)} ms`;
}

export function mb(bytes: number): string {
	return `${(bytes / 1e6).toFixed(0)} MB`;
}

export function print(title: string, rows: readonly Row[]): void {
	const cells = rows.map((row) => [
		row.what,
		row.ours,
		row.against,
		row.ratio.toFixed(2),
		row.reach === undefined ? '' : `${row.reach.toFixed(2)} ${row.ratio <= row.reach ? 'reached' : 'MISSED'}`,
	]);
	const table = [[title, 'mca', 'against', 'ratio', 'reach'], ...cells];
	const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
	for (const row of table)
		process.stdout.write(
			`${row
				.map((cell, at) => cell.padEnd(widths[at] ?? 0))
				.join('  ')
				.trimEnd()}\n`,
		);
	process.stdout.write('\n');
}
