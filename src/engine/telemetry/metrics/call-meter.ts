// Counters for requests of one interface and one model since the process started. Plain numbers:
// counting allocates nothing and looks nothing up.
import { inUnits } from '../../../billing/units.ts'
import type { Interface } from '../../../contract/catalog.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import type { TokenCounts } from '../../../contract/usage.ts'
import {
  Histogram,
  HistogramSeries,
  labelsOf,
  type Sample,
  series,
} from '../../../lib/telemetry/metrics.ts'
import { callBounds, firstByteBounds, type MetricName, overheadBounds } from './families.ts'

type Samples = (name: MetricName) => Sample[]

/** 499: the caller left. */
const statuses = ['2xx', '4xx', '5xx', '499'] as const

function statusAt(status: number): number {
  if (status < 400) return 0
  return status >= 500 ? 2 : status === 499 ? 3 : 1
}

export class CallMeter {
  readonly #labels: string
  readonly #calls = [0, 0, 0, 0]
  readonly #duration: HistogramSeries
  readonly #firstByte: HistogramSeries
  readonly #overhead: HistogramSeries
  readonly #tokens = { input: 0, output: 0, cache_read: 0, cache_write: 0, video: 0 }
  #spend = 0
  #images = 0
  #videoSeconds = 0
  #failovers = 0
  #retries = 0
  #charges = 0
  /** Of these. */
  #estimated = 0

  constructor(use: Interface, model: string) {
    const labels = labelsOf({ interface: use, model })
    const timed = (name: MetricName, bounds: readonly number[]) =>
      new HistogramSeries(name, labels, new Histogram(bounds))
    this.#labels = labels
    this.#duration = timed('gateway_call_duration_seconds', callBounds)
    this.#firstByte = timed('gateway_first_byte_seconds', firstByteBounds)
    this.#overhead = timed('gateway_overhead_seconds', overheadBounds)
  }

  count(record: RequestRecord): void {
    this.#calls[statusAt(record.status)]!++
    this.#duration.histogram.note(record.totalMs / 1000)
    const { firstByteMs, usage, detail } = record
    if (firstByteMs !== undefined) this.#firstByte.histogram.note(firstByteMs / 1000)
    if (usage !== undefined) {
      this.#countTokens(usage)
      this.#spend += inUnits(record.chargeNanos)
    }
    if (record.charge !== undefined) this.#countCharge(detail.estimated === true)
    if (detail.clientRetry !== undefined) this.#retries++
    if (detail.attempts.length > 1) this.#failovers += detail.attempts.length - 1
  }

  #countCharge(isEstimated: boolean): void {
    this.#charges++
    if (isEstimated) this.#estimated++
  }

  #countTokens(usage: TokenCounts): void {
    const tokens = this.#tokens
    tokens.input += usage.inputTokens
    tokens.output += usage.outputTokens
    tokens.cache_read += usage.cacheReadTokens
    tokens.cache_write += usage.cacheWriteTokens
  }

  recordOverhead(ms: number): void {
    this.#overhead.histogram.note(ms / 1000)
  }

  /** A successful one; the row of its request has no cost. */
  countTask(task: Task, isEstimated: boolean): void {
    this.#countCharge(isEstimated)
    this.#spend += inUnits(task.chargeNanos)
    this.#tokens.video += task.usage?.videoTokens ?? 0
    if (task.kind === 'image') {
      this.#images += task.media.filter(({ kind }) => kind === 'image').length
    }
    if (task.kind === 'video') {
      this.#videoSeconds += task.usage?.outputSeconds ?? task.request.seconds
    }
    if (task.usage?.tokens !== undefined) this.#countTokens(task.usage.tokens)
  }

  addTo(samples: Samples): void {
    const labels = this.#labels
    this.#calls.forEach((calls, at) => {
      const labelled = `${labels},status="${statuses[at]}"`
      samples('gateway_calls_total').push([series('gateway_calls_total', labelled), calls])
    })
    this.#duration.addTo(samples('gateway_call_duration_seconds'))
    const optional = [
      ['gateway_first_byte_seconds', this.#firstByte],
      ['gateway_overhead_seconds', this.#overhead],
    ] as const
    for (const [name, timed] of optional) {
      if (timed.histogram.total > 0) timed.addTo(samples(name))
    }
    for (const [kind, tokens] of Object.entries(this.#tokens)) {
      if (tokens === 0) continue
      const labelled = `${labels},kind="${kind}"`
      samples('gateway_tokens_total').push([series('gateway_tokens_total', labelled), tokens])
    }
    if (this.#charges > 0) {
      const charges = [
        ['reported', this.#charges - this.#estimated],
        ['estimated', this.#estimated],
      ] as const
      for (const [usage, count] of charges) {
        const name = series('gateway_charges_total', `${labels},usage="${usage}"`)
        samples('gateway_charges_total').push([name, count])
      }
    }
    const sums = [
      ['gateway_spend_total', this.#spend],
      ['gateway_images_total', this.#images],
      ['gateway_video_seconds_total', this.#videoSeconds],
      ['gateway_failovers_total', this.#failovers],
      ['gateway_client_retries_total', this.#retries],
    ] as const
    for (const [name, sum] of sums) {
      if (sum > 0) samples(name).push([series(name, labels), sum])
    }
  }
}
