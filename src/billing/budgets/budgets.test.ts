// Budgets on a real store, with one gateway and with several: they match a simple model, no concurrency
// lets calls spend more, and what is left can be spent at any gateway.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Budget } from '../../contract/budgets/budget.ts'
import { periodAt } from '../../contract/budgets/period.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { insertToken } from '../../store/catalog/tokens.ts'
import type { Store } from '../../store/index.ts'
import { loadBudgets, setBudget } from '../../store/ledger/budgets.ts'
import { aRequest, newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { type Hold, Ledger } from '../ledger.ts'
import { Exhausted } from './budget-leases.ts'

const labels = { model: 'txta-plus', unit: 'token', quantity: 3, priceId: 'price_1' }
const seed = Number(process.env['TEST_SEED'] ?? 21)
const zones = ['Asia/Kolkata', 'America/New_York', 'Pacific/Kiritimati']

interface Gateway {
  store: Store
  ledger: Ledger
}

for (const kind of storeKinds) {
  describe(`budgets on ${kind}`, () => {
    let place: Place
    let gateways: Gateway[]
    const clock = { ms: Date.parse('2026-11-16T12:00:00Z') }

    const openGateway = async (): Promise<Gateway> => {
      const store = await place.open(kind === 'postgres' ? { join: true } : {})
      return { store, ledger: await Ledger.open(store, undefined, () => clock.ms) }
    }

    beforeAll(async () => {
      place = await newPlace(kind)
      gateways = []
      for (let i = 0; i < (kind === 'postgres' ? 3 : 1); i++) gateways.push(await openGateway())
    })
    afterAll(async () => {
      for (const { store, ledger } of gateways) {
        ledger.close()
        await store.close()
      }
      await place.remove()
    })

    const first = () => gateways[0]!
    const at = (index: number): Gateway => gateways[index % gateways.length]!

    async function newToken(account = newId('acc')): Promise<{ accountId: string; id: string }> {
      const { store, ledger } = first()
      const token = { accountId: account, id: newId('tok') }
      await store.tx(async (tx) => {
        const known = await tx
          .selectFrom('accounts')
          .where('id', '=', account)
          .select('id')
          .execute()
        if (known.length === 0) {
          await insertAccount(tx, { id: account, name: account, source: 'api', createdAtMs: 1 })
        }
        await insertToken(tx, {
          ...token,
          ...{ name: token.id, hash: token.id, prefix: 'sk-', models: ['*'], limits: {} },
          ...{ allowedIps: [], disabled: false, source: 'api', createdAtMs: 1 },
        })
      })
      ledger.add({ id: account, balanceNanos: 0n, heldNanos: 0n })
      const ref = newId('credit')
      await ledger.credit(account, 1_000_000n, { ref, atMs: clock.ms - 1 }).commit()
      return token
    }

    async function declare(
      { accountId, id }: { accountId: string; id: string },
      scope: 'account' | 'token',
      budget: Budget | null,
    ): Promise<void> {
      const subject = scope === 'token' ? id : accountId
      await first().store.tx((tx) =>
        setBudget(tx, { accountId, scope, subject }, budget, { source: 'api' }),
      )
      for (const { store, ledger } of gateways)
        await ledger.budgets.declare(await loadBudgets(store.read))
    }

    const perMonth = (amountNanos: bigint, zone = 'UTC'): Budget => ({
      amountNanos,
      per: 'month',
      zone,
    })

    async function admit(
      { ledger }: Gateway,
      token: { accountId: string; id: string },
      nanos: bigint,
    ): Promise<Hold | undefined> {
      const budgets = ledger.budgets.of(token)
      const within = budgets && (await ledger.budgets.reserve(budgets, nanos))
      if (within instanceof Exhausted) return undefined
      return (await ledger.reserve(token.accountId, nanos, { token }, within))!
    }

    const settle = ({ ledger }: Gateway, id: string, hold: Hold, nanos: bigint) => {
      const record = aRequest({
        requestId: newId('req'),
        accountId: hold.accountId,
        tokenId: id,
        atMs: clock.ms,
        totalMs: 0,
      })
      return ledger.settle(hold, nanos, record, { ...labels, tokenId: id })
    }

    const stateOf = async (gateway: Gateway, accountId: string, scope = 'token') =>
      (await gateway.ledger.budgets.states({ accountIds: [accountId] })).find(
        (each) => each.scope === scope,
      )!

    test('admission is that of a simple model, at whichever gateway', async () => {
      const step = fc.record({
        at: fc.nat(2),
        op: fc.constantFrom('hold', 'hold', 'settle', 'release', 'amount', 'toggle', 'border'),
        who: fc.nat(1),
        nanos: fc.bigInt({ min: 1n, max: 60n }),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 20 }), async (steps) => {
          const one = await newToken()
          const tokens = [one, await newToken(one.accountId)]
          const zone = zones[steps.length % 3]!
          const amounts = [120n, 200n]
          await declare(one, 'token', perMonth(amounts[0]!, zone))
          await declare(one, 'account', perMonth(amounts[1]!, zone))
          const spent = [0n, 0n]
          let isSet = true
          const open: { gateway: Gateway; hold: Hold; who: number }[] = []
          const held = (who?: number) =>
            open
              .filter((each) => who === undefined || each.who === who)
              .reduce((sum, { hold }) => sum + hold.amountNanos, 0n)
          const fits = (who: number, nanos: bigint) =>
            spent[1]! + held() + nanos <= amounts[1]! &&
            (who === 1 || !isSet || spent[0]! + held(0) + nanos <= amounts[0]!)
          for (const { at: index, op, who, nanos } of steps) {
            if (op === 'hold') {
              const gateway = at(index)
              const isFit = fits(who, nanos)
              const hold = await admit(gateway, tokens[who]!, nanos)
              expect(hold !== undefined).toBe(isFit)
              if (hold !== undefined) open.push({ gateway, hold, who })
            } else if (op === 'amount') {
              amounts[0] = nanos * 3n
              isSet = true
              await declare(one, 'token', perMonth(amounts[0], zone))
            } else if (op === 'toggle') {
              isSet = !isSet
              await declare(one, 'token', isSet ? perMonth(amounts[0]!, zone) : null)
            } else if (op === 'border') {
              clock.ms = periodAt(clock.ms, 'month', zone).untilMs
              spent.fill(0n)
            } else {
              const ended = open.shift()
              if (ended === undefined) continue
              const { hold, gateway } = ended
              if (op === 'release') gateway.ledger.release(hold)
              else {
                const charge = (hold.amountNanos + 1n) / 2n
                await settle(gateway, tokens[ended.who]!.id, hold, charge)
                spent[1]! += charge
                if (ended.who === 0) spent[0]! += charge
              }
            }
          }
          const account = await stateOf(at(1), one.accountId, 'account')
          expect([account.spentNanos, account.heldNanos]).toEqual([spent[1]!, held()])
          if (!isSet) await declare(one, 'token', perMonth(amounts[0]!, zone))
          const token = await stateOf(at(2), one.accountId)
          expect([token.spentNanos, token.heldNanos]).toEqual([spent[0]!, held(0)])
          for (const { gateway, hold } of open) gateway.ledger.release(hold)
        }),
        { numRuns: Number(process.env['TEST_RUNS'] ?? 8), seed },
      )
    })

    test('many at once never get more than there is, and all of it', async () => {
      const token = await newToken()
      await declare(token, 'token', perMonth(100n))
      const asked = Array.from({ length: 60 }, (_, i) => admit(at(i), token, 10n))
      const holds = (await Promise.all(asked)).map((hold, i) => ({ hold, gateway: at(i) }))
      const got = holds.filter(({ hold }) => hold !== undefined)
      expect(got).toHaveLength(10)
      // They cost half of what they held: the rest can be spent at another gateway.
      await Promise.all(got.map(({ gateway, hold }) => settle(gateway, token.id, hold!, 5n)))
      const more = await Promise.all(Array.from({ length: 9 }, () => admit(at(1), token, 10n)))
      expect(more.filter((hold) => hold !== undefined)).toHaveLength(5)
      expect(await stateOf(at(2), token.accountId)).toMatchObject({
        spentNanos: 50n,
        heldNanos: 50n,
      })
    })

    test('a call that is held for more is within the budget with all of it', async () => {
      const [gateway] = gateways
      const token = await newToken()
      await declare(token, 'token', perMonth(100n))
      const hold = (await admit(gateway!, token, 30n))!
      gateway!.ledger.join(hold, (await admit(gateway!, token, 40n))!)
      expect(await admit(gateway!, token, 31n)).toBeUndefined()
      await settle(gateway!, token.id, hold, 65n)
      const { spentNanos, heldNanos } = await stateOf(gateway!, token.accountId)
      expect([spentNanos, heldNanos]).toEqual([65n, 0n])
      const other = (await admit(gateway!, token, 20n))!
      gateway!.ledger.join(other, (await admit(gateway!, token, 15n))!)
      gateway!.ledger.release(other)
      expect(await admit(gateway!, token, 35n)).toBeDefined()
    })

    test('charges from before a budget stood count, others’ do not', async () => {
      const token = await newToken()
      const other = await newToken(token.accountId)
      for (const each of [token, other]) {
        await settle(first(), each.id, (await admit(first(), each, 30n))!, 30n)
      }
      await declare(token, 'token', perMonth(50n))
      expect(await admit(at(1), token, 21n)).toBeUndefined()
      expect(await admit(at(1), token, 20n)).toBeDefined()
      await declare(token, 'token', null)
      expect(await admit(at(1), token, 500n)).toBeDefined()
    })

    test('calls that run when a budget is set count in it, at every gateway', async () => {
      const token = await newToken()
      const other = await newToken(token.accountId)
      const open = [
        { gateway: at(0), id: token.id, hold: (await admit(at(0), token, 20n))! },
        { gateway: at(1), id: token.id, hold: (await admit(at(1), token, 15n))! },
        { gateway: at(2), id: other.id, hold: (await admit(at(2), other, 5n))! },
      ]
      await declare(token, 'account', perMonth(60n))
      await declare(token, 'token', perMonth(50n))
      expect(await stateOf(at(2), token.accountId)).toMatchObject({ heldNanos: 35n })
      expect(await stateOf(at(0), token.accountId, 'account')).toMatchObject({ heldNanos: 40n })
      expect(await admit(at(1), token, 16n)).toBeUndefined()
      const fits = await admit(at(1), token, 15n)
      expect(fits).toBeDefined()
      for (const { gateway, id, hold } of open) await settle(gateway, id, hold, hold.amountNanos)
      at(1).ledger.release(fits!)
      expect(await stateOf(at(1), token.accountId)).toMatchObject({
        ...{ spentNanos: 35n, heldNanos: 0n },
      })
      // Taken away and set again while a call runs.
      const last = (await admit(at(0), token, 10n))!
      await declare(token, 'token', null)
      await declare(token, 'token', perMonth(50n))
      expect(await stateOf(at(1), token.accountId)).toMatchObject({ heldNanos: 10n })
      at(0).ledger.release(last)
      expect(await stateOf(at(1), token.accountId)).toMatchObject({ heldNanos: 0n })
    })

    test('a hold from before a border counts after it, and its charge is of the new period', async () => {
      for (const zone of zones) {
        clock.ms = periodAt(clock.ms, 'month', zone).untilMs - 5
        const token = await newToken()
        await declare(token, 'token', perMonth(50n, zone))
        const [one, two] = [await admit(at(0), token, 20n), await admit(at(1), token, 30n)]
        await settle(at(0), token.id, one!, 20n)
        expect(await admit(at(2), token, 1n)).toBeUndefined()
        clock.ms += 5
        expect(await stateOf(at(2), token.accountId)).toMatchObject({
          ...{ spentNanos: 0n, heldNanos: 30n, fromMs: clock.ms },
        })
        expect(await admit(at(2), token, 21n)).toBeUndefined()
        const three = await admit(at(2), token, 20n)
        expect(three).toBeDefined()
        await settle(at(1), token.id, two!, 30n)
        expect(await stateOf(at(0), token.accountId)).toMatchObject({
          ...{ spentNanos: 30n, heldNanos: 20n },
        })
        at(2).ledger.release(three!)
      }
    })

    test('zero refuses everything, even what is free', async () => {
      const token = await newToken()
      await declare(token, 'account', { amountNanos: 0n, per: 'total', zone: 'UTC' })
      expect(await admit(at(0), token, 0n)).toBeUndefined()
    })

    test('a charge above its hold leaves less than nothing', async () => {
      const token = await newToken()
      await declare(token, 'token', { amountNanos: 50n, per: 'total', zone: 'UTC' })
      await settle(at(0), token.id, (await admit(at(0), token, 40n))!, 70n)
      expect(await stateOf(at(1), token.accountId)).toMatchObject({
        spentNanos: 70n,
        heldNanos: 0n,
      })
      expect(await admit(at(1), token, 0n)).toBeUndefined()
    })
  })
}
