// Random mixes of all interfaces, many calls at once on a small balance, against an upstream that
// reports whatever it likes: what an account obtains beyond its balance is bounded, and every unit of
// it is in the list of losses, with an alert. A failure prints its seed and the mix.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatNanos } from '../../src/lib/text/decimal.ts'
import { engines, newPlace, type Place } from '../../src/store/test-stores.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import {
  type LyingUpstream,
  startLyingUpstream,
  type Told,
} from '../support/load/lying-upstream.ts'
import {
  allowedUsage,
  aMix,
  isWithinHold,
  kinds,
  liarOf,
  type Mix,
  taskIdIn,
  textPrice,
  toldOf,
  unitsPrice,
} from '../support/load/mixed-calls.ts'
import {
  accountOf,
  type EntryRow,
  ledgerOf,
  listAll,
  nanos,
  requestIdOf,
  rowOf,
  until,
} from '../support/read.ts'

const caseLimitMs = 120_000
const numRuns = 9
const settledMs = 30_000

if (!engines.includes('postgres')) {
  console.error('left out: money beyond the balance on PostgreSQL (set TEST_POSTGRES_URL)')
}

interface LossRow {
  reason: string
  amount: string
  request_id: string | null
  task_id: string | null
}

/** One call as the caller saw it. */
interface Sent {
  kind: string
  told: Told
  marker: string
  status: number
  requestId: string
  text: string
}

/** What one call comes to, by the test's own arithmetic. */
interface Cost {
  /** Of the request or of the task. */
  ref: string
  fullNanos: bigint
  chargeNanos: bigint
  shortNanos: bigint
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n)

