// A PostgreSQL of the bench's own, with what it costs. Refuses to know what is asked of it.

import { readFileSync } from 'node:fs'
import pg from 'pg'
import { type OwnPostgres, startPostgres } from '../../test/support/own-postgres.ts'
import { childrenOf, cpuMicros } from './proc.ts'

export { hasPostgresPrograms, type OwnPostgres } from '../../test/support/own-postgres.ts'

/** As an operator would set it up for a small machine; every commit waits for the disk. */
export const startBenchPostgres = (): Promise<OwnPostgres> =>
  startPostgres(['fsync=on', 'synchronous_commit=on', 'shared_buffers=512MB', 'max_wal_size=4GB'])

/** A database of a server that runs, for as long as something works with it. */
export async function withDatabase<T>(
  server: string,
  name: string,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const database = `gateway_${name}_${Date.now()}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`CREATE DATABASE ${database}`)
  try {
    const url = new URL(server)
    url.pathname = `/${database}`
    return await work(url.href)
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
    await client.end()
  }
}

interface PostgresCost {
  cpuMicros: number
  commits: number
}

/** Of the server, its connections and its helpers, those that have ended included. */
export async function readCost(postgres: OwnPostgres): Promise<PostgresCost> {
  const server = postgres.pid()
  const [row] = await postgres.ask<{ commits: string }>(
    'SELECT sum(xact_commit)::text AS commits FROM pg_stat_database',
  )
  const living = [server, ...childrenOf(server)].reduce((sum, pid) => sum + microsOf(pid), 0)
  return { cpuMicros: living + endedMicros(server), commits: Number(row!.commits) }
}

/** One that has just ended is among those that have. */
function microsOf(pid: number): number {
  try {
    return cpuMicros([pid])
  } catch {
    return 0
  }
}

const microsPerTick = 10_000

/** What the kernel has added up of a process's children that are gone. */
function endedMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * microsPerTick
}
