// Idempotency-Key on creates, over HTTP: whoever asks again gets the first answer again, and nothing
// is made, sent or held for a second time, not even when everybody asks at once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { LoggedCall } from '../../sandbox/http/call-log.ts'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { readLedger } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { sandboxTasks } from '../support/sandbox-tasks.ts'
import { readTaskLedger, readTasks, type TaskEntry } from '../support/task-books.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: Idempotency-Key over HTTP on PostgreSQL (set TEST_POSTGRES_URL)')
}

const otherToken = 'sk-other-0123456789abcdefghijklmno'
const keyCount = 60
const askers = 10
const stormPauseMs = 250

const configFor = (sandbox: Sandbox) => `
accounts: [{ name: acme, balance: "5000.00" }, { name: other, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: other, name: test, token: ${otherToken} }
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols:
      chat: "${sandbox.protocols.chat}"
      vf: "${sandbox.protocols.vf}"
      arkvendor: "${sandbox.protocols.arkvendor}"
      vendorg: "${sandbox.protocols.vendorg}"
    models: { "txta-*": "*", "vfa-*": "*", "vidmodel-*": "*", "vendorg-*": "*" }
    timeouts: { first_byte: 2s }
`

interface Dialect {
  path: string
  /** Where else to use its key. */
  elsewhere: string
  input(prompt: string): object
}

const operation = (version: string) =>
  `/vendorg/${version}/models/vendorg-video-1:predictLongRunning`

const dialects: Readonly<Record<string, Dialect>> = {
  videos: {
    path: '/v1/videos',
    elsewhere: 'arkvendor',
    input: (prompt) => ({ model: 'vfa-2.7-t2v', prompt, seconds: '5', size: '1280x720' }),
  },
  arkvendor: {
    path: '/arkvendor/api/v3/contents/generations/tasks',
    elsewhere: 'vendorg',
    input: (text) => ({
      model: 'vidmodel-1-0-pro',
      content: [{ type: 'text', text }],
      duration: 5,
    }),
  },
  vendorg: {
    path: operation('v1beta'),
    elsewhere: 'videos',
    input: (prompt) => ({ instances: [{ prompt }], parameters: { durationSeconds: 4 } }),
  },
}
const names = Object.keys(dialects)

interface Answer {
  status: number
  text: string
  headers: Headers
  code: string | undefined
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response
  const text = await response.text()
  const { error } = JSON.parse(text) as { error?: { code: string } | null }
  return { status, headers, text, code: error?.code }
}

interface Asked {
  at?: TestGateway | undefined
  token?: string
  headers?: Record<string, string>
}

