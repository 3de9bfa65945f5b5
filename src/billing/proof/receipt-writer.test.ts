// The receipt writer at work: by itself, on demand, beside others, and after failures.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { sealText } from '../../contract/bills/receipt.ts'
import { createSeal } from '../../lib/crypto/seal.ts'
import { isSigned } from '../../lib/crypto/signing.ts'
import { createLog } from '../../lib/telemetry/log.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import type { Store } from '../../store/index.ts'
import { appendEntry } from '../../store/ledger/entries.ts'
import {
  aRequest,
  charged,
  newPlace,
  type Place,
  storeKinds,
  until,
} from '../../store/test-stores.ts'
import { checkedReceipt } from './receipt.ts'
import { ReceiptWriter, type ReceiptWriterLimits } from './receipt-writer.ts'
import { loadSigningKeys } from './signing-keys.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: the bookkeeper on PostgreSQL (set TEST_POSTGRES_URL)')
}

const seal = createSeal(new Uint8Array(32).fill(3))

describe.each([...storeKinds])('the bookkeeper on %s', (dialect) => {
  let place: Place
  let store: Store
  let logged: string[]
  const keepers: ReceiptWriter[] = []

  beforeEach(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    logged = []
    await store.tx((tx) =>
      insertAccount(tx, { id: 'acc_1', name: 'acc_1', source: 'api', createdAtMs: 1 }),
    )
  })
  afterEach(async () => {
    for (const keeper of keepers.splice(0)) await keeper.stop()
    await store.close()
    await place.remove()
  })

  const employ = async (limits: Partial<ReceiptWriterLimits> = {}, on = store) => {
    const log = createLog({ level: 'warn', pretty: false, write: (line) => logged.push(line) })
    const keeper = new ReceiptWriter(on, await loadSigningKeys(on, seal), log, limits)
    keepers.push(keeper)
    return keeper
  }

  const addEntries = (count: number, prefix = 'e') =>
    store.tx(async (tx) => {
      for (let i = 0; i < count; i++) {
        const entry = { atMs: 5 + i, accountId: 'acc_1', kind: 'credit' as const, amountNanos: 1n }
        await appendEntry(tx, { ...entry, ref: `${prefix}${i}` })
      }
    })

  /** Faster, for many. */
  const addCalls = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        store.record(charged(aRequest({ accountId: 'acc_1' }), 0n)),
      ),
    )

  const sealed = async () => {
    const rows = await store.read.selectFrom('seals').selectAll().orderBy('number').execute()
    for (const { account_id, number, hash, key, signature } of rows) {
      expect(isSigned(sealText(account_id, number, hash), key, signature)).toBe(true)
    }
    return rows.map(({ number }) => number)
  }

  test('signs when it has been quiet for a while, and keeps doing so', async () => {
    const keeper = await employ({ quietMs: 5 })
    await addEntries(3)
    keeper.start()
    await until(async () => (await sealed()).join() === '3')
    await addEntries(2, 'later')
    keeper.recorded('acc_1')
    await until(async () => (await sealed()).join() === '5')
  })

  test('when drained, all there was is signed', async () => {
    const keeper = await employ()
    await addEntries(10)
    await Promise.all([keeper.drain('acc_1'), keeper.drain()])
    expect(await sealed()).toEqual([10])
    await keeper.drain('acc_1')
    expect(await sealed()).toEqual([10])
  })

  test('a seal is never far, and only the last one moves', async () => {
    const keeper = await employ()
    await addCalls(2_100)
    await keeper.drain('acc_1')
    expect(await sealed()).toEqual([1_000, 2_000, 2_100])
    await addEntries(1, 'one more')
    await keeper.drain('acc_1')
    expect(await sealed()).toEqual([1_000, 2_000, 2_101])
  })

  test('chains that moved before it came are signed when it starts', async () => {
    await addEntries(3)
    const first = await employ()
    await first.drain()
    await store.tx((tx) => tx.deleteFrom('seals').execute())
    const second = await employ({ quietMs: 5 })
    second.start()
    await until(async () => (await sealed()).join() === '3')
  })

  test('an account that moves all the time is signed once in a pass', async () => {
    let signed = 0
    let keeper: ReceiptWriter | undefined
    const busy: Store = Object.create(store, {
      tx: {
        value: (work: Parameters<Store['tx']>[0]) => {
          // As other calls that end meanwhile.
          if (keeper !== undefined && ++signed < 5) keeper.recorded('acc_1')
          return store.tx(work)
        },
      },
    })
    keeper = await employ({ quietMs: 60_000, behindEntries: 2, idleMs: 60_000 }, busy)
    await addEntries(2)
    keeper.start()
    keeper.recorded('acc_1')
    keeper.recorded('acc_1')
    await until(async () => (await sealed()).length > 0)
    await Bun.sleep(20)
    expect(signed).toBe(1)
  })

  test('what fails is told and tried again', async () => {
    await addEntries(2)
    await store.tx((tx) => sql`ALTER TABLE seals RENAME TO elsewhere`.execute(tx))
    const keeper = await employ({ quietMs: 5, retryMs: 5 })
    keeper.start()
    await until(() => logged.length > 1)
    await store.tx((tx) => sql`ALTER TABLE elsewhere RENAME TO seals`.execute(tx))
    await until(async () => (await sealed()).join() === '2')
    expect(logged.join()).toContain('receipts without a signature')
  })

  test('signs nothing on top of what somebody has altered', async () => {
    const keeper = await employ()
    await addEntries(5)
    await keeper.drain()
    const entryOf = async (number: number) =>
      (
        await store.read
          .selectFrom('receipts')
          .select('entry_id')
          .where('number', '=', number)
          .executeTakeFirstOrThrow()
      ).entry_id
    const fine = await checkedReceipt(store.read, keeper.keys, await entryOf(2))
    expect(fine).toMatchObject({ sealedBy: 5, line: { number: 2, balanceNanos: 2n } })
    expect(fine?.broken).toBeUndefined()
    const { hash, key, signature } = fine!.line
    expect(isSigned(sealText('acc_1', 2, hash), key, signature)).toBe(true)
    await store.tx((tx) =>
      tx
        .updateTable('receipts')
        .set({ hash: 'x'.repeat(43) })
        .where('number', '=', 4)
        .execute(),
    )
    const altered = await checkedReceipt(store.read, keeper.keys, await entryOf(2))
    expect(altered?.broken?.number).toBe(4)
    expect(altered?.line.signature).toBe('')
  })

  test('every gateway signs with the same key, whoever makes it', async () => {
    const made = await Promise.all([1, 2, 3].map(() => loadSigningKeys(store, seal)))
    expect(new Set(made.map(({ signer }) => signer.key)).size).toBe(1)
    expect(made[0]!.published).toEqual([made[0]!.signer.key])
    const rows = await store.read.selectFrom('meta').selectAll().execute()
    const kept = rows.find(({ key }) => key === 'signing_keys')!.value
    expect(kept).toContain(made[0]!.signer.key)
    expect(Object.keys(JSON.parse(kept)[0])).toEqual(['key', 'sealed'])
  })
})
