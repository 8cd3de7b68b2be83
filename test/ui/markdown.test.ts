import {beforeAll, expect, test} from 'vitest';
import {type Row, rowText, rowWidth} from '../../src/ui/display.ts';
import {highlighter} from '../../src/ui/highlight.ts';
import {lex} from '../../src/ui/lex.ts';
import {liveMarkdown} from '../../src/ui/live-markdown.ts';
import {markdownRows} from '../../src/ui/markdown.ts';
import {texts, unfit} from './corpus.ts';

beforeAll(() => highlighter.load());

const plain = (rows: readonly Row[]) => rows.map((row) => rowText(row).trimEnd());
const shown = (text: string, columns = 40) => plain(markdownRows(text, columns));
const styled = (text: string, columns = 40) => markdownRows(text, columns);

test('prose has its code, its emphasis and its headings in their styles, without their marks', () => {
	expect(styled('## Cause\nIn `calc.js`: **no check**, *ever*, ~~never~~')).toEqual([
		[{text: 'Cause', bold: true}],
		[
			{text: 'In '},
			{text: 'calc.js', color: 'magenta'},
			{text: ': '},
			{text: 'no check', bold: true},
			{text: ', '},
			{text: 'ever', italic: true},
			{text: ', '},
			{text: 'never', strike: true},
		],
	]);
});

test('the line ends of a text are kept, and its empty lines, one at a time', () => {
	expect(shown('a\nb\n\n\n\nc\n# d\ne\n\n')).toEqual(['a', 'b', '', 'c', 'd', 'e']);
});

test('a mark that is never closed is text, and nothing of it is lost', () => {
	expect(shown('**/*.ts matches\n`npm test\n2 ** 3 or c')).toEqual([
		'**/*.ts matches',
		'`npm test',
		'2 ** 3 or c',
	]);
});

test('HTML is text, and what it stands for is only ever a character that fits', () => {
	expect(shown('a<br>b &lt;b&gt; &amp; &#169; &nosuch; `&lt;`')).toEqual(['a<br>b <b> & © &nosuch; &lt;']);
	expect(shown('<details>\n<summary>x</summary>\n</details>')).toEqual([
		'<details>',
		'<summary>x</summary>',
		'</details>',
	]);
	expect(shown('a&#27;[31mb&#x202e;c&#0;&#xd800;d')).toEqual(['abc��d']);
});

test('a link says where it leads, unless it is its own name', () => {
	expect(shown('[the docs](https://x.y/z) and https://a.b, <me@x.y>, [x.y](https://x.y/)', 80)).toEqual([
		'the docs (https://x.y/z) and https://a.b, me@x.y, x.y',
	]);
	expect(shown('![a plot](plot.png) [1]\n\n[1]: https://x.y', 80)).toEqual([
		'a plot (plot.png) 1 (https://x.y)',
		'',
		'[1]: https://x.y',
	]);
});

test('an item of a list hangs under its text, and so does what it holds', () => {
	expect(shown('- one two\n- three four', 9)).toEqual(['- one two', '- three', '  four']);
	expect(shown('9. nine\n10. ten\n    - *a*\n    - b\n\n      ```\n      code\n      ```')).toEqual([
		' 9. nine',
		'10. ten',
		'    - a',
		'    - b',
		'',
		'        code',
	]);
});

test('a list keeps the empty lines that it has, and begins with the number that it has', () => {
	expect(shown('0. a\n\n1. b\n2. c')).toEqual(['0. a', '', '1. b', '2. c']);
});

test('tasks are told without colour', () => {
	expect(shown('- [x] done and\n  dusted\n- [ ] to do')).toEqual([
		'- [x] done and',
		'      dusted',
		'- [ ] to do',
	]);
});

test('a quote has a bar beside each of its rows', () => {
	expect(shown('> one two 3\n> four\n>\n> - x', 10)).toEqual(['│ one two', '│ 3', '│ four', '│', '│ - x']);
});

test('a rule is as wide as there is room', () => {
	expect(shown('a\n\n---\n\nb', 5)).toEqual(['a', '', '─────', '', 'b']);
});

test('a table has its columns below each other, however wide the characters are', () => {
	expect(shown('| Name | Age |\n|:--|--:|\n| 漢字 | 7 |\n| 🎉 `x` | **1000** |')).toEqual([
		'Name │  Age',
		'─────┼─────',
		'漢字 │    7',
		'🎉 x │ 1000',
	]);
});

test('the cells of a table that is too wide are wrapped', () => {
	expect(shown('| a | b |\n|-|-|\n| one | two three four five |\n| x | y |', 20)).toEqual([
		'a   │ b',
		'────┼───────────────',
		'one │ two three four',
		'    │ five',
		'    │',
		'x   │ y',
	]);
});

test('a table without room for its columns is a line a cell', () => {
	expect(shown('| long name | other |\n|-|-|\n| one two three | abcdefgh |\n| x | y |', 12)).toEqual([
		'long name:',
		'  one two',
		'  three',
		'other:',
		'  abcdefgh',
		'',
		'long name: x',
		'other: y',
	]);
});

