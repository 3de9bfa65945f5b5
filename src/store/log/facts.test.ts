import { describe, expect, test } from 'bun:test'
import type { Attempt, RequestRecord } from '../../contract/requests.ts'
import { getMeta } from '../sql/meta.ts'
import { aRequest, newPlace, storeKinds, until } from '../test-stores.ts'
import { lastUses, listFailedAttempts } from './facts.ts'
import { segmentRows } from './posting-list.ts'
import { listRequests } from './requests.ts'
import { sumTraffic } from './traffic.ts'
import { watermarkKey } from './watermark.ts'

const hourMs = 3_600_000
const atMs = 7 * hourMs

const tried = (channel: string, more: Partial<Attempt> = {}): Attempt => ({
  ...{ channel, afterMs: 0, ms: 1, ...more },
})

const row = (attempts: Attempt[], more: Partial<RequestRecord> = {}): RequestRecord => {
  const record = aRequest({ tokenId: 'tok_1', atMs, ...more })
  return { ...record, detail: { ...record.detail, ...more.detail, attempts } }
}

describe.each(storeKinds)('facts of the log on %s', (dialect) => {
  test('are the same before and after their segment is complete', async () => {
    const place = await newPlace(dialect)
    const limits = { quietMs: 10, settleMs: 0, behindRows: segmentRows }
    const store = await place.open({ logIndexer: limits })
    const error = 'refused'
    const rows = [
      // Another channel served it.
      row([tried('east', { status: 401, error }), tried('west', { status: 200 })]),
      row([tried('east', { error }), tried('east', { status: 503, error })]),
      // The caller's own mistake, and a caller that left.
      row([tried('east', { status: 400, error })]),
      row([tried('east', { error })], {
        detail: { stream: false, ending: 'caller_left', attempts: [] },
      }),
      row([tried('west', { status: 429, error })], { tokenId: 'tok_2', atMs: atMs + hourMs + 5 }),
    ]
    const plain = { stream: false, ending: 'complete', attempts: [] } as const
    rows.push(
      // Retries of a client, and one that only talks of it.
      row([], { model: 'again', detail: { ...plain, attempts: [], clientRetry: 1 } }),
      row([], { model: 'again', detail: { ...plain, attempts: [], clientRetry: 12 } }),
      row([], { model: 'again', detail: { ...plain, attempts: [], error: '"clientRetry":1' } }),
    )
    for (const each of rows) await store.record(each)
    const asked = {
      ...{ fromMs: atMs, untilMs: atMs + hourMs },
      ...{ by: ['model' as const], where: { model: 'again' } },
    }
    const facts = async () => ({
      failed: (await listFailedAttempts(store.read, { fromMs: atMs, untilMs: atMs + 2 * hourMs }))
        .map(({ hourMs: at, channel, failed }) => [at, channel, failed])
        .sort(),
      uses: await lastUses(store.read, ['tok_1', 'tok_2', 'tok_3']),
      retries: (await listRequests(store.read, { limit: 5, isRetry: true, model: 'again' })).items
        .map(({ detail: { clientRetry } }) => clientRetry)
        .sort(),
      summed: (await sumTraffic(store.read, asked))!.sums.map(({ retries }) => retries),
    })
    const expected = {
      failed: [
        [atMs, 'east', 3],
        [atMs + hourMs, 'west', 1],
      ],
      uses: new Map([
        ['tok_1', atMs],
        ['tok_2', atMs + hourMs + 5],
      ]),
      retries: [1, 12],
      summed: [2],
    }
    expect(await facts()).toEqual(expected)
    expect(
      await listFailedAttempts(store.read, { fromMs: atMs, untilMs: atMs + hourMs }),
    ).toHaveLength(1)
    const others = Array.from({ length: segmentRows }, () => row([], { atMs: atMs - hourMs }))
    await Promise.all(others.map((each) => store.record(each)))
    await until(async () => (await getMeta(store.read, watermarkKey)) !== undefined)
    expect(await facts()).toEqual(expected)
    await store.close()
    await place.remove()
  })
})
