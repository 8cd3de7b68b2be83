/** A map that keeps what was asked for last: no more than `limit` of them by weight, but always at least the newest `least`. */
export function lru<K, V>(
	limit: number,
	{least = 1, weight = () => 1}: {least?: number; weight?(value: V): number} = {},
) {
	const kept = new Map<K, V>();
	let total = 0;
	return {
		get size() {
			return kept.size;
		},
		get(key: K): V | undefined {
			const value = kept.get(key);
			if (value === undefined) return undefined;
			kept.delete(key);
			kept.set(key, value);
			return value;
		},
		set(key: K, value: V): void {
			const old = kept.get(key);
			if (old !== undefined) total -= weight(old);
			kept.delete(key);
			kept.set(key, value);
			total += weight(value);
			for (const [oldest, worth] of kept) {
				if (total <= limit || kept.size <= least) return;
				kept.delete(oldest);
				total -= weight(worth);
			}
		},
	};
}
