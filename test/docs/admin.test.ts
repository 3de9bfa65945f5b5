// docs/run/admin-api.md against a gateway: its example is run, and every answer it shows is compared with
// the real one. The bodies that make these answers are those of its tables.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { differences } from '../support/docs/answers.ts'
import { examplesIn, renamed } from '../support/docs/fences.ts'
import { fencesOf, textOf } from '../support/docs/pages.ts'
import { stageOf, todaysNames, tryExample } from '../support/docs/stages.ts'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { requestIdOf, until } from '../support/read.ts'
import {
  asEvents,
  jsonReply,
  startUpstream,
  streamReply,
  type TestUpstream,
  textChunk,
} from '../support/upstream.ts'

const page = 'docs/run/admin-api.md'
/** Shown by other tests: they need books with a past, or altered ones. */
const elsewhere = ['alert', 'bill']
const answers = fencesOf(page).filter(
  ({ language, mark }) => language === 'json' && !elsewhere.includes(mark),
)

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any

/** The body that the table has for a call. */
function bodyOf(call: string): Any {
  const row = textOf(page)
    .split('\n')
    .find((line) => line.startsWith(`| \`${call}\``))
  return JSON.parse(/`(\{.*?\})`/.exec(row?.split(' | ')[1] ?? '')![1]!)
}

let gateway: TestGateway
let upstream: TestUpstream
let receiver: TestUpstream
const real = new Map<string, unknown>()

beforeAll(async () => {
  upstream = startUpstream(({ path }) =>
    path.endsWith('/models')
      ? jsonReply({ data: [{ id: 'txta-plus-2026-01-01' }, { id: 'writer-9' }] })
      : streamReply([asEvents([textChunk('one two '), textChunk('three four')])], {
          headers: { 'x-request-id': 'up-4' },
        }),
  )
  receiver = startUpstream(
    () => new Response('', { status: receiver.calls.length === 1 ? 503 : 200 }),
  )
  gateway = await startGateway({
    config: '',
    env: {
      GATEWAY_SANDBOX: 'on',
      GATEWAY_SANDBOX_TASK_SECONDS: '1',
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
    },
  })
  await play()
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
  await receiver.stop()
})

async function admin(method: string, path: string, body?: unknown): Promise<Any> {
  const answer = await gateway.admin(method, path, body)
  const refused = answer.status < 300 ? undefined : answer.body
  expect({ method, path, refused }).toEqual({ method, path, refused: undefined })
  return answer.body
}

async function ask(token: string, content: string, more: object = {}): Promise<string> {
  const messages = [{ role: 'user', content }]
  const headers = { authorization: `Bearer ${token}` }
  const answer = await gateway.post(
    '/v1/chat/completions',
    { model: 'txta-plus', messages, ...more },
    headers,
  )
  await answer.text()
  return requestIdOf(answer)
}

/** The world the page tells of, in the order in which it comes about. */
async function play(): Promise<void> {
  const stage = stageOf(gateway, page)
  writeFileSync(join(gateway.dataDir, 'admin-token'), adminToken, { mode: 0o600 })
  await tryExample(stage, examplesIn(fencesOf(page), ['run'])[0]!)
  real.set(
    'account',
    await admin('POST', '/accounts/acme/credits', bodyOf('POST /accounts/{id}/credits')),
  )
  const made = await admin('POST', '/tokens', bodyOf('POST /tokens'))
  real.set('token', made)
  await playCalls(made.token)
  await playModels()
  await playTasks()
  await playChannel(made.token)
}

async function playCalls(token: string): Promise<void> {
  await admin('POST', '/accounts', { name: 'beta', balance: '10.00' })
  const other = await admin('POST', '/tokens', { account: 'beta', name: 'ci' })
  for (let n = 0; n < 52; n++) await ask(n < 40 ? token : other.token, 'Go on [[sim:tokens=500]]')
  const prices = [
    { model: 'txta-plus', unit: 'token', per_million: { input: '0.80', output: '2.40' } },
  ]
  const month = todaysNames().get('2026-11')
  real.set('preview', await admin('POST', '/prices/preview', { month, prices }))
  const id = await ask(token, 'Say hello. [[sim:tokens=12]]')
  real.set('request', await admin('GET', `/requests/${id}`))
  real.set('entry', (await admin('GET', '/accounts/acme/ledger')).items[0])
  real.set('payable', (await admin('GET', '/accounts/acme/prices?model=txta-plus')).items[0])
  real.set('traffic', await admin('GET', '/traffic?by=day,model'))
}

