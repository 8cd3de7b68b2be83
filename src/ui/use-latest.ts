import {useRef, useState} from 'react';

/**
State that a key reads as the key before it left it. One chunk of input may hold several keys, and the screen is drawn only
after the last of them: a handler that went by what is drawn would lose what the earlier ones did.
*/
export function useLatest<T extends object>(
	initial: () => T,
): [drawn: T, change: (to: T | ((now: T) => T)) => void, latest: () => T] {
	const [drawn, draw] = useState(initial);
	const latest = useRef(drawn);
	const change = (to: T | ((now: T) => T)) => {
		latest.current = typeof to === 'function' ? to(latest.current) : to;
		draw(latest.current);
	};
	return [drawn, change, () => latest.current];
}
