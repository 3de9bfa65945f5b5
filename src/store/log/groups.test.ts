import { describe, expect, test } from 'bun:test'
import { aRequest, newPlace, storeKinds } from '../test-stores.ts'
import { readLogGroups, slotMs } from './groups.ts'

describe.each(storeKinds)('groups of the log on %s', (dialect) => {
  test('count every row once, in the class of its duration', async () => {
    const place = await newPlace(dialect)
    const store = await place.open()
    const atMs = 7 * slotMs + 1
    const alike = { accountId: 'acc_1', tokenId: 'tok_1', model: 'one', channel: 'east' }
    for (const totalMs of [0, 8, 9, 16, 17, 999_999]) {
      await store.record(aRequest({ ...alike, atMs, totalMs, chargeNanos: 2n }))
    }
    const timed = { ...alike, atMs: atMs + 5, totalMs: 1, firstByteMs: 0, chargeNanos: 0n }
    await store.record(aRequest(timed))
    const other = aRequest({ ...alike, model: 'two', atMs: atMs + slotMs, totalMs: 3 })
    await store.record({ ...other, status: 502, errorCode: 'upstream_error' })
    const groups = await readLogGroups(store.read, 1, 100, [1, 8])
    const of = (model: string) => groups.filter((group) => group.model === model)
    const took = new Array<number>(16).fill(0)
    for (const { sums } of of('one')) for (const [i, n] of sums.took.entries()) took[i]! += n
    expect(took).toEqual([3, 2, 1, ...new Array(12).fill(0), 1])
    const [min] = of('one').filter(({ sums }) => sums.took[0]! > 0)
    expect(min).toMatchObject({
      ...alike,
      slotMs: 7 * slotMs,
      status: 200,
      errorCode: '',
      untilMs: atMs + 5,
      sums: { requests: 3, totalMs: 9, chargeNanos: 4n, firstBytes: 1, firstByteMs: 0 },
    })
    expect(of('two')).toMatchObject([
      {
        slotMs: 8 * slotMs,
        status: 502,
        errorCode: 'upstream_error',
        fromId: other.requestId,
        untilId: other.requestId,
      },
    ])
    expect(of('one').map(({ sums }) => sums.retries)).toContain(1)
    expect(groups.reduce((sum, { sums }) => sum + sums.retries, 0)).toBe(2)
    const seqs = groups.flatMap((group) => group.seqs).sort((a, b) => a - b)
    expect(seqs).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(await readLogGroups(store.read, 9, 100, [])).toEqual([])
    await store.close()
    await place.remove()
  })
})
