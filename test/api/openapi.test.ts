// The documents tell the truth: every route is in them and nothing else is, every example can be sent,
// and what really comes back is as they say.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adminPath } from '../../src/admin/index.ts'
import { adminRoutes } from '../../src/admin/routes.ts'
import { createAdminRouter, createRouter } from '../../src/app.ts'
import { newTestEngine } from '../../src/engine/test-engine.ts'
import type { Operation } from '../../src/http/operation.ts'
import { adminOperations, dataOperations } from '../../src/openapi/documents.ts'
import { BatchClient, line } from '../batches/client.ts'
import { apiToken } from '../support/gateway.ts'
import type { Call, Described, Json } from '../support/openapi/openapi.ts'
import {
  familyOf,
  harvest,
  harvestFiles,
  openWorld,
  send,
  type World,
} from '../support/openapi/openapi-world.ts'

let world: World

beforeAll(async () => {
  world = await openWorld()
})
afterAll(async () => {
  expect(await world.stop()).toBe(0)
})

/** Pages for browsers and the guide: nothing that a program asks. */
const pages = /^GET \/(?:console|docs)(?:\/|$)/

const routed = ({ method, path, routed: given }: Operation): string =>
  `${method.toUpperCase()} ${given ?? path.replaceAll(/\{(\w+)\}/g, ':$1')}`

test('every route is documented, and everything documented is a route', async () => {
  const it = await newTestEngine('sqlite')
  const none = async () => []
  const deps = {
    engine: it.engine,
    limits: { bodyBytes: 1, bodyMs: 1, jsonDepth: 1, listPage: 1 } as never,
    isAdmin: () => false,
    configSchema: async () => '{}',
    metrics: { own: none, whole: none },
  }
  const routes = [createRouter(deps).app, createAdminRouter(deps, adminRoutes)]
    .flatMap((app) => app.routes)
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`)
  await it.close()
  const operations = [...(await dataOperations()), ...adminOperations]
  const told = operations.map(routed)
  // Calls whose paths differ behind a colon share one route.
  expect([...new Set(routes)].filter((each) => !pages.test(each)).toSorted()).toEqual(
    [...new Set(told)].toSorted(),
  )
  expect(adminOperations.filter(({ path }) => !path.startsWith(adminPath))).toEqual([])
  const ids = operations.map(({ id }) => id)
  expect(ids.length).toBe(new Set(ids).size)
})

describe('served', () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${world.gateway.url}${path}`, { headers })

  test.each(['/openapi.json', '/openapi.admin.json', '/docs', '/docs/admin', '/llms.txt'])(
    '%s comes once, then only when it has changed',
    async (path) => {
      const first = await get(path)
      expect(first.status).toBe(200)
      const etag = first.headers.get('etag')!
      expect(etag).toMatch(/^"[\w-]{22}"$/)
      expect(first.headers.get('x-gateway-request-id')).toMatch(/^req_/)
      const again = await get(path, { 'if-none-match': etag })
      expect([again.status, await again.text()]).toEqual([304, ''])
      const plain = await get(path, { 'accept-encoding': 'identity' })
      expect(await plain.text()).toBe(await first.text())
    },
  )

  test('every reference leads somewhere', async () => {
    for (const { document, resolve } of [world.data, world.admin]) {
      const refs = new Set(
        [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((m) => m[1]!),
      )
      expect(refs.size).toBeGreaterThan(50)
      expect([...refs].filter((ref) => resolve(ref) === undefined)).toEqual([])
    }
  })

  test('the page has every call on it and loads only what is its own', async () => {
    for (const [path, { calls }] of [
      ['/docs', world.data],
      ['/docs/admin', world.admin],
    ] as const) {
      const answer = await get(path)
      const policy = answer.headers.get('content-security-policy')!
      const page = await answer.text()
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; ")
      expect(policy).not.toContain('unsafe')
      expect(page).not.toMatch(/<script>|<img|\bon\w+="|style="|(?:src|href)="(?:https?:)?\/\//)
      expect(calls.filter(({ id }) => !page.includes(`<details id="${id}">`))).toEqual([])
      const anchors = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1]!)
      expect(anchors.filter((name) => !page.includes(`id="${name}"`))).toEqual([])
    }
  })

  test('llms.txt names every call', async () => {
    const text = await (await get('/llms.txt')).text()
    const missing = [...world.data.calls, ...world.admin.calls].filter(
      ({ method, path }) => !text.includes(`- ${method} ${path}: `),
    )
    expect(missing).toEqual([])
  })
})

/** Examples and polls that are refused here, as they should be. */
const refused: Readonly<Record<string, readonly number[]>> = {
  // The price that it is about is still missing.
  resolveAlert: [200, 409],
  setUp: [409],
  signIn: [401],
  changePassword: [409],
  startOidcSignIn: [404],
  finishOidcSignIn: [404],
  openInvitation: [409],
  acceptInvitation: [409],
  resendCallback: [409],
  cancelTask: [409],
  cancelNativeVideoTask: [409],
  cancelVideo: [409],
  showTaskInput: [404],
  // Their bodies are forms: see audio.test.ts.
  createTranscription: [415],
  createTranslation: [415],
  // A file comes as a form, and is then read; the one of the example is not there.
  uploadFile: [415],
  createBatch: [404],
  cancelBatch: [409],
  cancelAnyBatch: [409],
  // A link cannot be guessed.
  showSharedBill: [404],
  // No mail server is set.
  sendBill: [400],
  sendMonth: [400],
  // Members alone redeem codes.
  // The price of the example has begun.
  deletePrice: [409],
  deleteCost: [409],
  pullStatement: [409],
  closeChannelMonth: [200, 404, 409],
  redeemCode: [403],
  // All of it went back with the example before.
  'refundRequest part': [409],
  'refundTask part': [409],
}

