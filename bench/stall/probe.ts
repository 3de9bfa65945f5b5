// Another caller, with an account of its own: small chat calls, one after the other, and beside them the
// gateway's health. Records how long each waits. The first command starts it; every command returns what was
// measured since the one before.

import { serveCommands } from '../lib/commands.ts'
import { percentile } from '../lib/stats.ts'

export interface ProbeCommand {
  url: string
  token: string
  model: string
}

export interface ProbeResult {
  sent: number
  failed: number
  /** Of its calls. */
  medianMs: number
  p999Ms: number
  worstMs: number
  /** Of the gateway's health. */
  healthWorstMs: number
}

const pauseMs = 2
let isProbing = false
let waits: number[] = []
let failed = 0
let healthWorstMs = 0

async function repeat(
  ask: () => Promise<Response>,
  took: (ms: number, good: boolean) => void,
): Promise<never> {
  for (;;) {
    const startMs = performance.now()
    const good = await ask().then(
      async (answer) => (await answer.text()) !== '' && answer.ok,
      () => false,
    )
    took(performance.now() - startMs, good)
    await Bun.sleep(pauseMs)
  }
}

function start({ url, token, model }: ProbeCommand): void {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const messages = [{ role: 'user', content: 'hi' }]
  const call = {
    method: 'POST',
    headers,
    body: JSON.stringify({ model, max_tokens: 5, messages }),
  }
  repeat(
    () => fetch(`${url}/v1/chat/completions`, call),
    (ms, good) => {
      waits.push(ms)
      if (!good) failed++
    },
  )
  repeat(
    () => fetch(`${url}/healthz`),
    (ms) => {
      healthWorstMs = Math.max(healthWorstMs, ms)
    },
  )
}

/** A short body may be answered before the next call of the other caller. */
const waitAt = (sorted: Float64Array, share: number): number =>
  sorted.length === 0 ? 0 : percentile(sorted, share)

await serveCommands((command: ProbeCommand) => {
  if (!isProbing) start(command)
  isProbing = true
  const sorted = Float64Array.from(waits).toSorted()
  const result: ProbeResult = {
    sent: sorted.length,
    failed,
    medianMs: waitAt(sorted, 0.5),
    p999Ms: waitAt(sorted, 0.999),
    worstMs: waitAt(sorted, 1),
    healthWorstMs,
  }
  waits = []
  failed = 0
  healthWorstMs = 0
  return result
})
