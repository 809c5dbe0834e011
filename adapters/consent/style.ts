/**
 * The style sheet of the consent page. Colours reach a contrast of 4.5:1 in light and in dark mode, edges of controls
 * one of 3:1; nothing moves. Buttons react to a mouse only half a second after the page appeared: the second click of a
 * double click on somebody else's window, which closes in between, must not approve anything. @spec T-18
 * Nor do they react in the second after a press: its repeat would reach a request that was just answered. The form says
 * so, since a button that changes its own animation on a press begins its half second anew. @spec INT-3
 * Anything that a client's name draws beyond its lines is cut off, so that it cannot cover the address shown with it.
 * @spec INT-11
 */
export const STYLE = `
:root { color-scheme: light dark; --ground: #f2f4f7; --card: #ffffff; --text: #17212e; --soft: #4a5768; --line: #d9dfe7; --tint: #eef5f3;
  --accent: #0b5c4b; --on-accent: #ffffff; --hover: #084638; --edge: #6b7888; --note: #fff6e0; --note-line: #b07a1e; --focus: #1a5fd0; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #0e141b; --card: #18212b; --text: #edf1f6; --soft: #aab6c4; --line: #2f3b48; --tint: #1b2b2d;
    --accent: #6fd6bb; --on-accent: #06231c; --hover: #93e6d0; --edge: #8793a2; --note: #30270f; --note-line: #c99a3c; --focus: #8ab8ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 1.5rem;
  max-width: 40rem; margin: 0 auto; padding: .75rem 2rem; color: var(--soft); }
header p { margin: 0; }
header strong, header a { display: inline-flex; align-items: center; min-height: 2.75rem; color: var(--text); font-size: 1.125rem; font-weight: 700; }
header a { text-decoration: none; }
header a:hover { text-decoration: underline; }
main { max-width: 40rem; margin: 0 auto 3rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem; }
h1 { margin: -.5rem -.5rem .5rem; padding: .5rem; contain: paint; font-size: 1.75rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
h2 { margin: 0 0 .75rem; font-size: 1.125rem; line-height: 1.35; }
p { margin: 0 0 .75rem; }
@keyframes appear { from { pointer-events: none; } }
@keyframes arrive { from { pointer-events: none; } }
form button { animation: appear .5s step-end; }
@media (hover: hover) { main:hover button { animation-name: arrive; } }
@keyframes answer { from { pointer-events: none; } }
form:focus-within:not(:active) { animation: answer 1s step-end; }
.asker { margin-bottom: 1.25rem; }
.asker span { color: var(--soft); }
section { padding: 1.5rem 0; border-top: 1px solid var(--line); }
p + section { padding-top: .25rem; border-top: 0; }
section > :last-child { margin-bottom: 0; }
ul { margin: 0; padding-left: 1.25rem; }
li + li { margin-top: .25rem; }
dl { margin: 0 0 1rem; }
dl div { display: grid; grid-template-columns: 11rem 1fr; gap: 0 1rem; padding: .5rem 0; }
dl div + div { border-top: 1px solid var(--line); }
dt, dd span { color: var(--soft); }
dd { margin: 0; }
dd span { display: block; }
.ceiling { padding: 1rem 1.25rem; border-radius: .75rem; background: var(--tint); }
.ceiling span { display: block; color: var(--soft); }
.ceiling strong { font-size: 2rem; line-height: 1.25; letter-spacing: -.01em; font-variant-numeric: tabular-nums; margin-right: .25rem; }
main .long strong { font-size: 1rem; }
.note { margin-top: 1rem; padding: .75rem 1rem; border: 1px solid var(--note-line); border-radius: .75rem; background: var(--note); }
.links { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 0; }
.mark { display: block; width: 3rem; height: 3rem; margin: 0 0 1rem; fill: none; stroke: var(--accent); stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; }
form { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 3.25rem; padding: .75rem 1.5rem; border: 1px solid var(--edge);
  border-radius: .75rem; background: transparent; color: var(--text); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
button:hover, .button:hover { border-color: var(--text); text-decoration: underline; }
button[value="approve"], .links .again { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button[value="approve"]:hover, .links .again:hover { border-color: var(--hover); background: var(--hover); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; border-radius: .25rem; }
button:focus-visible, .button:focus-visible { border-radius: .75rem; }
@media (max-width: 34rem) {
  header { padding: .5rem 1.25rem; }
  main { margin: 0; padding: 1.5rem 1.25rem; border-width: 1px 0; border-radius: 0; }
  h1 { font-size: 1.5rem; }
  dl div, form { grid-template-columns: 1fr; }
  .ceiling strong { font-size: 1.625rem; }
}
`
