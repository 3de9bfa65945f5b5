// Every call of both documents, asked again and again with what its schema allows and with what it does
// not: nothing may break, no answer may be other than described, and nothing that does not fit may be
// taken. A finding is printed as the request to send again, with the seed of the run.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adminToken, apiToken } from '../support/gateway.ts'
import type { Call, Described, Json } from '../support/openapi/openapi.ts'
import {
  familyOf,
  harvest,
  harvestFiles,
  openWorld,
  type World,
} from '../support/openapi/openapi-world.ts'
import { anyValue, bent, Chance, fitting, type Pins } from '../support/openapi/schema-values.ts'
import { spoiled } from '../support/openapi/spoiled-bodies.ts'
import { testSeed } from '../support/seeded.ts'

const wanted = 10_000
const usual = 1_500
const requests = Number(process.env['TEST_FUZZ_REQUESTS'] ?? usual)
const seed = testSeed()
const atOnce = 6
const limitMs = 600_000
if (requests < wanted) {
  console.error(
    `left out: ${wanted - requests} of ${wanted} fuzzed requests (set TEST_FUZZ_REQUESTS)`,
  )
}

let world: World

beforeAll(async () => {
  world = await openWorld({ GATEWAY_SANDBOX_TASK_SECONDS: '0' })
}, limitMs)
afterAll(async () => {
  expect(await world.stop()).toBe(0)
}, limitMs)

/** Hashing, the whole database, a real call, or always the same: these are asked less often. */
const rare = [
  ...['addPerson', 'changePerson', 'setUp', 'signIn', 'downloadBackup', 'auditBooks', 'tryChannel'],
  ...['isAlive', 'isReady', 'listKeys', 'getOpenApi', 'getAdminOpenApi', 'getLlmsText', 'sayHello'],
  ...['sayHelloToTools', 'getConfigSchema', 'getCallbackSecret', 'getMetrics', 'getSetup'],
]
const rareShare = 0.08
const spoiledShare = 0.12

const models = {
  text: ['txta-plus', 'txta-vl-plus', 'txta-embed', 'no-such-model'],
  image: ['imga-plus', 'imga-edit', 'txta-plus'],
  video: ['vfb-1.1-t2v', 'vfb-1.1-i2v', 'vfa-2.7-r2v', 'vidmodel-1-0-pro', 'vendorg-video-1'],
}

/** What would be much work, and what gets further than the first door. */
const pins: Pins = {
  n: [1, 2, null, 0],
  size: ['64x64', '128x64', 'auto', null],
  dimensions: [4, 8, null],
  seconds: [2, 3, '3', null],
  account: ['acme', 'fuzz-account', 'nobody'],
  balance: ['0.00', '1.5'],
  url: ['https://media.invalid/a.png', 'https://media.invalid/a.mp4'],
  uri: ['https://media.invalid/a.png', 'data:image/png;base64,aGk='],
  stream: [true, false, null],
  dry_run: [true],
  month: ['2026-10', '2026-11', '2099-01'],
  from: ['2026-11-01T00:00:00Z', '2026-11-15', '2026-11-01T00:30:00Z'],
  to: ['2027-01-01T00:00:00Z', '2026-12-01', 'tomorrow'],
  by: ['model', 'day,model', 'token', 'hour', 'account,status', 'day'],
  limit: [1, 2, 100, 0, 501],
  lang: ['en', 'zh', 'fr'],
  name: Array.from({ length: 40 }, (_, i) => `fuzz-${i}`),
}

/** What must never be otherwise: a channel that takes the calls of others, an address far away. */
const alwaysFor = ({ path }: Call): Pins => ({
  callback_url: ['https://callbacks.invalid/x', 'http://127.0.0.1/x', ''],
  ...(path.startsWith('/admin/v1/channels') && {
    models: [{ 'fuzz-model': '*' }],
    keys: [['a-key']],
    protocols: [{ chat: 'http://127.0.0.1:9/v1' }],
  }),
})

/** By a part of the path. */
const ofInterface: Record<string, string> = {
  rerank: 'rnka-plus',
  moderations: 'mdra-plus',
  speech: 'ttsa-plus',
}

