/**
A text with every invisible character spelled out, for the one place where a person decides on it: what is approved must be
what is read. So is a space that is not the ordinary one. Line ends stay; a tab is shown as spaces, since it hides nothing.
*/
export function visible(text: string): string {
	return text
		.toWellFormed()
		.replace(/\r\n/g, '\n')
		.replaceAll('\t', '    ')
		.replace(
			/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g,
			(control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`,
		)
		.replace(/\p{Cf}|\p{Default_Ignorable_Code_Point}|(?! )\p{Z}|\u2800/gu, (hidden) => {
			const code = hidden.codePointAt(0) ?? 0;
			return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
		});
}