test('a code fence keeps its lines, and marks in it are text', () => {
	expect(shown('a\n```\n  if (x) **y**\n\n\tz\n```\nb')).toEqual([
		'a',
		'    if (x) **y**',
		'',
		'      z',
		'b',
	]);
	expect(shown('```\n# not a heading')).toEqual(['  # not a heading']);
	expect(shown('~~~\n```\n~~~')).toEqual(['  ```']);
});

test('code has the colours of its language once its fence is closed', () => {
	const code = '```ts\nconst a = 1; // b\n';
	expect(styled(code)).toEqual([[{text: '  const a = 1; // b'}]]);
	expect(styled(`${code}\`\`\``)).toEqual([
		[
			{text: '  '},
			{text: 'const', color: 'magenta'},
			{text: ' a = '},
			{text: '1', color: 'yellow'},
			{text: '; '},
			{text: '// b', dim: true},
		],
	]);
	expect(styled('```html\n<b>x</b><script>let a</script>\n```').flat()).toContainEqual({
		text: 'let',
		color: 'magenta',
	});
});

test('code of a language that is not known is plain, with all of its lines', () => {
	expect(styled('```brainfuck\n+-\n\n<>\n```')).toEqual([[{text: '  +-'}], [], [{text: '  <>'}]]);
});

test('every language that is known colours something, and loses nothing', () => {
	const samples: Record<string, string> = {
		sh: 'if [ "$a" ]; then echo "b"; fi',
		c: 'int main(void) { return 0; }',
		cpp: 'std::vector<int> a; // b',
		css: 'a { color: red; }',
		go: 'func main() { var a = "b" }',
		java: 'class A { int b = 1; }',
		js: 'const a = new Map(); // b',
		jsx: 'return <a b={1}>c</a>;',
		json: '{"a": [1, true, null]}',
		py: 'def a(b):\n    """c"""\n    return None',
		rust: 'fn main() { let a = 1; }',
		sql: "SELECT a FROM b WHERE c = 'd';",
		tsx: 'let a: string = <b/>;',
		html: '<a href="b">c</a>',
		yml: 'a: "b" # c',
	};
	for (const [language, code] of Object.entries(samples)) {
		const rows = styled(`\`\`\`${language}\n${code}\n\`\`\``, 80);
		expect(plain(rows), language).toEqual(code.split('\n').map((line) => `  ${line}`));
		expect(
			rows.flat().some((span) => span.color),
			language,
		).toBe(true);
	}
});

test('a diff has its colours while it still comes', () => {
	expect(styled('```diff\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- not a header\n+++ nor this')).toEqual(
		[
			[{text: '  --- a/x', dim: true}],
			[{text: '  +++ b/x', dim: true}],
			[{text: '  @@ -1,2 +1,2 @@', color: 'cyan', dim: true}],
			[{text: '   same'}],
			[{text: '  --- not a header', color: 'red'}],
			[{text: '  +++ nor this', color: 'green'}],
		],
	);
});

const document = `# Title

A paragraph with **bold**, \`code\` and [a link](https://x.y).
Its second line.
***not a rule*** but emphasis.

1. one
2. two
   - nested **bold text**

3. three

2024 was a year.
- a
- b
# Heading
| a | b |
|---|---|
| 漢字 | 2 |

> quoted \`x\`

    indented

    code

\`\`\`js
const a = 1;

const b = 2;
\`\`\`

Text
----
- [x] done

*the* end, or
* a list

~~~diff
- a
+ b
~~~
The ~~last~~ line.`;

test('a text that streams looks in the end as it does at once, wherever it was when it was drawn', () => {
	for (const text of [document, ...Array.from({length: 20}, (_, seed) => shuffled(document, seed))]) {
		const live = liveMarkdown();
		for (let end = 0; end < text.length; end += 1 + (end % 5)) live(text.slice(0, end), 33);
		expect(live(`${text}\n`, 33), text).toEqual(markdownRows(`${text}\n`, 33));
	}
});

/** Its lines in another order. */
function shuffled(text: string, seed: number): string {
	const lines = text.split('\n');
	for (let index = lines.length - 1, state = seed + 1; index > 0; index--) {
		state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
		const other = (state >>> 8) % (index + 1);
		[lines[index], lines[other]] = [lines[other] as string, lines[index] as string];
	}
	return lines.join('\n');
}

test('marks that are open while a text streams are drawn as if they were closed', () => {
	const live = (text: string) => liveMarkdown()(text, 40);
	expect(live('so **bold')).toEqual(markdownRows('so **bold**', 40));
	expect(live('so **bold and `co')).toEqual(markdownRows('so **bold and `co`**', 40));
	expect(live('- so ~~gone ')).toEqual(markdownRows('- so ~~gone~~', 40));
	expect(plain(live('so **'))).toEqual(['so']);
	expect(plain(live('2 ** 3'))).toEqual(['2 ** 3']);
	expect(plain(live('see [the docs](https://x'))).toEqual(['see the docs']);
	expect(plain(live('`**` and '))).toEqual(['** and']);
});

