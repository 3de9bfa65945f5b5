// For tests of tasks: an engine with one channel and a scripted upstream. Nothing moves by itself:
// the test moves the clock and polls what is due.

import { createPriceBook } from '../../billing/prices/price-book.ts'
import { createCatalog } from '../../catalog/snapshot.ts'
import { TokenTable } from '../../catalog/token-table.ts'
import type { Created, CreateKey } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import type { Entry } from '../../contract/ledger.ts'
import type {
  Checked,
  Found,
  LostCreate,
  Started,
  TaskReport,
  VideoProvider,
} from '../../contract/provider.ts'
import type { Task, VideoRequest } from '../../contract/task.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { insertPrice } from '../../store/catalog/prices.ts'
import { findEntries } from '../../store/ledger/entries.ts'
import type { Dialect as StoreDialect } from '../../store/schema.ts'
import { leaseDueTasks, nextDueMs } from '../../store/tasks/leases.ts'
import { listTaskRows } from '../../store/tasks/list-tasks.ts'
import { findTaskRow, type LeasedTask } from '../../store/tasks/tasks.ts'
import { openAccount } from '../catalog/open-account.ts'
import type { Engine } from '../engine.ts'
import { testChannelWith } from '../routing/test-channel.ts'
import { newTestEngine } from '../test-engine.ts'
import { createTask } from './create/create-task.ts'
import { advanceTask } from './poll/advance-task.ts'

type Cancelled = Awaited<ReturnType<NonNullable<VideoProvider['cancel']>>>

/** The upstream's scripted replies, and how often it was polled. */
export interface Script {
  start: () => Started | Promise<Started>
  check: () => Checked | Promise<Checked>
  cancel: () => Cancelled | Promise<Cancelled>
  /** While absent, the upstream lists nothing. */
  find?: (lost: LostCreate<VideoRequest>) => Found | Promise<Found>
  starts: number
  checks: number
  cancels: number
}

export const model = 'vfa-2.7-t2v'
export const secondNanos = 600_000_000n
export const leaseMs = 30_000
const secret = 'upk-secret-0123456789abcdef'

export const anError = (message = 'it broke') => ({ code: 'upstream_error', message }) as const
export const says = (report: TaskReport): Checked => ({
  kind: 'report',
  report,
  upstreamRequestId: undefined,
})
export const video = { kind: 'video', url: 'https://example.com/v.mp4' } as const
export const succeeded = (outputSeconds?: number, url: string = video.url): Checked =>
  says({
    state: 'succeeded',
    media: [{ ...video, url }],
    usage: outputSeconds === undefined ? {} : { outputSeconds },
    raw: { duration: outputSeconds },
  })
export const failed = (message?: string): Checked =>
  says({ state: 'failed', error: anError(message), raw: { code: 'Bad' } })

function newScript(): Script {
  return {
    start: () => ({ kind: 'started', upstreamId: newId('up'), upstreamRequestId: undefined }),
    check: () => says({ state: 'running' }),
    cancel: () => ({ kind: 'cancelled' }),
    starts: 0,
    checks: 0,
    cancels: 0,
  }
}

const scripted = (script: Script): VideoProvider => ({
  async start() {
    script.starts++
    return script.start()
  },
  async check() {
    script.checks++
    return script.check()
  },
  async cancel() {
    script.cancels++
    return script.cancel()
  },
  get find(): NonNullable<VideoProvider['find']> {
    const { find } = script
    return (find && (async (lost) => find(lost))) as NonNullable<VideoProvider['find']>
  },
})

const tokenOf = (accountId: string, accountName: string): Token => ({
  id: `tok_${accountName}`,
  accountId,
  accountName,
  name: 'test',
  prefix: 'sk-',
  models: ['*'],
  limits: {},
  allowedIps: [],
  disabled: false,
  source: 'file',
})

const catalogOf = () =>
  createCatalog({
    region: 'cn',
    models: [
      {
        name: model,
        kind: 'video',
        interfaces: ['videos'],
        protocols: ['vf'],
        displayName: model,
        ownedBy: 'us',
        source: 'builtin',
      },
    ],
    channels: [
      testChannelWith({
        maxConcurrency: 100,
        keys: [secret],
        protocols: { vf: 'http://upstream.test' },
        models: { [model]: 'film-9-secret-name' },
        timeouts: { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 600_000 },
      }),
    ],
    tokens: new TokenTable(),
    isPriced: () => true,
  })