/** They answer with the id of something else than what their path is about. */
const ofOthers = ['testWebhook', 'refundRequest', 'refundTask']

interface Example {
  name: string
  type: string
  value: unknown
}

function examplesOf({ operation }: Call): (Example | undefined)[] {
  const content = ((operation['requestBody'] as Json | undefined)?.['content'] ?? {}) as Record<
    string,
    Json
  >
  const found = Object.entries(content).flatMap(([type, { examples }]) =>
    Object.entries((examples ?? {}) as Record<string, Json>).map(([name, { value }]) => ({
      name,
      type,
      value,
    })),
  )
  return found.length === 0 ? [undefined] : found
}

/** Creates, then what looks at what was made, then what removes it. */
const phaseOf = ({ method, path }: Call): number =>
  method === 'DELETE' ? 3 : method !== 'POST' ? 2 : /\{id\}/.test(path) ? 2 : 1

const modelFor = (path: string): string => {
  if (path.endsWith(':predictLongRunning')) return 'vendorg-video-1'
  return /:(?:embed|batchEmbed)/.test(path) ? 'txta-embed' : 'txta-plus'
}

function pathFor({ ids }: World, { path, operation }: Call): string {
  const family = familyOf(path)
  // The first video was made of a text: it can be made again, and nothing has to be fetched for it.
  const isTask = family === '/admin/v1/tasks'
  const known = ids.get(isTask ? '/v1/videos' : family)
  const own: Readonly<Record<string, string>> = {
    version: 'v1beta',
    model: modelFor(path),
    id: fixed[family] ?? known?.at(isTask ? 0 : -1) ?? 'nobody',
  }
  if (family === '/files' || family === '/sandbox/media') return ids.get(family)?.at(-1) ?? family
  const needed = ((operation['parameters'] ?? []) as Json[]).filter(
    ({ in: place, name, required }) =>
      place === 'query' &&
      (required === true || optional[operation['operationId'] as string] === name),
  )
  const query = needed.map(({ name }) => `${name}=${inQuery[name as string] ?? 'sandbox'}`)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => own[name]!)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

const inQuery: Readonly<Record<string, string>> = {
  account: 'acme',
  from: '2026-11-01',
  to: '2026-11-30',
}

/** Parameters that may be left out, but not with as many accounts as there are here. */
const optional: Readonly<Record<string, string>> = { getCallbackSecret: 'account' }

const fixed: Readonly<Record<string, string>> = {
  '/v1/models': 'txta-plus',
  '/admin/v1/models': 'house-writer',
  '/admin/v1/accounts': 'acme',
  '/admin/v1/months': '2026-10',
}

async function tryOut(described: Described, call: Call): Promise<string[]> {
  const problems: string[] = []
  for (const example of examplesOf(call)) {
    const { value, type } = example ?? {}
    const { response, body } = await send(world, call, pathFor(world, call), {
      ...(example !== undefined && {
        headers: { 'content-type': type! },
        body: typeof value === 'string' ? value : JSON.stringify(value),
      }),
    })
    const wanted = refused[`${call.id} ${example?.name}`] ?? refused[call.id] ?? [200, 201, 202]
    const isRight = wanted.includes(response.status)
    const said = new TextDecoder().decode(body).slice(0, 300)
    if (!isRight) problems.push(`${call.id} ${example?.name ?? ''}: ${response.status} ${said}`)
    problems.push(...described.problemsOf(call, response, body))
    // What a list shows may be of the configuration file, which nobody changes here.
    const isNew =
      !ofOthers.includes(call.id) && (call.method === 'POST' || !world.ids.has(familyOf(call.path)))
    if (isNew && response.headers.get('content-type') === 'application/json') {
      harvest(world, call, JSON.parse(new TextDecoder().decode(body)))
    }
  }
  return problems
}

/** A batch that has ended, and its file. */
async function runBatch({ gateway, ids }: World): Promise<void> {
  const client = new BatchClient(gateway.url, apiToken)
  const batch = await client.run([line(1, 'hi', { model: 'txta-plus' })])
  ids.set('/v1/batches', [batch.id])
  ids.set('/admin/v1/batches', [batch.id])
  ids.set('/v1/files', [batch.output_file_id])
}

const settleMs = 20_000

async function settle(): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    const { body } = await world.gateway.admin('GET', '/tasks?limit=100')
    const live = (body.items as Json[]).filter(({ finished_at }) => finished_at === null)
    if (live.length === 0) return
    if (waitedMs > settleMs) throw new Error(`these do not end: ${JSON.stringify(live)}`)
    await Bun.sleep(100)
  }
}

test('every example is taken, and every answer is as it is described', async () => {
  const all = [world.data, world.admin].flatMap((described) =>
    described.calls.map((call) => ({ described, call })),
  )
  const problems: string[] = []
  await runBatch(world)
  for (const phase of [1, 2, 3]) {
    for (const { described, call } of all.filter((each) => phaseOf(each.call) === phase)) {
      problems.push(...(await tryOut(described, call)))
    }
    await settle()
    await harvestFiles(world)
  }
  expect(problems).toEqual([])
})
