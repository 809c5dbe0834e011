/** The style sheet of the consent page. Colours reach a contrast of 4.5:1 in light and in dark mode, text and edges of controls alike. */
export const STYLE = `
:root { color-scheme: light dark; --ground: #eef1f5; --card: #ffffff; --text: #14202e; --soft: #4a5768; --line: #c9d1db;
  --strong: #0b5c4b; --on-strong: #ffffff; --hover: #084638; --note: #fff6e0; --note-line: #8a5a00; --focus: #1a5fd0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0f151c; --card: #18212b; --text: #eef2f6; --soft: #aab6c4; --line: #3a4857;
    --strong: #6fd6bb; --on-strong: #06231c; --hover: #93e6d0; --note: #33280f; --note-line: #e0b04a; --focus: #8ab8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: anywhere; }
header, main { max-width: 36rem; margin: 0 auto; }
header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .5rem .25rem 1rem; color: var(--soft); }
header strong { color: var(--text); }
header p { margin: 0; }
main { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.5rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 .5rem; font-size: 1.0625rem; }
p { margin: 0 0 .75rem; }
section { border-top: 1px solid var(--line); padding: 1.25rem 0; }
ul { margin: 0 0 .75rem; padding-left: 1.25rem; }
dl { margin: 0 0 1rem; display: grid; grid-template-columns: minmax(8rem, 2fr) 3fr; gap: .375rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; }
dd.amount { font-size: 1.125rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.note { margin: .75rem 0 0; padding: .625rem .875rem; background: var(--note); border-left: .25rem solid var(--note-line); border-radius: .25rem; }
section > :last-child { margin-bottom: 0; }
form { border-top: 1px solid var(--line); padding-top: 1.25rem; display: flex; flex-wrap: wrap; gap: .75rem; }
button { flex: 1 1 10rem; min-height: 3rem; padding: .625rem 1rem; border: 1px solid var(--strong); border-radius: .5rem;
  font: inherit; font-weight: 600; cursor: pointer; }
button[value="approve"] { background: var(--strong); color: var(--on-strong); }
button[value="approve"]:hover { background: var(--hover); }
button[value="deny"] { background: transparent; color: var(--strong); }
button[value="deny"]:hover { border-color: var(--hover); color: var(--hover); text-decoration: underline; }
button:focus-visible, a:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
small { display: block; margin-top: 1rem; font-size: .875rem; color: var(--soft); }
@media (max-width: 30rem) { body { padding: .5rem; } main { padding: 1rem; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
`
