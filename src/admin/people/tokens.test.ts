// Another secret for a token, what was spent with tokens, and what an account pays, on every engine.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sumHours } from '../../billing/proof/settled-hours.ts'
import { sumGrowingMoney } from '../../billing/proof/settled-sums.ts'
import { Refusal } from '../../contract/errors.ts'
import { authenticate } from '../../engine/admission/authenticate.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { findToken } from '../../store/catalog/tokens.ts'
import { type MoneyDimension, type MoneySum, sumDays, sumMoney } from '../../store/proof/totals.ts'
import { aRequest, charged, storeKinds } from '../../store/test-stores.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const inOrder = (sum: MoneySum): string =>
  JSON.stringify(Object.entries(sum).toSorted(), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )

describe.each([...storeKinds])('tokens in the admin API on %s', (on) => {
  let it: TestEngine
  let app: AdminApp
  let acme: string

  beforeAll(async () => {
    it = await newTestEngine(on)
    app = admin({ engine: it.engine, limits, isAdmin: (secret) => secret === 'boss' })
    await refresh(it.engine)
    await ask('POST', '/accounts', { name: 'acme', balance: '10.00' })
    acme = (await findAccount(it.engine.store.read, 'acme'))!.id
  })
  afterAll(() => it.close())

  async function ask(method: string, path: string, body?: object) {
    const headers = { authorization: 'Bearer boss', 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const request = new Request(`http://localhost${path}`, { method, headers, ...sent })
    const answer = await app.fetch(request, { context: newRequestContext(request, connection) })
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return { status: answer.status, body: (await answer.json()) as any }
  }
  const make = async (name: string, more: object = {}) => {
    const made = await ask('POST', '/tokens', { account: 'acme', name, ...more })
    expect(made.status).toBe(201)
    return made.body as { id: string; token: string; prefix: string }
  }
  const later = (ms: number) => new Date(Date.now() + ms).toISOString()
  const owner = (secret: string) => it.engine.catalog.tokens.get(it.engine.seal.hash(secret))

  test('a new secret takes the place of the old one at once', async () => {
    const made = await make('ci')
    const { status, body } = await ask('POST', `/tokens/${made.id}/rotate`, {})
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: made.id, name: 'ci', previous: null })
    expect(body.token).not.toBe(made.token)
    expect(body.token.startsWith(body.prefix)).toBe(true)
    expect(owner(made.token)).toBeUndefined()
    expect(owner(body.token)?.id).toBe(made.id)
  })

  describe('a secret that is known by its SHA-256 alone', () => {
    const secret = 'sk-from-elsewhere'
    const token_sha256 = Bun.SHA256.hash(secret, 'hex')
    const deps = () => ({ ...it.engine, knownSecrets: new Map(), limits: { tokenCacheEntries: 9 } })
    const holder = (given: string) => {
      const found = authenticate(deps(), given, { ip: () => undefined })
      return found instanceof Refusal ? undefined : found.name
    }

    test('works, and is never shown', async () => {
      const made = await make('brought', { token_sha256, prefix: 'sk-...here' })
      expect(made.token).toBeUndefined()
      expect(made.prefix).toBe('sk-...here')
      expect(holder(secret)).toBe('brought')
      // Neither the digest nor what is stored of it is a secret that works.
      for (const wrong of [
        token_sha256,
        `sk-${token_sha256}`,
        it.engine.seal.hashOfDigest(token_sha256),
      ]) {
        expect(holder(wrong)).toBeUndefined()
      }
    })

    test('is taken once, and not again when it was revoked or replaced', async () => {
      const again = { account: 'acme', name: 'brought-2', token_sha256 }
      expect((await ask('POST', '/tokens', again)).status).toBe(409)
      const { items } = (await ask('GET', '/tokens')).body
      const { id } = items.find((each: { name: string }) => each.name === 'brought')
      expect((await ask('DELETE', `/tokens/${id}`)).status).toBe(200)
      expect(holder(secret)).toBeUndefined()
      expect((await ask('POST', '/tokens', again)).status).toBe(409)
      expect(holder(secret)).toBeUndefined()
    })

    test('can be replaced as any other', async () => {
      const other = 'sk-1'
      const made = await make('guessable', { token_sha256: Bun.SHA256.hash(other, 'hex') })
      expect(holder(other)).toBe('guessable')
      const { body } = await ask('POST', `/tokens/${made.id}/rotate`, {
        previous_valid_until: later(60_000),
      })
      expect(holder(body.token)).toBe('guessable')
      expect(holder(other)).toBe(body.previous.name)
    })

    test('may be disabled from the start', async () => {
      const off = 'sk-switched-off'
      await make('switched-off', { token_sha256: Bun.SHA256.hash(off, 'hex'), disabled: true })
      expect(holder(off)).toBeUndefined()
    })

    test.each<[string, object, string]>([
      [
        'with a secret beside it',
        { token: `sk-${'abcdefgh'.repeat(4)}`, token_sha256 },
        'token_sha256',
      ],
      ['in capitals', { token_sha256: token_sha256.toUpperCase() }, 'token_sha256'],
      ['that is short', { token_sha256: 'abc' }, 'token_sha256'],
      ['left out, with a prefix', { prefix: 'sk-...x' }, 'prefix'],
      ['with a long prefix', { token_sha256, prefix: 'sk-0123456789abcdefgh' }, 'prefix'],
    ])('%s is refused', async (_, fields, param) => {
      const { status, body } = await ask('POST', '/tokens', {
        account: 'acme',
        name: 'x',
        ...fields,
      })
      expect([status, body.error.param]).toEqual([400, param])
    })
  })

  test('translation is on unless the token says otherwise, and can be changed', async () => {
    const usual = await make('translated')
    expect((await ask('GET', `/tokens/${usual.id}`)).body.translation).toBe('on')
    const made = await make('strict', { translation: 'strict' })
    expect(owner(made.token)?.translation).toBe('strict')
    const change = (translation: string) => ask('PATCH', `/tokens/${made.id}`, { translation })
    expect((await change('off')).body.translation).toBe('off')
    expect((await change('on')).body.translation).toBe('on')
    expect(owner(made.token)?.translation).toBeUndefined()
    expect((await change('never')).status).toBe(400)
  })

  test('the old secret works on as a token of its own until it expires', async () => {
    const rules = {
      models: ['txta-*'],
      limits: { rpm: 7 },
      allowed_ips: ['127.0.0.0/8'],
      translation: 'strict',
    }
    const made = await make('overlapping', rules)
    const until = later(hourMs)
    const { body } = await ask('POST', `/tokens/${made.id}/rotate`, { previous_valid_until: until })
    expect(owner(body.token)?.id).toBe(made.id)
    expect(owner(made.token)).toMatchObject({
      id: body.previous.id,
      expiresAtMs: Date.parse(until),
    })
    const old = (await ask('GET', `/tokens/${body.previous.id}`)).body
    expect(old).toMatchObject({
      ...rules,
      account: 'acme',
      name: body.previous.name,
      expires_at: until,
    })
    expect(old.name).toMatch(/^overlapping-old-/)
    // And again: no two of them have one name.
    const second = await ask('POST', `/tokens/${made.id}/rotate`, { previous_valid_until: until })
    expect(second.status).toBe(200)
    expect(second.body.previous.name).not.toBe(body.previous.name)
    const noted = (await ask('GET', '/audit-log?limit=1')).body.items[0]
    expect(noted).toMatchObject({ action: 'token.rotate', subject: made.id })
    expect(JSON.stringify(noted)).not.toContain(second.body.token)
  })

  test('an old secret never outlives its token', async () => {
    const soon = later(60_000)
    const made = await make('short', { expires_at: soon })
    const { body } = await ask('POST', `/tokens/${made.id}/rotate`, {
      previous_valid_until: later(hourMs),
    })
    expect(body.previous.expires_at).toBe(soon)
  })

  test('a long name still fits, and too long an overlap is refused', async () => {
    const made = await make('n'.repeat(64))
    const { body } = await ask('POST', `/tokens/${made.id}/rotate`, {
      previous_valid_until: later(hourMs),
    })
    expect(body.previous.name.length).toBeLessThanOrEqual(64)
    const refused = await ask('POST', `/tokens/${made.id}/rotate`, {
      previous_valid_until: later(91 * 24 * hourMs),
    })
    expect(refused.status).toBe(400)
    expect(refused.body.error.param).toBe('previous_valid_until')
    expect((await ask('POST', '/tokens/tok_none/rotate', {})).status).toBe(404)
  })

  test('two new secrets at once: the token has one of them, and both old ones end', async () => {
    const made = await make('raced')
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        ask('POST', `/tokens/${made.id}/rotate`, { previous_valid_until: later(hourMs) }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    await refresh(it.engine)
    const stored = (await findToken(it.engine.store.read, made.id))!
    const holders = answers.filter(({ body }) => it.engine.seal.hash(body.token) === stored.hash)
    expect(holders).toHaveLength(1)
    for (const { body } of answers) expect(owner(body.token)).toBeDefined()
  })

  test('spend is added up by token and day, booked or not', async () => {
    const [one, two] = [await make('spends'), await make('spends-not')]
    const charge = async (tokenId: string, agoMs: number, nanos: bigint) => {
      const request = aRequest({ atMs: Date.now() - agoMs, accountId: acme, tokenId })
      await it.engine.store.record(charged(request, nanos))
    }
    await charge(one.id, 0, 1_000_000_000n)
    await charge(one.id, 48 * hourMs, 2_000_000_000n)
    await charge(one.id, 40 * 24 * hourMs, 4_000_000_000n)
    const listed = async () => {
      const { body } = await ask('GET', '/tokens?account=acme&spend=true&limit=500')
      return (id: string) => body.items.find((each: { id: string }) => each.id === id)
    }
    const check = async () => {
      const of = await listed()
      expect(of(one.id)).toMatchObject({ spend: '3.00' })
      expect(of(one.id).spend_by_day.map(({ amount }: { amount: string }) => amount)).toEqual([
        '2.00',
        '1.00',
      ])
      expect(Date.now() - Date.parse(of(one.id).last_charged_at)).toBeLessThan(hourMs + 60_000)
      expect(of(two.id)).toMatchObject({ spend: '0.00', spend_by_day: [], last_charged_at: null })
    }
    await check()
    await it.engine.receiptWriter.drain(acme)
    await check()
    const plain = (await ask('GET', '/tokens?account=acme')).body.items[0]
    expect(plain.spend).toBeUndefined()
  })

  test('days that are kept add up to what the ledger says, whatever comes after', async () => {
    const { read } = it.engine.store
    const todayMs = Math.floor(Date.now() / dayMs) * dayMs
    const asked = { fromMs: todayMs - 6 * dayMs - 5 * hourMs, untilMs: todayMs + dayMs }
    const orders = [
      [],
      ['kind'],
      ['kind', 'token', 'unit'],
      ['account', 'hour', 'model'],
    ] as const satisfies readonly (readonly MoneyDimension[])[]
    const compare = async () => {
      for (const by of orders) {
        for (const accountId of [undefined, acme]) {
          const question = { ...asked, accountId, by }
          const plain = await sumMoney(read, question)
          const isByHour = (by as readonly MoneyDimension[]).includes('hour')
          for (const sum of isByHour ? [sumHours] : [sumDays, sumGrowingMoney]) {
            const kept = await sum(read, question)
            expect(kept.map(inOrder).toSorted()).toEqual(plain.map(inOrder).toSorted())
          }
          if (isByHour) {
            expect(amountsByDay(await sumDays(read, question))).toEqual(amountsByDay(plain))
            continue
          }
          const shorter = { ...question, untilMs: todayMs - dayMs }
          const begun = await sumGrowingMoney(read, shorter)
          expect(begun.map(inOrder).toSorted()).toEqual(
            (await sumMoney(read, shorter)).map(inOrder).toSorted(),
          )
        }
      }
    }
    const charge = async (atMs: number, model: string) => {
      const request = aRequest({ atMs, accountId: acme, tokenId: 'tok_day', model })
      await it.engine.store.record(charged(request, BigInt(atMs % 1_000)))
    }
    await compare()
    for (let ago = 7 * 24; ago > 0; ago -= 5) await charge(Date.now() - ago * hourMs, `m${ago % 3}`)
    await compare()
    await it.engine.receiptWriter.drain(acme)
    await compare()
    // What is kept now stays right while more comes in, late by less than an hour at the border.
    await charge(Date.now(), 'm1')
    await compare()
    await it.engine.receiptWriter.drain(acme)
    await charge(Date.now() - 30 * 60_000, 'm2')
    await compare()
    await it.engine.receiptWriter.drain(acme)
    await compare()
  })

  test('a channel may begin drained', async () => {
    const body = {
      name: 'drained',
      keys: ['upk-0123456789'],
      protocols: { chat: 'http://up.example/v1' },
      models: { '*': '*' },
      disabled: true,
    }
    expect((await ask('POST', '/channels', body)).body).toMatchObject({ disabled: true })
    const other = await ask('POST', '/channels', { ...body, name: 'other', disabled: undefined })
    expect(other.body.disabled).toBe(false)
  })

  test('what an account pays is its own price, or everybody’s', async () => {
    const model = { kind: 'text', interfaces: ['chat'] }
    for (const name of ['priced', 'special', 'unpriced']) await ask('PUT', `/models/${name}`, model)
    const price = (name: string, input: string, more: object = {}) =>
      ask('POST', '/prices', {
        model: name,
        unit: 'token',
        per_million: { input, output: '2.00' },
        ...more,
      })
    it.clock.ms = Date.now() + 1_000
    await price('priced', '1.00')
    await price('special', '1.00')
    await price('special', '0.50', { account: 'acme' })
    await ask('POST', '/accounts', { name: 'else' })
    it.clock.ms = Date.now() + 5_000
    const pays = async (account: string, query = '') =>
      (await ask('GET', `/accounts/${account}/prices?limit=500${query}`)).body.items.filter(
        (each: { model: string }) => ['priced', 'special', 'unpriced'].includes(each.model),
      )
    const asked = await pays('acme')
    expect(asked).toMatchObject([
      { model: 'priced', unit: 'token', per_million: { input: '1.00' }, own: false },
      { model: 'special', per_million: { input: '0.50' }, own: true },
    ])
    expect(Object.keys(asked[0]).toSorted()).toEqual([
      'effective_from',
      'model',
      'next',
      'own',
      'per_million',
      'unit',
    ])
    expect(await pays('else', '&model=special')).toMatchObject([
      { model: 'special', per_million: { input: '1.00' }, own: false },
    ])
    expect((await ask('GET', '/accounts/nobody/prices')).status).toBe(404)
  })
})

/** Hours of a whole day may stand as one. */
function amountsByDay(sums: readonly MoneySum[]): Record<string, bigint> {
  const days: Record<string, bigint> = {}
  for (const { hourMs: at = 0, model, amountNanos } of sums) {
    const name = `${at - (at % dayMs)} ${model}`
    days[name] = (days[name] ?? 0n) + amountNanos
  }
  return Object.fromEntries(Object.entries(days).toSorted())
}
