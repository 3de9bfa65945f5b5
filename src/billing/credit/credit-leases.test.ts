// Several gateways on one PostgreSQL spend one account: together they match the same simple model
// as a single one, and no concurrency lets them spend more than there is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newId } from '../../lib/crypto/ids.ts'
import { findAccount, insertAccount } from '../../store/catalog/accounts.ts'
import type { Store } from '../../store/index.ts'
import { readCreditLease } from '../../store/ledger/credit-leases.ts'
import {
  aRequest,
  failureOf,
  newPlace,
  onServer,
  type Place,
  storeKinds,
  until,
} from '../../store/test-stores.ts'
import { availableNanos } from '../balances.ts'
import { lossNanos } from '../call-loss.ts'
import { type Hold, Ledger } from '../ledger.ts'
import { auditBooks } from '../proof/audit.ts'

const labels = { model: 'txta-plus', unit: 'token', quantity: 3, priceId: 'price_1' }

interface Gateway {
  store: Store
  ledger: Ledger
}

if (!storeKinds.includes('postgres')) {
  console.error('left out: gateways that share an account (set TEST_POSTGRES_URL)')
} else {
  describe('gateways that share a PostgreSQL', () => {
    let place: Place
    let gateways: Gateway[]

    const openGateway = async (): Promise<Gateway> => {
      const store = await place.open({ join: true })
      return { store, ledger: await Ledger.open(store) }
    }

    beforeAll(async () => {
      place = await newPlace('postgres')
      gateways = []
      for (let i = 0; i < 3; i++) gateways.push(await openGateway())
    })
    afterAll(async () => {
      for (const { store, ledger } of gateways) {
        ledger.close()
        await store.close()
      }
      await place.remove()
    })

    const newAccount = async (nanos: bigint): Promise<string> => {
      const id = newId('acc')
      const [{ store, ledger }] = gateways as [Gateway]
      await store.tx((tx) => insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 }))
      await ledger.credit(id, nanos, { ref: newId('credit'), atMs: 1 }).commit()
      return id
    }

    /** Taken for dead, because nobody has the lock that its row names, however soon it connects again. */
    const bury = async (gatewayId: string): Promise<void> => {
      const changed = `UPDATE gateways SET lock_key = lock_key + 1 WHERE id = '${gatewayId}'`
      await onServer(changed, databaseOf(place))
      await until(async () => !(await gateways[0]!.store.cluster!.lives(gatewayId)))
    }

    const hold = async ({ ledger }: Gateway, id: string, nanos: bigint) => ledger.reserve(id, nanos)

    test('do together what one alone would do', async () => {
      const step = fc.record({
        at: fc.nat(2),
        op: fc.constantFrom('hold', 'settle', 'release', 'task', 'end', 'take'),
        nanos: fc.bigInt({ min: 1n, max: 60n }),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
          let free = 200n
          const id = await newAccount(free)
          const holds: { at: Gateway; hold: Hold }[] = []
          const tasks: { taskId: string; nanos: bigint }[] = []
          for (const { at, op, nanos } of steps) {
            const gateway = gateways[at]!
            if (op === 'hold') {
              const got = await hold(gateway, id, nanos)
              expect(got?.amountNanos).toBe(free >= nanos ? nanos : undefined)
              if (got !== undefined) holds.push({ at: gateway, hold: got })
              if (got !== undefined) free -= nanos
            } else if (op === 'settle' || op === 'release') {
              const open = holds.shift()
              if (open === undefined) continue
              const charge = op === 'settle' ? open.hold.amountNanos / 2n : 0n
              free += open.hold.amountNanos - charge
              if (op === 'release') open.at.ledger.release(open.hold)
              else await settle(open.at, open.hold, id, charge)
            } else if (op === 'task') {
              const taskId = newId('video')
              const said = await gateway.ledger.taskHold(taskId, id, nanos, 1).commit()
              expect(said).toBe(free >= nanos ? 'done' : 'insufficient')
              if (said === 'done') tasks.push({ taskId, nanos })
              if (said === 'done') free -= nanos
            } else if (op === 'end') {
              const task = tasks.shift()
              if (task === undefined) continue
              const { taskId } = task
              await gateway.ledger.taskEnd(id, { taskId, atMs: 1 }).commit()
              free += task.nanos
            } else {
              const ref = newId('credit')
              const said = await gateway.ledger.credit(id, -nanos, { ref, atMs: 1 }).commit()
              expect(said).toBe(free >= nanos ? 'done' : 'insufficient')
              if (said === 'done') free -= nanos
            }
          }
          for (const { at, hold } of holds) at.ledger.release(hold)
        }),
        { numRuns: 10 },
      )
      expect(await wrongAccounts(gateways[0]!.store)).toEqual([])
    })

    test('serve an account beyond its balance once between two credits, whichever of them has the call', async () => {
      const id = await newAccount(90n)
      for (const balance of [90n, 170n]) {
        const holds = await Promise.all(
          Array.from({ length: 9 }, (_, i) => hold(gateways[i % 3]!, id, 10n)),
        )
        const settled = await Promise.all(
          holds.map((each, i) => settle(gateways[i % 3]!, each!, id, 1_000n)),
        )
        const served = settled.filter(({ chargeNanos }) => chargeNanos > 0n)
        expect(served.length).toBe(1)
        const [{ chargeNanos, detail }] = served as [(typeof served)[0]]
        expect(lossNanos(detail)).toBe(1_000n - chargeNanos)
        const account = await findAccount(gateways[0]!.store.read, id)
        expect(account?.balanceNanos).toBe(balance - chargeNanos)
        const more = { ref: newId('credit'), atMs: 1 }
        const amount = 170n - account!.balanceNanos
        expect(await gateways[2]!.ledger.credit(id, amount, more).commit()).toBe('done')
      }
    })

    test('never spend more than there is, however much happens at once', async () => {
      const id = await newAccount(1_000n)
      const workers = Array.from({ length: 24 }, async (_, i) => {
        const gateway = gateways[i % 3]!
        let charged = 0n
        for (let call = 0; call < 12; call++) {
          const nanos = BigInt(1 + ((i * 7 + call * 3) % 20))
          const got = await hold(gateway, id, nanos)
          if (got === undefined) continue
          // Some cost more than was held for them.
          const wanted = call % 5 === 0 ? nanos + 4n : nanos
          charged += (await settle(gateway, got, id, wanted)).chargeNanos
        }
        return charged
      })
      const charged = (await Promise.all(workers)).reduce((sum, each) => sum + each, 0n)
      const account = await findAccount(gateways[0]!.store.read, id)
      expect(account?.balanceNanos).toBe(1_000n - charged)
      expect(account!.balanceNanos >= 0n).toBe(true)
      // 24 x 12 calls of about 10 are far more than there is: what was there has been spent.
      expect(account!.balanceNanos < 20n).toBe(true)
      expect(await wrongAccounts(gateways[0]!.store)).toEqual([])
    })

    test('serve all that wait for one draw, however many they are', async () => {
      const id = await newAccount(1_000_000_000n)
      for (const gateway of gateways) {
        const holds = await Promise.all(many(300, () => hold(gateway, id, 1_000n)))
        expect(holds.filter((each) => each === undefined)).toEqual([])
        expect(gateway.ledger.funds(id).callHoldsNanos).toBe(300_000n)
        for (const each of holds) gateway.ledger.release(each!)
      }
    })

    test('serve exactly as many calls as the balance has holds for, wherever they come', async () => {
      // What the first calls leave over at each gateway is less than a hold.
      for (const [balance, small] of [
        [100n, 0n],
        [109n, 3n],
        [101n, 1n],
        [130n, 7n],
      ] as const) {
        const id = await newAccount(balance)
        for (const gateway of small === 0n ? [] : gateways) {
          const first = await hold(gateway, id, small)
          await settle(gateway, first!, id, small)
        }
        const left = balance - 3n * small
        const calls = many(60, (i) => hold(gateways[i % 3]!, id, 10n))
        const got = (await Promise.all(calls)).filter((each) => each !== undefined)
        expect([left, got.length]).toEqual([left, Number(left / 10n)])
        expect(await wrongAccounts(gateways[0]!.store)).toEqual([])
      }
    })

    test('charge in full what costs more than was held, while there is money anywhere', async () => {
      const id = await newAccount(100_000n)
      const call = async (i: number) => {
        const gateway = gateways[i % 3]!
        const got = await hold(gateway, id, 10n)
        return (await settle(gateway, got!, id, 400n)).chargeNanos
      }
      const charges = await Promise.all(many(240, call))
      expect(new Set(charges)).toEqual(new Set([400n]))
      const left = 100_000n - 240n * 400n
      expect((await findAccount(gateways[0]!.store.read, id))?.balanceNanos).toBe(left)
      // The last one takes what there is, and no more.
      const last = await hold(gateways[1]!, id, 1n)
      const record = await settle(gateways[1]!, last!, id, left + 7n)
      expect([record.chargeNanos, lossNanos(record.detail)]).toEqual([left, 7n])
      expect((await findAccount(gateways[0]!.store.read, id))?.balanceNanos).toBe(0n)
      expect(await wrongAccounts(gateways[0]!.store)).toEqual([])
    })

    test('what calls hold at any of them is held, and the rest can be spent', async () => {
      const id = await newAccount(100n)
      const other = await newAccount(50n)
      for (const gateway of gateways) expect(await hold(gateway, id, 7n)).toBeDefined()
      expect(await hold(gateways[2]!, other, 5n)).toBeDefined()
      for (const { ledger, store } of gateways) {
        const accounts = [await findAccount(store.read, other), await findAccount(store.read, id)]
        expect(await ledger.spendable(accounts.map((each) => each!))).toEqual([
          { heldNanos: 5n, availableNanos: 45n },
          { heldNanos: 21n, availableNanos: 79n },
        ])
      }
    })

    test('an account that was found empty is looked at again when it gets money', async () => {
      const id = await newAccount(10n)
      expect(await hold(gateways[0]!, id, 11n)).toBeUndefined()
      await gateways[1]!.ledger.credit(id, 1n, { ref: newId('credit'), atMs: 1 }).commit()
      await until(async () => (await hold(gateways[0]!, id, 11n)) !== undefined)
    })

    test('what one has drawn and does not need reaches the others at once', async () => {
      const id = await newAccount(100n)
      const [first, second] = gateways as [Gateway, Gateway]
      const small = await hold(first, id, 4n)
      expect(availableNanos(first.ledger.funds(id)) > 0n).toBe(true)
      expect((await hold(second, id, 96n))?.amountNanos).toBe(96n)
      expect(await hold(second, id, 1n)).toBeUndefined()
      first.ledger.release(small!)
      expect((await hold(second, id, 4n))?.amountNanos).toBe(4n)
    })

    test('a task that costs more than it holds is paid with what others have drawn', async () => {
      const id = await newAccount(100n)
      const [first, second] = gateways as [Gateway, Gateway]
      const small = await hold(first, id, 4n)
      const taskId = newId('video')
      expect(await second.ledger.taskHold(taskId, id, 10n, 1).commit()).toBe('done')
      const charge = { taskId, chargeNanos: 99n, ...labels }
      const booked = await second.ledger.taskEnd(id, { taskId, atMs: 1 }, charge).commit()
      expect(booked).toEqual({ chargeNanos: 96n, shortNanos: 3n, isWithheld: false })
      first.ledger.release(small!)
      expect((await findAccount(first.store.read, id))?.balanceNanos).toBe(4n)
      expect(await wrongAccounts(first.store)).toEqual([])
    })

    test('what a gateway that died had drawn goes back to the account', async () => {
      const id = await newAccount(100n)
      const doomed = await openGateway()
      const { cluster } = doomed.store
      expect(await hold(doomed, id, 100n)).toBeDefined()
      await bury(cluster!.gatewayId)
      expect((await hold(gateways[0]!, id, 100n))?.amountNanos).toBe(100n)
      doomed.ledger.close()
      await doomed.store.close()
    })

    test('a charge on credit that has gone back fails, and the books stay right', async () => {
      const id = await newAccount(100n)
      const away = await openGateway()
      const { gatewayId } = away.store.cluster!
      const got = await hold(away, id, 50n)
      await bury(gatewayId)
      expect((await hold(gateways[0]!, id, 100n))?.amountNanos).toBe(100n)
      const record = aRequest({ accountId: id })
      const failure = await failureOf(away.ledger.settle(got!, 50n, record, labels))
      expect(failure).not.toBe('it did not fail')
      // Back again, it knows that it has nothing.
      await cutOff(place)
      await until(() => !away.store.healthy || !away.ledger.usable(id))
      await until(() => away.store.healthy && away.ledger.usable(id))
      expect(await readCreditLease(away.store.read, { accountId: id, gatewayId })).toBe(0n)
      expect(away.ledger.hold(id, 1n)).toBeUndefined()
      expect(await wrongAccounts(away.store)).toEqual([])
      away.ledger.close()
      await away.store.close()
    })

    test('an answer beyond the balance that a dead gateway claimed and did not charge is free again', async () => {
      // All of it is in the hold: no idle credit goes back in between.
      const id = await newAccount(50n)
      const doomed = await openGateway()
      const got = await hold(doomed, id, 50n)
      // It never gets as far as its charge.
      doomed.store.record = () => new Promise<void>(() => {})
      void settle(doomed, got!, id, 500n)
      await until(async () => (await claimOf(doomed.store, id)) !== null)
      const [other] = gateways as [Gateway]
      const tooLate = other.ledger.hold(id, 0n)
      const denied = await other.ledger.settle(tooLate!, 5n, aRequest({ accountId: id }), labels)
      expect(denied).toBe('already_short')
      other.ledger.release(tooLate!)
      await bury(doomed.store.cluster!.gatewayId)
      const next = await hold(other, id, 50n)
      const settled = other.ledger.settle(next!, 500n, aRequest({ accountId: id }), labels)
      expect(await settled).toBe('charged')
      const last = other.ledger.hold(id, 0n)
      const again = await other.ledger.settle(last!, 5n, aRequest({ accountId: id }), labels)
      expect(again).toBe('already_short')
      other.ledger.release(last!)
      doomed.ledger.close()
      await doomed.store.close()
    })

    test('a gateway that stops keeps the claim of what it has charged', async () => {
      const id = await newAccount(100n)
      const passing = await openGateway()
      await settle(passing, (await hold(passing, id, 50n))!, id, 500n)
      passing.ledger.close()
      await passing.store.close()
      expect(await claimOf(gateways[0]!.store, id)).not.toBeNull()
    })

    test('a draw whose reply is lost is known once it is committed, not before', async () => {
      const id = await newAccount(100n)
      const store = await place.open({ join: true })
      const committing = Promise.withResolvers<void>()
      const drawn = Promise.withResolvers<never>()
      // The first transaction: its work is done and its commit is on the way when the connection breaks.
      const losing: Store['tx'] = (work, accountId) => {
        tx = store.tx
        void store.tx(async (own) => {
          await work(own)
          drawn.reject(new Error('the connection is lost'))
          await committing.promise
        }, accountId)
        return drawn.promise
      }
      let tx = losing
      const parts = { get: (all: Store, name: keyof Store) => (name === 'tx' ? tx : all[name]) }
      const ledger = await Ledger.open(new Proxy(store, parts as ProxyHandler<Store>))
      expect(await failureOf(Promise.resolve(ledger.reserve(id, 10n)))).toMatch('is lost')
      // A read that does not wait for the commit has its result by then.
      await Bun.sleep(300)
      committing.resolve()
      await until(() => ledger.usable(id))
      const lease = { accountId: id, gatewayId: store.cluster!.gatewayId }
      const leased = await readCreditLease(store.read, lease)
      expect(leased >= 10n).toBe(true)
      expect(ledger.funds(id).balanceNanos).toBe(leased)
      ledger.close()
      await store.close()
    })

    test('what nobody needs any more is given back, all of it at the end', async () => {
      const id = await newAccount(100n)
      const passing = await openGateway()
      const got = await hold(passing, id, 10n)
      await settle(passing, got!, id, 10n)
      passing.ledger.close()
      await passing.store.close()
      const said = await gateways[1]!.ledger
        .credit(id, -90n, { ref: newId('credit'), atMs: 1 })
        .commit()
      expect(said).toBe('done')
    })
  })
}

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

async function settle({ ledger }: Gateway, hold: Hold, accountId: string, nanos: bigint) {
  const record = aRequest({ accountId })
  const settled = await ledger.settle(hold, nanos, record, labels)
  if (settled === 'already_short') ledger.release(hold)
  return record
}

const databaseOf = ({ options }: Place): string => new URL(options.databaseUrl!).pathname.slice(1)

/** Ends the connections of gateways that were taken for dead. */
const cutOff = (place: Place): Promise<void> =>
  onServer(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND classid::bigint << 32 >= 1::bigint << 41
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (classid::bigint << 32 | objid::bigint) NOT IN (SELECT lock_key FROM gateways)`,
    databaseOf(place),
  )

const claimOf = async ({ read }: Store, id: string) =>
  (await read.selectFrom('accounts').select('short_ref').where('id', '=', id).executeTakeFirst())
    ?.short_ref

/** Tasks have no rows in these tests: only what is said of accounts counts. */
const wrongAccounts = async (store: Store) =>
  (await auditBooks(store)).problems.filter(({ check }) => moneyChecks.has(check))

const moneyChecks: ReadonlySet<string> = new Set(['balances', 'credit_leases', 'never_below_zero'])
