// Waits until the upstream can send no more: buffers of the kernel fill first.

import type { Child } from './children.ts'
import { ask } from './part.ts'

const countMs = 20_000

/** The count of a second in which the total had not grown for `steadySeconds`, or of the last one. */
export async function countUntilSteady<Count extends { totalBytes: number }>(
  upstream: Child,
  { steadySeconds, maxSeconds }: { steadySeconds: number; maxSeconds: number },
): Promise<Count & { grownBytes: number }> {
  const counts: Count[] = []
  for (;;) {
    const now = await ask<Count>(upstream, { command: 'count' }, countMs)
    const earlier = counts.at(-steadySeconds)
    const grownBytes = now.totalBytes - (earlier?.totalBytes ?? 0)
    counts.push(now)
    if (earlier !== undefined && (grownBytes === 0 || counts.length > maxSeconds)) {
      return { ...now, grownBytes }
    }
    await Bun.sleep(1000)
  }
}