describe.each([...engines])('on %s', (engine) => {
  let place: Place
  let upstream: LyingUpstream
  let gateways: TestGateway[] = []
  let runs = 0
  const totals = { served: 0, refused: 0, short: 0, tasks: 0 }
  /** What alerts must say in the end, by subject. */
  const owed = new Map<string, bigint>()

  beforeAll(async () => {
    place = await newPlace(engine)
    upstream = startLyingUpstream()
    const { images, ...others } = upstream.protocols
    const config = `
channels:
  - name: pictures
    keys: [upk-pictures-0123456789]
    protocols: { images: "${images}" }
    models: { imga-plus: "*" }
    max_concurrency: 1000
  - name: liar
    keys: [upk-liar-0123456789]
    protocols: ${JSON.stringify(others)}
    models: { "t*": "*", "v*": "*", "imgvendor-*": "*" }
    max_concurrency: 1000
`
    const { dataDir, databaseUrl } = place.options
    const env = {
      GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    }
    const count = databaseUrl === undefined ? 1 : 2
    const start = (i: number) => startGateway({ config, env, ...(i === 0 && { dataDir }) })
    gateways = await Promise.all(Array.from({ length: count }, (_, i) => start(i)))
  }, caseLimitMs)
  afterAll(async () => {
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
    await upstream.stop()
    await place.remove()
  }, caseLimitMs)

  const admin = (method: string, path: string, body?: object) =>
    gateways[0]!.admin(method, path, body)

  async function newAccount(name: string, balance: string): Promise<string> {
    await admin('POST', '/accounts', { name, balance })
    const { body } = await admin('POST', '/tokens', { account: name, name: 'x' })
    const headers = { authorization: `Bearer ${body.token}` }
    for (const { url } of gateways) {
      await until(`token of ${name}`, async () => {
        const { status } = await fetch(`${url}/v1/models`, { headers })
        return status === 200 || undefined
      })
    }
    return body.token
  }

  async function send(token: string, i: number, kind: string, told: Told): Promise<Sent> {
    const marker = `mark-${runs}-${i}`
    upstream.tell(marker, told)
    const { path, body } = kinds[kind]!
    const response = await fetch(`${gateways[i % gateways.length]!.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(marker)),
    })
    const text = await response.text()
    const { status } = response
    return { kind, told, marker, status, requestId: requestIdOf(response), text }
  }

  const settled = (name: string) =>
    until(
      `the end of all work of ${name}`,
      async () => {
        const tasks = await listAll<{ finished_at: string | null }>(
          gateways[0]!,
          `/tasks?account=${name}`,
        )
        const { held } = await accountOf(gateways[0]!, name)
        const isOver = tasks.every(({ finished_at }) => finished_at !== null)
        return (isOver && held === '0.00') || undefined
      },
      settledMs,
    )

  /** Undefined: nothing of it may be charged. */
  async function fullPrice(
    { kind, told, status, requestId }: Sent,
    task: { state: string } | undefined,
    charged: EntryRow | undefined,
  ): Promise<bigint | undefined> {
    if (task !== undefined && task.state !== 'succeeded') return undefined
    if (kinds[kind]!.units !== undefined) {
      return status === 200 ? unitsPrice(kind, told, charged?.quantity ?? 0) : undefined
    }
    if (status !== 200 || told.ending !== 'good') return undefined
    const { usage } = await rowOf(gateways[0]!, requestId)
    expect(usage).toMatchObject(allowedUsage(kind, told) ?? {})
    return textPrice(kind, usage!)
  }

  async function costOf(
    sent: Sent,
    charges: ReadonlyMap<string, EntryRow>,
    losses: readonly LossRow[],
  ): Promise<Cost> {
    const isMade = sent.status === 200
    const row = await rowOf(gateways[0]!, sent.requestId)
    const taskId = isMade ? taskIdIn(sent.kind, sent.text) : undefined
    const ref = taskId ?? (row as { task_id?: string }).task_id ?? row.request_id
    const task = taskId === undefined ? undefined : (await admin('GET', `/tasks/${taskId}`)).body
    const entry = charges.get(ref)
    const chargeNanos = entry === undefined ? 0n : -nanos(entry.amount)
    const own = losses.filter(({ request_id, task_id }) => request_id === ref || task_id === ref)
    const shortNanos = sumOf(own.map(({ amount }) => nanos(amount)))
    const fullNanos = (await fullPrice(sent, task, entry)) ?? 0n
    expect({ sent, got: chargeNanos + shortNanos }).toEqual({ sent, got: fullNanos })
    if (sent.status === 402) {
      expect({ sent, asked: upstream.asked(sent.marker) }).toEqual({ sent, asked: 0 })
      totals.refused++
    }
    if (isMade) totals.served++
    if (taskId !== undefined) totals.tasks++
    return { ref, fullNanos, chargeNanos, shortNanos }
  }

  /** Looks at the balance again and again until the work is done. */
  async function neverNegative<T>(name: string, work: Promise<T>): Promise<T> {
    let isDone = false
    const done = work.finally(() => {
      isDone = true
    })
    while (!isDone) {
      expect(nanos((await accountOf(gateways[0]!, name)).balance)).toBeGreaterThanOrEqual(0n)
      await Promise.race([done, Bun.sleep(20)])
    }
    return done
  }

  /** Plays the mix on an account of its own; gives what each call came to. */
  async function play({ microBalance, calls }: Mix, isCovered: (i: number) => boolean) {
    const name = `account-${++runs}`
    const opening = BigInt(microBalance) * 1000n
    const token = await newAccount(name, formatNanos(opening))
    const sending = calls.map((call, i) => send(token, i, call.kind, toldOf(call, isCovered(i))))
    const sent = await neverNegative(name, Promise.all(sending))
    await settled(name)
    const entries = (await ledgerOf(gateways[0]!, name)) as (EntryRow & { task_id?: string })[]
    const charges = new Map(
      entries
        .filter(({ kind }) => kind === 'charge')
        .map((entry) => [entry.task_id ?? entry.request_id ?? '', entry]),
    )
    const losses = (await listAll<LossRow>(gateways[0]!, `/losses?account=${name}`)).filter(
      ({ reason }) => reason === 'balance_short',
    )
    const costs = await Promise.all(sent.map((each) => costOf(each, charges, losses)))
    const account = await accountOf(gateways[0]!, name)
    expect(nanos(account.balance)).toBeGreaterThanOrEqual(0n)
    expect(account.held).toBe('0.00')
    // All that was charged and lost is of these calls, and nothing else was taken.
    const charged = sumOf(costs.map(({ chargeNanos }) => chargeNanos))
    expect(nanos(account.balance)).toBe(opening - charged)
    const short = sumOf(costs.map(({ shortNanos }) => shortNanos))
    expect(sumOf(losses.map(({ amount }) => nanos(amount)))).toBe(short)
    expect((await admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
    if (short > 0n) await alertFor(account.id, short)
    return { costs, short }
  }

  async function alertFor(accountId: string, short: bigint): Promise<void> {
    totals.short++
    const subject = `${accountId} balance_short`
    owed.set(subject, short)
    await until(`the alert about ${subject}`, async () => (await alerts()).get(subject))
  }

  /** Each gateway tells its own sum, some seconds later if it has just told another. */
  async function alertsSayAll(): Promise<void> {
    if (gateways.length > 1) return
    for (const [subject, short] of owed) {
      const says = ` of ${formatNanos(short)} in all `
      const isSaid = async () => (await alerts()).get(subject)?.includes(says) || undefined
      await until(`the alert about ${subject}, ${says}`, isSaid, settledMs)
    }
  }

  const alerts = async (): Promise<Map<string, string>> => {
    const all = await listAll<{ subject: string; message: string }>(
      gateways[0]!,
      '/alerts?kind=loss',
    )
    return new Map(all.map(({ subject, message }) => [subject, message]))
  }

  test(
    'one call that is reported far above its hold leaves a loss of at most its own cost, whatever runs beside it',
    async () => {
      const property = fc.asyncProperty(aMix, async (mix) => {
        const liar = liarOf(mix)
        const { costs, short } = await play(mix, (i) => i !== liar)
        expect(short).toBeLessThanOrEqual(costs[liar]!.fullNanos)
        expect(costs[liar]!.shortNanos).toBe(short)
      })
      await fc.assert(property, { numRuns, seed: 17, endOnFailure: true })
    },
    caseLimitMs,
  )

  // Not yet the bound of one call for each account: several that are overstated at the same time are
  // each short by what they have beyond their own hold and the free balance.
  test(
    'several calls reported far above their holds at once leave a loss each, which may be more than one call’s worth, all of it booked and told',
    async () => {
      const property = fc.asyncProperty(aMix, async (mix) => {
        const { costs } = await play(mix, () => false)
        for (const [i, call] of mix.calls.entries()) {
          if (isWithinHold(call.kind, toldOf(call, false))) expect(costs[i]!.shortNanos).toBe(0n)
        }
      })
      await fc.assert(property, { numRuns, seed: 18, endOnFailure: true })
      await alertsSayAll()
      for (const [name, count] of Object.entries(totals))
        expect([name, count > 0]).toEqual([name, true])
    },
    caseLimitMs,
  )
})
