// The largest resident memory of a target over a stretch of time, by sampling.

import { memory } from './proc.ts'
import type { Target } from './targets.ts'

const sampleMs = 100

/** Samples until the returned function is called, which gives the peak and throws for a dead target. */
export function watchPeakMemory({ pids, child }: Target): () => number {
  let peakBytes = 0
  const sample = () => {
    if (child.exitReport() === undefined) peakBytes = Math.max(peakBytes, memory(pids).rssBytes)
  }
  const timer = setInterval(sample, sampleMs)
  return () => {
    clearInterval(timer)
    const ended = child.exitReport()
    if (ended !== undefined) throw new Error(`under load ${ended}`)
    sample()
    return peakBytes
  }
}
