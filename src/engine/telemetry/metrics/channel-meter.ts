// Counters for the tries and task polls at one channel since the process started.
import {
  Histogram,
  HistogramSeries,
  labelsOf,
  type Sample,
  series,
} from '../../../lib/telemetry/metrics.ts'
import { callBounds, type MetricName } from './families.ts'

export class ChannelMeter {
  readonly #labels: string
  readonly #duration: HistogramSeries
  #good = 0
  /** By error code; the codes are ours, so their number is bounded. */
  readonly #failed = new Map<string, number>()
  #polls = 0
  #failedPolls = 0

  constructor(channel: string) {
    this.#labels = labelsOf({ channel })
    const histogram = new Histogram(callBounds)
    this.#duration = new HistogramSeries(
      'gateway_attempt_duration_seconds',
      this.#labels,
      histogram,
    )
  }

  /** `code`: of the error it ended with. */
  count(ms: number, code: string | undefined): void {
    this.#duration.histogram.note(ms / 1000)
    if (code === undefined) this.#good++
    else this.#failed.set(code, (this.#failed.get(code) ?? 0) + 1)
  }

  countPoll(isAnswered: boolean): void {
    if (isAnswered) this.#polls++
    else this.#failedPolls++
  }

  addTo(samples: (name: MetricName) => Sample[]): void {
    const add = (name: MetricName, outcome: string, value: number) =>
      samples(name).push([series(name, `${this.#labels},outcome="${outcome}"`), value])
    add('gateway_attempts_total', 'ok', this.#good)
    for (const [code, tries] of this.#failed) add('gateway_attempts_total', code, tries)
    this.#duration.addTo(samples('gateway_attempt_duration_seconds'))
    if (this.#polls + this.#failedPolls === 0) return
    add('gateway_task_polls_total', 'ok', this.#polls)
    add('gateway_task_polls_total', 'failed', this.#failedPolls)
  }
}
