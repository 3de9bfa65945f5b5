// How long a snapshot may stay open.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Store } from '../../index.ts'
import { aRequest, failureOf, newPlace, type Place, until } from '../../test-stores.ts'
import { Snapshots } from './snapshots.ts'

let place: Place
let store: Store
let file: string
let lines: string[]
let snapshots: Snapshots | undefined
beforeEach(async () => {
  place = await newPlace('sqlite')
  store = await place.open()
  file = join(place.options.dataDir, 'gateway.db')
  lines = []
})
afterEach(async () => {
  await snapshots?.close()
  await store.close()
  await place.remove()
})

const opened = (limits: { maxPauseMs: number; maxWalBytes: number }) => {
  snapshots = new Snapshots(file, (_, line) => lines.push(line), limits)
  return snapshots
}
const look = (db: Store['read']) => sql`SELECT count(*) FROM requests`.execute(db)

test('one that is not read ends, and lets the log of the database be used again', async () => {
  const { db, end } = await opened({ maxPauseMs: 30, maxWalBytes: 1e9 }).open()
  await until(() => lines.length > 0)
  expect(lines).toEqual([
    'a snapshot of the database was ended: nothing was read from it for 0.03 s',
  ])
  expect(await failureOf(look(db))).toMatch('nothing was read from it')
  await end()
  const next = await snapshots!.open()
  await look(next.db)
  await next.end()
})

test('one that is read all the time ends when the log of the database has grown too large', async () => {
  const { db, end } = await opened({ maxPauseMs: 60_000, maxWalBytes: 2e6 }).open()
  await look(db)
  const write = () => store.record(aRequest({ upstreamRequestId: 'x'.repeat(100_000) }))
  while (statSync(`${file}-wal`).size < 3e6) {
    await write()
    await look(store.read)
  }
  expect(await failureOf(look(db))).toMatch('has grown too large')
  await end()
})

test('one within its limits is left alone', async () => {
  const { db, end } = await opened({ maxPauseMs: 60_000, maxWalBytes: 1e9 }).open()
  await look(db)
  await look(db)
  await end()
  expect(lines).toEqual([])
})
