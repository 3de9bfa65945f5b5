// JSON calls whose caller left: an upstream that does not answer in the time for which it is read on.
import { describe, expect, test } from 'bun:test'
import { createPriceBook } from '../../billing/prices/price-book.ts'
import { createCatalog } from '../../catalog/snapshot.ts'
import { TokenTable } from '../../catalog/token-table.ts'
import type { Token } from '../../contract/catalog.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { insertPrice } from '../../store/catalog/prices.ts'
import { findEntries } from '../../store/ledger/entries.ts'
import { lossesOf } from '../../store/ledger/losses.ts'
import { findRequest } from '../../store/log/requests.ts'
import { storeKinds, until } from '../../store/test-stores.ts'
import { openAccount } from '../catalog/open-account.ts'
import type { Engine } from '../engine.ts'
import { testChannelWith } from '../routing/test-channel.ts'
import { newTestEngine } from '../test-engine.ts'
import { runText } from './run-text.ts'

const model = 'silent'
const price = {
  id: 'price_silent',
  model,
  terms: { unit: 'token', tiers: [{ inputNanos: 1_000_000_000n, outputNanos: 0n }] },
  effectiveFromMs: 0,
  source: 'builtin',
} as const

function catalogOf(chat: string) {
  const timeouts = { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 600_000 }
  return createCatalog({
    region: 'cn',
    models: [
      {
        ...{ name: model, kind: 'text', interfaces: ['chat'], protocols: ['chat'] },
        ...{ displayName: model, ownedBy: 'us', source: 'builtin' },
      },
    ],
    channels: [testChannelWith({ protocols: { chat }, models: { [model]: '*' }, timeouts })],
    tokens: new TokenTable(),
    isPriced: () => true,
  })
}

const body = { model, messages: [{ role: 'user', content: 'is anybody there?' }] }
const asked = {
  ...{ interface: 'chat', model, stream: false, wantsUsage: false, choices: 1 },
  ...{ body: JSON.stringify(body), fields: body, inputTokens: 1_000, maxOutputTokens: 10 },
  inputBound: { maxTextTokens: 1_000, images: 0, isOpen: false, inputs: 1 },
} as const

describe.each(storeKinds)('a call that was left, on %s', (dialect) => {
  test('and is not answered in time is free, and a loss', async () => {
    const { promise: taken, resolve: take } = Promise.withResolvers<void>()
    const upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        take()
        return new Promise<Response>(() => {})
      },
    })
    const base = await newTestEngine(dialect)
    const engine: Engine = {
      ...base.engine,
      catalog: catalogOf(`http://127.0.0.1:${upstream.port}`),
      prices: createPriceBook([price], new Set(), () => base.clock.ms),
    }
    await engine.store.tx((tx) => insertPrice(tx, price, 0))
    const balanceNanos = 1_000_000_000n
    const accountId = await openAccount(engine, { name: 'acme', source: 'file', balanceNanos })
    const token: Token = {
      ...{ id: 'tok_1', accountId, accountName: 'acme', name: 'test', prefix: 'sk-' },
      ...{ models: ['*'], limits: {}, allowedIps: [], disabled: false, source: 'file' },
    }
    const caller = new AbortController()
    const requestId = newId('req', base.clock.ms)
    const answer = runText(
      engine,
      {
        ...{ requestId, atMs: base.clock.ms, token, signal: caller.signal },
        errorEvent: () => new Uint8Array(),
        bodyHash: () => 'h',
      },
      { ...asked },
    )
    await taken
    caller.abort()
    await answer
    await until(async () => (await findRequest(engine.store.read, requestId)).length > 0)
    const [row] = await findRequest(engine.store.read, requestId)
    expect(row).toMatchObject({ status: 499, errorCode: 'caller_left', chargeNanos: 0n })
    expect(row!.detail).toMatchObject({ ending: 'caller_left', bodyHash: 'h' })
    expect(await lossesOf(engine.store.read, [requestId])).toMatchObject([
      { reason: 'caller_left', amountNanos: 1_000_000n, isEstimate: true },
    ])
    expect(await findEntries(engine.store.read, requestId)).toEqual([])
    const account = await findAccount(engine.store.read, 'acme')
    expect([account!.balanceNanos, account!.heldNanos]).toEqual([balanceNanos, 0n])
    await base.close()
    await upstream.stop(true)
  })
})
