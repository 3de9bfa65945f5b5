// The console over a month of a busy gateway: how soon each page can be used. A real browser on a
// real gateway, its database filled beforehand. Refuses to know what the pages do.

import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import {
  chromiumPath,
  openBrowser,
  password,
  signIn,
  visit,
} from '../../test/support/console/browser.ts'
import { adminToken, callerToken } from '../lib/gateway-config.ts'
import { note, type PartResult, type Run, startProgram, workspaceFor } from '../lib/part.ts'
import { cpuMicros } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { requestsPerTask } from './fill.ts'
import { detailPaths, memberPaths, menuPaths } from './pages.ts'
import { checkPages, formatPages, type PageFigures, type Visit } from './report.ts'

const fillSeconds = 400
const idleSeconds = 180
const visitSeconds = 400
const visits = 3
const accounts = 20
/** A page is loaded when it has sent no request for this long. */
const quietMs = 250
const maxLoadMs = 15_000

export const consoleSeconds = fillSeconds + idleSeconds + visitSeconds

const config = {
  region: 'cn',
  currency: 'CNY',
  accounts: Array.from({ length: accounts }, (_, i) => ({ name: `team-${i}`, balance: '1.00' })),
  tokens: Array.from({ length: accounts }, (_, i) => ({
    account: `team-${i}`,
    name: 'bench',
    token: `${callerToken}${i}`,
  })),
}

export async function runConsole(run: Run): Promise<PartResult> {
  const { requests } = run.options
  const setting =
    `console: ${requests} requests and ${requests / requestsPerTask} tasks over 30 days; every page ` +
    `${visits} times in Chromium.\n         "loaded" is when all its calls are answered`
  if (chromiumPath === undefined) {
    const omitted = 'console: left out (install Chromium, or set TEST_CHROMIUM)'
    return { setting: omitted, tables: [], figures: {} }
  }
  const workspace = { ...workspaceFor(run, 'console'), upstreamPort: 0 }
  const start = () =>
    startGateway(workspace, run.options.gatewayCommand, [], {
      config,
      env: { GATEWAY_SANDBOX: 'on' },
    })
  const first = await start()
  await first.child.stop()
  note(`console: filling ${requests} requests ...`)
  const dataDir = join(workspace.tempDir, 'data')
  const filler = startProgram(workspace, 'console/fill', dataDir, String(requests))
  await filler.waitForLine(/^\{.*\}$/, fillSeconds * 1000)
  await filler.stop()
  const busy = await start()
  await waitUntilIdle(busy)
  await busy.child.stop()
  // The first visits are those after a start.
  const gateway = await start()
  const browser = await openBrowser()
  try {
    const figures = await visitAll(browser, gateway)
    return {
      setting,
      tables: [formatPages(figures)],
      verdicts: checkPages(figures, requests),
      figures: { console: figures },
    }
  } finally {
    await browser.close()
  }
}

/** Until the background work after a start is done, or the time is up. */
async function waitUntilIdle({ pids }: Target): Promise<void> {
  for (let seconds = 0; seconds < idleSeconds; seconds += 2) {
    const before = cpuMicros(pids)
    await Bun.sleep(2_000)
    if (cpuMicros(pids) - before < 100_000) return
  }
}

type AdminCall = <T>(method: string, path: string, body?: object) => Promise<T>

const adminCall =
  (base: string): AdminCall =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    return (await fetch(`${base}/admin/v1${path}`, init)).json() as never
  }

async function visitAll(browser: Browser, { port }: Target): Promise<PageFigures[]> {
  const base = `http://localhost:${port}`
  const call = adminCall(base)
  await call('POST', '/people', { name: 'ada', password, role: 'administrator' })
  const member = { name: 'mia', password, role: 'member', account: 'team-3' }
  await call('POST', '/people', member)
  const known = await knownRows(call)
  return [
    ...(await visitAs(browser, base, 'ada', [...menuPaths, ...detailPaths(known)])),
    ...(await visitAs(browser, base, 'mia', memberPaths)),
  ]
}