const modelPins = ({ path }: Call): Pins => {
  if (path.startsWith('/admin/')) return { model: ['fuzz-model'] }
  if (path.startsWith('/imgvendor/')) return { model_name: ['imgvendor-v1', 'imgvendor-v3-omni'] }
  if (/images/.test(path)) return { model: models.image }
  const own = Object.keys(ofInterface).find((name) => path.includes(name))
  if (own !== undefined) return { model: [ofInterface[own], 'txta-plus'] }
  return { model: /video|tasks/.test(path) ? models.video : models.text }
}

interface Shot {
  call: Call
  described: Described
  path: string
  init: { method: string; headers: Record<string, string>; body?: string }
  /** Undefined where there is no JSON. */
  fits?: boolean
}

const never = new Set(['', '.', '..'])

function pathFor(
  chance: Chance,
  { path, method }: Call,
  making: Parameters<typeof fitting>[0],
): string {
  const family = familyOf(path)
  const known = world.ids.get(family) ?? []
  if ((family === '/files' || family === '/sandbox/media') && known.length > 0 && chance.is(0.7)) {
    return chance.pick(known)
  }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'version') return 'v1beta'
    if (name === 'model')
      return chance.pick(/[cC]ontent|[tT]okens/.test(path) ? models.text : models.video)
    // What others rely on is neither replaced nor taken away.
    if (family === '/admin/v1/models') return `fuzz-${chance.whole(1, 9)}`
    if (family === '/admin/v1/accounts' && chance.is(0.5)) return 'acme'
    const fresh = method === 'DELETE' ? known.slice(-3) : known
    if (fresh.length > 0 && chance.is(0.75)) return encodeURIComponent(chance.pick(fresh))
    const odd = String(fitting(making, { type: 'string' })).toWellFormed()
    return never.has(odd) ? 'x' : encodeURIComponent(odd)
  })
}

function queryFor(chance: Chance, call: Call, making: Parameters<typeof fitting>[0]): string {
  const query = new URLSearchParams()
  for (const { name, in: place, required, schema } of (call.operation['parameters'] ??
    []) as Json[]) {
    if (place !== 'query' || !(required === true || chance.is(0.12))) continue
    const cursors = name === 'cursor' ? (world.ids.get(`${call.id} cursor`) ?? []) : []
    const value =
      cursors.length > 0 && chance.is(0.8)
        ? chance.pick(cursors)
        : chance.is(0.85)
          ? fitting(making, schema as Json, name as string)
          : anyValue(chance)
    query.append(name as string, String(value).toWellFormed())
    if (chance.is(0.02)) query.append(name as string, 'twice')
  }
  return query.size === 0 ? '' : `?${query}`
}

/** Neither line breaks nor letters that headers cannot hold. */
const plain = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?')

function headersFor(chance: Chance, { operation }: Call, making: Parameters<typeof fitting>[0]) {
  const headers: Record<string, string> = {}
  const names = (operation['security'] as Json[]).flatMap((each) => Object.keys(each))
  const secret = names.includes('adminToken') ? adminToken : apiToken
  if (names.length > 0 && !chance.is(0.03)) {
    const given = chance.is(0.02) ? 'sk-nobody' : secret
    if (names.includes('googKey') && chance.is(0.1)) headers['x-goog-api-key'] = given
    else headers['authorization'] = `Bearer ${given}`
  }
  for (const { name, in: place, schema } of (operation['parameters'] ?? []) as Json[]) {
    if (place !== 'header' || !chance.is(0.2)) continue
    headers[name as string] = plain(String(fitting(making, schema as Json)))
  }
  return headers
}

