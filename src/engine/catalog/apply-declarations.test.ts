// Applying the file's declarations repeatedly: each takes effect once, and all of them or none.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { listAccounts } from '../../store/catalog/accounts.ts'
import { loadPrices } from '../../store/catalog/prices.ts'
import { insertToken, loadTokens } from '../../store/catalog/tokens.ts'
import { failureOf, storeKinds } from '../../store/test-stores.ts'
import { fileWith, newTestEngine, type TestEngine } from '../test-engine.ts'
import { applyDeclarations } from './apply-declarations.ts'
import { refresh } from './refresh.ts'

const secretA = `sk-${'a'.repeat(30)}`
const secretB = `sk-${'b'.repeat(30)}`
const accounts = [{ name: 'acme', balance: '5.00' }]

describe.each([...storeKinds])('declarations on %s', (on) => {
  let it: TestEngine
  beforeEach(async () => {
    it = await newTestEngine(on)
  })
  afterEach(() => it.close())

  const apply = async (declared: object) => {
    const file = fileWith({ accounts, ...declared })
    const made = await applyDeclarations(it.engine, file)
    it.engine.declared = { ...it.engine.declared, file }
    await refresh(it.engine)
    return made
  }
  const tokens = () => loadTokens(it.engine.store.read)
  const token = (name: string, secret?: string, more: object = {}) => ({
    account: 'acme',
    name,
    ...(secret !== undefined && { token: secret }),
    ...more,
  })
  const secretOf = async (name: string) => {
    const hash = (await tokens()).find((each) => each.name === name)?.hash
    return [secretA, secretB].find((secret) => it.engine.seal.hash(secret) === hash)
  }

  test('a token that stays keeps its id and takes its new fields', async () => {
    await apply({ tokens: [token('a', secretA), token('made')] })
    const before = await tokens()
    const made = await apply({
      tokens: [token('a', secretA, { limits: { rpm: 3 } }), token('made')],
    })
    expect(made).toEqual([])
    const after = await tokens()
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    expect(after.find(({ name }) => name === 'a')?.limits).toEqual({ rpm: 3 })
  })

  test('names and secrets may pass from one token to another, and come back', async () => {
    await apply({ tokens: [token('a', secretA), token('b', secretB)] })
    await apply({ tokens: [token('a', secretB), token('b', secretA)] })
    expect([await secretOf('a'), await secretOf('b')]).toEqual([secretB, secretA])
    await apply({ tokens: [] })
    expect(await tokens()).toEqual([])
    await apply({ tokens: [token('renamed', secretA)] })
    expect(await secretOf('renamed')).toBe(secretA)
  })

  test('a token of nobody changes nothing at all', async () => {
    await apply({ tokens: [token('a', secretA)] })
    const wrong = {
      accounts: [...accounts, { name: 'new' }],
      tokens: [token('a', secretB), { account: 'nobody', name: 'x' }],
      prices: [{ model: 'txta-plus', unit: 'token', per_million: { input: '9', output: '9' } }],
    }
    const pricesBefore = (await loadPrices(it.engine.store.read)).length
    expect(await failureOf(apply(wrong))).toContain("account 'nobody', which does not exist")
    expect(await secretOf('a')).toBe(secretA)
    expect((await listAccounts(it.engine.store.read, { limit: 9 })).items).toHaveLength(1)
    expect(await loadPrices(it.engine.store.read)).toHaveLength(pricesBefore)
  })

  test('a name or secret of a token from the admin API is refused in a sentence', async () => {
    await apply({})
    const { items } = await listAccounts(it.engine.store.read, { limit: 1 })
    await it.engine.store.tx((tx) =>
      insertToken(tx, {
        id: 'tok_api',
        accountId: items[0]!.id,
        name: 'mine',
        hash: it.engine.seal.hash(secretA),
        prefix: 'sk-',
        models: ['*'],
        limits: {},
        allowedIps: [],
        disabled: false,
        source: 'api',
        createdAtMs: 1,
      }),
    )
    expect(await failureOf(apply({ tokens: [token('mine', secretB)] }))).toContain("'mine'")
    const same = await failureOf(apply({ tokens: [token('other', secretA)] }))
    expect(same).toContain("secret of token 'other'")
    expect(same).not.toContain(secretA)
    await apply({ tokens: [token('other', secretB)] })
    expect((await tokens()).map(({ name }) => name).toSorted()).toEqual(['mine', 'other'])
  })

  describe('prices', () => {
    const dayMs = 86_400_000
    const at = (input: string, startMs?: number) => ({
      model: 'txta-plus',
      unit: 'token',
      per_million: { input, output: '1' },
      ...(startMs !== undefined && { effective_from: new Date(startMs).toISOString() }),
    })
    const declared = async () =>
      (await loadPrices(it.engine.store.read)).filter(({ source }) => source === 'file')
    const inForce = () => {
      const terms = it.engine.prices.current('txta-plus')?.terms
      return terms?.unit === 'token' ? terms.tiers[0]?.inputNanos : undefined
    }

    test('of the same words are one version, however often they are applied', async () => {
      const startMs = it.clock.ms + dayMs
      for (let i = 0; i < 3; i++) {
        await apply({ prices: [at('1'), at('2', startMs)] })
        it.clock.ms += 1000
      }
      expect(await declared()).toHaveLength(2)
      expect(inForce()).toBe(1_000_000_000n)
    })

    test('that have begun stay in force when the file is applied again', async () => {
      const startMs = it.clock.ms + dayMs
      await apply({ prices: [at('1'), at('2', startMs)] })
      it.clock.ms = startMs + 1000
      await apply({ prices: [at('1'), at('2', startMs)] })
      expect(inForce()).toBe(2_000_000_000n)
      expect(await declared()).toHaveLength(2)
    })

    test('that the file has dropped never come into force, and can still be looked up', async () => {
      const startMs = it.clock.ms + dayMs
      await apply({ prices: [at('1'), at('2', startMs)] })
      const [, dropped] = await declared()
      await apply({ prices: [at('1')] })
      it.clock.ms = startMs + 1000
      expect(inForce()).toBe(1_000_000_000n)
      await apply({ prices: [at('1')] })
      expect(inForce()).toBe(1_000_000_000n)
      expect(it.engine.prices.byId(dropped!.id)).toEqual(dropped)
      await apply({})
      expect(it.engine.prices.current('txta-plus')?.source).toBe('builtin')
    })

    test('follow the file there and back again, dated or not', async () => {
      const startMs = it.clock.ms - dayMs
      for (const start of [undefined, startMs]) {
        for (const input of ['1', '2', '1']) {
          it.clock.ms += 1000
          await apply({ prices: [at(input, start)] })
          expect([start, inForce()]).toEqual([start, BigInt(input) * 1_000_000_000n])
        }
      }
    })

    test('of an account are its own, by name, and go when the file drops them', async () => {
      const own = (input: string) => ({ ...at(input), account: 'acme' })
      await apply({ prices: [at('5'), own('1')] })
      const { id } = (await listAccounts(it.engine.store.read, { limit: 1 })).items[0]!
      const paid = (accountId?: string) => {
        const terms = it.engine.prices.current('txta-plus', accountId)?.terms
        return terms?.unit === 'token' ? terms.tiers[0]?.inputNanos : undefined
      }
      expect([paid(id), paid('acc_other'), paid()]).toEqual([
        1_000_000_000n,
        5_000_000_000n,
        5_000_000_000n,
      ])
      await apply({ prices: [at('5'), own('1')] })
      expect(await declared()).toHaveLength(2)
      await apply({ prices: [at('5'), own('2')] })
      expect([paid(id), paid()]).toEqual([2_000_000_000n, 5_000_000_000n])
      await apply({ prices: [at('5')] })
      expect(paid(id)).toBe(5_000_000_000n)
      await apply({ prices: [own('2')] })
      expect(it.engine.prices.current('txta-plus')?.source).toBe('builtin')
      expect(paid(id)).toBe(2_000_000_000n)
    })

    test('by a unit that the model cannot be charged by are refused', async () => {
      const video = { name: 'film', kind: 'video', interfaces: ['videos'], protocols: ['vf'] }
      const image = { unit: 'image', per_image: '1' }
      for (const [file, says] of [
        [{ prices: [{ ...image, model: 'txta-plus' }] }, "of 'txta-plus' must be token"],
        [{ models: [video], prices: [{ ...image, model: 'film' }] }, "'film' is a video model"],
      ] as const) {
        expect(await failureOf(apply(file))).toContain(says)
      }
    })

    test('of an account that does not exist are refused by its name', async () => {
      const wrong = { prices: [{ ...at('1'), account: 'nobody' }] }
      expect(await failureOf(apply(wrong))).toContain(
        "the price of 'txta-plus' names the account 'nobody', which does not exist",
      )
      expect(await declared()).toEqual([])
    })
  })
})
