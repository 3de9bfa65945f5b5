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
import { note, type PartResult, placeFor, type Run, startOwn } from '../lib/part.ts'
import { cpuMicros } from '../lib/proc.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import { requestsPerTask } from './fill.ts'
import { formatPages, judgePages, type PageFigures, type Visited } from './report.ts'

const fillSeconds = 400
const calmSeconds = 60
const visitSeconds = 240
const visits = 3
const accounts = 20
/** Nothing asked for so long: the page is whole. */
const stillMs = 250
const longestMs = 15_000

export const consoleSeconds = fillSeconds + calmSeconds + visitSeconds

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
    `${visits} times in Chromium.\n         "whole" is when all its calls are answered`
  const empty = { setting, tables: [], verdicts: [], charges: [], failed: 0, figures: {} }
  if (chromiumPath === undefined) {
    return { ...empty, setting: 'console: left out (install Chromium, or set TEST_CHROMIUM)' }
  }
  const place = { ...placeFor(run, 'console'), upstreamPort: 0 }
  const start = () =>
    startGateway(place, run.options.gatewayCommand, [], {
      config,
      env: { GATEWAY_SANDBOX: 'on' },
    })
  const first = await start()
  await first.child.stop()
  note(`console: filling ${requests} requests ...`)
  const filler = startOwn(place, 'console/fill', join(place.tempDir, 'data'), String(requests))
  await filler.waitForLine(/^\{.*\}$/, fillSeconds * 1000)
  await filler.stop()
  const gateway = await start()
  await waitForCalm(gateway)
  const browser = await openBrowser()
  try {
    const figures = await visitAll(browser, gateway)
    return {
      ...empty,
      tables: [formatPages(figures)],
      verdicts: judgePages(figures, requests),
      figures: { console: figures },
    }
  } finally {
    await browser.close()
  }
}

/** What a gateway does by itself after a start is over, or the time is. */
async function waitForCalm({ pids }: Target): Promise<void> {
  for (let seconds = 0; seconds < calmSeconds; seconds += 2) {
    const before = cpuMicros(pids)
    await Bun.sleep(2_000)
    if (cpuMicros(pids) - before < 100_000) return
  }
}

async function visitAll(browser: Browser, { port }: Target): Promise<PageFigures[]> {
  const base = `http://localhost:${port}`
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    return (await fetch(`${base}/admin/v1${path}`, init)).json() as Promise<T>
  }
  await ask('POST', '/people', { name: 'ada', password, role: 'administrator' })
  const { page, context } = await visit(browser, base)
  await context.addInitScript(stopwatch)
  await signIn(page)
  const links = await page
    .locator('nav a')
    .evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? ''))
  type Rows = { items: { id: string; request_id: string; upstream_request_id: string }[] }
  const request = (await ask<Rows>('GET', '/requests?limit=1')).items[0]
  const task = (await ask<Rows>('GET', '/tasks?limit=1&state=succeeded')).items[0]
  const month = new Date().toISOString().slice(0, 7)
  const addresses = [
    ...links,
    `/console/requests?open=${request?.request_id}`,
    `/console/requests?id=${request?.upstream_request_id}`,
    '/console/requests?account=team-3',
    '/console/requests?status=502',
    '/console/requests?model=rare-1',
    '/console/requests?error_code=nothing_like_it',
    `/console/tasks?open=${task?.id}`,
    '/console/tasks?view=gallery',
    '/console/tasks?state=running',
    '/console/tasks?state=cancelled&account=team-3',
    `/console/bills?open=${month}%20team-3`,
  ]
  const figures: PageFigures[] = []
  for (const address of addresses) {
    const name = address.replace('/console', '').replace(/[0-9a-f]{20,}/g, '…')
    note(`console: ${name}`)
    const seen: Visited[] = []
    for (let i = 0; i < visits; i++) seen.push(await measure(page, address))
    figures.push({ name, visits: seen })
  }
  return figures
}

/** Notes in the page when each of these first stood there; asking from outside comes too late. */
const stopwatch = `(() => {
  const seen = (globalThis.firstSeen = {})
  const wanted = ['h1', '[role=row][data-clickable]', '[role=dialog] table']
  new MutationObserver(() => {
    for (const each of wanted) {
      if (seen[each] === undefined && document.querySelector(each)) seen[each] = performance.now()
    }
  }).observe(document, { childList: true, subtree: true })
})()`

async function measure(page: Page, address: string): Promise<Visited> {
  let lastMs = performance.now()
  let open = 0
  let slowest = ''
  let slowestMs = 0
  const startedMs = new Map<object, number>()
  const asked = (request: object) => {
    open++
    startedMs.set(request, performance.now())
  }
  const answered = (request: { url(): string; method(): string }) => {
    open--
    lastMs = performance.now()
    const tookMs = lastMs - (startedMs.get(request) ?? lastMs)
    if (!request.url().includes('/admin/') || tookMs <= slowestMs) return
    slowestMs = tookMs
    slowest = `${request.method()} ${request
      .url()
      .replace(/^.*\/admin\/v1/, '')
      .slice(0, 60)}`
  }
  page.on('request', asked)
  page.on('requestfinished', answered)
  page.on('requestfailed', answered)
  const beganMs = performance.now()
  await page.goto(address)
  const untilMs = beganMs + longestMs
  const last = address.includes('open=') ? '[role=dialog] table' : 'h1'
  const isThere = () => page.evaluate<boolean>(`firstSeen[${JSON.stringify(last)}] !== undefined`)
  while (performance.now() < untilMs && !(await isThere())) await Bun.sleep(20)
  // What it asks for then, it asks for at once.
  await Bun.sleep(stillMs)
  while (performance.now() < untilMs && (open > 0 || performance.now() - lastMs < stillMs)) {
    await Bun.sleep(10)
  }
  page.off('request', asked)
  page.off('requestfinished', answered)
  page.off('requestfailed', answered)
  // The heading, then rows, then a sheet: the last of them that there is.
  const seen = await page.evaluate<Record<string, number>>('firstSeen')
  const shownMs = Math.max(...Object.values(seen), 0)
  return { shownMs, wholeMs: Math.max(shownMs, lastMs - beganMs), slowest, slowestMs }
}
