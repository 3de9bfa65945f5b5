// A database as lines and back, on both engines and from one to the other.
import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { insertAccount } from '../catalog/accounts.ts'
import type { Store } from '../index.ts'
import { appendEntry } from '../ledger/entries.ts'
import { getMeta, setMeta } from '../sql/meta.ts'
import { aRequest, charged, failureOf, newPlace, storeKinds } from '../test-stores.ts'
import { backupLines, leftBehind, readHead, restoreLines, tableKeys } from './backup.ts'

const chunks = async (store: Store): Promise<string[]> => {
  const all: string[] = []
  for await (const chunk of backupLines(store, 1_700_000_000_000)) all.push(chunk)
  return all.join('').slice(0, -1).split('\n')
}

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

async function fill(store: Store, charges: number): Promise<void> {
  await store.tx(async (tx) => {
    await insertAccount(tx, { id: 'acc_1', name: 'a "name"\n=1', source: 'api', createdAtMs: 1 })
    const amountNanos = 9_007_199_254_740_993n
    await appendEntry(tx, { atMs: 1, accountId: 'acc_1', kind: 'credit', amountNanos, ref: 'c' })
    await setMeta(tx, 'currency', 'CNY')
  })
  await Promise.all(
    Array.from({ length: charges }, () => {
      const request = aRequest({ chargeNanos: 3n, upstreamRequestId: 'up\u{1f600}' })
      return store.record(charged(request, 3n, { quantity: 0.1 }))
    }),
  )
}

/** Without what the database says of itself. */
const content = (lines: readonly string[]) =>
  lines.slice(1, -1).filter((line) => !/^\["(?:upstream_ids_seq|log_|booked)/.test(line))

for (const dialect of storeKinds) {
  describe(dialect, () => {
    test('knows every table there is', async () => {
      const place = await newPlace(dialect)
      const store = await place.open()
      const { rows } = await (dialect === 'sqlite'
        ? sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
        : sql<{ name: string }>`
            SELECT c.relname AS name FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition`
      ).execute(store.read)
      const known = [...Object.keys(tableKeys), ...leftBehind].sort()
      expect(rows.map(({ name }) => name).sort()).toEqual(known)
      await store.close()
      await place.remove()
    })

    test('a backup shows one moment, whatever is written meanwhile', async () => {
      const place = await newPlace(dialect)
      const store = await place.open()
      await fill(store, 5)
      const backup = backupLines(store, 1)
      const first: string = (await backup.next()).value!
      for (let i = 0; i < 20; i++) {
        const request = aRequest({ chargeNanos: 1n })
        await store.record(charged(request, 1n))
      }
      let rest: string = first
      for await (const chunk of backup) rest += chunk
      const entries = rest.split('\n').filter((line) => /"req_.*"price_1"/.test(line))
      expect(entries).toHaveLength(5)
      await store.close()
      await place.remove()
    })

    for (const target of storeKinds) {
      test(`comes back the same on ${target}, and goes on from there`, async () => {
        const [here, there] = [await newPlace(dialect), await newPlace(target)]
        const store = await here.open()
        await fill(store, 1203)
        const lines = await chunks(store)
        await store.close()
        const restored = await there.open({ schema: readHead(lines[0]!)!.schema })
        const rows = await restoreLines(restored, from(lines))
        expect(rows).toBe(JSON.parse(lines.at(-1)!).rows)
        expect(content(await chunks(restored))).toEqual(content(lines))
        // New rows get new numbers.
        const request = aRequest({ chargeNanos: 1n })
        await restored.record(charged(request, 1n))
        const { balance_nanos } = await restored.read
          .selectFrom('accounts')
          .select('balance_nanos')
          .executeTakeFirstOrThrow()
        expect(balance_nanos).toBe(9_007_199_254_740_993n - 3n * 1203n - 1n)
        await restored.close()
        await Promise.all([here.remove(), there.remove()])
      })
    }

    test('a damaged one is refused, and what it left is not taken for a database', async () => {
      const place = await newPlace(dialect)
      const store = await place.open()
      await fill(store, 3)
      const lines = await chunks(store)
      await store.close()
      await place.remove()
      const entry = lines.findIndex((line) => line.includes('"req_'))
      const cases: [string, string[]][] = [
        ['end is missing', lines.slice(0, -1)],
        ['checksum', lines.toSpliced(entry, 1, lines[entry]!.replace('"3"', '"2"'))],
        ['checksum', lines.toSpliced(entry, 1)],
        ['not readable', lines.toSpliced(entry, 1, lines[entry]!.slice(0, -3))],
        ['too few or too many', lines.toSpliced(entry, 1, '["x"]')],
      ]
      for (const [why, damaged] of cases) {
        const fresh = await newPlace(dialect)
        const restored = await fresh.open()
        expect(await failureOf(restoreLines(restored, from(damaged)))).toContain(why)
        expect(await getMeta(restored.read, 'restoring')).toBe('1')
        expect(await failureOf(restoreLines(restored, from(lines)))).toContain('broken off')
        await restored.close()
        await fresh.remove()
      }
    })

    test('is not put on top of what is there', async () => {
      const place = await newPlace(dialect)
      const store = await place.open()
      await fill(store, 1)
      const lines = await chunks(store)
      expect(await failureOf(restoreLines(store, from(lines)))).toContain('not empty')
      expect(await getMeta(store.read, 'restoring')).toBeUndefined()
      await store.close()
      await place.remove()
    })
  })
}

test('a file that is no backup is told apart', () => {
  expect(readHead('{"hello":1}')).toBeUndefined()
  expect(readHead('not json')).toBeUndefined()
  expect(() => readHead('{"format":"model-gateway backup","version":9}')).toThrow('format 9')
})
