// Tokens, channels, models, prices and the audit log, on every engine there is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Model, Token } from '../../contract/catalog.ts'
import type { Price } from '../../contract/price.ts'
import { isUniqueConflict, type Store } from '../index.ts'
import { newPlace, type Place, storeKinds } from '../test-stores.ts'
import { findAccount, insertAccount, listAccounts, listBalances } from './accounts.ts'
import { appendAudit, listAudit } from './audit-log.ts'
import {
  deleteChannel,
  findChannel,
  insertChannel,
  loadChannels,
  type StoredChannel,
  updateChannel,
} from './channels.ts'
import { loadModels, upsertModel } from './models.ts'
import { insertPrice, listPrices, loadPrices } from './prices.ts'
import {
  findToken,
  insertToken,
  isIssued,
  listTokens,
  loadTokens,
  readTokens,
  revokeToken,
  tokenIdsOf,
  updateToken,
} from './tokens.ts'

describe.each([...storeKinds])('tables on %s', (dialect) => {
  let place: Place
  let store: Store

  beforeAll(async () => {
    place = await newPlace(dialect)
    store = await place.open()
    for (const name of ['acme', 'beta', 'core']) {
      await store.tx((tx) =>
        insertAccount(tx, { id: `acc_${name}`, name, source: 'file', createdAtMs: 5 }),
      )
    }
  })

  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  test('accounts are found by id and name, and a name is taken once', async () => {
    expect(await findAccount(store.read, 'acc_beta')).toEqual({
      id: 'acc_beta',
      name: 'beta',
      balanceNanos: 0n,
      heldNanos: 0n,
      source: 'file',
      createdAtMs: 5,
      profile: {},
    })
    expect((await findAccount(store.read, 'beta'))?.id).toBe('acc_beta')
    expect(await findAccount(store.read, 'nobody')).toBeUndefined()
    const twin = { id: 'acc_x', name: 'acme', source: 'api', createdAtMs: 1 } as const
    const error = await store.tx((tx) => insertAccount(tx, twin)).catch((error) => error)
    expect(isUniqueConflict(error)).toBe(true)
    const first = await listAccounts(store.read, { limit: 2 })
    const second = await listAccounts(store.read, { limit: 2, cursor: first.nextCursor })
    const names = [...first.items, ...second.items].map(({ name }) => name)
    expect(names).toEqual(['acme', 'beta', 'core'])
    expect(second.nextCursor).toBeUndefined()
    expect(await listBalances(store.read)).toHaveLength(3)
  })

  test('accounts are sorted by name, balance and what they spent in a month', async () => {
    const monthMs = Date.UTC(2026, 4)
    await store.tx(async (tx) => {
      const owed = { acc_acme: 5n, acc_beta: 10_000_000_000n, acc_core: 5n }
      for (const [id, balance_nanos] of Object.entries(owed)) {
        await tx.updateTable('accounts').set({ balance_nanos }).where('id', '=', id).execute()
      }
      const sums = {
        input_tokens: 0,
        output_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
      }
      const none = { entries: 1, estimated: 0, quantity: 1, cost_nanos: 0n, cost_unknown: 0 }
      for (const [month, account_id, amount_nanos] of [
        [monthMs, 'acc_core', -7n],
        [Date.UTC(2026, 3), 'acc_beta', -900n],
      ] as const) {
        await tx
          .insertInto('monthly_totals')
          .values({
            ...{ ...sums, ...none, month_ms: month, account_id, amount_nanos, refund_nanos: 0n },
            ...{ channel: '', model: 'm', unit: 'token', token_id: '', tier: '', price_id: '' },
          })
          .execute()
      }
    })
    const sorted = async (sort: 'name' | 'balance' | 'spend', isFalling: boolean) => {
      const names: string[] = []
      let cursor: string | undefined
      do {
        const query = { limit: 1, cursor, sort, isFalling, monthMs }
        const page = await listAccounts(store.read, query)
        names.push(...page.items.map(({ name }) => name))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return names.join(' ')
    }
    expect(await sorted('name', true)).toBe('core beta acme')
    expect(await sorted('balance', false)).toBe('acme core beta')
    expect(await sorted('balance', true)).toBe('beta core acme')
    expect(await sorted('spend', true)).toBe('core beta acme')
    await store.tx(async (tx) => {
      await tx.updateTable('accounts').set({ balance_nanos: 0n }).execute()
      await tx.deleteFrom('monthly_totals').execute()
    })
  })

  test('tokens are stored, changed and revoked', async () => {
    const token = {
      id: 'tok_1',
      accountId: 'acc_acme',
      name: 'ci',
      hash: 'h1',
      prefix: 'sk-abc',
      models: ['txta-*'],
      limits: { rpm: 5 },
      allowedIps: [],
      translation: 'strict',
      expiresAtMs: 1_900_000_000_000,
      disabled: false,
      source: 'api',
      createdAtMs: 7,
    } as const
    await store.tx((tx) => insertToken(tx, token))
    expect(await loadTokens(store.read)).toEqual([{ ...token, accountName: 'acme' }])
    const change = { disabled: true, expiresAtMs: null, translation: null, limits: {} }
    expect(await store.tx((tx) => updateToken(tx, 'tok_1', change))).toBe(true)
    const changed = await findToken(store.read, 'tok_1')
    expect(changed).toMatchObject({ disabled: true, limits: {}, models: ['txta-*'] })
    expect([changed?.expiresAtMs, changed?.translation]).toEqual([undefined, undefined])
    expect((await listTokens(store.read, { limit: 5, accountId: 'acc_beta' })).items).toEqual([])
    expect(await store.tx((tx) => revokeToken(tx, 'tok_1', 9))).toBe(true)
    expect(await store.tx((tx) => revokeToken(tx, 'tok_1', 9))).toBe(false)
    expect(await store.tx((tx) => updateToken(tx, 'tok_1', { name: 'x' }))).toBe(false)
    expect(await loadTokens(store.read)).toEqual([])
  })

  test('all tokens are read page by page, and equal parts of them exist once', async () => {
    const tokenOf = (i: number) => ({
      id: `tok_page_${i}`,
      accountId: 'acc_acme',
      name: `page-${i}`,
      hash: `page-hash-${i}`,
      prefix: 'sk-abc',
      models: ['txta-*'],
      limits: {},
      allowedIps: [],
      disabled: false,
      source: i === 0 ? ('file' as const) : ('api' as const),
      createdAtMs: 7,
    })
    const numbers = [0, 1, 2, 3, 4]
    await store.tx(async (tx) => {
      for (const i of numbers) await insertToken(tx, tokenOf(i))
    })
    const read = async (ids?: string[]) => {
      const tokens = new Map<string, Token>()
      const some = { pageRows: 2, ...(ids !== undefined && { ids }) }
      await readTokens(store.read, (hash, token) => tokens.set(hash, token), some)
      return tokens
    }
    const found = await read()
    expect([...found.keys()]).toEqual(numbers.map((i) => `page-hash-${i}`))
    const { hash: _, createdAtMs: __, ...first } = tokenOf(0)
    expect(found.get('page-hash-0')).toEqual({ ...first, accountName: 'acme' })
    expect(found.get('page-hash-4')?.models).toBe(found.get('page-hash-0')!.models)
    const some = await read(['tok_page_3', 'tok_page_0', 'tok_no', 'tok_page_1'])
    expect([...some.keys()]).toEqual(['page-hash-0', 'page-hash-1', 'page-hash-3'])
    const idsOf = (accountId: string, limit: number) => tokenIdsOf(store.read, accountId, limit)
    expect((await idsOf('acc_acme', 9)).sort()).toEqual(numbers.map((i) => `tok_page_${i}`))
    expect(await idsOf('acc_acme', 2)).toHaveLength(2)
    expect(await idsOf('acc_no', 9)).toEqual([])
    expect((await loadTokens(store.read, 'file')).map(({ name }) => name)).toEqual(['page-0'])
    const issued = (i: number) => isIssued(store.read, { hash: `page-hash-${i}` })
    expect([await issued(0), await issued(1), await issued(9)]).toEqual([false, true, false])
    const named = { accountId: 'acc_acme', name: 'page-2' }
    expect(await isIssued(store.read, named)).toBe(true)
    await store.tx(async (tx) => {
      for (const i of numbers) await revokeToken(tx, `tok_page_${i}`, 9)
    })
    expect((await read()).size).toBe(0)
    expect(await isIssued(store.read, named)).toBe(false)
  })

  test('channels keep their keys in order, apart from their body', async () => {
    const channel: StoredChannel = {
      id: 'ch_1',
      name: 'main',
      region: 'eu',
      protocols: { chat: 'http://localhost:1' },
      models: { '*': '*' },
      priority: 1,
      weight: 2,
      timeouts: { connectMs: 1, firstByteMs: 2, idleMs: 3, totalMs: 4 },
      maxConcurrency: 8,
      messages: { headers: 'msgapi', auth: 'bearer', version: '2023-06-01' },
      disabled: false,
      source: 'api',
      keyCiphertexts: ['z', 'a'],
      createdAtMs: 1,
      updatedAtMs: 1,
    }
    await store.tx((tx) => insertChannel(tx, channel))
    expect(await loadChannels(store.read)).toEqual([channel])
    const body = await store.read.selectFrom('channels').select('body').executeTakeFirst()
    expect(body?.body).not.toContain('keyCiphertexts')
    const changed = { ...channel, region: 'us', keyCiphertexts: ['b'], updatedAtMs: 2 }
    expect(await store.tx((tx) => updateChannel(tx, changed))).toBe(true)
    expect(await loadChannels(store.read)).toEqual([changed])
    expect(await store.tx((tx) => deleteChannel(tx, 'ch_1'))).toBe(true)
    expect(await store.tx((tx) => deleteChannel(tx, 'ch_1'))).toBe(false)
    expect(await findChannel(store.read, 'ch_1')).toBeUndefined()
    expect(await store.read.selectFrom('channel_keys').selectAll().execute()).toEqual([])
  })

  test('a model is put and put again', async () => {
    const model: Model = {
      name: 'txta-plus',
      kind: 'text',
      interfaces: ['chat'],
      protocols: ['chat'],
      displayName: 'A',
      ownedBy: 'vendor',
      source: 'api',
    }
    await store.tx((tx) => upsertModel(tx, model, 1))
    await store.tx((tx) => upsertModel(tx, { ...model, displayName: 'B' }, 2))
    expect(await loadModels(store.read)).toEqual([{ ...model, displayName: 'B' }])
  })

  test('prices keep exact amounts in every shape of terms', async () => {
    const prices: Price[] = [
      {
        id: 'p_1',
        model: 'a',
        terms: { unit: 'token', tiers: [{ upTo: 5, inputNanos: 2n ** 60n + 1n, outputNanos: 0n }] },
        effectiveFromMs: 10,
        source: 'builtin',
      },
      {
        id: 'p_2',
        model: 'b',
        terms: { unit: 'video_second', perSecondNanos: { '720p': 3n } },
        effectiveFromMs: 20,
        source: 'api',
      },
    ]
    for (const price of prices) await store.tx((tx) => insertPrice(tx, price, 1))
    expect(await loadPrices(store.read)).toEqual(prices)
    const ofB = await listPrices(store.read, { limit: 5, model: 'b' })
    expect(ofB.items).toEqual([prices[1]!])
  })

  test('the audit log lists the newest change first', async () => {
    const row = { atMs: 1, actor: 'admin', action: 'token.create', subject: 'tok_1' }
    await store.tx((tx) => appendAudit(tx, { ...row, after: '{}' }))
    await store.tx((tx) => appendAudit(tx, { ...row, action: 'token.revoke', before: '{}' }))
    const page = await listAudit(store.read, { limit: 1 })
    expect(page.items).toEqual([
      { ...row, id: expect.any(Number), action: 'token.revoke', before: '{}' },
    ])
    const rest = await listAudit(store.read, { limit: 1, cursor: page.nextCursor })
    expect(rest.items[0]).toMatchObject({ action: 'token.create', after: '{}' })
  })
})
