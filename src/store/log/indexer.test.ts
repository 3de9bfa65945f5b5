import { expect, test } from 'bun:test'
import pg from 'pg'
import { getMeta } from '../sql/meta.ts'
import { aRequest, newPlace, postgresUrl, until } from '../test-stores.ts'
import { packHits, placesAlsoIn, segmentRows } from './posting-list.ts'
import { listRequests } from './requests.ts'
import { watermarkKey } from './watermark.ts'

test('places of values come back as they were, however many there are', () => {
  for (const step of [1, 2, 3, 11, 12, 13, 500, 4096]) {
    const places = Array.from({ length: Math.ceil(segmentRows / step) }, (_, i) => i * step)
    const text = packHits(places)
    expect(text.length).toBeLessThanOrEqual(683)
    expect(placesAlsoIn(undefined, [text])).toEqual(places.toReversed())
    const some = [4095, 4092, 1000, 12, 1, 0]
    expect(placesAlsoIn(some, [text])).toEqual(some.filter((place) => places.includes(place)))
  }
})

if (postgresUrl === undefined) {
  process.stderr.write('left out: a log that commits out of order (set TEST_POSTGRES_URL)\n')
} else {
  test('a row that commits after those behind it is indexed with them', async () => {
    const place = await newPlace('postgres')
    const store = await place.open({ logIndexer: { quietMs: 10, settleMs: 50, behindRows: 1 } })
    const other = new pg.Client({ connectionString: place.options.databaseUrl! })
    await other.connect()
    await other.query('BEGIN')
    await other.query(`
        INSERT INTO requests (request_id, at_ms, account_id, token_id, interface, model, status,
          charge_nanos, total_ms, detail)
        VALUES ('req_019a00000000', 1, 'acc_1', 'tok_1', 'chat', 'slow', 200, 0, 1,
          '{"stream":false,"ending":"complete","attempts":[]}')`)
    await Promise.all(Array.from({ length: segmentRows }, () => store.record(aRequest())))
    // Time enough for an index that does not look whether others are still writing.
    await Bun.sleep(500)
    expect(await getMeta(store.read, watermarkKey)).toBeUndefined()
    await other.query('COMMIT')
    await other.end()
    await until(async () => (await getMeta(store.read, watermarkKey)) !== undefined)
    const { items } = await listRequests(store.read, { limit: 5, model: 'slow' })
    expect(items.map(({ requestId }) => requestId)).toEqual(['req_019a00000000'])
    await store.close()
    await place.remove()
  })
}
