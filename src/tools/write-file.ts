import * as z from 'zod';
import {bytesText, count} from './amounts.ts';
import {applyChange, type Before, type Planned, previewChange} from './change-file.ts';
import {dominantEnding, toLf, withEnding} from './line-endings.ts';
import {defineTool} from './tool.ts';

export const writeFile = defineTool({
	name: 'write_file',
	description:
		'Create a file, or replace all of its content. Missing folders are made. A file that is there keeps its line endings, byte order mark and mode. To change a part of a file use edit_file.',
	readOnly: false,
	schema: z.object({
		path: z.string().describe('The file, relative to the workspace.'),
		content: z.string().describe('The whole new content.'),
	}),
	label: ({path}) => path,
	paths: ({path}) => [path],
	preview: ({path, content}, context) =>
		previewChange(path, context, (before, display) => plan(content, before, display)),
	run: ({path, content}, context) =>
		applyChange(path, context, (before, display) => plan(content, before, display), {diffInResult: false}),
});

function plan(content: string, before: Before | null, display: string): Planned {
	if (!content.isWellFormed()) {
		return {
			ok: false,
			reason: `The content for ${display} holds half a character (a lone surrogate). Send it again without.`,
		};
	}
	const size = `${count(toLf(content).split('\n').length - (content.endsWith('\n') || content === '' ? 1 : 0), 'line')}`;
	if (before === null) {
		const after = Buffer.from(content);
		return {ok: true, after, did: `Created ${display} (${size}, ${bytesText(after.length)}).`};
	}
	const ending = dominantEnding(before.text);
	const own = content.startsWith('\ufeff') ? content.slice(1) : content;
	const text = ending === null ? own : withEnding(toLf(own), ending);
	const after = Buffer.from(before.bom ? `\ufeff${text}` : text);
	if (after.equals(before.bytes)) {
		return {ok: false, reason: `${display} has exactly this content already, so nothing was written.`};
	}
	if (before.hasChanged) {
		return {
			ok: false,
			reason: `${display} has changed since it was read, so nothing was written; read it again, then send what it should be.`,
		};
	}
	return {ok: true, after, did: `Replaced the content of ${display} (${size}, ${bytesText(after.length)}).`};
}
