// Margins over a large ledger: fills a database of each store with charged calls, starts a gateway on it and asks its
// admin API for usage by every key, over all accounts and one. Refuses to know how they are summed.
import { join } from 'node:path'
import { openStore } from '../../src/store/index.ts'
import { adminToken, gatewayConfig } from '../lib/gateway-config.ts'
import { note, type PartResult, type Run, workspaceFor } from '../lib/part.ts'
import { withDatabase } from '../lib/postgres.ts'
import { startGateway, type Target } from '../lib/targets.ts'
import type { Options } from '../options.ts'
import { indexAll } from '../pages/fill.ts'
import { tidy } from '../pages/fill-log.ts'
import { accountName, fill, fillingOf } from './fill.ts'
import { checkMargins, formatMargins, type MarginFigures, type TimedUsage } from './report.ts'

const rounds = 3
const askMs = 60_000
const secondsPerMillion = 120
const startSeconds = 120

export const marginsSeconds = ({ rows }: Options): number =>
  2 * (startSeconds + (rows / 1_000_000) * secondsPerMillion)

/** What the page of margins and the usage explorer ask for, and pairs of what they offer. */
const groupings = [
  ...['account', 'model', 'channel', 'day', 'month', 'token', 'unit', 'price'],
  ...[
    'day,model',
    'day,channel',
    'day,account',
    'model,channel',
    'account,model',
    'account,channel',
  ],
  'day,model,channel',
]

export async function runMargins(run: Run): Promise<PartResult> {
  const figures = [await measure(run, undefined)]
  const server = Bun.env['TEST_POSTGRES_URL']
  if (server === undefined) note('left out: margins on PostgreSQL (set TEST_POSTGRES_URL)')
  else figures.push(await withDatabase(server, 'margins', (url) => measure(run, url)))
  const filled = figures.map(
    ({ store, fillSeconds }) => `${store} filled in ${Math.round(fillSeconds)} s`,
  )
  return {
    setting: `margins: ${run.options.rows} charged calls; ${filled.join('; ')}`,
    tables: figures.map(formatMargins),
    verdicts: figures.flatMap(checkMargins),
    failed: figures.flatMap(({ asked }) => asked).filter(({ status }) => status !== 200).length,
    figures: { margins: figures },
  }
}

async function measure(run: Run, databaseUrl: string | undefined): Promise<MarginFigures> {
  const { rows } = run.options
  const store = databaseUrl === undefined ? 'sqlite' : 'postgres'
  const workspace = { ...workspaceFor(run, `margins-${store}`), upstreamPort: 9 }
  const filling = fillingOf(rows)
  const opened = await openStore({
    dataDir: join(workspace.tempDir, 'data'),
    ...(databaseUrl !== undefined && { databaseUrl }),
  })
  const startMs = performance.now()
  await fill(opened, filling)
  // As a gateway in use has it: indexing ten million rows that came at once takes a core for minutes.
  await indexAll(opened, note)
  await tidy(opened)
  const fillSeconds = (performance.now() - startMs) / 1000
  await opened.close()
  const gateway = await startGateway(workspace, run.options.gatewayCommand, [], {
    config: gatewayConfig([]),
    ...(databaseUrl !== undefined && { env: { GATEWAY_DATABASE_URL: databaseUrl } }),
  })
  const { days, untilMs } = filling
  const [from, to] = [untilMs - days * 86_400_000, untilMs].map((ms) => new Date(ms).toISOString())
  const asked: TimedUsage[] = []
  for (let round = 0; round < rounds; round++) {
    for (const by of groupings) {
      const span = `by=${by}&from=${from}&to=${to}`
      asked.push(await timed(gateway, by, span))
      if (by === 'account' || round > 0) continue
      asked.push(await timed(gateway, `${by} of one`, `${span}&account=${accountName(7)}`))
    }
  }
  await gateway.child.stop()
  const figures: MarginFigures = { store, rows, days, fillSeconds, asked }
  // At once: the other store takes as long again.
  note(formatMargins(figures))
  return figures
}

async function timed(gateway: Target, by: string, query: string): Promise<TimedUsage> {
  const startMs = performance.now()
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/admin/v1/usage?${query}`, {
    headers: { authorization: `Bearer ${adminToken}` },
    signal: AbortSignal.timeout(askMs),
  })
  const body = (await answer.json()) as { items?: unknown[]; total?: { margin?: string } }
  const ms = performance.now() - startMs
  const { items = [], total } = body
  return { by, ms, status: answer.status, rows: items.length, margin: total?.margin ?? '' }
}