async function playModels(): Promise<void> {
  await admin('PUT', '/models/house-writer', bodyOf('PUT /models/{id}'))
  const { items } = await admin('GET', '/models')
  real.set(
    'model',
    items.find(({ name }: Any) => name === 'house-writer'),
  )
  real.set('price', await admin('POST', '/prices', bodyOf('POST /prices')))
}

async function playTasks(): Promise<void> {
  const { token } = await admin('POST', '/tokens', { account: 'acme', name: 'films' })
  const post = async (path: string, body: object) =>
    (await gateway.post(path, body, { authorization: `Bearer ${token}` })).json() as Promise<Any>
  const film = await post('/v1/videos', {
    model: 'vfa-2.7-t2v',
    prompt: 'A boat [[sim:poll=503]]',
    seconds: 2,
  })
  const told = await post('/imgvendor/v1/images/generations', {
    model_name: 'imgvendor-v2',
    prompt: 'A boat',
    callback_url: `${receiver.url}/done`,
  })
  const done = (id: string, isDone: (task: Any) => boolean) =>
    until(`the end of ${id}`, async () => {
      const task = await admin('GET', `/tasks/${id}`)
      return isDone(task) ? task : undefined
    })
  const failedOnce = await done(told.data.task_id, ({ callback }) => callback.attempts.length === 1)
  await admin('POST', `/tasks/${failedOnce.id}/callback`)
  const delivered = await done(failedOnce.id, ({ callback }) => callback.state === 'delivered')
  real.set('callback', delivered.callback)
  real.set('timeline', (await done(film.id, ({ state }) => state === 'succeeded')).timeline)
}

async function playChannel(token: string): Promise<void> {
  const keys = ['any-upstream-key']
  const channel = { ...bodyOf('POST /channels'), keys }
  real.set('channel', await admin('POST', '/channels', channel))
  await admin('PATCH', '/channels/cloud-a', { keys, protocols: { chat: 'http://127.0.0.1:9/v1' } })
  real.set(
    'tried',
    await admin('POST', '/channels/cloud-a/test', bodyOf('POST /channels/{id}/test')),
  )
  await admin('PATCH', '/channels/cloud-a', { keys, protocols: { chat: upstream.chat } })
  real.set('discovered', await admin('POST', '/channels/cloud-a/discover'))
  await ask(token, 'Hello!', { stream: true })
  const loss = await until('the loss', async () => (await admin('GET', '/losses')).items[0])
  real.set('loss', loss)
  const csv = `Request ID,Time,Model,Tokens,Cost\nup-4,${loss.at},txta-plus,21,0.000015\n`
  const query = 'channel=cloud-a&cost_factor=0.5'
  const answer = await fetch(`${gateway.url}/admin/v1/statements?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'text/csv' },
    body: csv,
  })
  const { id } = (await answer.json()) as Any
  real.set('line', (await admin('GET', `/statements/${id}/lines?outcome=loss`)).items[0])
}

describe('docs/run/admin-api.md', () => {
  test.each(answers)('line $line: shows the $mark as it is', ({ mark, text }) => {
    const names = todaysNames().set('https://hooks.example', receiver.url)
    const shown = JSON.parse(renamed(text, names))
    const found = differences(shown, real.get(mark))
    expect({ found, real: found.length === 0 ? '' : JSON.stringify(real.get(mark)) }).toEqual({
      found: [],
      real: '',
    })
  })

  test('shows everything that was played here, once', () => {
    expect(answers.map(({ mark }) => mark).sort()).toEqual([...real.keys()].sort())
  })
})
