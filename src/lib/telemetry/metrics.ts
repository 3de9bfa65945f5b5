// Prometheus metrics: histograms, families of series, merging those of several processes, and the
// text format. Domain-free: knows nothing of the gateway or what the numbers mean.

export type MetricType = 'counter' | 'gauge' | 'histogram'

/** One series: its name with labels and suffix as in the text format, and its value. */
export type Sample = readonly [series: string, value: number]

export interface Family {
  name: string
  help: string
  type: MetricType
  /** How the values of several processes are merged. */
  across: 'sum' | 'max' | 'min'
  samples: Sample[]
}

/** Counts values into fixed buckets. `note` is for hot paths: it allocates nothing. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  note(value: number): void {
    const { bounds, counts } = this
    let at = 0
    while (at < bounds.length && value > bounds[at]!) at++
    counts[at]!++
    this.sum += value
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }
}

/** Series names of one histogram, built once: a scrape only adds the numbers. */
export class HistogramSeries {
  readonly histogram: Histogram
  readonly #buckets: readonly string[]
  readonly #sum: string
  readonly #count: string

  constructor(name: string, labels: string, histogram: Histogram) {
    this.histogram = histogram
    const before = labels === '' ? '' : `${labels},`
    const bounds = [...histogram.bounds.map(String), '+Inf']
    this.#buckets = bounds.map((bound) => `${name}_bucket{${before}le="${bound}"}`)
    this.#sum = series(`${name}_sum`, labels)
    this.#count = series(`${name}_count`, labels)
  }

  addTo(samples: Sample[]): void {
    const { counts, sum } = this.histogram
    let below = 0
    for (let at = 0; at < counts.length; at++) {
      below += counts[at]!
      samples.push([this.#buckets[at]!, below])
    }
    samples.push([this.#sum, sum], [this.#count, below])
  }
}

export const series = (name: string, labels: string): string =>
  labels === '' ? name : `${name}{${labels}}`

/** `a="x",b="y"`, as the text format wants it. */
export const labelsOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** Merges the families of several processes into those of one. */
export function mergeFamilies(parts: readonly (readonly Family[])[]): Family[] {
  const merged = new Map<string, { family: Family; values: Map<string, number> }>()
  for (const family of parts.flat()) {
    let into = merged.get(family.name)
    if (into === undefined) {
      into = { family, values: new Map() }
      merged.set(family.name, into)
    }
    for (const [name, value] of family.samples) {
      const before = into.values.get(name)
      into.values.set(name, before === undefined ? value : joined(family.across, before, value))
    }
  }
  return [...merged.values()].map(({ family, values }) => ({ ...family, samples: [...values] }))
}

function joined(across: Family['across'], a: number, b: number): number {
  if (across === 'sum') return a + b
  return across === 'max' ? Math.max(a, b) : Math.min(a, b)
}

/** What remains of an ended process: its counters, not its gauges. */
export const countedBy = (families: readonly Family[]): Family[] =>
  families.filter(({ type }) => type !== 'gauge')

export const textType = 'text/plain; version=0.0.4; charset=utf-8'
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** OpenMetrics names a counter without its suffix, and marks the end of the text. */
export function writeFamilies(families: readonly Family[], isOpen = false): string {
  let text = ''
  for (const { name, help, type, samples } of families) {
    const named = isOpen && type === 'counter' ? name.replace(/_total$/, '') : name
    text += `# HELP ${named} ${help}\n# TYPE ${named} ${type}\n`
    for (const [series, value] of samples) text += `${series} ${spelled(value)}\n`
  }
  return isOpen ? `${text}# EOF\n` : text
}

function spelled(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
