// Calls that the gateway makes itself: admitted, charged and logged as those of callers are.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  completion,
  jsonReply,
  startUpstream,
  type TestUpstream,
} from '../../test/support/upstream.ts'
import { limits } from '../config/index.ts'
import type { OwnCall, RunOwnCall } from '../contract/caller-api.ts'
import { Refusal } from '../contract/errors.ts'
import { tokenById } from '../engine/admission/authenticate.ts'
import { applyDeclarations } from '../engine/catalog/apply-declarations.ts'
import { refresh } from '../engine/catalog/refresh.ts'
import { fileWith, newTestEngine, type TestEngine } from '../engine/test-engine.ts'
import { ownCallsOf } from './own-calls.ts'

const rates = { input: '1000', output: '1000' }
const declared = (chat: string) => ({
  accounts: [
    { name: 'acme', balance: '10.00' },
    { name: 'poor', balance: '0.00' },
  ],
  tokens: [
    { account: 'acme', name: 'own', token: 'sk-own-0123456789abcdefghijklmnop', models: ['m*'] },
    { account: 'poor', name: 'theirs', token: 'sk-poor-0123456789abcdefghijklmnop' },
  ],
  models: [
    { name: 'm', kind: 'text', interfaces: ['chat'] },
    { name: 'hidden', kind: 'text', interfaces: ['chat'] },
  ],
  prices: ['m', 'hidden'].map((model) => ({
    model,
    unit: 'token',
    per_million: rates,
    service_tiers: { batch: { factor: '0.5' } },
  })),
  channels: [{ name: 'up', keys: ['sk-up-0123456789'], protocols: { chat }, models: { '*': '*' } }],
})

let it: TestEngine
let upstream: TestUpstream
let run: RunOwnCall
const tokens: Record<string, string> = {}

beforeAll(async () => {
  upstream = startUpstream(() =>
    jsonReply({
      ...completion({ prompt_tokens: 100, completion_tokens: 100 }),
      service_tier: 'default',
    }),
  )
  it = await newTestEngine('sqlite')
  const file = fileWith(declared(upstream.chat))
  await applyDeclarations(it.engine, file)
  it.engine.declared = { ...it.engine.declared, file }
  await refresh(it.engine)
  for (const row of await it.engine.store.read.selectFrom('tokens').selectAll().execute()) {
    tokens[row.name] = row.id
  }
  run = ownCallsOf(it.engine, limits)
})
afterAll(async () => {
  await it.close()
  await upstream.stop()
})

const body = (model = 'm') =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 200 })

async function ask(more: Partial<OwnCall> = {}, name = 'own') {
  const token = tokenById(it.engine, tokens[name]!)
  if (token instanceof Refusal) throw new Error(token.message)
  const response = await run({ token, path: '/v1/chat/completions', body: body(), ...more })
  const id = response.headers.get('x-gateway-request-id')!
  const rows = it.engine.store.read.selectFrom('requests').selectAll()
  let row = await rows.where('request_id', '=', id).executeTakeFirst()
  // A row without a charge may come after the answer.
  while (row === undefined) row = await rows.where('request_id', '=', id).executeTakeFirst()
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: response.status, body: (await response.json()) as any, id, row }
}

test('such a call is answered, charged and logged under an id of its own', async () => {
  const { status, body, row } = await ask()
  expect(status).toBe(200)
  expect(body.choices[0].message.content).toBe('Hello there.')
  expect(row).toMatchObject({ interface: 'chat', model: 'm', status: 200 })
  expect(String(row.charge_nanos)).toBe('200000000')
})

test('it is charged by a tier of its own, whatever tier the upstream names', async () => {
  const { row } = await ask({ serviceTier: 'batch' })
  expect(String(row.charge_nanos)).toBe('100000000')
  const { row: unknown } = await ask({ serviceTier: 'nightly' })
  expect(String(unknown.charge_nanos)).toBe('200000000')
  expect(upstream.calls.at(-1)!.body).not.toContain('service_tier')
})

test('its answer is kept before it is charged, and an answer that is not kept is free', async () => {
  const kept: string[] = []
  const good = await ask({
    async keep(requestId, answer) {
      const rows = it.engine.store.read.selectFrom('requests').selectAll()
      kept.push(requestId, String(answer))
      expect(await rows.where('request_id', '=', requestId).execute()).toEqual([])
      return true
    },
  })
  expect(kept).toEqual([good.id, JSON.stringify(good.body)])
  const bad = await ask({ keep: async () => false })
  expect(bad.status).toBe(503)
  expect(bad.body.error.code).toBe('overloaded')
  expect(String(bad.row.charge_nanos)).toBe('0')
  const { heldNanos } = (
    await it.engine.ledger.spendable([{ id: bad.row.account_id, balanceNanos: 0n, heldNanos: 0n }])
  )[0]!
  expect(heldNanos).toBe(0n)
})

test('permissions, balances and mistakes are those of its token', async () => {
  expect((await ask({ body: body('hidden') })).body.error.code).toBe('model_not_found')
  expect((await ask({}, 'theirs')).body.error.code).toBe('insufficient_quota')
  expect((await ask({ body: '{"model"' })).body.error.code).toBe('invalid_json')
  await it.engine.store.tx((tx) =>
    tx.updateTable('tokens').set({ disabled: 1 }).where('id', '=', tokens['own']!).execute(),
  )
  await refresh(it.engine)
  expect(tokenById(it.engine, tokens['own']!)).toMatchObject({ code: 'invalid_api_key' })
  expect(tokenById(it.engine, 'tok_unknown')).toMatchObject({ code: 'invalid_api_key' })
})
