import {Box, render, Text, useWindowSize} from 'ink';
import TextInput from 'ink-text-input';
import {useState} from 'react';

/** The least that a full-screen program with one text field can be, on an empty screen or on one that is full of plain text. */
const full = process.argv.includes('full');

function Least() {
	const {columns, rows} = useWindowSize();
	const [value, setValue] = useState('');
	return (
		<Box flexDirection="column" width={columns} height={rows} justifyContent="flex-end">
			{full &&
				Array.from({length: rows - 1}, (_, row) => <Text key={row}>{'word '.repeat(columns / 5 - 1)}</Text>)}
			<Box>
				<Text>{'ready> '}</Text>
				<TextInput value={value} onChange={setValue} />
			</Box>
		</Box>
	);
}

render(<Least />, {
	alternateScreen: true,
	incrementalRendering: true,
	exitOnCtrlC: false,
	patchConsole: false,
	interactive: true,
	maxFps: 60,
});
