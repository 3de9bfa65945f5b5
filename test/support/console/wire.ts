// What a browser really sent to an origin and got back, also what it kept from the page that asked.
import type { Page } from 'playwright-core'

export interface Wire {
  /** Of every answer. */
  statuses: number[]
  /** Requests that had a cookie with them. */
  cookies: number
}

export async function watchWire(page: Page, base: string): Promise<Wire> {
  const seen: Wire = { statuses: [], cookies: 0 }
  const host = new URL(base).host
  const ours = new Set<string>()
  const wire = await page.context().newCDPSession(page)
  wire.on('Network.requestWillBeSentExtraInfo', ({ requestId, headers }) => {
    const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
    const { host: to, cookie } = Object.fromEntries(named) as Record<string, string | undefined>
    if (to !== host) return
    ours.add(requestId)
    if (cookie !== undefined) seen.cookies++
  })
  wire.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => {
    if (ours.has(requestId)) seen.statuses.push(statusCode)
  })
  await wire.send('Network.enable')
  return seen
}
