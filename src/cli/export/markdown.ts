import type {Spend} from '../../session/audit.ts';
import {plainLine, plainText} from '../../tools/plain-text.ts';
import {price} from '../spend-cells.ts';
import {localTime, thousands} from '../table.ts';
import type {ExportedSession, Part} from './document.ts';
import {argsOf, callLine, hiddenLines, hiddenNone, lineageLines, noticesOf} from './words.ts';

/** Markdown for a forge or an editor. What the model said is Markdown already and stays so; all else is escaped. */
export function markdown(session: ExportedSession, parts: readonly Part[]): string {
	const {head, id, title, hidden} = session;
	const lineage = lineageLines(session);
	const sections = [
		`# ${escaped(title || id)}`,
		...noticesOf(session).map((notice) => `> **${escaped(notice)}**`),
		[
			`- Session: ${code(id)}`,
			...(head
				? [
						`- Workspace: ${code(head.workspace)}`,
						`- Model: ${code(head.model)}, mca ${escaped(head.version)}`,
					]
				: []),
			...lineage.map((line) => `- Lineage: ${escaped(line)}`),
		].join('\n'),
		'## Cost',
		costTable(session),
		'## Conversation',
		...parts.map(part),
	];
	if (hidden)
		sections.push(
			'## Hidden',
			hidden.length === 0
				? hiddenNone
				: hiddenLines(session)
						.map((line) => `- ${escaped(line)}`)
						.join('\n'),
		);
	return `${sections.join('\n\n')}\n`;
}

function costTable({turns, own, inherited}: ExportedSession): string {
	const row = (name: string, spend: Spend, prompt: string) =>
		`| ${name} | ${thousands(spend.calls)} | ${thousands(spend.inputTokens)} | ${thousands(spend.outputTokens)} | ${price(spend).replace('$', '\\$')} | ${prompt} |`;
	return [
		'| turn | calls | tokens in | tokens out | cost | prompt |',
		'| ---: | ---: | ---: | ---: | ---: | --- |',
		...turns.map((each) =>
			row(
				`${each.turn}${each.inherited ? ' (inherited)' : ''}`,
				each.spend,
				escaped(each.prompt.slice(0, 100)),
			),
		),
		row('**own**', own, ''),
		...(inherited.calls > 0 ? [row('**inherited**', inherited, '')] : []),
	].join('\n');
}

function part(each: Part): string {
	switch (each.kind) {
		case 'system':
			return folded('System message', each.text);
		case 'user':
			return `### ${escaped(localTime(each.ts))}\n\n${quote(each.text)}`;
		case 'assistant':
			return [each.reasoning && folded('Reasoning', each.reasoning), plainText(each.text)]
				.filter(Boolean)
				.join('\n\n');
		case 'call': {
			const {what, outcome} = callLine(each);
			const sign = each.end?.result.ok ? '●' : '✗';
			return folded(
				`${sign} ${what} — ${outcome}`,
				`${argsOf(each)}${each.result === undefined ? '' : `\n\n${each.result}`}`,
			);
		}
		case 'error':
			return `> ✗ ${escaped(each.event.message)} (${each.event.did})${each.event.partial ? `\n>\n${quote(each.event.partial)}` : ''}`;
		case 'fork':
			return `---\n\n*Up to here from ${code(each.event.from)} (${each.event.kind} after event ${each.event.atSeq}).*\n\n---`;
		case 'draft':
			return `*The process ended while this was being said:*\n\n${quote(each.text)}`;
	}
}

function folded(summary: string, text: string): string {
	return `<details><summary>${inHtml(summary)}</summary>\n\n${fenced(text)}\n\n</details>`;
}

function fenced(text: string): string {
	const plain = plainText(text);
	const longest = Math.max(2, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length));
	const fence = '`'.repeat(longest + 1);
	return `${fence}\n${plain}\n${fence}`;
}

/** Text that is no Markdown, in lines behind `>`. */
function quote(text: string): string {
	return plainText(text)
		.split('\n')
		.map((line) => `> ${escaped(line)}`.trimEnd())
		.join('  \n');
}

/** One line of text in which nothing is Markdown and nothing is HTML. */
function escaped(text: string): string {
	return plainLine(text)
		.replace(/[\\`*_[\]<>#|~$&]/g, '\\$&')
		.replace(/^(\s*)([-+=])|^(\s*\d+)([.)])/, '$1$3\\$2$4');
}

/** One line inside of an HTML block, where Markdown is not looked for. */
function inHtml(text: string): string {
	return plainLine(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function code(text: string): string {
	const plain = plainLine(text);
	const fence = '`'.repeat(Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
	return plain.includes('`') ? `${fence} ${plain} ${fence}` : `${fence}${plain}${fence}`;
}
