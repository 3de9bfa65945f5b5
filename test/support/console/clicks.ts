// Counts the presses of a pointer in a browser, as it reports them: a test cannot click without being counted.
import type { BrowserContext } from 'playwright-core'

export interface Clicks {
  count(): number
  /** Begins anew. */
  reset(): void
}

/** Of every page of this context that is loaded from now on, with a mouse or by touch. */
export async function countClicks(context: BrowserContext): Promise<Clicks> {
  let count = 0
  await context.exposeBinding('countClick', () => void count++)
  await context.addInitScript(`addEventListener('pointerdown', (event) => {
    if (event.isTrusted) countClick()
  }, true)`)
  return {
    count: () => count,
    reset: () => {
      count = 0
    },
  }
}
