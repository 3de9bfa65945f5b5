// Outcomes of lines, page by page, on both stores.
import { describe, expect, test } from 'bun:test'
import { insertAccount } from '../catalog/accounts.ts'
import { aRequest, charged, newPlace, storeKinds } from '../test-stores.ts'
import { linesAfter, putLines, takeDone } from './lines.ts'

describe.each([...storeKinds])('outcomes of lines on %s', (kind) => {
  test('are taken in pages without those whose charge was never written, and read in pages of bytes', async () => {
    const place = await newPlace(kind)
    const store = await place.open()
    try {
      await store.tx((tx) =>
        insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 }),
      )
      const calls = Array.from({ length: 7 }, () => aRequest())
      await store.tx((tx) =>
        putLines(
          tx,
          calls.map(({ requestId }, at) => ({
            ...{ batchId: 'batch_1', line: at + 1, requestId, failed: at === 2 },
            answer: 'x'.repeat(10 * (at + 1)),
          })),
        ),
      )
      // Not the second, and the third needs none.
      for (const [at, call] of calls.entries()) {
        if (at !== 1 && at !== 2) await store.record(charged(call, 7n))
      }
      const take = (after: number) => store.tx((tx) => takeDone(tx, 'batch_1', after, 4))
      expect(await take(0)).toEqual({
        done: [
          { line: 1, failed: 0 },
          { line: 3, failed: 1 },
          { line: 4, failed: 0 },
        ],
        last: 4,
      })
      expect((await take(4))?.done.map(({ line }) => line)).toEqual([5, 6, 7])
      expect(await take(7)).toBeUndefined()
      const page = async (after: number, maxBytes: number, maxLines = 100) =>
        (await linesAfter(store.read, 'batch_1', false, { after, maxBytes, maxLines })).map(
          ({ line, answer }) => [Number(line), answer.length],
        )
      expect(await page(0, 1)).toEqual([[1, 10]])
      expect(await page(1, 50)).toEqual([
        [4, 40],
        [5, 50],
      ])
      expect(await page(0, 1_000, 2)).toHaveLength(2)
      expect(await page(7, 1_000)).toEqual([])
    } finally {
      await store.close()
      await place.remove()
    }
  })
})