async function ask(url: string, path: string, body: object, key: string, more: Asked = {}) {
  const isForm = body instanceof FormData
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${more.token ?? apiToken}`,
      'idempotency-key': key,
      ...(!isForm && { 'content-type': 'application/json' }),
      ...more.headers,
    },
    body: isForm ? body : JSON.stringify(body),
  })
  return answerOf(response)
}

const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed')
const requestId = ({ headers }: Answer) => headers.get('x-gateway-request-id')!
/** An error names the request it answers; all else is to be the same. */
const withoutId = (answer: Answer) => answer.text.replaceAll(requestId(answer), 'REQ')

let made = 0
const freshKey = () => `key ${++made} ~"'`

describe.each([...storeKinds])('an Idempotency-Key on %s', (engine) => {
  let place: Place
  let sandbox: Sandbox
  let gateway: TestGateway
  /** Another one on the same database, where that is possible. */
  let second: TestGateway | undefined

  const start = () => {
    const { dataDir, databaseUrl } = place.options
    const env = databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: databaseUrl }
    return startGateway({ config: configFor(sandbox), dataDir, env })
  }
  beforeAll(async () => {
    place = await newPlace(engine)
    sandbox = startSandbox({ taskSeconds: 1 })
    gateway = await start()
    if (engine === 'postgres') second = await start()
  })
  afterAll(async () => {
    await gateway.stop()
    await second?.stop()
    await sandbox.stop()
    await place.remove()
  })

  const create = (name: string, prompt: string, key: string, more?: Asked) => {
    const { path, input } = dialects[name]!
    return ask((more?.at ?? gateway).url, path, input(prompt), key, more)
  }
  /** What happens upstream and on the account while `work` runs. */
  async function traces(work: () => Promise<void>): Promise<{ upstream: number; holds: number }> {
    const count = async () => {
      const holds = (await readLedger(gateway)).filter(({ kind }) => kind === 'hold')
      return { upstream: (await sandboxTasks(sandbox)).length, holds: holds.length }
    }
    const before = await count()
    await work()
    const after = await count()
    return { upstream: after.upstream - before.upstream, holds: after.holds - before.holds }
  }

  test.each(names)(
    'answers %s again with the same bytes, while it runs and after',
    async (name) => {
      const key = freshKey()
      const prompt = `${name} ${key}`
      const left = await traces(async () => {
        const first = await create(name, prompt, key)
        expect([first.status, replayed(first)]).toEqual([200, null])
        const again = await create(name, prompt, key)
        expect([again.status, replayed(again), again.text]).toEqual([200, 'true', first.text])
        await until('its end', async () => {
          const row = (await readTasks(gateway)).find(({ request }) => request.prompt === prompt)
          return row?.state === 'succeeded' ? row : undefined
        })
        const late = await create(name, prompt, key)
        expect([late.status, replayed(late), late.text]).toEqual([200, 'true', first.text])
        expect(late.headers.get('retry-after')).toBe(first.headers.get('retry-after'))
        expect(new Set([first, again, late].map(requestId)).size).toBe(3)
        const row = await until('the row of the replay', async () => {
          const { status, body } = await gateway.admin('GET', `/requests/${requestId(late)}`)
          return status === 200 ? body : undefined
        })
        expect(row).toMatchObject({ status: 200, charge: '0.00', replay_of: requestId(first) })
      })
      expect(left).toEqual({ upstream: 1, holds: 1 })
    },
  )

  test.each(names)('is refused at %s for another body', async (name) => {
    const key = freshKey()
    await create(name, 'a boat', key)
    const left = await traces(async () => {
      const other = await create(name, 'a ship', key)
      expect([other.status, other.code, replayed(other)]).toEqual([
        422,
        'idempotency_mismatch',
        null,
      ])
      expect(other.headers.get('x-should-retry')).toBe('false')
    })
    expect(left).toEqual({ upstream: 0, holds: 0 })
  })

  test.each(names)('tells %s to wait, and then that nobody knows', async (name) => {
    const key = freshKey()
    const prompt = `${name} ${key} [[sim:hang]]`
    const left = await traces(async () => {
      const pending = create(name, prompt, key)
      await until('its row', async () => {
        const rows = await readTasks(gateway)
        return rows.find(({ state }) => state === 'accepted')
      })
      const busy = await create(name, prompt, key)
      expect([busy.status, busy.code]).toEqual([409, 'idempotency_in_flight'])
      expect([busy.headers.get('retry-after'), busy.headers.get('x-should-retry')]).toEqual([
        '1',
        null,
      ])
      const first = await pending
      expect([first.status, first.code]).toEqual([504, 'upstream_outcome_unknown'])
      const again = await create(name, prompt, key)
      expect([again.status, replayed(again)]).toEqual([504, 'true'])
      expect(withoutId(again)).toBe(withoutId(first))
    })
    expect(left).toEqual({ upstream: 0, holds: 1 })
  })

  test.each(names.flatMap((name) => [400, 429].map((status) => [name, status] as const)))(
    'is free again at %s after the upstream refused the create with %d',
    async (name, status) => {
      const key = freshKey()
      const prompt = `a boat [[sim:status=${status}]]`
      const first = await create(name, prompt, key)
      expect([first.status, replayed(first)]).toEqual([status, null])
      const calls = await callsWith(status)
      expect(calls).toBeGreaterThan(0)
      const again = await create(name, prompt, key)
      expect([again.status, replayed(again)]).toEqual([status, null])
      expect(await callsWith(status)).toBe(calls + 1)
      // The corrected request may use it too.
      const other = await create(name, 'a boat', key)
      expect([other.status, replayed(other)]).toEqual([200, null])
    },
  )

  /** Calls that the sandbox answered so; polls at tasks go on all the while, but never fail. */
  const callsWith = async (status: number) => {
    const response = await fetch(`${sandbox.url}/_sandbox/calls`)
    const { calls } = (await response.json()) as { calls: LoggedCall[] }
    return calls.filter((call) => call.status === status).length
  }

  test.each(names)('of another account is another one at %s', async (name) => {
    const key = freshKey()
    const first = await create(name, 'a boat', key)
    const other = await create(name, 'a boat', key, { token: otherToken })
    expect([first.status, other.status, replayed(other)]).toEqual([200, 200, null])
    expect(other.text).not.toBe(first.text)
  })

  test.each(names)('of %s is another one at another path', async (name) => {
    const key = freshKey()
    const left = await traces(async () => {
      await create(name, 'a boat', key)
      const other = await create(dialects[name]!.elsewhere, 'a boat', key)
      expect([other.status, replayed(other)]).toEqual([200, null])
    })
    expect(left).toEqual({ upstream: 2, holds: 2 })
  })

  test('of an operation is the same one under every version', async () => {
    const key = freshKey()
    const { input } = dialects['vendorg']!
    const first = await create('vendorg', 'a boat', key)
    const path = operation('v1')
    const again = await ask(gateway.url, path, input('a boat'), key)
    expect([again.status, replayed(again), again.text]).toEqual([200, 'true', first.text])
  })

  test('means the same in a form, whatever its boundary, and in JSON', async () => {
    const key = freshKey()
    const fields = { model: 'vfa-2.7-i2v', prompt: 'a boat', seconds: '5', resolution: '720p' }
    const formWith = (letter: string) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      const bytes = new TextEncoder().encode(letter.repeat(1_000))
      form.set('input_reference', new File([bytes], 'a.png', { type: 'image/png' }))
      return form
    }
    const left = await traces(async () => {
      const first = await ask(gateway.url, '/v1/videos', formWith('a'), key)
      expect([first.status, first.code]).toEqual([200, undefined])
      const again = await ask(gateway.url, '/v1/videos', formWith('a'), key)
      expect([replayed(again), again.text]).toEqual(['true', first.text])
      const url = `data:image/png;base64,${Buffer.from('a'.repeat(1_000)).toString('base64')}`
      const json = { seed: null, input_reference: { image_url: url }, ...fields }
      const asJson = await ask(gateway.url, '/v1/videos', json, key)
      expect([replayed(asJson), asJson.text]).toEqual(['true', first.text])
      const other = await ask(gateway.url, '/v1/videos', formWith('b'), key)
      expect([other.status, other.code]).toEqual([422, 'idempotency_mismatch'])
    })
    expect(left).toEqual({ upstream: 1, holds: 1 })
  })

  test.each(names)('that is none is refused at %s before anything is read', async (name) => {
    const left = await traces(async () => {
      for (const key of ['', 'k'.repeat(256), 'naïve', 'tab\tbed']) {
        const answer = await create(name, 'a boat', key)
        expect([key, answer.status]).toEqual([key, 400])
        expect(JSON.parse(answer.text)).toMatchObject({ error: { param: 'Idempotency-Key' } })
      }
      const max = await create(name, 'a boat', `${made}${'k'.repeat(255)}`.slice(0, 255))
      expect(max.status).toBe(200)
    })
    expect(left).toEqual({ upstream: 1, holds: 1 })
  })

  test('is not spent on a create that was refused before it began', async () => {
    const key = freshKey()
    const wrong = await ask(gateway.url, '/v1/videos', { model: 'no-such', prompt: 'x' }, key)
    expect([wrong.status, replayed(wrong)]).toEqual([404, null])
    const right = await create('videos', 'a boat', key)
    expect([right.status, replayed(right)]).toEqual([200, null])
  })

  test('means nothing to a text call', async () => {
    const bodies = ['one', 'two'].map((content) => ({
      model: 'txta-plus',
      messages: [{ role: 'user', content }],
    }))
    for (const body of bodies) {
      const answer = await ask(gateway.url, '/v1/chat/completions', body, 'one-key')
      expect([answer.status, replayed(answer)]).toEqual([200, null])
    }
  })

  test('reads as the SDKs of each interface want it', async () => {
    const key = freshKey()
    await create('vendorg', 'a boat', key)
    const headers = { 'x-goog-api-key': apiToken }
    const other = await create('vendorg', 'a ship', key, { headers })
    expect(JSON.parse(other.text)).toMatchObject({
      error: { code: 422, status: 'INVALID_ARGUMENT', reason: 'idempotency_mismatch' },
    })
  })

  test(`makes ${keyCount} tasks of ${keyCount * askers} creates that come at once`, async () => {
    const bodies = new Map<string, Set<string>>()
    const codes = new Set<string>()
    let fresh = 0
    const askUntilAnswered = async (number: number) => {
      const key = `storm-${number % keyCount}`
      const name = names[(number % keyCount) % names.length]!
      for (;;) {
        const at = number % 2 === Math.floor(number / keyCount) % 2 ? second : gateway
        const answer = await create(name, `film ${key}`, key, { at })
        if (answer.status === 200) {
          bodies.set(key, (bodies.get(key) ?? new Set()).add(answer.text))
          if (replayed(answer) === null) fresh++
          return
        }
        codes.add(`${answer.status} ${answer.code}`)
        await Bun.sleep(stormPauseMs)
      }
    }
    const left = await traces(async () => {
      const all = Array.from({ length: keyCount * askers }, (_, i) => askUntilAnswered(i))
      await Promise.all(all)
    })
    expect(left).toEqual({ upstream: keyCount, holds: keyCount })
    expect([bodies.size, fresh]).toEqual([keyCount, keyCount])
    expect([...bodies.values()].filter((texts) => texts.size !== 1)).toEqual([])
    // A machine that is busy with other things may say that it has too much to do.
    const expected = ['409 idempotency_in_flight', '503 overloaded', '503 no_available_channel']
    expect([...codes].filter((code) => !expected.includes(code))).toEqual([])
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
  })

  /** A machine that is busy with other things may say that it has too much to do. */
  async function askUntilCutOff(): Promise<unknown> {
    for (;;) {
      const asked = create('videos', 'a boat [[sim:hang]]', 'cut-off')
      const answer = await asked.catch(() => 'cut off' as const)
      if (answer === 'cut off' || answer.status !== 503) return answer
      await Bun.sleep(stormPauseMs)
    }
  }

  test('is still known after kill -9', async () => {
    // The storm before may have been too much for the database for a moment.
    for (const at of second === undefined ? [gateway] : [gateway, second]) {
      const isReady = async () => ((await fetch(`${at.url}/readyz`)).ok ? true : undefined)
      await until('the gateway to be ready', isReady)
    }
    // Nor may the outcome of its last write be known yet, so that accounts are refused: 503, try again.
    const made = (name: (typeof names)[number]) =>
      until('a create that is let in', async () => {
        const answer = await create(name, 'a boat', 'lasting')
        return answer.status === 503 ? undefined : answer
      })
    const first = await Promise.all(names.map(made))
    const hanging = askUntilCutOff()
    await until('its row', async () =>
      (await readTasks(gateway)).find(({ state }) => state === 'accepted'),
    )
    await gateway.stop('SIGKILL')
    expect(await hanging).toBe('cut off')
    gateway = await start()
    const left = await traces(async () => {
      const again = await Promise.all(names.map((name) => create(name, 'a boat', 'lasting')))
      const beside = await create(names[0]!, 'a boat', 'lasting', { at: second })
      expect([beside.text, replayed(beside)]).toEqual([first[0]!.text, 'true'])
      expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text))
      expect(again.map(replayed)).toEqual(names.map(() => 'true'))
      const cutOff = await create('videos', 'a boat [[sim:hang]]', 'cut-off')
      expect([cutOff.status, cutOff.code]).toEqual([504, 'upstream_outcome_unknown'])
    })
    expect(left).toEqual({ upstream: 0, holds: 0 })
    const entries = await readTaskLedger(gateway)
    const isTasks = ({ kind, task_id }: TaskEntry) => kind === 'charge' && task_id !== null
    const charges = entries.filter(isTasks).map(({ task_id }) => task_id)
    expect(new Set(charges).size).toBe(charges.length)
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
  })
})

