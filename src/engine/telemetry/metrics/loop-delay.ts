// How late timers fire: the delay of the event loop, which every caller shares.
import type { Histogram } from '../../../lib/telemetry/metrics.ts'

const everyMs = 50

/** Returns a function that stops it. */
export function watchLoop(delay: Histogram): () => void {
  let dueMs = performance.now() + everyMs
  const timer = setInterval(() => {
    const nowMs = performance.now()
    delay.note(Math.max(0, nowMs - dueMs) / 1000)
    dueMs = nowMs + everyMs
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
