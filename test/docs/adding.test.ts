// What the pages on adding a provider and a surface show is added here, to a copy of the source and
// with no more edits than they ask for; it compiles, and a gateway made of it serves calls.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fencesIn, fileIn } from '../support/docs/fences.ts'
import { apiToken, root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const files = ['docs/adding-a-provider.md', 'docs/adding-a-surface.md'].flatMap((page) =>
  fencesIn(readFileSync(join(root, page), 'utf8'))
    .filter(({ language, mark }) => `${language} ${mark}` === 'ts file')
    .map(fileIn),
)

/** All that the pages ask for besides two folders: an import and an entry in each registry. */
const edits: readonly [path: string, before: string, added: string][] = [
  [
    'src/providers/index.ts',
    'const all: ',
    "import { plain } from './plain/index.ts'\nimport { clips } from './clips/index.ts'\n",
  ],
  ['src/providers/index.ts', ']\n\nexport const providers', '  plain,\n  clips,\n'],
  ['src/surfaces/index.ts', 'export const surfaces', "import { plain } from './plain/index.ts'\n"],
  ['src/surfaces/index.ts', '  usage,\n]', '  plain,\n'],
]

const copied = ['src', 'sandbox', 'bin', 'scripts']
const linked = ['node_modules', 'docs', 'console', 'package.json', 'gateway.schema.json']

function makeCopy(): string {
  const copy = tempDir()
  const isKept = (path: string) => !/\.test\.tsx?$|\/test-[\w-]+\.ts$/.test(path)
  for (const name of copied) {
    cpSync(join(root, name), join(copy, name), { recursive: true, filter: isKept })
  }
  for (const name of linked) symlinkSync(join(root, name), join(copy, name))
  for (const { path, text } of files) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    writeFileSync(join(copy, path), text)
  }
  for (const [path, before, added] of edits) {
    const text = readFileSync(join(copy, path), 'utf8')
    expect(text.split(before)).toHaveLength(2)
    writeFileSync(join(copy, path), text.replace(before, added + before))
  }
  const own = { extends: join(root, 'tsconfig.json'), include: ['src', 'sandbox'], exclude: [] }
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(own))
  return copy
}

/** An upstream of both protocols; the second question about a clip finds it done. */
function startBoth(): TestUpstream {
  let polls = 0
  const upstream = startUpstream(({ path, headers }) => {
    // Its files are for anybody who knows the address, so no key comes along.
    if (path === '/file.mp4') return new Response('the clip')
    if (headers.get('authorization') !== 'Bearer any-upstream-key')
      return jsonReply({}, { status: 401 })
    if (path === '/p/complete') return jsonReply({ text: 'and so on', usage: { in: 5, out: 7 } })
    if (path === '/f/clips') return jsonReply({ id: 'clip-1' })
    if (path !== '/f/clips/clip-1') return jsonReply({}, { status: 404 })
    const file = `${upstream.url}/file.mp4`
    return jsonReply({
      id: 'clip-1',
      ...(polls++ === 0 ? { status: 'in progress' } : { status: 'done', file, seconds: 4 }),
    })
  })
  return upstream
}

