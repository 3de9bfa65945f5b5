// Asks for the gateway's health again and again and keeps the longest wait. The first line of input
// is where to ask; every further line asks for what was seen since the last one.

import { createInterface } from 'node:readline'

export interface Probed {
  asked: number
  failed: number
  worstMs: number
}

const pauseMs = 2
let url: string | undefined
let seen: Probed = { asked: 0, failed: 0, worstMs: 0 }

async function probe(at: string): Promise<never> {
  for (;;) {
    const startMs = performance.now()
    const good = await fetch(`${at}/healthz`).then(
      async (answer) => (await answer.text()) !== '' && answer.ok,
      () => false,
    )
    seen.asked++
    if (!good) seen.failed++
    seen.worstMs = Math.max(seen.worstMs, performance.now() - startMs)
    await Bun.sleep(pauseMs)
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  if (url === undefined) {
    url = (JSON.parse(line) as { url: string }).url
    probe(url)
  }
  console.log(JSON.stringify(seen))
  seen = { asked: 0, failed: 0, worstMs: 0 }
}
