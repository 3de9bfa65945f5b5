// Random mixes of all interfaces, many calls at once on a small balance, against an upstream that
// reports whatever it likes: what an account obtains beyond its balance is at most one call's worth,
// and every unit of it is in the list of losses, with an alert. A failure prints its seed and the mix.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatNanos } from '../../src/lib/text/decimal.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
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

const numRuns = 9
const settledMs = 30_000

if (!storeKinds.includes('postgres')) {
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
  /** Delivered and not covered by the balance. */
  shortNanos: bigint
  /** Done upstream and not delivered, because the account had been short before. */
  withheldNanos: bigint
}

type TaskView = { state: string; error?: { code: string } | null }

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n)

describe.each([...storeKinds])('on %s', (engine) => {
  let place: Place
  let upstream: LyingUpstream
  let gateways: TestGateway[] = []
  let runs = 0
  const totals = { served: 0, refused: 0, short: 0, tasks: 0, withheld: 0, cut: 0, failed: 0 }
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
  })
  afterAll(async () => {
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
    await upstream.stop()
    await place.remove()
  })

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
    task: TaskView | undefined,
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

  /** Whether it was done upstream and the caller was told that it cannot pay for it. */
  function isWithheld({ marker, status, text }: Sent, task: TaskView | undefined): boolean {
    if (task !== undefined) return task.error?.code === 'insufficient_quota'
    if (status === 402) return upstream.asked(marker) > 0
    return text.includes('"insufficient_quota"')
  }

  /** By the upstream's word alone; undefined where it did not say all of it. */
  function toldPrice({ kind, told }: Sent): bigint | undefined {
    if (kinds[kind]!.units !== undefined) return unitsPrice(kind, told, 0)
    return told.missing === 'nothing'
      ? textPrice(kind, allowedUsage(kind, told) as Parameters<typeof textPrice>[1])
      : undefined
  }

  /** Nothing of it is delivered and charged, but for what a stream had handed over. */
  async function checkWithheld(sent: Sent, task: TaskView | undefined, cost: Cost): Promise<void> {
    const { kind, told, status, text, requestId } = sent
    expect({ sent, isWithin: isWithinHold(kind, told) }).toEqual({ sent, isWithin: false })
    const got = cost.chargeNanos + cost.withheldNanos
    expect({ sent, got }).toEqual({ sent, got: toldPrice(sent) ?? got })
    expect(cost.shortNanos).toBe(0n)
    expect(cost.withheldNanos).toBeGreaterThan(0n)
    if (task !== undefined) {
      totals.failed++
      expect({ state: task.state, charged: cost.chargeNanos }).toEqual({
        state: 'failed',
        charged: 0n,
      })
      expect(JSON.stringify(task)).not.toContain('.mp4')
    } else if (status === 402) {
      totals.withheld++
      expect(cost.chargeNanos).toBe(0n)
      expect(text).not.toContain('Hello there.')
    } else {
      totals.cut++
      expect(text).not.toContain('[DONE]')
      const row = await rowOf(gateways[0]!, requestId)
      expect(cost.chargeNanos).toBe(textPrice(kind, row.usage!))
      expect(row).toMatchObject({ ending: 'cut_short', estimated: true })
      expect(row.usage!.output_tokens).toBeGreaterThan(0)
    }
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
    const lost = (wanted: string) =>
      sumOf(
        losses
          .filter(({ request_id, task_id }) => request_id === ref || task_id === ref)
          .filter(({ reason }) => reason === wanted)
          .map(({ amount }) => nanos(amount)),
      )
    const [shortNanos, withheldNanos] = [lost('balance_short'), lost('not_delivered')]
    const cost = { ref, fullNanos: 0n, chargeNanos, shortNanos, withheldNanos }
    if (isMade) totals.served++
    if (taskId !== undefined) totals.tasks++
    if (isWithheld(sent, task)) {
      await checkWithheld(sent, task, cost)
      return { ...cost, fullNanos: chargeNanos }
    }
    cost.fullNanos = (await fullPrice(sent, task, entry)) ?? 0n
    expect({ sent, got: chargeNanos + shortNanos }).toEqual({ sent, got: cost.fullNanos })
    expect({ sent, withheldNanos }).toEqual({ sent, withheldNanos: 0n })
    if (sent.status === 402) {
      expect({ sent, asked: upstream.asked(sent.marker) }).toEqual({ sent, asked: 0 })
      totals.refused++
    }
    return cost
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
    // The row of a refused call is written after its answer, and its loss with it.
    await Promise.all(sent.map(({ requestId }) => rowOf(gateways[0]!, requestId)))
    const entries = (await ledgerOf(gateways[0]!, name)) as (EntryRow & { task_id?: string })[]
    const charges = new Map(
      entries
        .filter(({ kind }) => kind === 'charge')
        .map((entry) => [entry.task_id ?? entry.request_id ?? '', entry]),
    )
    const losses = (await listAll<LossRow>(gateways[0]!, `/losses?account=${name}`)).filter(
      ({ reason }) => reason === 'balance_short' || reason === 'not_delivered',
    )
    const costs = await Promise.all(sent.map((each) => costOf(each, charges, losses)))
    const account = await accountOf(gateways[0]!, name)
    expect(nanos(account.balance)).toBeGreaterThanOrEqual(0n)
    expect(account.held).toBe('0.00')
    // All that was charged and lost is of these calls, and nothing else was taken.
    const charged = sumOf(costs.map(({ chargeNanos }) => chargeNanos))
    expect(nanos(account.balance)).toBe(opening - charged)
    const short = sumOf(costs.map(({ shortNanos }) => shortNanos))
    const withheld = sumOf(costs.map(({ withheldNanos }) => withheldNanos))
    expect(sumOf(losses.map(({ amount }) => nanos(amount)))).toBe(short + withheld)
    expect((await admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
    if (short > 0n) totals.short++
    await alertFor(account.id, 'balance_short', short)
    await alertFor(account.id, 'not_delivered', withheld)
    return { costs, short }
  }

  async function alertFor(accountId: string, reason: string, lost: bigint): Promise<void> {
    if (lost === 0n) return
    const subject = `${accountId} ${reason}`
    owed.set(subject, lost)
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

  test('one call that is reported far above its hold leaves a loss of at most its own cost, whatever runs beside it', async () => {
    const property = fc.asyncProperty(aMix, async (mix) => {
      const liar = liarOf(mix)
      const { costs, short } = await play(mix, (i) => i !== liar)
      expect(short).toBeLessThanOrEqual(costs[liar]!.fullNanos)
      expect(costs[liar]!.shortNanos).toBe(short)
    })
    await fc.assert(property, { numRuns, seed: 17, endOnFailure: true })
  })

  /** Every call is reported as it likes; what was obtained beyond the balance is one call's at most. */
  async function playAll(mix: Mix) {
    const { costs, short } = await play(mix, () => false)
    const beyond = costs.filter(({ shortNanos }) => shortNanos > 0n)
    expect(beyond.length).toBeLessThanOrEqual(1)
    expect(short).toBeLessThanOrEqual(beyond[0]?.fullNanos ?? 0n)
    const obtained = sumOf(costs.map(({ fullNanos, chargeNanos }) => fullNanos - chargeNanos))
    expect(obtained).toBe(short)
    return { costs, beyond }
  }

  test.each([
    ['forty chats on 0.01', 'chat with a bound', 10_000, 40],
    ['twenty streams on 0.01', 'chat in a stream', 10_000, 20],
    ['twelve embeddings on 0.0005', 'embeddings', 500, 12],
    ['five native tasks on 2.00', 'native task', 2_000_000, 5],
  ])(
    '%s, all of them overstated: one is delivered beyond the balance',
    async (_, kind, microBalance, count) => {
      const told = { input: 900_000, output: 5, read: 0, written: 0, units: null } as const
      const call = {
        kind,
        near: { input: 0, read: 0, written: 0 },
        told: { ...told, spelling: 'prompt', missing: 'nothing', ending: 'good' } as const,
        // Of a film, the largest.
        far: 3,
      }
      const mix = { microBalance, calls: Array.from({ length: count }, () => call), liar: 0 }
      const { costs, beyond } = await playAll(mix)
      expect(beyond.length).toBe(1)
      const withheld = costs.filter(({ withheldNanos }) => withheldNanos > 0n)
      expect(withheld.length).toBeGreaterThan(0)
      // The others were not begun.
      const isUntouched = ({ fullNanos, withheldNanos }: Cost) => fullNanos + withheldNanos === 0n
      expect(costs.filter(isUntouched).length).toBe(count - 1 - withheld.length)
    },
  )

  test('of several calls reported far above their holds at once, one is delivered beyond the balance and no other', async () => {
    const property = fc.asyncProperty(aMix, async (mix) => {
      const { costs, beyond } = await playAll(mix)
      for (const [i, call] of mix.calls.entries()) {
        const isCovered = isWithinHold(call.kind, toldOf(call, false))
        if (isCovered) expect(costs[i]).toMatchObject({ shortNanos: 0n, withheldNanos: 0n })
        if (costs[i]!.withheldNanos > 0n) expect(beyond.length).toBe(1)
      }
    })
    await fc.assert(property, { numRuns, seed: 18, endOnFailure: true })
    await alertsSayAll()
    for (const [name, count] of Object.entries(totals))
      expect([name, count > 0]).toEqual([name, true])
  })
})
