// Any page of the request log by any filter, and the traffic it adds up to, held against a plain
// filter and a plain sum over the same rows, wherever they lie: indexed, partly, or not at all.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { RequestRecord } from '../../src/contract/requests.ts'
import { isInRange, statusRange } from '../../src/contract/traffic.ts'
import { newId } from '../../src/lib/crypto/ids.ts'
import type { Store } from '../../src/store/index.ts'
import { indexNextSegment } from '../../src/store/log/indexer.ts'
import { segmentRows } from '../../src/store/log/posting-list.ts'
import { listRequests, type RequestFilter } from '../../src/store/log/requests.ts'
import { sumTraffic, type TrafficQuery, timeSpans } from '../../src/store/log/traffic.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'

const patientMs = 120_000
const startMs = Date.UTC(2026, 10, 1, 10, 2, 3)
const stepMs = 700
const statuses = [200, 200, 200, 200, 429, 502]

/** Of few values each, one of them only in every thousandth row, and never all pairs of them. */
function aRandomRequest(i: number, draw: (below: number) => number): RequestRecord {
  const atMs = startMs + i * stepMs - draw(60_000)
  const status = statuses[draw(statuses.length)]!
  const model = draw(1000) === 0 ? 'rare' : `model-${draw(5)}`
  const account = draw(9)
  return aRequest({
    requestId: newId('req', atMs),
    atMs,
    accountId: `acc_${account}`,
    tokenId: `tok_${account}_${draw(2)}`,
    model,
    status,
    totalMs: draw(40_000),
    chargeNanos: status === 200 ? BigInt(draw(1_000_000)) : 0n,
    ...(status === 200 && { firstByteMs: draw(2_000) }),
    ...(status !== 429 && { channel: model === 'model-0' ? 'own' : `channel-${draw(2)}` }),
    ...(status !== 200 && { errorCode: status === 429 ? 'rate_limit_exceeded' : 'upstream_error' }),
  })
}

/** Small, fast and the same each time. */
function drawer(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined })
const moment = (rows: number) =>
  fc.option(fc.integer({ min: startMs - 100_000, max: startMs + rows * stepMs }), {
    nil: undefined,
    freq: 2,
  })

const filters = (rows: number): fc.Arbitrary<RequestFilter> =>
  fc.record({
    limit: fc.constantFrom(1, 7, 100, 500),
    accountId: maybe(['acc_0', 'acc_3', 'acc_nobody']),
    tokenId: maybe(['tok_0_0', 'tok_3_1']),
    model: maybe(['model-0', 'model-1', 'rare', 'never']),
    channel: maybe(['own', 'channel-1']),
    status: maybe(['200', '429', '418', '4xx', '5xx', 'failed'].map(statusRange)),
    errorCode: maybe(['upstream_error', 'rate_limit_exceeded']),
    fromMs: moment(rows),
    toMs: moment(rows),
  })

const passes = (row: RequestRecord, filter: RequestFilter): boolean =>
  (['accountId', 'tokenId', 'model', 'channel', 'errorCode'] as const).every(
    (name) => filter[name] === undefined || filter[name] === row[name],
  ) &&
  (filter.status === undefined || isInRange(row.status, filter.status)) &&
  row.atMs >= (filter.fromMs ?? 0) &&
  row.atMs < (filter.toMs ?? Number.MAX_SAFE_INTEGER)

