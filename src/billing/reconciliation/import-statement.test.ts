// A statement is there as a whole or not at all, whatever ends its import; what a dead import left
// behind goes with a later one, and what another is still at stays.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newShortId } from '../../lib/crypto/ids.ts'
import type { Store } from '../../store/index.ts'
import { insertLines, linesAfter, listStatements } from '../../store/ledger/statements.ts'
import { failureOf, newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { clearLines, importStatement, type StatementOptions } from './import-statement.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: imports of statements on PostgreSQL (set TEST_POSTGRES_URL)')
}

const input: StatementOptions = {
  channel: 'main',
  name: 'november',
  form: { map: {}, zoneMs: 0, decimal: '.' },
  rule: { factorNanos: undefined, toleranceNanos: 0n },
}
const header = 'request_id,time,tokens,cost\n'
const rows = (count: number) =>
  Array.from({ length: count }, (_, i) => `up-${i},2026-11-02,1,0.01\n`).join('')

async function* inPieces(...chunks: (string | Error)[]) {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk
    yield chunk
  }
}

describe.each([...storeKinds])('imports on %s', (on) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await newPlace(on)
    store = await place.open()
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })
  const allLines = async () => {
    const found = await store.read
      .selectFrom('statement_lines')
      .select('statement_id')
      .groupBy('statement_id')
      .execute()
    return found.map(({ statement_id }) => statement_id).toSorted()
  }
  const listed = async () =>
    (await listStatements(store.read, { limit: 10 })).items.map(({ id }) => id).toSorted()

  test('are there when they are done, with all of their lines', async () => {
    const made = await importStatement(store, input, inPieces(header, rows(2_500)), Date.now)
    if ('problem' in made) throw new Error(made.problem)
    expect(await listed()).toEqual([made.id])
    const last = await linesAfter(store.read, made.id, { after: 2_499, limit: 10 })
    expect(last.map(({ number, upstreamId }) => [number, upstreamId])).toEqual([
      [2_500, 'up-2498'],
      [2_501, 'up-2499'],
    ])
    expect(made).toMatchObject({
      fromMs: Date.UTC(2026, 10, 2),
      untilMs: Date.UTC(2026, 10, 3),
      name: 'november',
    })
  })

  test('that break off leave nothing', async () => {
    const before = [await listed(), await allLines()]
    const broken = inPieces(header, rows(2_500), new Error('the sender is gone'))
    const failure = await failureOf(importStatement(store, input, broken, Date.now))
    expect(failure).toBe('the sender is gone')
    const wrong = inPieces(header, rows(2_500), 'up-x,2026-11-02,1\n')
    expect(await importStatement(store, input, wrong, Date.now)).toEqual({
      line: 2_502,
      problem: '3 cells, where the first row has 4',
    })
    let now = Date.now()
    const late = importStatement(store, input, inPieces(header, rows(1_500), rows(1)), () => {
      now += 1_800_001
      return now
    })
    expect(await late).toMatchObject({ problem: 'taking it in took too long' })
    expect([await listed(), await allLines()]).toEqual(before)
  })

  test('clear away what died long ago, and nothing else', async () => {
    const dead = newShortId('stm', Date.now() - 3 * 3_600_000)
    const running = newShortId('stm', Date.now() - 1_000)
    for (const id of [dead, running]) {
      await store.tx((tx) => insertLines(tx, store.dialect, id, [{ number: 2 }]))
    }
    const made = await importStatement(store, input, inPieces(header + rows(1)), Date.now)
    if ('problem' in made) throw new Error(made.problem)
    const left = await allLines()
    expect(left).not.toContain(dead)
    expect(left).toContain(running)
    expect(left).toEqual([...(await listed()), running].toSorted())
    await clearLines(store, running)
    expect(await allLines()).toEqual(await listed())
  })

  test('without a time need to be told of theirs', async () => {
    const timeless = 'request_id,cost\nup-1,1\n'
    expect(await importStatement(store, input, inPieces(timeless), Date.now)).toMatchObject({
      problem: 'no column tells the time: say from when and until when it is',
    })
    const told = { ...input, fromMs: 2, untilMs: 1 }
    expect(await importStatement(store, told, inPieces(timeless), Date.now)).toMatchObject({
      problem: 'the period ends before it begins',
    })
  })
})
