// Reconciling against a matcher that is too simple to be wrong: everything in memory, every line with
// every piece of work, on every store there is and with pages of a few rows.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { LossReason } from '../../contract/ledger.ts'
import { newId, newShortId } from '../../lib/crypto/ids.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import type { Store } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { recordLoss } from '../../store/ledger/losses.ts'
import {
  insertLines,
  type JudgedLine,
  type LineOutcome,
  linesAfter,
  type StatementLine,
} from '../../store/ledger/statements.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { aTask } from '../../store/tasks/test-tasks.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { addOurs, judge, noneOfOurs, type Rule, shownOurs } from './judge-lines.ts'
import { type Reconciling, reconcile, theirsOf } from './reconcile.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: reconciling on PostgreSQL (set TEST_POSTGRES_URL)')
}

const dayMs = 24 * 3_600_000
const startMs = Date.UTC(2026, 0, 10)
const rule: Rule = { factorNanos: 500_000_000n, toleranceNanos: 0n, roundingNanos: 0n }

interface Work {
  kind: 'call' | 'task'
  /** Undefined: the upstream gave it no name. */
  id: number | undefined
  day: number
  model: number
  quantity: number
  /** Lost under its own name, under another one, or for want of balance. */
  loss: 'none' | 'own' | 'other' | 'short'
  channel: 'here' | 'elsewhere'
}

interface Line {
  id: number | undefined
  day: number
  model: number
  quantity: number
  amount: number
}

const id = fc.option(fc.nat(12), { nil: undefined })
const works = fc.array(
  fc.record<Work>({
    kind: fc.constantFrom('call', 'task'),
    id,
    day: fc.integer({ min: -1, max: 3 }),
    model: fc.nat(2),
    quantity: fc.nat(3),
    loss: fc.constantFrom('none', 'none', 'own', 'other', 'short'),
    channel: fc.constantFrom('here', 'here', 'here', 'elsewhere'),
  }),
  { maxLength: 14 },
)
const lines = fc.array(
  fc.record<Line>({
    id,
    day: fc.nat(2),
    model: fc.nat(3),
    quantity: fc.nat(4),
    amount: fc.nat(4),
  }),
  { minLength: 1, maxLength: 14 },
)

/** Its name upstream; those of calls and tasks are apart, as are those of several tasks. */
const nameOf = ({ kind, id }: Work, at: number): string | undefined =>
  id === undefined ? undefined : kind === 'call' ? `up-${id}` : `up-${id}-task-${at}`
const otherName = (at: number): string => `up-${at}-other`
const worth = (quantity: number): bigint => BigInt(quantity) * 2_000_000_000n

/** What the books have of it, as one piece of work or several. */
function usageItems(work: Work, at: number, channel: string) {
  const { quantity, loss } = work
  const isFailed = loss === 'own'
  const billed = isFailed ? 0 : quantity
  const name = nameOf(work, at)
  const own = {
    ids: name === undefined ? [] : [name],
    atMs: startMs + work.day * dayMs + 1_000,
    model: `up-model-${work.model}`,
    quantity: billed,
    amountNanos: worth(billed),
    lostQuantity: isFailed ? quantity : 0,
    lostNanos: isFailed ? worth(quantity) : 0n,
    isLost: isFailed,
  }
  const other = {
    ...own,
    ids: [otherName(at)],
    quantity: 0,
    amountNanos: 0n,
    lostQuantity: quantity,
    lostNanos: worth(quantity),
    isLost: true,
  }
  const here = work.channel === 'here' ? [own] : []
  return channel === 'here' && loss === 'other' ? [...here, other] : here
}

type Piece = ReturnType<typeof usageItems>[number]

interface Result {
  outcome: LineOutcome
  ourQuantity: number | undefined
  ourAmountNanos: bigint | undefined
}

const inPeriod = ({ atMs }: Piece): boolean => atMs >= startMs && atMs < startMs + 3 * dayMs

/** By number, and beside them what is only here. */
function naive(theirs: readonly StatementLine[], items: readonly Piece[]) {
  const results = new Map<number, Result>()
  const used = new Set<Piece>()
  const settle = (members: readonly StatementLine[], ours: readonly Piece[]) => {
    const sum = noneOfOurs()
    for (const piece of ours) {
      addOurs(sum, { ...piece, costNanos: undefined })
      used.add(piece)
    }
    const outcome = judge(theirsOf(members as JudgedLine[]), sum, rule)
    const shown = shownOurs(sum, outcome, rule)
    members.forEach(({ number }, at) => {
      const isShown = at === 0 && sum.isKnown
      results.set(number, {
        outcome,
        ourQuantity: isShown ? shown.quantity : undefined,
        ourAmountNanos: isShown ? shown.nanos : undefined,
      })
    })
  }
  const named = theirs.filter(({ upstreamId }) => upstreamId !== undefined)
  for (const [name, members] of Map.groupBy(named, ({ upstreamId }) => upstreamId!)) {
    settle(
      members,
      items.filter(({ ids }) => ids.includes(name)),
    )
  }
  const dayOf = (ms: number) => Math.floor(ms / dayMs)
  const bare = theirs.filter(({ upstreamId }) => upstreamId === undefined)
  const groups = Map.groupBy(bare, ({ atMs, model }) => `${dayOf(atMs!)} ${model}`)
  for (const [key, members] of groups) {
    const ours = items.filter(
      (piece) =>
        !used.has(piece) && inPeriod(piece) && key === `${dayOf(piece.atMs)} ${piece.model}`,
    )
    settle(members, ours)
  }
  const alone = items.filter((piece) => !used.has(piece) && inPeriod(piece) && piece.quantity > 0)
  return { results, alone }
}