const configFor = (url: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: house
    keys: [any-upstream-key]
    protocols: { plain: "${url}/p", clips: "${url}/f" }
    models: { plain-1: "*", clips-1: "*" }
models:
  - { name: plain-1, kind: text, interfaces: [plain], protocols: [plain] }
  - { name: clips-1, kind: video, interfaces: [videos], protocols: [clips] }
prices:
  - { model: plain-1, unit: token, per_million: { input: "1.00", output: "2.00" } }
  - { model: clips-1, unit: video_second, per_second: { 720p: "0.50", 1080p: "1.00" } }
`

describe('what the pages on adding show', () => {
  let copy: string
  let upstream: TestUpstream
  let gateway: TestGateway
  beforeAll(async () => {
    copy = makeCopy()
    upstream = startBoth()
    gateway = await startGateway({
      program: join(copy, 'bin/gateway'),
      config: configFor(upstream.url),
      env: { MODEL_GATEWAY_DIST: '', GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
    })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await upstream.stop()
  })

  test('is nine files that compile beside all the others', async () => {
    expect(files).toHaveLength(9)
    const child = Bun.spawn([join(root, 'node_modules/.bin/tsc'), '-p', copy], { stdout: 'pipe' })
    const said = await new Response(child.stdout).text()
    expect({ said, code: await child.exited }).toEqual({ said: '', code: 0 })
  })

  test('answers a text call, counts it and refuses a wrong one by name', async () => {
    const answer = await gateway.post('/plain/v1/complete', {
      model: 'plain-1',
      prompt: 'Once',
      most: 9,
    })
    expect(await answer.json()).toMatchObject({ text: 'and so on', usage: { in: 5, out: 7 } })
    expect(JSON.parse(upstream.calls.at(-1)!.body)).toMatchObject({ prompt: 'Once', most: 9 })
    const { body } = await gateway.admin('GET', '/requests?limit=1')
    expect(body.items[0]).toMatchObject({
      interface: 'plain',
      charge: '0.000019',
      estimated: false,
      usage: { input_tokens: 5, output_tokens: 7 },
    })
    const wrong = await gateway.post('/plain/v1/complete', { model: 'plain-1', prompt: 5 })
    expect(wrong.status).toBe(400)
    expect(await wrong.json()).toMatchObject({
      failed: 'invalid_request',
      error: { param: 'prompt' },
    })
  })

  const ask = (path: string, headers: Record<string, string>) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'plain-1', prompt: 'Once', most: 9 }),
    })

  test('takes a token in its own header, and says so to a caller without one', async () => {
    const path = '/plain/v1/complete'
    expect((await ask(path, { 'x-plain-key': apiToken })).status).toBe(200)
    const both = await ask(path, { 'x-plain-key': apiToken, 'x-api-key': 'sk-another' })
    expect(both.status).toBe(400)
    const without = await ask(path, {})
    expect(without.status).toBe(401)
    expect(await without.json()).toMatchObject({
      failed: 'invalid_api_key',
      error: { message: expect.stringContaining('"x-plain-key: <token>"') },
    })
  })

  test('has its errors and its CORS headers under its own prefix, and nowhere else', async () => {
    const origin = { origin: 'https://page.example' }
    const nothing = await ask('/plain/v1/nothing', origin)
    expect(nothing.status).toBe(404)
    expect(nothing.headers.get('access-control-allow-origin')).toBe(origin.origin)
    expect(await nothing.json()).toMatchObject({ failed: 'not_found' })
    const elsewhere = await ask('/plainly', origin)
    expect(elsewhere.headers.get('access-control-allow-origin')).toBeNull()
    expect(Object.keys((await elsewhere.json()) as object)).toEqual(['error'])
  })

  test('is in the documents', async () => {
    const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      paths: Record<string, unknown>
      components: Record<string, Record<string, unknown>>
    }
    expect(document.paths['/plain/v1/complete']).toMatchObject({
      post: {
        operationId: 'completePlain',
        security: [{ plainKey: [] }, { token: [] }, {}, {}, {}],
      },
    })
    expect(document.components).toMatchObject({
      securitySchemes: { plainKey: { type: 'apiKey', in: 'header', name: 'x-plain-key' } },
      schemas: { PlainError: { required: ['failed', 'error'] } },
    })
  })

  test('makes a clip of four seconds, charges them and hands it over', async () => {
    const made = await gateway.post('/v1/videos', {
      model: 'clips-1',
      prompt: 'A boat',
      seconds: 4,
    })
    const { id } = (await made.json()) as { id: string }
    const task = await until('the clip', async () => {
      const { body } = await gateway.admin('GET', `/tasks/${id}`)
      return ['succeeded', 'failed'].includes(body.state) ? body : undefined
    })
    expect(task).toMatchObject({ state: 'succeeded', charge: '4.00' })
    const headers = { authorization: `Bearer ${apiToken}` }
    const clip = await fetch(`${gateway.url}/v1/videos/${id}/content`, { headers })
    expect(await clip.text()).toBe('the clip')
  })
})
