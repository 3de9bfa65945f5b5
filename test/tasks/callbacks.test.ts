// Callbacks over HTTP: real gateways, their sandbox, and a receiver that believes nothing it cannot
// verify with the package of the standard.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { newWebhookSecret, signedHeaders } from '../../src/lib/net/webhook.ts'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import {
  adminToken,
  apiToken,
  defaultConfig,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { python } from '../support/python.ts'
import { untilTrue } from '../support/read.ts'

const nativePath = '/arkvendor/api/v3/contents/generations/tasks'
const imagePath = '/imgvendor/v1/images/generations'

if (!storeKinds.includes('postgres')) {
  console.error('left out: callbacks of several gateways (set TEST_POSTGRES_URL)')
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Body = any

interface Arrival {
  path: string
  headers: IncomingHttpHeaders
  text: string
}
type Reply = (answer: ServerResponse) => void

const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (answer) =>
    answer.writeHead(code, headers).end('{}')
const hang: Reply = () => {}
const reset: Reply = (answer) => (answer.socket as { resetAndDestroy?(): void }).resetAndDestroy?.()

let receiver: Server
let base: string
let arrivals: Arrival[]
/** One after the other; the last one stays. */
let replies: Reply[]
let running: TestGateway[]

beforeEach(async () => {
  arrivals = []
  replies = [status(200)]
  running = []
  receiver = createServer(async (request, answer) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const text = Buffer.concat(parts).toString()
    arrivals.push({ path: `${request.method} ${request.url}`, headers: request.headers, text })
    const reply = replies.length > 1 ? replies.shift()! : replies[0]!
    reply(answer)
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
})

afterEach(async () => {
  for (const gateway of running) await gateway.stop('SIGKILL')
  receiver.closeAllConnections()
  receiver.close()
})

const quick = { GATEWAY_SANDBOX_TASK_SECONDS: '0.1' }
const open = { ...quick, GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' }

async function start(env: Record<string, string> = open, more: object = {}): Promise<TestGateway> {
  const gateway = await startGateway({ env, ...more })
  running.push(gateway)
  return gateway
}

const orderOf = (callbackUrl: unknown, text = 'a boat in the fog') => ({
  model: 'vidmodel-1-0-pro',
  content: [{ type: 'text', text }],
  duration: 5,
  callback_url: callbackUrl,
})

/** The gateway's id of a native task. */
async function create(gateway: TestGateway, callbackUrl = `${base}/hook`, text?: string) {
  const answer = await gateway.post(nativePath, orderOf(callbackUrl, text))
  const body = (await answer.json()) as Body
  expect([answer.status, body]).toEqual([200, expect.anything()])
  return body.platform_id as string
}

const callbackOf = async (gateway: TestGateway, id: string): Promise<Body> =>
  (await gateway.admin('GET', `/tasks/${id}`)).body.callback
const attempted = (gateway: TestGateway, id: string, times: number) =>
  untilTrue(
    () => callbackOf(gateway, id),
    ({ attempts }) => attempts.length >= times,
  )
const delivered = (gateway: TestGateway, id: string) =>
  untilTrue(
    () => callbackOf(gateway, id),
    ({ state }) => state === 'delivered',
  )
const secretOf = async (gateway: TestGateway): Promise<string> =>
  (await gateway.admin('GET', '/callback-secret')).body.secret

const verified = (secret: string, { text, headers }: Arrival): Body =>
  new Webhook(secret).verify(text, headers as Record<string, string>)

const idsOf = (list: readonly Arrival[]) => [
  ...new Set(list.map(({ headers }) => headers['webhook-id'])),
]

const query = async (gateway: TestGateway, id: string): Promise<Body> =>
  (
    await fetch(`${gateway.url}${nativePath}/${id}`, {
      headers: { authorization: `Bearer ${apiToken}` },
    })
  ).json()

describe('a notice', () => {
  test('that meets 500, silence and a reset is accepted once, under one id, and verifies each time', async () => {
    replies = [status(500), hang, reset, status(200)]
    const gateway = await start()
    const id = await create(gateway)
    for (const times of [1, 2, 3]) {
      await attempted(gateway, id, times)
      // The schedule would come to it in minutes.
      expect((await gateway.admin('POST', `/tasks/${id}/callback`)).status).toBe(200)
    }
    const callback = await delivered(gateway, id)
    const secret = await secretOf(gateway)
    const told = callback.attempts.map(({ status, error }: Body) => status ?? error)
    expect(told).toEqual([
      500,
      'no answer came in time',
      'the connection broke off before an answer came',
      200,
    ])
    expect(arrivals).toHaveLength(4)
    expect(idsOf(arrivals)).toEqual([callback.id])
    expect(callback.id).toMatch(/^msg_[0-9a-f]{32}$/)
    for (const arrival of arrivals) {
      expect(verified(secret, arrival)).toMatchObject({ platform_id: id, status: 'succeeded' })
      expect(arrival.headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'model-gateway',
      })
      expect(() => verified(newWebhookSecret(), arrival)).toThrow()
    }
  })

  test('of a native task is what a query answers, for success and failure', async () => {
    const gateway = await start()
    const secret = await secretOf(gateway)
    const done = await create(gateway)
    const broken = await create(gateway, undefined, 'a boat [[sim:fail]]')
    for (const id of [done, broken]) await delivered(gateway, id)
    const bodies = arrivals.map((arrival) => verified(secret, arrival))
    for (const [id, state] of [
      [done, 'succeeded'],
      [broken, 'failed'],
    ]) {
      const body = bodies.find(({ platform_id }) => platform_id === id)
      expect(body).toEqual(await query(gateway, id!))
      expect(body.status).toBe(state)
    }
    const film = bodies.find(({ platform_id }) => platform_id === done).content.video_url
    expect((await fetch(film)).status).toBe(200)
  })

  test('of an image task is flat', async () => {
    const gateway = await start()
    const answer = await gateway.post(imagePath, {
      model_name: 'imgvendor-v2-1',
      prompt: 'a boat',
      external_task_id: 'mine-1',
      callback_url: `${base}/pictures?of=me`,
    })
    const { data } = (await answer.json()) as Body
    await delivered(gateway, data.task_id)
    const [arrival] = arrivals
    expect(arrival?.path).toBe('POST /pictures?of=me')
    const body = verified(await secretOf(gateway), arrival!)
    expect(body).toMatchObject({
      task_id: data.task_id,
      task_status: 'succeed',
      task_info: { external_task_id: 'mine-1' },
      task_result: { images: [{ index: 0 }] },
    })
    expect((await fetch(body.task_result.images[0].url)).status).toBe(200)
  })

  test("is signed with the operator's secret where there is one, which no log line repeats", async () => {
    const secret = newWebhookSecret()
    const config = `${defaultConfig}\ncallbacks: { secret: "\${CALLBACK_SECRET}" }\n`
    const gateway = await start({ ...open, CALLBACK_SECRET: secret }, { config })
    await delivered(gateway, await create(gateway))
    expect(verified(secret, arrivals[0]!)).toMatchObject({ status: 'succeeded' })
    expect(await secretOf(gateway)).toBeNull()
    expect(gateway.output()).not.toContain(secret.slice(6))
  })

  test('of a task that its caller cancelled does not come', async () => {
    const gateway = await start({ ...open, GATEWAY_SANDBOX_TASK_SECONDS: '30' })
    const id = await create(gateway)
    const cancelled = await untilTrue(
      () =>
        fetch(`${gateway.url}${nativePath}/${id}`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${apiToken}` },
        }),
      ({ status }) => status === 200,
    )
    expect(((await cancelled.json()) as Body).status).toBe('cancelled')
    expect(await callbackOf(gateway, id)).toMatchObject({ id: null, state: null })
    expect((await gateway.admin('POST', `/tasks/${id}/callback`)).status).toBe(409)
    expect(arrivals).toEqual([])
  })
})

describe('an address', () => {
  test('that redirects is not followed', async () => {
    replies = [status(302, { location: `${base}/elsewhere` })]
    const gateway = await start()
    const id = await create(gateway)
    const { state, attempts } = await attempted(gateway, id, 1)
    expect([state, attempts[0].status, attempts[0].error]).toEqual([
      'waiting',
      302,
      'redirects are not followed',
    ])
    expect(arrivals.map(({ path }) => path)).toEqual(['POST /hook'])
  })

  test('that is private is refused, at once where that can be seen, else when it is dialled', async () => {
    const gateway = await start(quick)
    const port = new URL(base).port
    for (const url of [`${base}/hook`, 'https://127.0.0.1/', 'https://[::1]/', 'ftp://a.b/', 7]) {
      const answer = await gateway.post(nativePath, orderOf(url))
      const { error } = (await answer.json()) as Body
      expect([url, answer.status, error.code, error.param]).toEqual([
        url,
        400,
        'invalid_request',
        'callback_url',
      ])
    }
    const image = { model_name: 'imgvendor-v2-1', prompt: 'a', callback_url: 'https://10.0.0.1/' }
    expect((await gateway.post(imagePath, image)).status).toBe(400)
    const id = await create(gateway, 'https://localhost/hook')
    const { state, attempts } = await attempted(gateway, id, 1)
    expect([state, attempts[0].error]).toEqual([
      'waiting',
      'the name of the host cannot be resolved, or the address may not be asked: it is not public, and GATEWAY_EGRESS_ALLOW does not name it',
    ])
    expect(JSON.stringify(attempts)).not.toContain(port)
    expect(arrivals).toEqual([])
  })

  test('never goes up to the upstream', async () => {
    const bodies: string[] = []
    const upstream = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        bodies.push(request.url, await request.text())
        return Response.json({
          id: 'cgt-1',
          status: 'failed',
          error: { code: 'x', message: 'y' },
        })
      },
    })
    const config = `${defaultConfig}
channels:
  - name: up
    keys: [sk-upstream-0123456789]
    protocols: { arkvendor: "http://127.0.0.1:${upstream.port}" }
    models: { vidmodel-1-0-pro: "*" }
`
    const gateway = await start(open, { config })
    await delivered(gateway, await create(gateway, `${base}/only-ours`))
    expect(bodies.join()).toContain('a boat in the fog')
    expect(bodies.join()).not.toContain('only-ours')
    expect(bodies.join()).not.toContain('callback')
    await upstream.stop(true)
  })
})

describe.each([
  ['callback-due', 0],
  ['callback-sent', 1],
])('after a kill at %s', (point, arrived) => {
  const died = (gateway: TestGateway) => gateway.exited

  test('the notice comes with the next start', async () => {
    const dataDir = tempDir()
    const doomed = await start({ ...open, GATEWAY_CRASH_AT: point }, { dataDir })
    const id = await create(doomed)
    await died(doomed)
    expect(arrivals).toHaveLength(arrived)
    const gateway = await start(open, { dataDir })
    const callback = await delivered(gateway, id)
    expect(arrivals).toHaveLength(arrived + 1)
    expect(idsOf(arrivals)).toEqual([callback.id])
    const secret = await secretOf(gateway)
    for (const arrival of arrivals) expect(verified(secret, arrival)).toBeTruthy()
  })

  if (storeKinds.includes('postgres')) {
    test('another gateway on the same database brings the notice', async () => {
      const place = await newPlace('postgres')
      const env = {
        ...open,
        GATEWAY_DATABASE_URL: place.options.databaseUrl!,
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      }
      const doomed = await start({ ...env, GATEWAY_CRASH_AT: point })
      const id = await create(doomed)
      await died(doomed)
      const gateway = await start(env)
      const callback = await delivered(gateway, id)
      expect(arrivals).toHaveLength(arrived + 1)
      expect(idsOf(arrivals)).toEqual([callback.id])
      await gateway.stop('SIGKILL')
      await place.remove()
    })
  }
})

test('the command line shows, resends and tells the secret', async () => {
  replies = [status(410), status(503), status(200)]
  const gateway = await start()
  const run = async (...words: string[]) => {
    const child = Bun.spawn([join(root, 'bin/gateway'), ...words], {
      env: {
        ...ownEnv,
        GATEWAY_URL: gateway.url,
        GATEWAY_ADMIN_TOKEN: adminToken,
      },
      stdout: 'pipe',
    })
    const text = (await new Response(child.stdout).text()).trim()
    return { text, code: await child.exited }
  }
  const id = await create(gateway)
  const { id: messageId, state } = await attempted(gateway, id, 1)
  expect(state).toBe('exhausted')
  expect(await run('task', 'callback', id)).toEqual({
    text: `${messageId}  waiting  503`,
    code: 1,
  })
  expect(await run('task', 'callback', id)).toEqual({
    text: `${messageId}  delivered  200`,
    code: 0,
  })
  expect((await run('task', 'show', id)).text).toContain(`callback        id ${messageId}`)
  expect((await run('callback', 'secret')).text).toBe(await secretOf(gateway))
})

describe('what docs/use/callbacks.md shows', () => {
  const page = readFileSync(join(root, 'docs/use/callbacks.md'), 'utf8')
  const fence = (language: string) =>
    new RegExp(`^\`\`\`${language} verify\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)![1]!
  const secret = newWebhookSecret()
  const body = '{"task":"Größe ✓"}'
  const signed = (atMs: number) => signedHeaders(secret, { id: 'msg_1', atMs, body })
  const cases: [secret: string, headers: object, body: string, genuine: boolean][] = [
    [secret, signed(Date.now()), body, true],
    [secret, signed(Date.now()), `${body} `, false],
    [newWebhookSecret(), signed(Date.now()), body, false],
    [secret, signed(Date.now() - 3_600_000), body, false],
    [secret, { ...signed(Date.now()), 'webhook-signature': 'v1,' }, body, false],
    [secret, { ...signed(Date.now()), 'webhook-id': 'msg_2' }, body, false],
  ]
  const given = JSON.stringify(cases.map((each) => each.slice(0, 3)))
  const expected = cases.map((each) => each[3])

  test('tells genuine notices from forged ones in JavaScript', async () => {
    const path = join(tempDir(), 'verify.mjs')
    writeFileSync(path, fence('js'))
    const { isGenuine } = await import(path)
    expect(JSON.parse(given).map((each: string[]) => isGenuine(...each))).toEqual(expected)
  })

  if (python.has()) {
    test('tells genuine notices from forged ones in Python', () => {
      const path = join(tempDir(), 'verify.py')
      const rest =
        'import json, sys\nprint(json.dumps([is_genuine(*c) for c in json.load(sys.stdin)]))'
      writeFileSync(path, `${fence('python')}\n${rest}\n`)
      const { stdout } = Bun.spawnSync([python.program, path], { stdin: Buffer.from(given) })
      expect(JSON.parse(String(stdout))).toEqual(expected)
    })
  } else {
    console.error('left out: the Python example of docs/use/callbacks.md (install python3)')
  }
})