test('the official SDK comes back after 409 and gets the video of the first create', async () => {
  const answered = Promise.withResolvers<void>()
  const upstream = startUpstream(async ({ path }) => {
    if (path.endsWith('/video-synthesis')) await answered.promise
    const output = { task_id: 'up-1', task_status: 'PENDING' }
    return jsonReply({ output, request_id: 'r-1' })
  })
  const gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels: [{ name: own, keys: [k], protocols: { vf: "${upstream.url}" }, models: { "vfa-*": "*" } }]
`,
  })
  const statuses: number[] = []
  const client = new OpenAI({
    apiKey: apiToken,
    baseURL: `${gateway.url}/v1`,
    maxRetries: 3,
    fetch: async (...args: Parameters<typeof fetch>) => {
      const response = await fetch(...args)
      // It asks a data: address what its fetch can do.
      if (!response.url.startsWith('http')) return response
      statuses.push(response.status)
      if (response.status === 409) answered.resolve()
      return response
    },
  })
  const params = { model: 'vfa-2.7-t2v', prompt: 'a boat' } as never
  const create = () => client.videos.create(params, { headers: { 'Idempotency-Key': 'k' } })
  const [one, two] = await Promise.all([create(), create()])
  expect(two).toEqual(one)
  expect(statuses.toSorted()).toEqual([200, 200, 409])
  expect(upstream.calls.filter(({ path }) => path.endsWith('/video-synthesis'))).toHaveLength(1)
  await gateway.stop()
  await upstream.stop()
})
