// What a page is asking for at the moment. The browser's own `networkidle` waits longer, and only
// once after every load.
import type { Page } from 'playwright-core'

/** When a page has its heading. A locator that waits looks twice a second, which is long for many. */
export async function headed(page: Page): Promise<void> {
  const untilMs = performance.now() + maxMs
  while (!(await page.evaluate<boolean>('document.querySelector("h1") !== null'))) {
    if (performance.now() > untilMs) throw new Error(`no heading at ${page.url()}`)
    await Bun.sleep(20)
  }
}

const stillMs = 120
const maxMs = 10_000

/** Gives a function that waits until the page has asked for nothing for a while. */
export function watchTraffic(page: Page): () => Promise<void> {
  let open = 0
  let sinceMs = performance.now()
  const count = (by: number) => () => {
    open += by
    sinceMs = performance.now()
  }
  page.on('request', count(1))
  page.on('requestfinished', count(-1))
  page.on('requestfailed', count(-1))
  return async () => {
    const untilMs = performance.now() + maxMs
    while (performance.now() < untilMs) {
      if (open <= 0 && performance.now() - sinceMs > stillMs) return
      await Bun.sleep(20)
    }
  }
}
