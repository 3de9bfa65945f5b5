// Over HTTP: whatever an upstream did without being paid for by a caller is in the list of losses,
// with its reason, once; what it plainly did not do is not. Callers pay nothing in either case.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { loggedCalls } from '../../sandbox/testing.ts'
import { adminToken, apiToken, root, startGateway, type TestGateway } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { listAll, nanos, requestIdOf, rowOf, until } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

interface LossRow {
  id: string
  reason: string
  amount: string
  estimated: boolean
  channel: string
  model: string
  unit: string | null
  quantity: number | null
  request_id: string | null
  task_id: string | null
  upstream_id: string
}

let sandbox: Sandbox
let broken: TestUpstream
let greedy: TestUpstream
let gateway: TestGateway

const configFor = () => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
left_calls: release
tasks: { lifetime: 1s, unknown_for: 1s, lost_after: 1s }
channels:
  - name: broken
    keys: [upk-broken-0123456789]
    protocols: { chat: "${broken.chat}" }
    models: { txta-turbo: "*" }
    priority: 1
  - name: greedy
    keys: [upk-greedy-0123456789]
    protocols: { chat: "${greedy.chat}" }
    models: { txta-vl-plus: "*" }
    priority: 1
  - name: upstream
    keys: [upk-good-0123456789]
    models: { "*": "*" }
    timeouts: { first_byte: 2s }
    protocols:
      chat: "${sandbox.protocols.chat}"
      vf: "${sandbox.protocols.vf}"
      images: "${sandbox.protocols.images}"
      vendorg: "${sandbox.protocols.vendorg}"
