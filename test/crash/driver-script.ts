import type {Script} from '../../src/agent/scripted.ts';

const write = (path: string) => ({name: 'write_file', args: {path, content: `${path}\n`}});

/** What the model says to the driver's prompts; turns one and four have effects. */
export const script: Script = {
	name: 'faults',
	turns: [
		{
			prompt: 'one',
			steps: [{say: 'Writing.', calls: [write('one.txt'), write('two.txt')]}, {say: 'One is written.'}],
		},
		{prompt: 'two', steps: [{say: 'Two.'}]},
		{prompt: 'three', steps: [{say: 'Three.'}]},
		{prompt: 'four', steps: [{say: 'Writing.', calls: [write('four.txt')]}, {say: 'Four is written.'}]},
		{prompt: 'five', steps: [{say: 'Five.'}]},
	],
};
