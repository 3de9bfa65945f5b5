// Notices about budgets and low balances, from entries in a real store: once, whichever gateway reads
// them, and whenever it does.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Budget, BudgetScope } from '../../contract/budgets/budget.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { insertAccount, updateAccount } from '../../store/catalog/accounts.ts'
import { insertToken } from '../../store/catalog/tokens.ts'
import { type Feed, readFeed, syncFeeds } from '../../store/deliveries/feeds.ts'
import { putWebhook } from '../../store/deliveries/webhooks.ts'
import { setBudget } from '../../store/ledger/budgets.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import { storeKinds } from '../../store/test-stores.ts'
import { newTestEngine, type TestEngine } from '../test-engine.ts'
import { LedgerFeeds } from './ledger-feeds.ts'

const unit = 1_000_000_000n

describe.each([...storeKinds])('budgets on %s', (on) => {
  let it: TestEngine

  beforeEach(async () => {
    it = await newTestEngine(on)
    it.clock.ms = Date.parse('2026-11-16T12:00:00Z')
    const known = { source: 'api', createdAtMs: 1 } as const
    await it.engine.store.tx(async (tx) => {
      await insertAccount(tx, { id: 'acc_1', name: 'acme', ...known })
      const token = { accountId: 'acc_1', prefix: 'sk-', models: ['*'], limits: {} }
      const open = { allowedIps: [], disabled: false, ...known }
      await insertToken(tx, { ...token, ...open, id: 'tok_1', name: 'ci', hash: 'a' })
      const lineage = 'tok_1'
      await insertToken(tx, {
        ...token,
        ...open,
        createdAtMs: 2,
        id: 'tok_2',
        name: 'ci-old',
        hash: 'b',
        lineage,
      })
    })
  })
  afterEach(() => it.close())

  const tx: TestEngine['engine']['store']['tx'] = (work) => it.engine.store.tx(work)

  const subscribe = (event: Feed = 'budget.reached') =>
    tx(async (db) => {
      const events = [event]
      const known = { rules: [], disabled: false, source: 'api', createdAtMs: 1 } as const
      await putWebhook(db, { id: 'whk_1', address: 'mailto:a@b.example', events, ...known })
      await syncFeeds(db)
    })
  const declare = (
    amount: bigint | null,
    per: Budget['per'] = 'month',
    [scope, subject]: [BudgetScope, string] = ['account', 'acc_1'],
  ) => {
    const budget = amount === null ? null : { amountNanos: amount * unit, per, zone: 'UTC' }
    return tx((db) =>
      setBudget(db, { accountId: 'acc_1', scope, subject }, budget, { source: 'api' }),
    )
  }
  const charge = (amount: bigint, more: { tokenId?: string; tags?: string; atMs?: number } = {}) =>
    tx((db) =>
      appendEntry(db, {
        ...{ accountId: 'acc_1', kind: 'charge', amountNanos: -amount * unit, ref: newId('req') },
        ...{ atMs: it.clock.ms, ...more },
      }),
    )

  /** Several gateways read until nothing is left to read. */
  async function read(readers = 1, feed: Feed = 'budget.reached'): Promise<void> {
    const { store } = it.engine
    // Ids of notices begin with their time.
    it.clock.ms += 1
    const all = Array.from({ length: readers }, () => new LedgerFeeds(it.engine))
    for (;;) {
      await Promise.all(all.map((reader) => reader.round()))
      const newest = await store.read
        .selectFrom('entries')
        .select((e) => e.fn.max('id').as('id'))
        .executeTakeFirst()
      if (((await readFeed(store.read, feed)) ?? 0) >= (newest?.id ?? 0)) break
      await Bun.sleep(20)
    }
    await Promise.all(all.map((reader) => reader.round()))
  }

  /** In the order of writing. */
  async function told(): Promise<Record<string, unknown>[]> {
    const rows = await it.engine.store.read
      .selectFrom('notices')
      .select('data')
      .orderBy('id')
      .execute()
    return rows.map(({ data }) => JSON.parse(data))
  }
  const steps = async () => (await told()).map(({ percent, spent }) => [percent, spent])

  test('the highest step is told once, by one of several gateways', async () => {
    await declare(10n)
    await subscribe()
    await charge(4n)
    await read(3)
    expect(await told()).toEqual([])
    await charge(1n)
    await charge(3n)
    await read(3)
    const common = { scope: 'account', name: 'acme', account: 'acme', amount: '10.00' }
    const resets_at = '2026-12-01T00:00:00.000Z'
    expect(await told()).toEqual([
      { ...common, percent: 80, spent: '8.00', per: 'month', resets_at },
    ])
    await charge(1n)
    await read(3)
    await charge(5n)
    await read(3)
    expect(await steps()).toEqual([
      [80, '8.00'],
      [100, '14.00'],
    ])
    // Changed: it is armed anew, also for gateways that look at the same moment.
    await declare(15n)
    await read(3)
    expect((await steps()).slice(2)).toEqual([[80, '14.00']])
  })

  test('a threshold that is raised above the balance is told by one of several gateways', async () => {
    await subscribe('balance.low')
    await tx((db) => updateAccount(db, 'acc_1', { balanceLowNanos: 5n * unit }))
    await read(3, 'balance.low')
    expect(await told()).toEqual([{ account: 'acme', balance: '0.00', threshold: '5.00' }])
  })

  if (on === 'postgres') return

  test('a new period begins anew, also when the last one was read after its end', async () => {
    await declare(10n, 'day')
    await subscribe()
    await charge(5n)
    await read()
    await charge(3n)
    // No gateway ran over midnight.
    it.clock.ms += 24 * 3_600_000
    await charge(5n)
    await read()
    await read()
    const all = (await told()).map(
      ({ percent, spent, resets_at }) => `${percent} ${spent} ${resets_at}`,
    )
    expect(all.toSorted()).toEqual([
      '50 5.00 2026-11-17T00:00:00.000Z',
      '50 5.00 2026-11-18T00:00:00.000Z',
      '80 8.00 2026-11-17T00:00:00.000Z',
    ])
  })

  test('budgets of tokens and tags have their charges alone', async () => {
    await declare(10n, 'total', ['token', 'tok_1'])
    await declare(20n, 'week', ['tag', 'team=red'])
    await subscribe()
    await charge(5n, { tokenId: 'tok_1' })
    await charge(3n, { tokenId: 'tok_2', tags: 'job=7,team=red' })
    await charge(9n, { tags: 'team=reddish' })
    await charge(8n, { tags: 'team=red,@=alice' })
    await read()
    const about = (await told()).map(({ scope, name, percent, spent, resets_at }) => ({
      ...{ scope, name, percent, spent, resets_at },
    }))
    expect(about.toSorted((a, b) => String(a.scope).localeCompare(String(b.scope)))).toEqual([
      {
        ...{ scope: 'tag', name: 'team=red', percent: 50, spent: '11.00' },
        resets_at: '2026-11-23T00:00:00.000Z',
      },
      { scope: 'token', name: 'ci', percent: 80, spent: '8.00', resets_at: null },
    ])
  })

  test('what was reached before the subscription is not told, what comes right after it is', async () => {
    await declare(10n)
    await charge(6n)
    await subscribe()
    await read()
    expect(await told()).toEqual([])
    await charge(1n)
    await read()
    expect(await told()).toEqual([])
    await charge(1n)
    await read()
    expect(await steps()).toEqual([[80, '8.00']])
  })

  test('a step between the subscription and the first reading is told', async () => {
    await declare(10n)
    await charge(4n)
    await subscribe()
    await charge(1n)
    await read()
    expect(await steps()).toEqual([[50, '5.00']])
  })

  test('a budget that is set again is a new one, and one of nothing has no steps', async () => {
    await subscribe()
    await declare(0n)
    await charge(5n)
    await read()
    expect(await told()).toEqual([])
    await declare(10n)
    await read()
    await declare(null)
    await read()
    await declare(10n)
    await read()
    await read()
    expect(await steps()).toEqual([
      [50, '5.00'],
      [50, '5.00'],
    ])
  })
})
