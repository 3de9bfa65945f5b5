// All counters of this process, found by known names. Label values are bounded: models of the
// catalog, channels of the configuration, codes of the error table; any other becomes `other`.
import { lossNanos } from '../../../billing/call-loss.ts'
import { inUnits } from '../../../billing/units.ts'
import type { Interface } from '../../../contract/catalog.ts'
import { type RefusalCode, refusals } from '../../../contract/errors.ts'
import { type Loss, lossReasons } from '../../../contract/ledger.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import type { Task } from '../../../contract/task.ts'
import {
  Histogram,
  HistogramSeries,
  labelsOf,
  type Sample,
  series,
} from '../../../lib/telemetry/metrics.ts'
import { CallMeter } from './call-meter.ts'
import { ChannelMeter } from './channel-meter.ts'
import { delayBounds, lagBounds, type MetricName, taskBounds } from './families.ts'

/** Beyond this many, names become `other`. */
const maxModels = 300
const maxChannels = 300
const other = 'other'
const dated = /^(.{1,128})-\d{4}-\d\d-\d\d$/

type OfModel = Record<Interface, CallMeter>

/** A counter with its rendered labels. */
interface Tally {
  readonly labels: string
  count: number
}

function addTallies(
  name: MetricName,
  tallies: Iterable<Tally>,
  samples: (name: MetricName) => Sample[],
): void {
  for (const { labels, count } of tallies) samples(name).push([series(name, labels), count])
}

export class Meters {
  /** Set once a catalog exists. */
  isModel: (name: string) => boolean = () => false
  readonly pollLag = new Histogram(lagBounds)
  readonly callbackLag = new Histogram(lagBounds)
  readonly loopDelay = new Histogram(delayBounds)
  readonly #models = new Map<string, OfModel>([[other, {}]])
  readonly #channels = new Map<string, ChannelMeter>()
  readonly #taskTimes = new Map<Interface, HistogramSeries>()
  /** By code; many may come at once, so labels are rendered once. */
  readonly #errors: Record<Interface, Map<string, Tally>> = {}
  readonly #turnedAway = new Map<RefusalCode, Tally>()
  /** Rare counters, by name only. */
  readonly #rare = new Map<MetricName, Map<string, number>>()

  constructor() {
    for (const reason of lossReasons) this.#add('gateway_losses_total', { reason }, 0)
  }

  /** A request has ended; its row is complete. Once for each. */
  call(record: RequestRecord): void {
    this.#meterOf(record.interface, record.model).count(record)
    if (record.errorCode !== undefined) this.#errorOf(record.interface, record.errorCode).count++
    const { loss, ending, estimated } = record.detail
    if (ending === 'caller_left') {
      const charged = record.charge === undefined ? 'free' : estimated ? 'estimated' : 'exact'
      this.#add('gateway_calls_left_total', { charged }, 1)
    }
    if (loss === undefined) return
    for (const part of loss) {
      const units = inUnits(lossNanos({ loss: [part] }))
      this.#add('gateway_losses_total', { reason: part.reason }, units)
    }
  }

  overhead({ interface: use, model }: RequestRecord, ms: number): void {
    this.#meterOf(use, model).recordOverhead(ms)
  }

  turnedAway(code: RefusalCode): void {
    const known = this.#turnedAway.get(code)
    if (known !== undefined) known.count++
    else this.#turnedAway.set(code, { labels: labelsOf({ code }), count: 1 })
  }

  /** A try at a channel has ended, with an error of this code or successfully. */
  attempt(channel: string, ms: number, code?: string): void {
    this.#channelOf(channel).count(ms, code)
  }

  poll(channel: string, isAnswered: boolean): void {
    this.#channelOf(channel).countPoll(isAnswered)
  }

  taskCreated({ interface: use }: Task): void {
    this.#add('gateway_tasks_created_total', { interface: use })
  }

  taskEnded(task: Task, isEstimated = false): void {
    const { interface: use, state } = task
    if (state === 'succeeded') this.#meterOf(use, task.model).countTask(task, isEstimated)
    this.#add('gateway_tasks_ended_total', { interface: use, state })
    this.#taskTimeOf(use).histogram.note((task.updatedAtMs - task.createdAtMs) / 1000)
  }