function shotFrom(chance: Chance, described: Described, call: Call): Shot {
  const pinned = { pins: { ...pins, ...modelPins(call) }, always: alwaysFor(call) }
  const making = { chance, resolve: described.resolve, ...pinned }
  const path = pathFor(chance, call, making)
  const query = path.includes('?') ? '' : queryFor(chance, call, making)
  const headers = headersFor(chance, call, making)
  const base = { call, described, path: `${path}${query}` }
  const content = (call.operation['requestBody'] as Json | undefined)?.['content'] as
    | Record<string, Json>
    | undefined
  if (content === undefined) return { ...base, init: { method: call.method, headers } }
  const types = Object.keys(content).filter((each) => !each.startsWith('multipart/'))
  if (types.length === 0) {
    // Takes forms only.
    headers['content-type'] = 'application/json'
    return { ...base, init: { method: call.method, headers, body: '{}' }, fits: false }
  }
  const type = chance.pick(types)
  headers['content-type'] = chance.is(0.02) ? 'text/x-odd' : type
  const schema = content[type]!['schema'] as Json
  const examples = Object.values((content[type]!['examples'] ?? {}) as Record<string, Json>)
  const example =
    examples.length > 0 && chance.is(0.45) ? chance.pick(examples)['value'] : undefined
  if (type !== 'application/json') {
    // What is JSON is YAML, too.
    const value = example ?? fitting(making, schema)
    const body = (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()
    return { ...base, init: { method: call.method, headers, body } }
  }
  if (chance.is(0.03)) {
    const body = chance.pick(['', '{', '[]', 'null', '"a"', '{"a":1}{', `${'['.repeat(200)}`])
    // Where none is needed, an empty one is none.
    const isNone = body === '' && (call.operation['requestBody'] as Json)['required'] !== true
    return {
      ...base,
      init: { method: call.method, headers, body },
      ...(!isNone && { fits: false }),
    }
  }
  const right = example === undefined ? fitting(making, schema) : fresh(chance, example as Json)
  const value = atHome(call, chance.is(0.65) ? right : bent(chance, right))
  // As it arrives: what JSON cannot hold is gone.
  const body = JSON.stringify(value) ?? 'null'
  if (body.startsWith('{') && chance.is(spoiledShare)) {
    const init = {
      method: call.method,
      headers,
      body: spoiled(chance, body, fieldsOf(described, call, schema)),
    }
    return { ...base, init, fits: false }
  }
  const fits = described.fits(call, JSON.parse(body))
  return { ...base, init: { method: call.method, headers, body }, fits }
}

/** Whose spelling is exact; the admin API knows no others anyway. */
function fieldsOf({ resolve }: Described, { path }: Call, schema: Json): string[] {
  if (path.startsWith('/admin/')) return []
  const {
    $ref,
    properties = {},
    anyOf = [],
  } = schema as { $ref?: string; properties?: Json; anyOf?: Json[] }
  if ($ref !== undefined) return fieldsOf({ resolve } as Described, { path } as Call, resolve($ref))
  const inner = anyOf.flatMap((each) => fieldsOf({ resolve } as Described, { path } as Call, each))
  return [...Object.keys(properties), ...inner]
}

/** A preset has addresses and models of its own: no call of others may get there. */
function atHome({ path }: Call, value: unknown): unknown {
  const isChannel = path.startsWith('/admin/v1/channels')
  const hasPreset = typeof value === 'object' && value !== null && 'preset' in value
  if (!isChannel || !hasPreset) return value
  return { ...value, base_url: 'http://127.0.0.1:9', models: { 'fuzz-model': '*' } }
}

/** An example under another name, so that it can be made again; its pictures are nowhere. */
function fresh(chance: Chance, given: Json): Json {
  const example = JSON.parse(
    JSON.stringify(given).replaceAll('example.com', 'media.invalid'),
  ) as Json
  const renamed = 'name' in example ? { ...example, name: chance.pick(pins['name']!) } : example
  const isPrice = 'model' in example && 'unit' in example
  return isPrice ? { ...renamed, model: 'fuzz-model', account: 'acme' } : renamed
}

/** Calls whose body may be missing or of another kind, so that what does not fit may be none at all. */
const lenient = new Set(['importPrices'])

async function fire(shot: Shot): Promise<{ status: number; found: string[] }> {
  const { call, described, path, init, fits } = shot
  const response = await fetch(`${world.gateway.url}${path}`, { ...init, redirect: 'manual' })
  const body = new Uint8Array(await response.arrayBuffer())
  const { status } = response
  const problems = described.problemsOf(call, response, body)
  const request = response.headers.get('x-gateway-request-id')
  // Only calls of models have a line in the log.
  if (status < 400 && request !== null && described === world.data) {
    world.ids.set('/admin/v1/requests', [request])
  }
  if (status >= 500) problems.push(`status ${status} ${logged(response)}`)
  const taken = status < 400 && fits === false && !lenient.has(call.id)
  if (taken) problems.push(`a body that does not fit was taken with ${status}`)
  if (status < 400 && response.headers.get('content-type') === 'application/json') {
    const answer = JSON.parse(new TextDecoder().decode(body)) as Json
    harvest(world, call, answer)
    const { next_cursor: cursor } = answer
    if (typeof cursor === 'string') world.ids.set(`${call.id} cursor`, [cursor])
  }
  const said = new TextDecoder().decode(body.slice(0, 400))
  const found = problems.map(
    (problem) => `${call.id}: ${problem}\n  ${asText(shot)}\n  answer: ${said}`,
  )
  return { status, found }
}

/** What the gateway itself says of it. */
const logged = (response: Response): string => {
  const id = response.headers.get('x-gateway-request-id') ?? 'none'
  const lines = world.gateway.output().split('\n')
  return lines.filter((line) => line.includes(id)).join('\n')
}

const asText = ({ path, init }: Shot): string =>
  `${init.method} ${path} ${JSON.stringify(init.headers)} ${init.body?.slice(0, 1_500) ?? ''}`

const maxTold = 20

test(
  `${requests} requests find nothing that is not as described`,
  async () => {
    const calls = [world.data, world.admin].flatMap((described) =>
      described.calls.map((call) => ({ described, call })),
    )
    const common = calls.filter(({ call }) => !rare.includes(call.id))
    await world.gateway.admin('PUT', '/models/fuzz-model', { kind: 'text', interfaces: ['chat'] })
    const problems: string[] = []
    const seen = new Map<string, Map<number, number>>()
    let next = 0
    const work = async () => {
      while (next < requests && problems.length < maxTold) {
        const at = next++
        const chance = new Chance(seed + at)
        if (at % 500 === 100) await harvestFiles(world)
        const turn = calls[at % calls.length]!
        const isRare = rare.includes(turn.call.id) && !chance.is(rareShare)
        const { described, call } = isRare ? chance.pick(common) : turn
        const { status, found } = await fire(shotFrom(chance, described, call))
        problems.push(...found)
        const counts = seen.get(call.id) ?? new Map<number, number>()
        seen.set(call.id, counts.set(status, (counts.get(status) ?? 0) + 1))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    expect({ seed, problems }).toEqual({ seed, problems: [] })
    // It went well often enough that more than the doors were tried.
    const went = [...seen].filter(([, counts]) => [...counts.keys()].some((status) => status < 400))
    expect(went.length).toBeGreaterThan(seen.size * 0.6)
  },
  limitMs,
)

// What it has found, once more and by name.

test.each([
  ['picture', { kind: 'image', interfaces: ['images'] }, { unit: 'image', per_image: '0.10' }],
  ['search', { kind: 'rerank', interfaces: ['rerank'] }, { unit: 'search', per_search: '0.10' }],
])(
  'a text model whose price is by the %s cannot be called, and nothing breaks',
  async (by, was, price) => {
    const model = `house-by-${by}`
    const { gateway } = world
    await gateway.admin('PUT', `/models/${model}`, was)
    expect((await gateway.admin('POST', '/prices', { model, ...price })).status).toBe(201)
    await gateway.admin('PUT', `/models/${model}`, { kind: 'text', interfaces: ['chat'] })
    // Whatever became of the others.
    await gateway.admin('POST', '/accounts', { name: `apart-${by}`, balance: '1.00' })
    const { body } = await gateway.admin('POST', '/tokens', { account: `apart-${by}`, name: 'own' })
    const messages = [{ role: 'user', content: 'hello' }]
    const own = { authorization: `Bearer ${body.token}` }
    const answer = await gateway.post('/v1/chat/completions', { model, messages }, own)
    const { error } = (await answer.json()) as { error: { code: string } }
    expect([answer.status, error.code]).toEqual([404, 'model_not_found'])
  },
)
