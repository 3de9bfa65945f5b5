// Lists over a large log: fills a database of each store, starts a gateway on it and asks its admin API
// for pages of every list. Refuses to know how they are found.
import { join } from 'node:path'
import { openStore } from '../../src/store/index.ts'
import { adminToken, gatewayConfig } from '../lib/gateway-config.ts'
import { note, type PartResult, type Run, workspaceFor } from '../lib/part.ts'
import { withDatabase } from '../lib/postgres.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import type { Options } from '../options.ts'
import { fill, indexAll } from './fill.ts'
import { fillingOf, tidy } from './fill-log.ts'
import { type ListQuery, listQueries } from './queries.ts'
import { checkPages, formatPages, type PagesFigures, type TimedPage } from './report.ts'

const rounds = 3
const askMs = 30_000
const secondsPerMillion = 150
const storesSeconds = 120

export const pagesSeconds = ({ rows }: Options): number =>
  2 * (storesSeconds + (rows / 1_000_000) * secondsPerMillion)

export async function runPages(run: Run): Promise<PartResult> {
  const figures = [await measure(run, undefined)]
  const server = Bun.env['TEST_POSTGRES_URL']
  if (server === undefined) note('left out: pages on PostgreSQL (set TEST_POSTGRES_URL)')
  else figures.push(await withDatabase(server, 'pages', (url) => measure(run, url)))
  const filled = figures.map(
    ({ store, fillSeconds, indexSeconds, segments }) =>
      `${store} filled in ${Math.round(fillSeconds)} s, ${segments} segments indexed in ` +
      `${Math.round(indexSeconds)} s`,
  )
  return {
    setting: `pages: ${run.options.rows} rows in the log; ${filled.join('; ')}`,
    tables: figures.map(formatPages),
    verdicts: figures.flatMap(checkPages),
    failed: figures.flatMap(({ pages }) => pages).filter(({ status }) => status !== 200).length,
    figures: { pages: figures },
  }
}

async function measure(run: Run, databaseUrl: string | undefined): Promise<PagesFigures> {
  const { rows } = run.options
  const store = databaseUrl === undefined ? 'sqlite' : 'postgres'
  const workspace = { ...workspaceFor(run, `pages-${store}`), upstreamPort: 9 }
  const filling = fillingOf(rows)
  const opened = await openStore({
    dataDir: join(workspace.tempDir, 'data'),
    ...(databaseUrl !== undefined && { databaseUrl }),
    logIndexer: { quietMs: askMs * 1000 },
  })
  const startMs = performance.now()
  await fill(opened, filling, note)
  const filledMs = performance.now()
  const segments = await indexAll(opened, note)
  const indexedMs = performance.now()
  await tidy(opened)
  await opened.close()
  const gateway = await startGateway(workspace, run.options.gatewayCommand, [], {
    config: gatewayConfig([]),
    ...(databaseUrl !== undefined && { env: { GATEWAY_DATABASE_URL: databaseUrl } }),
  })
  const pages: TimedPage[] = []
  for (let round = 0; round < rounds; round++) {
    for (const query of listQueries(filling)) pages.push(...(await walk(gateway, query)))
  }
  await gateway.child.stop()
  const fillSeconds = (filledMs - startMs) / 1000
  const indexSeconds = (indexedMs - filledMs) / 1000
  return { store, rows, fillSeconds, indexSeconds, segments, pages }
}

async function walk(gateway: Target, { list, path, pages }: ListQuery): Promise<TimedPage[]> {
  const timed: TimedPage[] = []
  let next = path
  for (let page = 0; page < pages; page++) {
    const startMs = performance.now()
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/admin/v1${next}`, {
      headers: { authorization: `Bearer ${adminToken}` },
      signal: AbortSignal.timeout(askMs),
    })
    const body = (await answer.json()) as { items?: unknown[]; lines?: unknown[] } & Cursor
    const ms = performance.now() - startMs
    const items = (body.items ?? body.lines ?? []).length
    timed.push({ list, path: next, ms, status: answer.status, items })
    if (typeof body.next_cursor !== 'string') break
    const url = new URL(next, 'http://pages')
    url.searchParams.set('cursor', body.next_cursor)
    next = url.pathname + url.search
  }
  return timed
}

interface Cursor {
  next_cursor?: string | null
}
