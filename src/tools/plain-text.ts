/**
What a terminal would act on: strings (OSC, DCS, SOS, PM, APC), CSI, and every other escape, in their ESC and C1 forms.

A string that never ends is taken to the end of its line only: a sequence that swallowed everything after it could hide the
rest of an output.
*/
const sequences =
	/(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;

/** C0 but tab and newline, DEL, C1, bidi controls, zero-width characters and the invisible tag characters. */
const invisible =
	/[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Joiners outside of what they are for: emoji that are made of several, and scripts that are written with them. */
const strayJoiners =
	/(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|(?!\p{Script=Latin})[\p{L}\p{M}])[\u200c\u200d]/gu;

const suspect =
	/[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

/**
The text that a person would have read: no escape sequences, no control characters but `\n` and `\t`, nothing invisible.

Lines end in `\n`. A line that was drawn over itself (a progress bar, by carriage returns) is what it was last.
*/
export function plainText(text: string): string {
	if (!suspect.test(text)) return text;
	return text
		.replace(/\r+\n/g, '\n')
		.replace(sequences, '')
		.replace(/[^\n]\x08/gu, '')
		.split('\n')
		.map(lastDrawn)
		.join('\n')
		.replace(invisible, '')
		.replace(strayJoiners, '');
}

/** The same on one line, for names and labels. */
export function plainLine(text: string): string {
	return plainText(text).replace(/[\n\t]+/g, ' ');
}

function lastDrawn(line: string): string {
	if (!line.includes('\r')) return line;
	return line.split('\r').findLast((piece) => piece !== '') ?? '';
}
