// Responses in the background, from the outside: made by an upstream that can, and by the gateway where none can.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Sandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { readAccount } from '../support/books.ts'
import type { TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { readTaskLedger } from '../support/task-books.ts'
import {
  ask,
  backgroundSandbox,
  create,
  ended,
  otherToken,
  startBackground,
} from '../support/tasks/background.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: background responses on PostgreSQL (set TEST_POSTGRES_URL)')
}

/** By the upstream, and by the gateway over each other style and over one that is told not to. */
const models = ['over-responses', 'over-chat', 'over-messages', 'over-generate', 'over-plain']

describe.each([...storeKinds])('background responses on %s', (on) => {
  let sandbox: Sandbox
  let place: Place
  let gateway: TestGateway

  beforeAll(async () => {
    sandbox = backgroundSandbox()
    place = await newPlace(on)
    gateway = await startBackground(sandbox, place)
  })
  afterAll(async () => {
    await gateway.stop()
    await sandbox.stop()
    await place.remove()
  })

  const booked = async (id: string) =>
    (await readTaskLedger(gateway))
      .filter((entry) => entry.task_id === id)
      .map(({ kind }) => kind)
      .sort()
  const taskOf = async (id: string) => (await gateway.admin('GET', `/tasks/${id}`)).body

  test.each(models)('%s is queued, held, made and charged once', async (model) => {
    const made = await create(gateway, model, 'Say hello. [[sim:delay=400ms]]', {
      instructions: 'Be kind.',
      metadata: { trip: '7' },
    })
    expect([made.status, made.body.status]).toEqual([200, 'queued'])
    expect(made.body).toMatchObject({
      object: 'response',
      model,
      background: true,
      output: [],
      instructions: 'Be kind.',
      metadata: { trip: '7' },
    })
    const { id } = made.body
    expect(id).toMatch(/^resp_/)
    expect(made.headers.get('retry-after')).toBe('2')
    expect(await booked(id)).toContain('hold')
    const done = await ended(gateway, id)
    expect(done.body).toMatchObject({ id, model, status: 'completed', background: true })
    expect(done.body.output.at(-1).content[0].text).not.toBe('')
    const { input_tokens: input, output_tokens: output } = done.body.usage
    const charge = (input * 1 + output * 2) / 1_000_000
    expect(Number(done.headers.get('x-gateway-charge'))).toBeCloseTo(charge, 9)
    expect(done.headers.get('x-gateway-currency')).not.toBe('')
    expect(await booked(id)).toEqual(['charge', 'hold', 'release'])
    const task = await taskOf(id)
    expect(task).toMatchObject({
      kind: 'response',
      state: 'succeeded',
      model,
      usage: { input_tokens: input, output_tokens: output },
    })
    expect(Number(task.charge)).toBeCloseTo(charge, 9)
    expect(task.request.prompt).toStartWith('Say hello.')
    const { body: explained } = await gateway.admin('GET', `/explain/${id}`)
    expect(explained.charge).toBe(task.charge)
    expect(explained.steps.join('\n')).toContain('input')
    expect((await readAccount(gateway)).held).toBe('0.00')
  })

  test.each(models)('%s that stops at its limit is incomplete and charged', async (model) => {
    const { body } = await create(gateway, model, 'Count. [[sim:tokens=400]]', {
      max_output_tokens: 16,
    })
    const done = await ended(gateway, body.id)
    expect(done.body).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    expect(await booked(body.id)).toEqual(['charge', 'hold', 'release'])
  })

  test.each(models)('%s that fails is free, and its caller reads why', async (model) => {
    const { body } = await create(gateway, model, 'Fail. [[sim:fail]]')
    const done = await ended(gateway, body.id)
    expect(done.status).toBe(200)
    expect(done.body).toMatchObject({ id: body.id, status: 'failed', output: [] })
    expect(done.body.error.message).toContain('failed to answer')
    expect(done.body.error.message).not.toContain('req_')
    expect(await booked(body.id)).toEqual(['hold', 'release'])
    expect(await taskOf(body.id)).toMatchObject({ state: 'failed', charge: '0.00' })
  })

  test.each(models)('%s is cancelled, free of charge, and stays so', async (model) => {
    const { body } = await create(gateway, model, 'Wait. [[sim:delay=60s]]')
    await until('work on it', async () =>
      (await taskOf(body.id)).state === 'running' || model === 'over-responses' ? true : undefined,
    )
    const cancelled = await ask(gateway, 'POST', `/${body.id}/cancel`)
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    const again = await ask(gateway, 'POST', `/${body.id}/cancel`, {})
    expect([again.status, again.body.status]).toEqual([200, 'cancelled'])
    expect((await ended(gateway, body.id)).body.status).toBe('cancelled')
    expect(await booked(body.id)).toEqual(['hold', 'release'])
  })

  test.each(['over-responses', 'over-chat'])(
    'a service tier without a price that %s was served by raises an alert',
    async (model) => {
      const made = await create(gateway, model, 'Say hello. [[sim:tier=scale]]')
      expect((await ended(gateway, made.body.id)).body.status).toBe('completed')
      const { body } = await gateway.admin('GET', '/alerts?kind=missing_price')
      const subjects = body.items.map(({ subject }: { subject: string }) => subject)
      expect(subjects).toContain(`${model} scale`)
    },
  )

  test('one that is over is not cancelled, but shown', async () => {
    const { body } = await create(gateway, 'over-chat', 'Hello.')
    await ended(gateway, body.id)
    const asked = await ask(gateway, 'POST', `/${body.id}/cancel`)
    expect([asked.status, asked.body.status]).toEqual([200, 'completed'])
    expect(await booked(body.id)).toEqual(['charge', 'hold', 'release'])
  })

  test.each(['over-responses', 'over-chat'])('%s is deleted, at any time', async (model) => {
    const { body } = await create(gateway, model, 'Hello.')
    await ended(gateway, body.id)
    const { body: live } = await create(gateway, model, 'Wait. [[sim:delay=60s]]')
    for (const { id } of [body, live]) {
      const deleted = await ask(gateway, 'DELETE', `/${id}`)
      expect(deleted.body).toEqual({ id, object: 'response', deleted: true })
      for (const [method, path] of [
        ['GET', `/${id}`],
        ['POST', `/${id}/cancel`],
        ['DELETE', `/${id}`],
      ] as const) {
        const { status, body: gone } = await ask(gateway, method, path)
        expect([status, gone.error.code]).toEqual([404, 'response_not_found'])
      }
    }
    expect(await booked(body.id)).toEqual(['charge', 'hold', 'release'])
    expect(await booked(live.id)).toEqual(['hold', 'release'])
  })

  test.each(['over-responses', 'over-chat'])('%s is its own account’s only', async (model) => {
    const { body } = await create(gateway, model, 'Hello.')
    const { upstream_id: upstreamId } = await taskOf(body.id)
    const theirs = { authorization: `Bearer ${otherToken}` }
    for (const id of [body.id, upstreamId ?? 'resp_none', 'resp_0', '..%2f', 'x'.repeat(300)]) {
      for (const [method, path] of [
        ['GET', `/${id}`],
        ['POST', `/${id}/cancel`],
        ['DELETE', `/${id}`],
      ] as const) {
        const { status, body: none } = await ask(gateway, method, path, undefined, theirs)
        expect([status, none.error.code]).toBeOneOf([
          [404, 'response_not_found'],
          [400, 'invalid_request'],
        ])
      }
    }
    expect((await ended(gateway, body.id)).body.status).toBe('completed')
  })

  test.each(['over-responses', 'over-chat'])('%s is made once under a key', async (model) => {
    const key = { 'idempotency-key': `once-${model}` }
    const [first, second] = await Promise.all([
      create(gateway, model, 'Hello.', {}, key),
      create(gateway, model, 'Hello.', {}, key),
    ])
    const made = first.status === 200 ? first : second
    const other = made === first ? second : first
    expect([200, 409]).toContain(other.status)
    await ended(gateway, made.body.id)
    const replayed = await create(gateway, model, 'Hello.', {}, key)
    expect(replayed.headers.get('idempotent-replayed')).toBe('true')
    expect(replayed.body.id).toBe(made.body.id)
    const changed = await create(gateway, model, 'Something else.', {}, key)
    expect([changed.status, changed.body.error.code]).toEqual([422, 'idempotency_mismatch'])
    expect(await booked(made.body.id)).toEqual(['charge', 'hold', 'release'])
  })

  test('what makes no sense is refused by name, and nothing is made', async () => {
    const before = (await readTaskLedger(gateway)).length
    const cases = [
      [{ store: false }, 'store'],
      [{ stream: true }, 'stream'],
      [{ background: 'yes' }, 'background'],
      [{ model: 'none' }, 'model'],
      [{ previous_response_id: 'resp_theirs' }, 'previous_response_id'],
    ] as const
    for (const [more, param] of cases) {
      const { status, body } = await create(gateway, 'over-responses', 'Hello.', more)
      expect([status >= 400 && status < 500, body.error.param]).toEqual([true, param])
    }
    const { body } = await create(gateway, 'over-chat', 'Hello.')
    const { status } = await ask(gateway, 'GET', `/${body.id}?stream=true`)
    expect(status).toBe(400)
    await ended(gateway, body.id)
    expect((await readTaskLedger(gateway)).length).toBe(before + 3)
  })

  test('every charge agrees with its task, its price and its usage', async () => {
    const { status, body } = await gateway.admin('POST', '/audit', {})
    expect([status, body.ok, body.problems]).toEqual([200, true, []])
  })

  test('its charge is in its usage for a caller that asks', async () => {
    const { body } = await create(gateway, 'over-responses', 'Hello.')
    await ended(gateway, body.id)
    const told = await ask(gateway, 'GET', `/${body.id}`, undefined, {
      'x-gateway-include': 'charge',
    })
    expect(told.body.usage.gateway.charge).toBe(told.headers.get('x-gateway-charge'))
  })
})
