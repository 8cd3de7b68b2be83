import type {AgentEvent} from '../agent/agent-event.ts';

/**
Calls the person back who looks at another window: a bell, and OSC 9 where the terminal makes a notification of it. The words are
mca's own; nothing that a model or a tool said is in them.
*/
export function notifier(isFocused: () => boolean, write: (sequence: string) => void) {
	return (event: AgentEvent): void => {
		if (isFocused() || (event.type !== 'rest' && event.type !== 'gate')) return;
		write(`\x07\x1b]9;mca ${event.type === 'gate' ? 'asks you something' : 'has finished'}\x07`);
	};
}