test('a line of nothing but marks is not drawn before it says what it is', () => {
	const live = (text: string) => plain(liveMarkdown()(text, 40));
	for (const mark of ['-', '--', '#', '##', '```', '> ', '* ', '1.', '|', '- [', '- [ ]', '==']) {
		expect(live(`Steps:\n${mark}`), mark).toEqual(['Steps:']);
	}
	expect(live('```js\na\n``')).toEqual(['  a']);
	expect(live('```js\n# a\n#')).toEqual(['  # a', '  #']);
});

test('of a text that streams only the last block is lexed anew', () => {
	let lexed = 0;
	let most = 0;
	const live = liveMarkdown((text) => {
		lexed += text.length;
		most = Math.max(most, text.length);
		return lex(text);
	});
	const text = `${document}\n\n`.repeat(Math.ceil(20_000 / document.length));
	for (let end = 0; end < text.length; end += 16) live(text.slice(0, end), 80);
	expect(text.length).toBeGreaterThanOrEqual(20_000);
	// A document's own blocks are much shorter than this.
	expect(most).toBeLessThan(400);
	expect(lexed / (text.length / 16)).toBeLessThan(300);
});

test('an escape sequence that comes in two pieces is still taken out whole', () => {
	const live = liveMarkdown();
	for (const text of [
		'a\x1b',
		'a\x1b[3',
		'a\x1b[31mb\n',
		'a\x1b[31mb\n\n\x1b]0;t',
		'a\x1b[31mb\n\n\x1b]0;title\x07c',
	]) {
		expect(unfit(plain(live(text, 40)).join(''))).toEqual([]);
	}
	expect(plain(live('a\x1b[31mb\n\n\x1b]0;title\x07c', 40))).toEqual(['ab', '', 'c']);
});

/** Pieces of Markdown around random text. */
function* documents(count: number): Generator<string> {
	const frames = [
		(a: string, b: string) => `- ${a}\n  - ${b}\n    1. ${a}`,
		(a: string, b: string) =>
			`| ${a} | ${b} | x |\n|-|:-:|-:|\n| ${b} | ${a} | ${a} |`.replaceAll('\n\n', '\n'),
		(a: string, b: string) => `> ${a}\n>> ${b}`,
		(a: string, b: string) => `\`\`\`ts\n${a}\n${b}\n\`\`\``,
		(a: string, b: string) => `\`\`\`diff\n+${a}\n-${b}\n`,
		(a: string, b: string) => `# ${a}\n**${b}** *${a}* [${b}](${a})`,
		(a: string, b: string) => `- [x] ${a}\n\n<b>${b}\n\n---`,
	];
	let at = 0;
	let last = '';
	for (const text of texts(count, 24)) {
		yield `${frames[at % frames.length]?.(text, last)}\n\n${last}`;
		last = text;
		at++;
	}
}

test('whatever a text holds, at every width its rows fit and nothing unfit is in them', () => {
	let widths = 0;
	for (const text of documents(400)) {
		for (const columns of [1 + (widths % 40), 1 + (widths % 200)]) {
			for (const rows of [markdownRows(text, columns), liveMarkdown()(text, columns)]) {
				for (const row of rows)
					expect(rowWidth(row), JSON.stringify([columns, text])).toBeLessThanOrEqual(columns);
				expect(unfit(plain(rows).join(''))).toEqual([]);
			}
			widths++;
		}
	}
});

test('the borders of a table are below each other, whatever its cells hold', () => {
	for (const [a = '', b = ''] of pairs(texts(200, 12))) {
		const cell = (text: string) => text.replace(/[\n\r|\u2028`\\]/g, ' ');
		const rows = markdownRows(`| h | i |\n|-|-|\n| ${cell(a)} | ${cell(b)} |\n| x | y |`, 40);
		const borders = rows.filter((row) => rowText(row).includes(' │ '));
		const at = borders.map((row) => rowWidth([{text: rowText(row).split(' │ ')[0] ?? ''}]));
		expect(new Set(at).size, JSON.stringify([a, b])).toBe(1);
	}
});

function* pairs(all: Iterable<string>): Generator<string[]> {
	let first: string | undefined;
	for (const each of all) {
		if (first === undefined) first = each;
		else {
			yield [first, each];
			first = undefined;
		}
	}
}

test('no text takes long, however it is nested', () => {
	const hostile = [
		'> '.repeat(5000),
		'_a'.repeat(20_000),
		'*a '.repeat(20_000),
		'[a]('.repeat(10_000),
		'<'.repeat(20_000),
		'- '.repeat(5000),
		Array.from({length: 200}, (_, depth) => `${' '.repeat(depth * 2)}- x`).join('\n'),
		`|${'|'.repeat(2000)}\n|${'-|'.repeat(2000)}`,
	];
	for (const text of hostile) {
		const begun = performance.now();
		for (const row of markdownRows(text, 40)) expect(rowWidth(row)).toBeLessThanOrEqual(40);
		liveMarkdown()(text, 40);
		expect(performance.now() - begun, text.slice(0, 10)).toBeLessThan(2000);
	}
});
