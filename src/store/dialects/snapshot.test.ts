// A snapshot sees one moment, whatever is written meanwhile.
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { setMeta } from '../sql/meta.ts'
import { aRequest, failureOf, newPlace, onServer, storeKinds } from '../test-stores.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: snapshots on PostgreSQL (set TEST_POSTGRES_URL)')
}

describe.each([...storeKinds])('a snapshot on %s', (dialect) => {
  test('does not see what comes after it, and the next one does', async () => {
    const place = await newPlace(dialect)
    const store = await place.open()
    const count = async (db: typeof store.read) =>
      (await sql<{ rows: number }>`SELECT count(*) AS rows FROM requests`.execute(db)).rows[0]!.rows
    for (let seen = 0; seen < 3; seen++) {
      const { db, end } = await store.snapshot()
      expect(await count(db)).toBe(seen)
      await store.record(aRequest())
      expect([await count(db), await count(store.read)]).toEqual([seen, seen + 1])
      await end()
    }
    await store.close()
    await place.remove()
  })

  test('can be had several at once, also of different moments', async () => {
    const place = await newPlace(dialect)
    const store = await place.open()
    const read = async ({ db }: Awaited<ReturnType<typeof store.snapshot>>) =>
      (await db.selectFrom('meta').select('value').where('key', '=', 'x').execute())[0]?.value
    const first = await store.snapshot()
    expect(await read(first)).toBeUndefined()
    await store.tx((tx) => setMeta(tx, 'x', '1'))
    const second = await store.snapshot()
    expect(await read(second)).toBe('1')
    await store.tx((tx) => setMeta(tx, 'x', '2'))
    expect([await read(first), await read(second)]).toEqual([undefined, '1'])
    await Promise.all([first.end(), second.end()])
    const third = await store.snapshot()
    expect(await read(third)).toBe('2')
    await third.end()
    await store.close()
    await place.remove()
  })

  if (dialect === 'postgres') {
    test('that lost its connection says so, however its reads went', async () => {
      const place = await newPlace(dialect)
      const store = await place.open()
      const { db, end } = await store.snapshot()
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(db)
      await onServer(`SELECT pg_terminate_backend(${rows[0]!.pid})`)
      const poll = () => db.selectFrom('meta').select('key').execute()
      while ((await failureOf(poll())) !== 'it did not fail') await Bun.sleep(5)
      expect(await failureOf(end())).toContain('was lost')
      await store.close()
      await place.remove()
    })
  }
})
