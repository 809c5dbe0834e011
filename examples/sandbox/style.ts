/** The style sheet of the sandbox's own pages, which look like the consent page. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #f2f4f7; --card: #ffffff; --text: #17212e; --soft: #4a5768; --line: #d9dfe7;
  --accent: #0b5c4b; --on-accent: #ffffff; --hover: #084638; --edge: #6b7888; --note: #fff6e0; --note-line: #b07a1e; --focus: #1a5fd0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0e141b; --card: #18212b; --text: #edf1f6; --soft: #aab6c4; --line: #2f3b48;
    --accent: #6fd6bb; --on-accent: #06231c; --hover: #93e6d0; --edge: #8793a2; --note: #30270f; --note-line: #c99a3c; --focus: #8ab8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header, main { max-width: 56rem; margin: 0 auto; padding: .75rem 1.25rem; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem; }
header a { display: inline-flex; align-items: center; min-height: 2.75rem; color: var(--text); font-size: 1.125rem; font-weight: 700; text-decoration: none; }
header a:hover { text-decoration: underline; }
main { padding-bottom: 3rem; }
.card { padding: 1.5rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; }
.card > :last-child { margin-bottom: 0; }
.narrow { max-width: 28rem; margin: 1rem auto; }
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.25; letter-spacing: -.01em; }
h2 { margin: 2rem 0 .75rem; font-size: 1.25rem; line-height: 1.35; }
h2.name { margin: 0; font-size: 1rem; }
p { margin: 0 0 .75rem; }
code { padding: .125rem .375rem; border: 1px solid var(--line); border-radius: .375rem; font: 1rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
ul { margin: 0; padding: 0; list-style: none; }
.accounts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); gap: 1rem; }
.balance { margin: .25rem 0; font-size: 1.75rem; font-weight: 700; line-height: 1.25; font-variant-numeric: tabular-nums; }
.soft { color: var(--soft); }
.rows li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem; }
.rows li + li { margin-top: 1rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.rows p { margin: 0; }
.rows .amount { font-weight: 600; font-variant-numeric: tabular-nums; }
.note { padding: .75rem 1rem; border: 1px solid var(--note-line); border-radius: .75rem; background: var(--note); }
label { display: block; margin-bottom: 1rem; font-weight: 600; }
input { display: block; width: 100%; min-height: 3rem; margin-top: .25rem; padding: .5rem .75rem; border: 1px solid var(--edge); border-radius: .5rem;
  background: transparent; color: inherit; font: inherit; }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .5rem 1.25rem; border: 1px solid var(--edge);
  border-radius: .75rem; background: transparent; color: var(--text); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
button:hover, .button:hover { border-color: var(--text); text-decoration: underline; }
header button { padding: .5rem 1rem; }
.primary { width: 100%; min-height: 3.25rem; border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.primary:hover { border-color: var(--hover); background: var(--hover); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; border-radius: .25rem; }
button:focus-visible, .button:focus-visible { border-radius: .75rem; }
input:focus-visible { border-radius: .5rem; }
@media (max-width: 30rem) { header a { font-size: 1rem; } }
`