export type TaskEngine = Awaited<ReturnType<typeof newTaskEngine>>

export async function newTaskEngine(on: StoreDialect, balanceNanos = 100_000_000_000n) {
  const base = await newTestEngine(on)
  const { clock } = base
  const script = newScript()
  const price = {
    id: 'price_video',
    model,
    terms: {
      unit: 'video_second',
      perSecondNanos: { '720p': secondNanos, '1080p': 2n * secondNanos },
    },
    effectiveFromMs: 0,
    source: 'builtin',
  } as const
  const engine: Engine = {
    ...base.engine,
    providers: new Map([['vf', { protocol: 'vf', path: '/vf', video: scripted(script) }]]),
    catalog: catalogOf(),
    prices: createPriceBook([price], new Set(), () => clock.ms),
  }
  await engine.store.tx((tx) => insertPrice(tx, price, 0))
  const open = async (name: string, nanos: bigint) =>
    tokenOf(await openAccount(engine, { name, source: 'file', balanceNanos: nanos }), name)
  const token = await open('acme', balanceNanos)

  const createAs = (
    as: Token,
    more: Partial<VideoRequest>,
    key?: CreateKey,
    through: Engine = engine,
  ): Promise<Created | Refusal> =>
    createTask(
      through,
      {
        requestId: newId('req', clock.ms),
        atMs: clock.ms,
        token: as,
        signal: new AbortController().signal,
        errorEvent: () => new Uint8Array(),
      },
      {
        interface: 'videos',
        kind: 'video',
        model,
        request: { prompt: 'a cat', seconds: 5, resolution: '720p', media: [], ...more },
        ...(key !== undefined && { key }),
      },
    )
  const create = async (
    more: Partial<VideoRequest> = {},
    as: Token = token,
  ): Promise<Task | Refusal> => {
    const made = await createAs(as, more)
    return made instanceof Refusal ? made : made.task
  }
  /** Another gateway on the same store; `lives` says which of them are alive. */
  const other = (gatewayId: string, lives: (id: string) => boolean): Engine => ({
    ...engine,
    creating: new Set(),
    store: Object.create(engine.store, {
      cluster: { value: { gatewayId, lives: async (id: string) => lives(id) } },
    }),
  })
  const lease = async (): Promise<LeasedTask[]> => {
    const input = { owner: 'test', nowMs: clock.ms, untilMs: clock.ms + leaseMs, limit: 64 }
    const { leased } = await engine.store.tx((tx) => leaseDueTasks(tx, engine.store.dialect, input))
    return leased
  }
  /** Polls everything that is due now; returns how many there were. */
  const advance = async (through: Engine = engine): Promise<number> => {
    const due = await lease()
    for (const leased of due) await advanceTask(through, leased)
    return due.length
  }
  /** Moves the clock to when the next is due, and polls it. */
  const tick = async (): Promise<void> => {
    clock.ms = Math.max(
      clock.ms,
      (await nextDueMs(engine.store.read, Number.MAX_SAFE_INTEGER)) ?? clock.ms,
    )
    await advance()
  }
  return {
    ...base,
    engine,
    script,
    token,
    open,
    create,
    createAs,
    other,
    /** As if the process had ended: its work has no owner. */
    forget: () => engine.creating.clear(),
    lease,
    advance,
    tick,
    row: async (id: string): Promise<Task> => (await findTaskRow(engine.store.read, id))!,
    single: async (): Promise<Task> => {
      const { items } = await listTaskRows(engine.store.read, { limit: 2 })
      if (items.length !== 1) throw new Error(`${items.length} tasks`)
      return items[0]!
    },
    /** Kind and amount of a task's entries, oldest first. */
    booked: async (id: string): Promise<[Entry['kind'], bigint][]> =>
      (await findEntries(engine.store.read, id)).map(({ kind, amountNanos }) => [
        kind,
        amountNanos,
      ]),
    entries: (id: string): Promise<Entry[]> => findEntries(engine.store.read, id),
    /** As it is stored and as the ledger has it in memory. */
    money: async () => {
      const stored = (await findAccount(engine.store.read, 'acme'))!
      const funds = engine.ledger.funds(token.accountId)!
      return {
        stored: [stored.balanceNanos, stored.heldNanos],
        memory: [funds.balanceNanos, funds.taskHoldsNanos],
      }
    },
  }
}
