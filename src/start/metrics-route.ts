// The Prometheus endpoint: the metrics of this process or, where there are several, of all of them.

import packageJson from '../../package.json'
import { CountedOpen } from '../engine/telemetry/metrics/open-counts.ts'
import { readMetrics, type ScrapedEngine } from '../engine/telemetry/metrics/read-metrics.ts'
import { type Family, openMetricsType, textType, writeFamilies } from '../lib/telemetry/metrics.ts'

export interface MetricsSource {
  /** Of this process alone. */
  own(): Promise<Family[]>
  /** Of the whole gateway; undefined when they are unavailable now. */
  whole(): Promise<readonly Family[] | undefined>
}

/** `whole`: the metrics of all processes, from the supervisor. */
export function metricsOf(
  engine: ScrapedEngine,
  whole?: () => Promise<readonly Family[] | undefined>,
): MetricsSource {
  const scraped = { engine, open: new CountedOpen(), version: packageJson.version }
  const own = () => readMetrics(scraped)
  return { own, whole: whole ?? own }
}

interface MetricsText {
  status: number
  type: string
  body: string
}

/** Partial sums would look like a counter reset, so none are returned. */
export async function metricsText(
  { whole }: Pick<MetricsSource, 'whole'>,
  accept: string | null,
): Promise<MetricsText> {
  const families = await whole()
  if (families === undefined) {
    const body = 'the processes of this gateway did not answer in time\n'
    return { status: 503, type: 'text/plain; charset=utf-8', body }
  }
  const isOpen = accept?.includes('application/openmetrics-text') === true
  const body = writeFamilies(families, isOpen)
  return { status: 200, type: isOpen ? openMetricsType : textType, body }
}
