// How late timers fire: the delay of the event loop, which every caller shares.
import { Loop, type Service } from '../../../lib/loop.ts'
import type { Log } from '../../../lib/telemetry/log.ts'
import type { Histogram } from '../../../lib/telemetry/metrics.ts'

const everyMs = 50

export function createLoopDelayMeter(delay: Histogram, log: Log): Service {
  let dueMs: number | undefined
  const run = () => {
    const nowMs = performance.now()
    if (dueMs !== undefined) delay.note(Math.max(0, nowMs - dueMs) / 1000)
    dueMs = nowMs + everyMs
  }
  const failure = 'the delay of the event loop could not be measured'
  return new Loop({ name: 'loop-delay', run, everyMs, log, failure })
}
