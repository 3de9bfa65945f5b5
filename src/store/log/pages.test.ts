// Pages of the request log while it is being indexed.
import { expect, test } from 'bun:test'
import type { KyselyPlugin } from 'kysely'
import { aRequest, newPlace } from '../test-stores.ts'
import { indexNextSegment } from './indexer.ts'
import { pageOfLog } from './pages.ts'
import { segmentRows } from './posting-list.ts'

test('a log whose first segment is written during a page shows each row once', async () => {
  const place = await newPlace('sqlite')
  const store = await place.open({ logIndexer: { quietMs: 600_000 } })
  try {
    const rows = Array.from({ length: segmentRows + 100 }, (_, i) =>
      aRequest({ model: i % 50 === 0 ? 'rare' : 'usual' }),
    )
    await Promise.all(rows.map((row) => store.record(row)))
    let isFirst = true
    const indexing: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (isFirst) {
          isFirst = false
          expect(await indexNextSegment(store, rows.length)).toBe(true)
        }
        return result
      },
    }
    const walk = { filter: { values: { model: 'rare' } }, limit: 500, before: 1_000_000 }
    const page = await pageOfLog(store.read.withPlugin(indexing), walk, 600_000)
    expect(isFirst).toBe(false)
    const shown = page.rows.map(({ request_id }) => request_id)
    const rare = rows.filter(({ model }) => model === 'rare').map(({ requestId }) => requestId)
    expect(shown.toSorted()).toEqual(rare.toSorted())
  } finally {
    await store.close()
    await place.remove()
  }
})
