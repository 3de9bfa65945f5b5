import { describe, expect, test } from 'bun:test'
import { insertAccount } from '../catalog/accounts.ts'
import { aRequest, charged, newPlace, storeKinds } from '../test-stores.ts'
import { settledUntil } from './settled.ts'

const hourMs = 3_600_000

describe.each(storeKinds)('the time before which no entry can follow, on %s', (dialect) => {
  test('follows the call that was written last, charged or not, also an old one of a journal', async () => {
    const place = await newPlace(dialect)
    let store = await place.open()
    const atMs = Date.now() - 5 * hourMs
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'file', createdAtMs: 1 }),
    )
    const calls = [
      charged(aRequest({ atMs, totalMs: 0 }), 5n),
      aRequest({ atMs: atMs + hourMs, status: 400 }),
      charged(aRequest({ atMs: atMs - 3 * hourMs, totalMs: 0 }), 5n),
    ]
    const seen: number[] = []
    for (const call of calls) {
      await store.record(call)
      await store.close()
      store = await place.open()
      seen.push((await settledUntil(store.read)) - atMs)
    }
    expect(seen).toEqual([-hourMs, 0, -4 * hourMs])
    await store.close()
    await place.remove()
  })
})
