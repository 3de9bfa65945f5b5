// The style of the page, light and dark.
export const pageStyle = `
:root { color-scheme: light dark; --line: #d8dce3; --soft: #f4f6f9; --text: #1b2330; --mute: #5a6475; --link: #1a56c4; }
@media (prefers-color-scheme: dark) {
  :root { --line: #343b48; --soft: #1b2029; --text: #e6e9ef; --mute: #a4adbc; --link: #8ab4ff; }
  body { background: #12161d; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; } h1 small { color: var(--mute); font-size: 1rem; font-weight: 400; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; } h4 { margin: 1rem 0 .3rem; }
a { color: var(--link); } header p { max-width: 48rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1rem; list-style: none; padding: .6rem 0; margin: 1rem 0; border: solid var(--line); border-width: 1px 0; }
details { border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; padding: 0 .9rem; overflow-wrap: anywhere; }
details[open] { padding-bottom: .9rem; }
summary { cursor: pointer; padding: .5rem 0; } summary span { color: var(--mute); }
summary b { display: inline-block; min-width: 4rem; font-size: .8rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: 6px; padding: .7rem; overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; overflow-wrap: normal; }
td:first-child, td:last-child:not(:nth-child(4)), th { white-space: nowrap; }
td:nth-child(4) { min-width: 12rem; }
.schema { border-top: 1px solid var(--line); padding: .3rem 0 .8rem; } .schema h3 { margin: .4rem 0; }
.schema:target { background: var(--soft); }
th, td { text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); padding: .35rem .8rem .35rem 0; }
th { color: var(--mute); font-weight: 500; font-size: .85rem; }
ul.fields { margin: .2rem 0; padding-left: 1.1rem; } ul.fields i { color: var(--mute); }
figure { margin: .6rem 0; } figcaption { color: var(--mute); font-size: .85rem; }
`