`

beforeAll(async () => {
  sandbox = startSandbox({ taskSeconds: 0.2 })
  broken = startUpstream(() =>
    jsonReply('{"id":"chatcmpl-1","choices":[{"message":{"content":"Hello ', {
      headers: { 'x-request-id': 'up-broken-1' },
    }),
  )
  greedy = startUpstream(() =>
    jsonReply(completion({ prompt_tokens: 20_000, completion_tokens: 1 })),
  )
  gateway = await startGateway({ config: configFor() })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await sandbox.stop()
  await broken.stop()
  await greedy.stop()
})

const lossesOf = (ref: string) => listAll<LossRow>(gateway, `/losses?ref=${ref}`)
const oneOf = (ref: string, limitMs?: number) =>
  until(`the loss of ${ref}`, async () => (await lossesOf(ref))[0], limitMs)

describe('calls', () => {
  test('a stream that breaks off costs its input and what came of it', async () => {
    const response = await gateway.chat('[[sim:tokens=60]] [[sim:cut=20]]', { stream: true })
    await response.text()
    const id = requestIdOf(response)
    const loss = await oneOf(id)
    expect(loss).toMatchObject({
      reason: 'failed_after_cost',
      channel: 'upstream',
      model: 'txta-plus',
      unit: 'token',
      estimated: true,
      request_id: id,
      task_id: null,
    })
    expect(loss.quantity).toBeGreaterThan(15)
    expect(loss.upstream_id).not.toBe('')
    const row = await rowOf(gateway, id)
    expect([row.charge, row.loss]).toEqual(['0.00', loss.amount])
    expect(nanos(loss.amount)).toBeGreaterThan(0n)
    const explained = await gateway.admin('GET', `/explain/${id}`)
    expect(explained.body.steps.join('\n')).toContain(`about ${loss.amount}`)
  })

  test.each(['[[sim:cut=1]]', '[[sim:error-after=4]] [[sim:tokens=50]]'])(
    '%s in a stream or in JSON is a loss',
    async (directive) => {
      const stream = directive.includes('error-after')
      const response = await gateway.chat(directive, { stream })
      await response.text()
      const loss = await oneOf(requestIdOf(response))
      expect(loss).toMatchObject({ reason: 'failed_after_cost', estimated: true })
    },
  )

  test('a call that was taken and never answered may have cost its input', async () => {
    const response = await gateway.chat('[[sim:hang]]')
    expect(response.status).toBe(504)
    const loss = await oneOf(requestIdOf(response))
    expect(loss).toMatchObject({ reason: 'failed_after_cost', upstream_id: '' })
  })

  test('a caller that leaves before the first byte leaves the input behind', async () => {
    const leaving = new AbortController()
    const asked = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'txta-plus',
        user: 'leaving',
        messages: [{ role: 'user', content: 'Hello? [[sim:delay=1500ms]]' }],
      }),
    }).catch(() => undefined)
    await until('the call upstream', async () =>
      (await loggedCalls(sandbox)).some(({ user }) => user === 'leaving') ? true : undefined,
    )
    leaving.abort()
    await asked
    const loss = await until(
      'the loss of who left',
      async () => (await listAll<LossRow>(gateway, '/losses?reason=caller_left'))[0],
    )
    const row = await rowOf(gateway, loss.request_id!)
    expect(row).toMatchObject({ status: 499, charge: '0.00', loss: loss.amount })
  })

  test('a channel that failed after it had begun is in the books of a call that went well', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const response = await gateway.post('/v1/chat/completions', { model: 'txta-turbo', messages })
    expect(response.status).toBe(200)
    const id = requestIdOf(response)
    expect(await lossesOf(id)).toMatchObject([
      { reason: 'failed_after_cost', channel: 'broken', upstream_id: 'up-broken-1' },
    ])
    const row = await rowOf(gateway, id)
    expect(row.channel).toBe('upstream')
    expect(nanos(row.charge)).toBeGreaterThan(0n)
    expect(nanos(row.loss)).toBeGreaterThan(0n)
  })

  test('what an account could not pay for is a loss', async () => {
    const poor = { name: 'poor', balance: '0.01', tag_names: ['team'] }
    await gateway.admin('POST', '/accounts', poor)
    const tags = { team: 'red' }
    const made = await gateway.admin('POST', '/tokens', { account: 'poor', name: 'x', tags })
    const response = await gateway.post(
      '/v1/chat/completions',
      {
        model: 'txta-vl-plus',
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 1,
      },
      { authorization: `Bearer ${made.body.token}` },
    )
    expect(response.status).toBe(200)
    await response.text()
    const [loss] = await lossesOf(requestIdOf(response))
    expect(loss).toMatchObject({ reason: 'balance_short', estimated: false, channel: 'greedy' })
    expect(loss).toMatchObject({ tags, end_user: null })
    const row = await rowOf(gateway, requestIdOf(response))
    expect([row.charge, row.loss]).toEqual(['0.01', loss!.amount])
    const { body } = await gateway.admin('GET', '/losses?account=poor')
    expect(body.items).toHaveLength(1)
    const alert = await until('the alert', async () => {
      const { body } = await gateway.admin('GET', '/alerts?kind=loss')
      return body.items.find(({ message }: { message: string }) =>
        message.includes(loss!.request_id!),
      )
    })
    expect(alert.subject).toMatch(/^acc_\w+ balance_short$/)
    expect(alert.message).toContain(loss!.amount)
  })

  test.each(['[[sim:fail]]', '[[sim:status=500]]', '[[sim:status=429]]', '[[sim:status=400]]'])(
    '%s cost nobody anything',
    async (directive) => {
      const response = await gateway.chat(directive)
      const row = await rowOf(gateway, requestIdOf(response))
      expect([row.loss, await lossesOf(row.request_id)]).toEqual(['0.00', []])
    },
  )

  test('an answer without usage is charged as an estimate, and no loss', async () => {
    const response = await gateway.chat('[[sim:no-usage]]')
    expect(response.status).toBe(200)
    const row = await rowOf(gateway, requestIdOf(response))
    expect([row.estimated, row.loss, await lossesOf(row.request_id)]).toEqual([true, '0.00', []])
  })
})

describe('tasks', () => {
  const video = async (prompt: string): Promise<string> => {
    const body = { model: 'vfa-2.7-t2v', prompt, seconds: 5, resolution: '720p' }
    const response = await gateway.post('/v1/videos', body)
    const text = await response.text()
    return /video_[0-9a-f]{32}/.exec(text)![0]
  }

  test('one that succeeds after it was given up stays failed and free', async () => {
    const id = await video('late [[sim:delay=4s]]')
    const loss = await oneOf(id, 30_000)
    expect(loss).toMatchObject({
      reason: 'late_success',
      unit: 'video_second',
      quantity: 5,
      estimated: false,
      amount: '3.00',
      task_id: id,
      request_id: null,
    })
    const { body } = await gateway.admin('GET', `/tasks/${id}`)
    expect(body).toMatchObject({
      state: 'failed',
      charge: '0.00',
      error: { code: 'upstream_timeout' },
    })
  })

  test('a create that nobody can find is counted as a guess', async () => {
    const response = await gateway.post(
      '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
      {
        instances: [{ prompt: 'lost [[sim:cut=1]]' }],
        parameters: { durationSeconds: 4 },
      },
    )
    expect(response.status).toBe(504)
    const loss = await until(
      'the loss of the create',
      async () => (await listAll<LossRow>(gateway, '/losses?reason=unknown_create'))[0],
    )
    expect(loss).toMatchObject({ estimated: true, model: 'vendorg-video-1', upstream_id: '' })
  })

  test('pictures that were never there, and those the upstream did not make', async () => {
    const none = await gateway.post('/v1/images/generations', {
      model: 'imga-plus',
      prompt: 'nothing [[sim:no-output]]',
      n: 2,
    })
    expect(none.status).toBe(502)
    const loss = await until(
      'the loss of the pictures',
      async () => (await listAll<LossRow>(gateway, '/losses?reason=not_delivered'))[0],
    )
    expect(loss).toMatchObject({ unit: 'image', quantity: 2, estimated: true, model: 'imga-plus' })
    const half = await gateway.post('/v1/images/generations', {
      model: 'imga-plus',
      prompt: 'half [[sim:images=1]]',
      n: 2,
    })
    expect(half.status).toBe(200)
    expect(await listAll<LossRow>(gateway, '/losses?reason=not_delivered')).toHaveLength(1)
  })
})

describe('the list and its sums', () => {
  test('agree, whatever they are asked for by', async () => {
    const all = await listAll<LossRow>(gateway, '/losses?limit=3')
    const { body } = await gateway.admin('GET', '/losses/summary')
    const sum = (rows: readonly { amount: string }[]) =>
      rows.reduce((total, { amount }) => total + nanos(amount), 0n)
    expect(body.losses).toBe(all.length)
    expect(nanos(body.amount)).toBe(sum(all))
    for (const field of ['reason', 'channel', 'model'] as const) {
      const groups = body[`by_${field}`] as (LossRow & { losses: number })[]
      expect(sum(groups)).toBe(sum(all))
      for (const group of groups) {
        const own = all.filter((loss) => loss[field] === group[field])
        expect([group.losses, nanos(group.amount)]).toEqual([own.length, sum(own)])
      }
    }
    const none = await gateway.admin('GET', '/losses/summary?month=2020-01')
    expect(none.body).toMatchObject({ losses: 0, amount: '0.00', by_reason: [] })
  })

  test.each([
    ['/losses?reason=bad_luck', 'reason'],
    ['/losses?from=yesterday', 'from'],
    ['/losses?cursor=x', 'cursor'],
    ['/losses/summary?month=13', 'month'],
  ])('%s is refused by name', async (path, param) => {
    const { status, body } = await gateway.admin('GET', path)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('a person reads them on the command line', async () => {
    const run = async (...words: string[]) => {
      const child = Bun.spawn([`${root}/bin/gateway`, ...words, '--url', gateway.url], {
        env: { ...ownEnv, GATEWAY_ADMIN_TOKEN: adminToken },
        stdout: 'pipe',
        stderr: 'inherit',
      })
      return new Response(child.stdout).text()
    }
    const text = await run('losses')
    expect(text).toMatch(/^\d{4}-\d{2} {2}\d+\.\d+ CNY, \d+ losses\n/)
    expect(text).toMatch(/\nREASON +LOSSES +AMOUNT +OF IT ESTIMATED\n/)
    expect(await run('losses', 'list', '--reason', 'late_success')).toMatch(
      /\n\S+Z +late_success +3\.00 CNY +no +upstream +vfa-2\.7-t2v +video_/,
    )
    expect(await run('losses', '--month', '2020-01')).toBe('no losses in 2020-01\n')
  })
})
