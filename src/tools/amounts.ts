/** `812 bytes`, `3.1 KB`, `50 MB`. */
export function bytesText(bytes: number): string {
	if (bytes < 1024) return count(bytes, 'byte');
	const [value, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KB'] : [bytes / 1024 ** 2, 'MB'];
	return `${value.toFixed(value < 10 ? 1 : 0).replace(/\.0$/, '')} ${unit}`;
}

/** `65 ms`, `1.2 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1000).toFixed(1).replace(/\.0$/, '')} s`;
	const seconds = Math.round(ms / 1000);
	return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `1 line`, `84 lines`, `2 matches`. */
export function count(n: number, one: string, many = `${one}s`): string {
	return `${n} ${n === 1 ? one : many}`;
}