describe.each([...storeKinds])('reconciling on %s', (on) => {
  let place: Place
  let store: Store
  beforeAll(async () => {
    place = await newPlace(on)
    store = await place.open()
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 }),
    )
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  const putCall = async (work: Work, at: number, channel: string) => {
    const atMs = startMs + work.day * dayMs + 1_000
    const name = nameOf(work, at)
    const request = aRequest({
      requestId: newId('req', atMs),
      atMs,
      model: `model-${work.model}`,
      channel: work.channel === 'here' ? channel : `${channel}-other`,
      ...(name !== undefined && { upstreamRequestId: name }),
      status: work.loss === 'own' ? 502 : 200,
    })
    request.detail.upstreamModel = `up-model-${work.model}`
    if (work.loss !== 'own') {
      const cache = { cacheReadTokens: 0, cacheWriteTokens: 0 }
      request.usage = { inputTokens: work.quantity, outputTokens: 0, ...cache }
      request.chargeNanos = work.loss === 'short' ? 0n : worth(work.quantity)
    }
    await store.record(request)
    return { ref: request.requestId, atMs }
  }

  const putTask = async (work: Work, at: number, channel: string) => {
    const atMs = startMs + work.day * dayMs + 1_000
    const name = nameOf(work, at)
    const isPaid = work.loss !== 'own' && work.loss !== 'short'
    const task = aTask({
      id: newId('video', atMs),
      channelId: newShortId('chn'),
      channel: work.channel === 'here' ? channel : `${channel}-other`,
      model: `model-${work.model}`,
      upstreamModel: `up-model-${work.model}`,
      state: 'succeeded',
      createdAtMs: atMs,
      finishedAtMs: atMs,
      chargeNanos: isPaid ? worth(work.quantity) : 0n,
      ...(name !== undefined && { upstreamId: name }),
    })
    await store.tx(async (tx) => {
      await insertTask(tx, task)
      if (work.loss === 'own') return
      await appendEntry(tx, {
        atMs,
        accountId: 'acc_1',
        kind: 'charge',
        amountNanos: isPaid ? -worth(work.quantity) : 0n,
        ref: task.id,
        quantity: work.quantity,
      })
    })
    return { ref: task.id, atMs }
  }

  const put = async (work: Work, at: number, channel: string) => {
    const { ref, atMs } = await (work.kind === 'call' ? putCall : putTask)(work, at, channel)
    // What was done elsewhere has only what was lost here.
    if (work.loss === 'none' || (work.channel === 'elsewhere' && work.loss !== 'other')) return
    const reasons = { own: 'failed_after_cost', other: 'second_task', short: 'balance_short' }
    const upstreamId = work.loss === 'other' ? otherName(at) : nameOf(work, at)
    await store.tx((tx) =>
      recordLoss(tx, {
        atMs,
        accountId: 'acc_1',
        ref,
        reason: reasons[work.loss as 'own'] as LossReason,
        channel,
        model: work.channel === 'here' ? `model-${work.model}` : `up-model-${work.model}`,
        ...(upstreamId !== undefined && { upstreamId }),
        ...(work.loss !== 'short' && { quantity: work.quantity }),
        amountNanos: worth(work.quantity),
        isEstimate: false,
      }),
    )
  }

  let made = 0
  const run = async (ours: readonly Work[], theirs: readonly Line[], pageSize: number) => {
    const channel = `channel-${made++}`
    for (const [at, work] of ours.entries()) await put(work, at, channel)
    const taskNames = new Map(
      ours.flatMap((work, at) =>
        work.kind === 'task' && work.id !== undefined
          ? [[work.id, nameOf(work, at)!] as const]
          : [],
      ),
    )
    const statement = theirs.map((line, at): StatementLine => {
      const { id } = line
      // Some lines are about calls, some about tasks and some about what was lost besides.
      const names = id === undefined ? [] : [`up-${id}`, taskNames.get(id), otherName(id)]
      const upstreamId = names[at % 3] ?? names[0]
      return {
        number: 2 + at * 2,
        atMs: startMs + line.day * dayMs + 5_000,
        model: `up-model-${line.model}`,
        ...(upstreamId !== undefined && { upstreamId }),
        quantity: line.quantity,
        amountNanos: BigInt(line.amount) * 1_000_000_000n,
      }
    })
    const statementId = newShortId('stm')
    await store.tx((tx) => insertLines(tx, store.dialect, statementId, statement))
    const job: Reconciling = {
      statementId,
      channel,
      fromMs: startMs,
      untilMs: startMs + 3 * dayMs,
      zoneMs: 0,
      rule,
      lastNumber: statement.at(-1)!.number,
      pageSize,
    }
    await reconcile(store, job)
    const judged = await linesAfter(store.read, statementId, { after: 0, limit: 1_000 })
    const expected = naive(
      statement,
      ours.flatMap((work, at) => usageItems(work, at, 'here')),
    )
    return { judged, expected, lastNumber: job.lastNumber }
  }

  const agree = async (ours: readonly Work[], theirs: readonly Line[], pageSize: number) => {
    const { judged, expected, lastNumber } = await run(ours, theirs, pageSize)
    const got = judged.filter(({ number }) => number <= lastNumber)
    for (const { number, outcome, ourQuantity, ourAmountNanos } of got) {
      expect({ number, outcome, ourQuantity, ourAmountNanos }).toEqual({
        number,
        ...expected.results.get(number)!,
      })
    }
    expect(got).toHaveLength(theirs.length)
    const alone = judged.filter(({ number }) => number > lastNumber)
    const key = (quantity: number | undefined, atMs: number | undefined, model?: string) =>
      `${atMs} ${model} ${quantity}`
    expect(alone.every(({ outcome, ref }) => outcome === 'gateway_only' && ref !== undefined)).toBe(
      true,
    )
    expect(alone.map((line) => key(line.ourQuantity, line.atMs, line.model)).toSorted()).toEqual(
      expected.alone.map((piece) => key(piece.quantity, piece.atMs, piece.model)).toSorted(),
    )
  }

  test(
    'finds what the simple matcher finds',
    async () => {
      const runs = on === 'sqlite' ? 150 : 20
      await fc.assert(
        fc.asyncProperty(works, lines, (ours, theirs) => agree(ours, theirs, 1_000)),
        {
          numRuns: runs,
        },
      )
    },
    { timeout: 120_000 },
  )

  test(
    'finds the same however small its pages are, where every name is given once',
    async () => {
      const once = works.map((all) =>
        all.filter(
          (work, at) => work.id === undefined || all.findIndex(({ id }) => id === work.id) === at,
        ),
      )
      await fc.assert(fc.asyncProperty(once, lines, fc.integer({ min: 1, max: 4 }), agree), {
        numRuns: on === 'sqlite' ? 80 : 15,
      })
    },
    { timeout: 120_000 },
  )

  test('a name that several calls share is compared with all of them, pages apart', async () => {
    const work: Work = {
      kind: 'call',
      id: 1,
      day: 0,
      model: 0,
      quantity: 2,
      loss: 'none',
      channel: 'here',
    }
    const line: Line = { id: 1, day: 0, model: 0, quantity: 3, amount: 3 }
    await agree([work, work, work], [line, { ...line }, { ...line, quantity: 0, amount: 0 }], 1)
  })

  test('a task may be named by its own id, by that of its create, or by both', async () => {
    const channel = 'two-names'
    const create = aRequest({
      requestId: newId('req', startMs + 10),
      atMs: startMs + 10,
      channel,
      upstreamRequestId: 'create-1',
    })
    const task = aTask({
      id: newId('video', startMs + 10),
      requestId: create.requestId,
      channelId: newShortId('chn'),
      channel,
      upstreamId: 'task-1',
      upstreamModel: 'film',
      state: 'succeeded',
      createdAtMs: startMs + 10,
      finishedAtMs: startMs + 20,
      chargeNanos: worth(5),
    })
    create.detail.taskId = task.id
    await store.record(create)
    await store.tx(async (tx) => {
      await insertTask(tx, task)
      await appendEntry(tx, {
        atMs: startMs + 20,
        accountId: 'acc_1',
        kind: 'charge',
        amountNanos: -worth(5),
        ref: task.id,
        quantity: 5,
      })
    })
    const statementId = newShortId('stm')
    const lines: StatementLine[] = [
      { number: 2, upstreamId: 'create-1', quantity: 2, atMs: startMs },
      { number: 3, upstreamId: 'task-1', quantity: 3, atMs: startMs },
      { number: 4, upstreamId: 'task-2', quantity: 5, atMs: startMs },
    ]
    await store.tx((tx) => insertLines(tx, store.dialect, statementId, lines))
    const period = { fromMs: startMs, untilMs: startMs + dayMs, zoneMs: 0 }
    await reconcile(store, { statementId, channel, ...period, rule, lastNumber: 4 })
    const judged = await linesAfter(store.read, statementId, { after: 0, limit: 10 })
    expect(judged.map(({ outcome, ref, ourQuantity }) => [outcome, ref, ourQuantity])).toEqual([
      ['matched', task.id, 5],
      ['matched', task.id, undefined],
      ['upstream_only', undefined, undefined],
    ])
  })
})
