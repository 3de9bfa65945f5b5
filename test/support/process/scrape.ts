// Reads a scrape as Prometheus would, and refuses what Prometheus would refuse.

export interface Scrape {
  /** By name of the family. */
  families: Map<string, { type: string; help: string }>
  samples: { name: string; labels: Record<string, string>; value: number }[]
  text: string
}

const lineShape = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const labelShape = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

export function parseScrape(text: string): Scrape {
  const scrape: Scrape = { families: new Map(), samples: [], text }
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const seen = new Set<string>()
  let current = ''
  for (const line of text.split('\n').slice(0, -1)) {
    const [, what, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (what === 'HELP') {
      if (scrape.families.has(name)) throw new Error(`${name} comes twice`)
      scrape.families.set(name, { type: '', help: rest })
      current = name
    } else if (what === 'TYPE') scrape.families.get(name)!.type = rest
    else if (line !== '# EOF') {
      if (seen.has(line.slice(0, line.lastIndexOf(' ')))) throw new Error(`twice: ${line}`)
      seen.add(line.slice(0, line.lastIndexOf(' ')))
      scrape.samples.push(sampleIn(line, current))
    }
  }
  return scrape
}

function sampleIn(line: string, family: string): Scrape['samples'][number] {
  const [, name, labels = '', number = ''] = lineShape.exec(line) ?? []
  if (name === undefined || !name.startsWith(family)) throw new Error(`not a sample: ${line}`)
  const value = Number(number.replace('+Inf', 'Infinity'))
  if (Number.isNaN(value)) throw new Error(`no number: ${line}`)
  return { name, labels: labelsIn(labels, line), value }
}

function labelsIn(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {}
  labelShape.lastIndex = 0
  while (labelShape.lastIndex < text.length) {
    const [, name, value] = labelShape.exec(text) ?? []
    if (name === undefined) throw new Error(`bad labels: ${line}`)
    labels[name] = value!
  }
  return labels
}

export async function scrapeOf(url: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`, { headers })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
  return parseScrape(text)
}

/** Sum of the samples of this name with these labels. */
export const sumOf = (
  { samples }: Scrape,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number =>
  samples
    .filter((each) => each.name === name)
    .filter((each) =>
      Object.entries(labels).every(([label, value]) => each.labels[label] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
