/** The style sheet of an exported session. Its colours are pairs, light and dark; its fonts are the reader's own. */
export const style = `
:root {
	color-scheme: light dark;
	--text: light-dark(#1f2328, #e6e8eb);
	--quiet: light-dark(#59636e, #9aa4af);
	--page: light-dark(#ffffff, #14171a);
	--raised: light-dark(#f4f6f8, #1d2125);
	--line: light-dark(#d5dae0, #343a41);
	--accent: light-dark(#0b6a8f, #6cc7e6);
	--good: light-dark(#1a7f37, #5fd07f);
	--bad: light-dark(#c0262d, #ff8078);
	--warn: light-dark(#fff4ce, #3d3312);
}
* { box-sizing: border-box; }
body {
	margin: 0 auto;
	padding: 2rem 1.25rem 4rem;
	max-width: 54rem;
	background: var(--page);
	color: var(--text);
	font: 16px/1.55 system-ui, sans-serif;
	overflow-wrap: anywhere;
}
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.3; }
h2 { margin: 2.5rem 0 0.75rem; font-size: 1.1rem; }
code, pre, summary { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 0.85rem; }
a { color: inherit; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0; }
dt, .place, .outcome, .inherited { color: var(--quiet); }
dd { margin: 0; }
.notice { padding: 0.6rem 0.9rem; border: 1px solid var(--line); border-radius: 6px; background: var(--warn); }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:last-child, td:last-child { width: 100%; min-width: 14rem; text-align: left; white-space: normal; }
tfoot tr:first-child td { border-top: 2px solid var(--line); }
.sum td { font-weight: 600; }
article { margin: 1.5rem 0; }
article > .place { margin: 0 0 0.2rem; font-size: 0.8rem; }
.text { white-space: pre-wrap; tab-size: 4; }
.user { padding: 0.75rem 1rem; border-left: 3px solid var(--accent); background: var(--raised); border-radius: 0 6px 6px 0; }
.user .text { font-weight: 600; }
.draft .text, .reasoning .text { color: var(--quiet); }
details { margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 6px; }
summary { padding: 0.4rem 0.75rem; cursor: pointer; }
summary code { font-size: inherit; }
pre { overflow-x: auto; margin: 0.5rem 0; padding: 0.75rem; background: var(--raised); border-radius: 6px; white-space: pre-wrap; tab-size: 4; }
details > pre, details > .text { margin: 0; padding: 0.75rem; border-top: 1px solid var(--line); border-radius: 0; }
.args { color: var(--quiet); background: none; }
.good { color: var(--good); }
.bad, .error { color: var(--bad); }
.fork { margin: 2rem 0; padding-top: 0.5rem; border-top: 2px dashed var(--line); color: var(--quiet); text-align: center; }
@media print { details { break-inside: avoid; } body { max-width: none; } }
`;
