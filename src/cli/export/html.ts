import {createHash} from 'node:crypto';
import type {Spend} from '../../session/audit.ts';
import {plainText} from '../../tools/plain-text.ts';
import {price} from '../spend-cells.ts';
import {localTime, thousands} from '../table.ts';
import type {ExportedSession, Part} from './document.ts';
import {style} from './html-style.ts';
import {argsOf, callLine, hiddenLines, hiddenNone, lineageLines, noticesOf} from './words.ts';

/**
One file that is read without a script and asks nothing of any network. The policy allows this one style sheet, by its hash, and
nothing else at all; and every word from the session is escaped, names of tools and titles too.
*/
export function html(session: ExportedSession, parts: readonly Part[]): string {
	const {id, title, head, lineage, hidden} = session;
	const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;
	const name = title.trim() === '' ? id : title;
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(oneLine(name, 100))}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${escaped(oneLine(name, 300))}</h1>
<dl>
<dt>Session</dt><dd><code>${escaped(id)}</code></dd>
${head ? `<dt>Workspace</dt><dd><code>${escaped(head.workspace)}</code></dd>\n<dt>Model</dt><dd>${escaped(head.model)}, mca ${escaped(head.version)}</dd>` : ''}
${lineage.length === 0 ? '' : `<dt>Lineage</dt><dd>${lineageLines(session).map(escaped).join('<br>')}</dd>`}
</dl>
${noticesOf(session)
	.map((notice) => `<p class="notice">${escaped(notice)}</p>`)
	.join('\n')}
</header>
<section>
<h2>Cost</h2>
${costTable(session)}
</section>
<main>
<h2>Conversation</h2>
${parts.map(part).join('\n')}
</main>
${hidden ? `<footer>\n<h2>Hidden</h2>\n${hiddenList(session)}\n</footer>\n` : ''}</body>
</html>
`;
}

function hiddenList(session: ExportedSession): string {
	const lines = hiddenLines(session);
	if (lines.length === 0) return `<p>${hiddenNone}</p>`;
	return `<ul>${lines.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>`;
}

function costTable({turns, own, inherited, models}: ExportedSession): string {
	const row = (name: string, spend: Spend, prompt: string, kind = '') =>
		`<tr${kind && ` class="${kind}"`}><td>${name}</td><td>${thousands(spend.calls)}</td><td>${spend.estimated ? '≈' : ''}${thousands(spend.inputTokens)}</td><td>${spend.estimated ? '≈' : ''}${thousands(spend.outputTokens)}</td><td>${price(spend)}</td><td>${prompt}</td></tr>`;
	return `<div class="wide"><table>
<thead><tr><th>turn</th><th>calls</th><th>tokens in</th><th>tokens out</th><th>cost</th><th>prompt</th></tr></thead>
<tbody>
${turns.map(({turn, prompt, inherited: paid, spend}) => row(String(turn), spend, escaped(oneLine(prompt, 120)) + (paid ? ' <em>(inherited)</em>' : ''), paid ? 'inherited' : '')).join('\n')}
</tbody>
<tfoot>
${row('own', own, 'this session itself', 'sum')}
${inherited.calls > 0 ? row('inherited', inherited, 'paid by the sessions it was forked from', 'inherited') : ''}
${models.map(({model, spend}) => row('', spend, `<code>${escaped(model)}</code>`)).join('\n')}
</tfoot>
</table></div>`;
}

function part(each: Part): string {
	switch (each.kind) {
		case 'system':
			return folded('system', 'System message', `<pre>${escaped(each.text)}</pre>`);
		case 'user':
			return `<article class="user" id="e${each.seq}">${place(each.seq, each.ts)}<div class="text">${escaped(each.text)}</div></article>`;
		case 'assistant':
			return `<article class="assistant" id="e${each.seq}">${place(each.seq, each.ts)}${each.reasoning ? folded('reasoning', 'Reasoning', `<div class="text">${escaped(each.reasoning)}</div>`) : ''}${prose(each.text)}</article>`;
		case 'call': {
			const {what, outcome} = callLine(each);
			const ok = each.end?.result.ok === true;
			const summary = `<span class="${ok ? 'good' : 'bad'}">${ok ? '●' : '✗'}</span> <code>${escaped(oneLine(what, 200))}</code> <span class="outcome">${escaped(oneLine(outcome, 300))}</span>`;
			const result = each.result === undefined ? '' : `<pre>${escaped(each.result)}</pre>`;
			return folded('call', summary, `<pre class="args">${escaped(argsOf(each))}</pre>${result}`, true);
		}
		case 'error':
			return `${each.event.partial ? `<article class="draft"><div class="text">${escaped(each.event.partial)}</div></article>` : ''}<p class="error">✗ ${escaped(each.event.message)} (${each.event.did})</p>`;
		case 'fork':
			return `<p class="fork">Up to here from <code>${escaped(each.event.from)}</code> (${each.event.kind} after event ${each.event.atSeq})</p>`;
		case 'draft':
			return `<article class="draft" id="e${each.seq}"><p class="place">The process ended while this was being said</p><div class="text">${escaped(each.text)}</div></article>`;
	}
}

function place(seq: number, ts: string): string {
	return `<p class="place"><a href="#e${seq}">${seq}</a> ${escaped(localTime(ts))}</p>`;
}

/** `summary` is HTML where `isHtml`, else text. `content` is HTML. */
function folded(kind: string, summary: string, content: string, isHtml = false): string {
	return `<details class="${kind}"><summary>${isHtml ? summary : escaped(summary)}</summary>${content}</details>`;
}

/** What the model said: its code blocks as blocks, all else as it stands. */
function prose(text: string): string {
	return text
		.split(/^(```[^\n]*\n[\s\S]*?^```[^\S\n]*$)/m)
		.map((piece, index) => {
			if (index % 2 === 1)
				return `<pre>${escaped(piece.replace(/^```[^\n]*\n/, '').replace(/\n?```[^\S\n]*$/, ''))}</pre>`;
			const text = escaped(piece.trim()).replace(/`([^`\n]+)`/g, '<code>$1</code>');
			return text === '' ? '' : `<div class="text">${text}</div>`;
		})
		.join('');
}

const entities: Record<string, string> = {
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
	"'": '&#39;',
};

function escaped(text: string): string {
	return plainText(text.toWellFormed()).replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

function oneLine(text: string, characters: number): string {
	const line = text.replace(/\s+/g, ' ').trim();
	return line.length > characters ? `${line.slice(0, characters).toWellFormed()}…` : line;
}
