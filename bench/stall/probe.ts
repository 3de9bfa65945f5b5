// Requests the gateway's health again and again and records the longest wait. The first command starts it;
// every command returns what was measured since the one before.

import { serveCommands } from '../lib/commands.ts'

export interface ProbeResult {
  sent: number
  failed: number
  worstMs: number
}

const pauseMs = 2
let isProbing = false
let seen: ProbeResult = { sent: 0, failed: 0, worstMs: 0 }

async function probe(at: string): Promise<never> {
  for (;;) {
    const startMs = performance.now()
    const good = await fetch(`${at}/healthz`).then(
      async (answer) => (await answer.text()) !== '' && answer.ok,
      () => false,
    )
    seen.sent++
    if (!good) seen.failed++
    seen.worstMs = Math.max(seen.worstMs, performance.now() - startMs)
    await Bun.sleep(pauseMs)
  }
}

await serveCommands((command: { url: string }) => {
  if (!isProbing) probe(command.url)
  isProbing = true
  const result = seen
  seen = { sent: 0, failed: 0, worstMs: 0 }
  return result
})