for (const engine of storeKinds) {
  describe(`the request log on ${engine}`, () => {
    const draw = drawer(7)
    const written: RequestRecord[] = []
    let place: Place
    let store: Store

    const write = async (count: number) => {
      const more = Array.from({ length: count }, (_, i) => aRandomRequest(written.length + i, draw))
      await Promise.all(more.map((row) => store.record(row)))
      written.push(...more)
    }

    beforeAll(async () => {
      place = await newPlace(engine)
      store = await place.open({ logIndexer: { quietMs: patientMs } })
      await write(2 * segmentRows + 1_000)
      await indexNextSegment(store, written.length)
    })

    afterAll(async () => {
      await store.close()
      await place.remove()
    })

    /** Rows come and are indexed between its pages: nothing is lost, doubled or out of order. */
    async function walk(filter: RequestFilter, meanwhile: () => Promise<void>): Promise<string[]> {
      const seen: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await listRequests(store.read, { ...filter, cursor })
        expect(page.items.length).toBeLessThanOrEqual(filter.limit)
        seen.push(...page.items.map(({ requestId }) => requestId))
        if (page.nextCursor === undefined) return seen
        cursor = page.nextCursor
        await meanwhile()
      }
    }

    test('walking all pages of any filter shows what a plain filter shows, while rows arrive', async () => {
      let turns = 0
      const meanwhile = async () => {
        if (++turns % 40 === 0) await write(30)
        if (turns % 400 === 0) await indexNextSegment(store, written.length)
      }
      await fc.assert(
        fc.asyncProperty(filters(written.length), async (filter) => {
          const wide = filter.limit === 1 ? { ...filter, limit: 7 } : filter
          const plain = written.filter((row) => passes(row, filter)).toReversed()
          const seen = await walk(wide, meanwhile)
          expect(seen).toEqual(plain.map(({ requestId }) => requestId))
        }),
        { numRuns: 80, seed: 1 },
      )
    })

    test('a page of one row goes on where it ended', async () => {
      const rare = { limit: 1, model: 'rare' }
      const plain = written.filter((row) => passes(row, rare)).toReversed()
      expect(await walk(rare, async () => {})).toEqual(plain.map(({ requestId }) => requestId))
    })

    test('a value that no text can be is in no row', async () => {
      expect(await listRequests(store.read, { limit: 5, model: 'a\0b' })).toEqual({ items: [] })
    })

    const trafficQueries = (rows: number): fc.Arbitrary<TrafficQuery> => {
      const times = fc.record({
        fromMs: fc.integer({ min: startMs - 10_000_000, max: startMs + rows * stepMs }),
        hours: fc.integer({ min: 1, max: 60 }),
        time: maybe(['hour', 'day'] as const),
      })
      const ofAll = fc.record({
        by: fc.subarray(['model', 'channel', 'interface', 'status', 'error_code'] as const),
        model: maybe(['model-1']),
        status: maybe(['200', 'failed'].map(statusRange)),
      })
      const ofAccounts = fc.record({
        by: fc.subarray(['status', 'error_code'] as const),
        account: fc.constantFrom('acc_1', undefined),
      })
      return fc.tuple(times, fc.oneof(ofAll, ofAccounts)).map(([{ fromMs, hours, time }, of]) => {
        const { by, ...wanted } = of
        const isOfAccounts = 'account' in of
        const where = Object.entries(wanted).filter(([, value]) => value !== undefined)
        return {
          fromMs,
          untilMs: fromMs + hours * 3_600_000,
          time,
          by: isOfAccounts ? ['account', ...by] : by,
          where: Object.fromEntries(where),
        } as TrafficQuery
      })
    }

    test('traffic adds up to the rows, those that are not indexed yet included', async () => {
      await fc.assert(
        fc.asyncProperty(trafficQueries(written.length), async (query) => {
          const traffic = await sumTraffic(store.read, query)
          const shown = traffic?.sums.map(({ slotMs: at, values, requests, took, ...sums }) => {
            // How long they took is not kept by account.
            const timed = took.reduce((sum, count) => sum + count, 0)
            expect(query.by.includes('account') || timed === requests).toBe(true)
            const { totalMs, firstBytes, firstByteMs, chargeNanos } = sums
            return [at, ...values, requests, totalMs, firstBytes, firstByteMs, chargeNanos]
          })
          expect<unknown>(shown).toEqual(plainSums(written, query))
        }),
        { numRuns: 40, seed: 2 },
      )
    })
  })
}

function plainSums(rows: readonly RequestRecord[], query: TrafficQuery): unknown[] {
  const span = query.by.includes('account') ? timeSpans.hour : timeSpans.slot
  const fromMs = Math.floor(query.fromMs / span) * span
  const untilMs = Math.ceil(query.untilMs / span) * span
  const cellOf = (row: RequestRecord, name: string): string | number =>
    name === 'account'
      ? row.accountId
      : name === 'error_code'
        ? (row.errorCode ?? '')
        : ((row[name as 'model' | 'channel' | 'interface' | 'status'] as string) ?? '')
  const sums = new Map<string, { key: (string | number)[]; rows: RequestRecord[] }>()
  for (const row of rows) {
    if (row.atMs < fromMs || row.atMs >= untilMs) continue
    const { status, ...equal } = query.where
    if (status !== undefined && !isInRange(row.status, status)) continue
    if (Object.entries(equal).some(([name, value]) => cellOf(row, name) !== value)) continue
    const width = query.time === undefined ? undefined : timeSpans[query.time]
    const slot = width === undefined ? 0 : row.atMs - (row.atMs % width)
    const key = [slot, ...query.by.map((name) => cellOf(row, name))]
    const group = sums.get(JSON.stringify(key)) ?? { key, rows: [] }
    group.rows.push(row)
    sums.set(JSON.stringify(key), group)
  }
  return [...sums.values()]
    .sort((a, b) => compare(a.key, b.key))
    .map(({ key, rows }) => {
      const timed = rows.filter(({ firstByteMs }) => firstByteMs !== undefined)
      const add = (of: (row: RequestRecord) => number) => rows.reduce((n, row) => n + of(row), 0)
      const charged = rows.reduce((sum, { chargeNanos }) => sum + chargeNanos, 0n)
      const firstByteMs = add((row) => row.firstByteMs ?? 0)
      return [...key, rows.length, add((row) => row.totalMs), timed.length, firstByteMs, charged]
    })
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [i, value] of a.entries()) {
    if (value !== b[i]) return value < b[i]! ? -1 : 1
  }
  return 0
}
