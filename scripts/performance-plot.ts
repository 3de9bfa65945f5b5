// Writes docs/performance.svg, what a call costs beside peers, from docs/performance-figures.json, and the place
// in README.md and docs/performance.md that shows it. A figure that is null is left out; without figures there is
// no picture. Run it after a change of the figures; a test compares the result.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

interface Figures {
  /** When and on what: shown below the bars. */
  measured: string
  cases: readonly { name: string; cpuMsPerCall: Readonly<Record<string, number | null>> }[]
}

interface Bar {
  label: string
  value: number
}

const root = resolve(import.meta.dir, '..')
const [width, left, right] = [720, 170, 90]
const [barHeight, barGap, headHeight, footHeight] = [18, 6, 34, 34]
const own = 'Model Gateway'

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const shown = (value: number): string => `${Number(value.toPrecision(2))} ms`

/** Undefined where no case has two bars to compare. */
export function plotText({ measured, cases }: Figures): string | undefined {
  const groups = cases
    .map(({ name, cpuMsPerCall }) => ({ name, bars: barsOf(cpuMsPerCall) }))
    .filter(({ bars }) => bars.length > 1)
  if (groups.length === 0) return undefined
  let y = 10
  const parts = groups.flatMap(({ name, bars }) => {
    const max = Math.max(...bars.map(({ value }) => value))
    const head = `<text class="head" x="0" y="${y + 18}">${escapeXml(name)}</text>`
    const lines = bars.map((bar, i) => barSvg(bar, max, y + headHeight + i * (barHeight + barGap)))
    y += headHeight + bars.length * (barHeight + barGap) + 8
    return [head, ...lines]
  })
  const height = y + footHeight
  const foot = `CPU time of a call, all threads and processes; shorter is better. ${measured}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="CPU time per call beside other gateways">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f; }
.head { font-weight: 600; font-size: 14px; }
.foot { font-size: 12px; fill: #57606a; }
rect { fill: #8c959f; }
.own { fill: #1f6feb; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .foot { fill: #9198a1; }
  rect { fill: #656c76; }
  .own { fill: #4493f8; }
}
</style>
${parts.join('\n')}
<text class="foot" x="0" y="${height - 12}">${escapeXml(foot.trim())}</text>
</svg>
`
}

const barsOf = (values: Readonly<Record<string, number | null>>): Bar[] =>
  Object.entries(values).flatMap(([label, value]) => (value === null ? [] : [{ label, value }]))

function barSvg({ label, value }: Bar, max: number, y: number): string {
  const length = Math.max(2, Math.round(((width - left - right) * value) / max))
  const middle = y + 13
  return `<text x="${left - 10}" y="${middle}" text-anchor="end">${escapeXml(label)}</text>
<rect${label === own ? ' class="own"' : ''} x="${left}" y="${y}" width="${length}" height="${barHeight}" rx="2"/>
<text x="${left + length + 8}" y="${middle}">${shown(value)}</text>`
}

/** Where the picture stands, by page: the address as seen from there. */
const places: Readonly<Record<string, string>> = {
  'README.md': 'docs/performance.svg',
  'docs/performance.md': 'performance.svg',
}
const place = /<!-- plot -->\n[\s\S]*?<!-- \/plot -->/

/** The page with the picture in its place, or without it. */
export function pageWith(text: string, address: string | undefined): string {
  const image =
    address === undefined ? '' : `\n![CPU time per call beside other gateways](${address})\n\n`
  return text.replace(place, () => `<!-- plot -->\n${image}<!-- /plot -->`)
}

/** What the files should be: undefined for one that should not be there. */
export function plotFiles(): Record<string, string | undefined> {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  const plot = plotText(JSON.parse(read('docs/performance-figures.json')) as Figures)
  const pages = Object.entries(places).map(([page, address]): [string, string] => [
    page,
    pageWith(read(page), plot === undefined ? undefined : address),
  ])
  return { 'docs/performance.svg': plot, ...Object.fromEntries(pages) }
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(plotFiles())) {
    const file = join(root, path)
    if (text !== undefined) writeFileSync(file, text)
    else if (existsSync(file)) rmSync(file)
  }
}
