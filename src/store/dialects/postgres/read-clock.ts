// The database's clock, as exact as the round trip allows.
import type pg from 'pg'
import type { SteadyClock } from '../../../lib/clock.ts'

const question = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`

/** Returns by how much the clock was adjusted. */
export async function readClock(
  client: Pick<pg.Pool, 'query'> | Pick<pg.Client, 'query'>,
  clock: SteadyClock,
): Promise<number> {
  const fromMs = performance.now()
  const { rows } = await (client as pg.Pool).query<{ now_ms: number }>(question)
  return clock.reply(rows[0]!.now_ms, fromMs, performance.now())
}