  loss({ reason, amountNanos }: Loss): void {
    this.#add('gateway_losses_total', { reason }, inUnits(amountNanos))
  }

  batchEnded(state: string): void {
    this.#add('gateway_batches_ended_total', { state })
  }

  batchLine(outcome: 'completed' | 'failed' | 'unrun'): void {
    this.#add('gateway_batch_lines_total', { outcome })
  }

  callbackAttempt(outcome: string): void {
    this.#add('gateway_callback_attempts_total', { outcome })
  }

  addTo(samples: (name: MetricName) => Sample[]): void {
    for (const byInterface of this.#models.values()) {
      for (const meter of Object.values(byInterface)) meter.addTo(samples)
    }
    for (const meter of this.#channels.values()) meter.addTo(samples)
    for (const times of this.#taskTimes.values()) {
      times.addTo(samples('gateway_task_duration_seconds'))
    }
    for (const [name, counts] of this.#rare) {
      for (const [labels, count] of counts) samples(name).push([series(name, labels), count])
    }
    const errors = Object.values(this.#errors).flatMap((byCode) => [...byCode.values()])
    addTallies('gateway_errors_total', errors, samples)
    addTallies('gateway_auth_failures_total', this.#turnedAway.values(), samples)
    this.#lags.forEach(([name, times]) => {
      times.addTo(samples(name))
    })
  }

  readonly #lags: readonly (readonly [MetricName, HistogramSeries])[] = (
    [
      ['gateway_poll_lag_seconds', this.pollLag],
      ['gateway_callback_lag_seconds', this.callbackLag],
      ['gateway_event_loop_delay_seconds', this.loopDelay],
    ] as const
  ).map(([name, histogram]) => [name, new HistogramSeries(name, '', histogram)])

  #meterOf(use: Interface, model: string): CallMeter {
    return this.#models.get(model)?.[use] ?? this.#newMeter(use, model)
  }

  /** Also counts every call for an unknown model. */
  #newMeter(use: Interface, model: string): CallMeter {
    const name = this.#nameOf(model)
    const byInterface = this.#models.get(name) ?? {}
    this.#models.set(name, byInterface)
    byInterface[use] ??= new CallMeter(use, name)
    return byInterface[use]
  }

  /** Names come from callers; a dated one counts as its undated model. */
  #nameOf(model: string): string {
    if (this.#models.has(model)) return model
    const plain = this.isModel(model) ? model : (dated.exec(model)?.[1] ?? '')
    if (this.#models.has(plain)) return plain
    return this.#models.size < maxModels && this.isModel(plain) ? plain : other
  }

  #channelOf(channel: string): ChannelMeter {
    const known = this.#channels.get(channel)
    if (known !== undefined) return known
    const name = this.#channels.size < maxChannels ? channel : other
    const meter = this.#channels.get(name) ?? new ChannelMeter(name)
    this.#channels.set(name, meter)
    return meter
  }

  #taskTimeOf(use: Interface): HistogramSeries {
    const known = this.#taskTimes.get(use)
    if (known !== undefined) return known
    const labels = labelsOf({ interface: use })
    const name = 'gateway_task_duration_seconds'
    const made = new HistogramSeries(name, labels, new Histogram(taskBounds))
    this.#taskTimes.set(use, made)
    return made
  }

  #errorOf(use: Interface, code: string): Tally {
    let byCode = this.#errors[use]
    if (byCode === undefined) {
      byCode = new Map()
      this.#errors[use] = byCode
    }
    const known = byCode.get(code)
    if (known !== undefined) return known
    const row = Object.hasOwn(refusals, code) ? refusals[code as RefusalCode] : undefined
    const name = row !== undefined || code === 'caller_left' ? code : other
    const labels = labelsOf({ interface: use, class: row?.type ?? other, code: name })
    const made = byCode.get(name) ?? { labels, count: 0 }
    byCode.set(name, made)
    return made
  }

  #add(name: MetricName, labels: Readonly<Record<string, string>>, more = 1): void {
    let counts = this.#rare.get(name)
    if (counts === undefined) {
      counts = new Map()
      this.#rare.set(name, counts)
    }
    const key = labelsOf(labels)
    counts.set(key, (counts.get(key) ?? 0) + more)
  }
}