async function visitAs(
  browser: Browser,
  base: string,
  person: string,
  paths: readonly string[],
): Promise<PageFigures[]> {
  const { page, context } = await visit(browser, base)
  await context.addInitScript(stopwatch)
  await signIn(page, person)
  const figures: PageFigures[] = []
  for (const path of paths) {
    const name = `${person} ${path.replace(/[0-9a-f]{20,}/g, '…')}`
    note(`console: ${name}`)
    const timed: Visit[] = []
    for (let i = 0; i < visits; i++) timed.push(await measure(page, `/console${path}`))
    figures.push({ name, visits: timed })
  }
  await context.close()
  return figures
}

async function knownRows(call: AdminCall) {
  type Rows = { items: { id: string; request_id: string; upstream_request_id: string }[] }
  const first = async (path: string) => (await call<Rows>('GET', path)).items[0]
  const request = await first('/requests?limit=1')
  return {
    requestId: request?.request_id,
    upstreamRequestId: request?.upstream_request_id,
    taskId: (await first('/tasks?limit=1&state=succeeded'))?.id,
    tokenId: (await first('/tokens?limit=1&account=team-3'))?.id,
    month: new Date().toISOString().slice(0, 7),
  }
}

/** Notes in the page when each of these first appeared; polling from outside is too slow. */
const stopwatch = `(() => {
  const seen = (globalThis.firstSeen = {})
  const wanted = ['h1', '[role=row][data-clickable]', '[role=dialog]', '[role=dialog] table']
  new MutationObserver(() => {
    for (const each of wanted) {
      if (seen[each] === undefined && document.querySelector(each)) seen[each] = performance.now()
    }
  }).observe(document, { childList: true, subtree: true })
})()`

type Request = { url(): string; method(): string }

/** Follows the requests of a page: how many are open, when the last ended, which API call was slowest. */
function watchRequests(page: Page) {
  const traffic = { open: 0, lastMs: performance.now(), slowest: '', slowestMs: 0 }
  const startedMs = new Map<Request, number>()
  const started = (request: Request) => {
    traffic.open++
    startedMs.set(request, performance.now())
  }
  const ended = (request: Request) => {
    traffic.open--
    traffic.lastMs = performance.now()
    const tookMs = traffic.lastMs - (startedMs.get(request) ?? traffic.lastMs)
    if (!request.url().includes('/admin/') || tookMs <= traffic.slowestMs) return
    const path = request.url().replace(/^.*\/admin\/v1/, '')
    Object.assign(traffic, {
      slowestMs: tookMs,
      slowest: `${request.method()} ${path.slice(0, 60)}`,
    })
  }
  page.on('request', started).on('requestfinished', ended).on('requestfailed', ended)
  const stop = () =>
    page.off('request', started).off('requestfinished', ended).off('requestfailed', ended)
  return { traffic, stop }
}

async function measure(page: Page, address: string): Promise<Visit> {
  const { traffic, stop } = watchRequests(page)
  const beganMs = performance.now()
  await page.goto(address)
  const untilMs = beganMs + maxLoadMs
  // An account that is open has the page to itself; other rows open beside their list.
  const isBeside = address.includes('open=') && !address.includes('/accounts?')
  const last = isBeside ? '[role=dialog]' : 'h1'
  const isShown = () => page.evaluate<boolean>(`firstSeen[${JSON.stringify(last)}] !== undefined`)
  while (performance.now() < untilMs && !(await isShown())) await Bun.sleep(20)
  // Requests that follow from what is shown start at once.
  await Bun.sleep(quietMs)
  const isBusy = () => traffic.open > 0 || performance.now() - traffic.lastMs < quietMs
  while (performance.now() < untilMs && isBusy()) await Bun.sleep(10)
  stop()
  // The heading, then rows, then a drawer: the last of them on this page.
  const seen = await page.evaluate<Record<string, number>>('firstSeen')
  const shownMs = Math.max(...Object.values(seen), 0)
  const { lastMs, slowest, slowestMs } = traffic
  return { shownMs, loadedMs: Math.max(shownMs, lastMs - beganMs), slowest, slowestMs }
}
