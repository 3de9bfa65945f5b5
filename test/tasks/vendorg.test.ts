// Long-running video operations over HTTP, from the create to the file: who sees what, what is
// charged, and in which words a caller is refused.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, type ErrorFields, ledgerOf, requestIdShape, until } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

const other = 'sk-other-0123456789abcdefghijklmno'
const config = `
accounts: [{ name: acme, balance: "100.00" }, { name: else, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: else, name: other, token: ${other} }
`
const model = 'vendorg-video-1'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ config, env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' } })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

interface Operation {
  name: string
  done: boolean
  error?: { code: number; message: string; status: string; reason: string }
  response?: {
    generateVideoResponse: { generatedSamples: { video: { uri: string }; metadata: object }[] }
  }
}

type RefusedBody = { error: Omit<ErrorFields, 'code'> & Record<string, unknown> }

const mine = { 'x-vendorg-api-key': apiToken }
const at = (path: string) => `${gateway.url}/vendorg/v1beta/${path}`
const get = (path: string, headers: Record<string, string> = mine) => fetch(at(path), { headers })

function post(body: unknown, headers: Record<string, string> = mine, call = `models/${model}`) {
  return fetch(at(call.includes(':') ? call : `${call}:predictLongRunning`), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

const input = (prompt: string, parameters: object = { durationSeconds: 4 }, more: object = {}) => ({
  instances: [{ prompt, ...more }],
  parameters,
})

async function create(body: unknown): Promise<string> {
  const answer = await post(body)
  const operation = (await answer.json()) as Operation
  expect([answer.status, operation.done]).toEqual([200, false])
  return operation.name
}

const done = (name: string): Promise<Operation> =>
  until(`the end of ${name}`, async () => {
    const operation = (await (await get(name)).json()) as Operation
    return operation.done ? operation : undefined
  })

const idOf = (name: string) => name.replace('operations/', '')

async function expectRefused(answer: Response, status: number, code: string, param?: string) {
  const { error } = (await answer.json()) as RefusedBody
  expect([answer.status, error['code'] as string]).toEqual([status, code])
  if (param !== undefined) expect(error.param).toBe(param)
  expect(error.message).toEndWith(`(${error.request_id})`)
}

describe('an operation', () => {
  let name: string
  beforeAll(async () => {
    name = await create(input('a boat on a lake'))
    await done(name)
  })

  test('is created, polled and done, and costs what was filmed', async () => {
    const before = await accountOf(gateway)
    const answer = await post(input('a fox', { durationSeconds: 6, aspectRatio: '9:16' }))
    expect(answer.headers.get('x-gateway-request-id')).toMatch(requestIdShape)
    expect(answer.headers.get('retry-after')).toBe('6')
    const created = (await answer.json()) as Operation
    expect(created).toEqual({
      name: expect.stringMatching(/^operations\/[0-9a-f]{32}$/),
      done: false,
    })
    const id = idOf(created.name)
    expect(await done(created.name)).toEqual({
      name: created.name,
      done: true,
      response: {
        generateVideoResponse: {
          generatedSamples: [
            {
              video: { uri: at(`files/${id}:download?alt=media`) },
              metadata: { durationSeconds: 6, size: '720x1280' },
            },
          ],
        },
      },
    })
    const { body } = await gateway.admin('GET', `/tasks/video_${id}`)
    expect([body.interface, body.protocol]).toEqual(['vendorg', 'vendorg'])
    const after = await accountOf(gateway)
    expect(Number(before.balance) - Number(after.balance)).toBeCloseTo(6)
    expect([Number(body.charge), Number(after.held)]).toEqual([6, 0])
  })

  test('is the same under its model, by its task and for the other video interface', async () => {
    const operation = await (await get(name)).json()
    const id = idOf(name)
    for (const path of [`models/${model}/${name}`, `operations/video_${id}`]) {
      expect(await (await get(path)).json()).toEqual(operation)
    }
    const video = await fetch(`${gateway.url}/v1/videos/video_${id}`, { headers: mine })
    expect(await video.json()).toMatchObject({ id: `video_${id}`, status: 'completed', model })
  })

  test('has its file under the version it was asked by', async () => {
    const answer = await fetch(`${gateway.url}/vendorg/v1/${name}`, { headers: mine })
    const { response } = (await answer.json()) as Operation
    const { uri } = response!.generateVideoResponse.generatedSamples[0]!.video
    expect(uri).toStartWith(`${gateway.url}/vendorg/v1/files/`)
    expect((await fetch(uri, { method: 'HEAD', headers: mine })).status).toBe(200)
  })

  test('of the other video interface can be read here', async () => {
    const body = { model: 'vfb-1.1-t2v', prompt: 'a mill', seconds: 3, resolution: '720p' }
    const { id } = (await (await gateway.post('/v1/videos', body)).json()) as { id: string }
    const operation = await done(`operations/${id.replace('video_', '')}`)
    expect(operation.response!.generateVideoResponse.generatedSamples[0]!.metadata).toEqual({
      durationSeconds: 3,
      size: '1280x720',
    })
  })

  test('takes pictures in both places and both forms', async () => {
    const bytes = { bytesBase64Encoded: 'aGVsbG8=', mimeType: 'image/png' }
    const uri = { uri: 'data:image/png;base64,aGk=' }
    await create(
      input('a', { lastFrame: uri, referenceImages: [{ image: uri }] }, { image: bytes }),
    )
    await create(input('a', {}, { image: uri, lastFrame: bytes, referenceImages: [bytes] }))
  })

  test.each([
    ['[[sim:fail=content_policy]]', 3, 'INVALID_ARGUMENT', 'content_policy_violation'],
    ['[[sim:fail]]', 13, 'INTERNAL', 'upstream_error'],
  ] as const)('that fails (%s) is an error and costs nothing', async (prompt, code, word, why) => {
    const name = await create(input(prompt))
    const operation = await done(name)
    expect(operation.error).toEqual({
      code,
      status: word,
      reason: why,
      message: expect.stringMatching(/video/),
    })
    expect(operation.response).toBeUndefined()
    const { body } = await gateway.admin('GET', `/tasks/video_${idOf(name)}`)
    expect([body.state, Number(body.charge)]).toEqual(['failed', 0])
  })

  test('is marked as estimated where the upstream does not tell what it filmed', async () => {
    const charges = (await ledgerOf(gateway)).filter(({ kind }) => kind === 'charge')
    const own = charges.filter((entry) => entry.model === model)
    expect(own.length).toBeGreaterThan(0)
    expect(own.every(({ estimated, unit }) => estimated && unit === 'video_second')).toBe(true)
  })

  test.each(['', 'video_'])(
    'of somebody else (%p) looks like one that never was',
    async (prefix) => {
      const nobody = '0'.repeat(32)
      for (const id of [idOf(name), nobody]) {
        const theirs = await get(`operations/${prefix}${id}`, { 'x-goog-api-key': other })
        const { error } = (await theirs.json()) as RefusedBody
        expect([theirs.status, error['reason']]).toEqual([404, 'operation_not_found'])
        const file = await get(`files/${prefix}${id}:download`, { 'x-vendorg-api-key': other })
        await expectRefused(file, 404, 'file_not_found')
      }
    },
  )

  test.each(['operations/x', 'operations/A', 'models/m/operations/a%3Fb', 'operations/a%00'])(
    '%s is none',
    async (path) => expectRefused(await get(path), 404, 'operation_not_found'),
  )
})

describe('the file', () => {
  let path: string
  beforeAll(async () => {
    const name = await create(input('a film to fetch'))
    await done(name)
    path = `files/${idOf(name)}:download?alt=media`
  })

  test.each<[string, Record<string, string>, string]>([
    ['the vendor header', mine, ''],
    ['the header of its SDK', { 'x-goog-api-key': apiToken }, ''],
    ['a bearer', { authorization: `Bearer ${apiToken}` }, ''],
    ['the query', {}, `&key=${apiToken}`],
  ])('can be fetched with the token in %s', async (_name, headers, more) => {
    const answer = await get(path + more, headers)
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'video/mp4'])
    expect(Buffer.from(bytes.subarray(4, 8)).toString()).toBe('ftyp')
    expect(answer.headers.get('content-length')).toBe(String(bytes.length))
    expect(answer.headers.get('x-gateway-request-id')).toMatch(requestIdShape)
  })

  test('cannot be fetched without one', async () => {
    await expectRefused(await get(path, {}), 401, 'invalid_api_key')
  })

  test('comes in parts, and by its headers alone', async () => {
    const part = await get(path, { ...mine, range: 'bytes=4-7' })
    expect([part.status, await part.text()]).toEqual([206, 'ftyp'])
    expect(part.headers.get('content-range')).toMatch(/^bytes 4-7\/\d+$/)
    const head = await fetch(at(path), { method: 'HEAD', headers: mine })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const size = part.headers.get('content-range')?.split('/')[1]
    expect(head.headers.get('content-length')).toBe(size!)
    expect(head.headers.get('accept-ranges')).toBe('bytes')
  })

  test('is only there to be downloaded', async () => {
    const [plain = ''] = path.split(':')
    await expectRefused(await get(plain), 404, 'file_not_found')
    await expectRefused(await get(`${plain}:delete`), 404, 'file_not_found')
  })

  test('of an operation that is not done is not ready', async () => {
    const name = await create(input('[[sim:delay=30s]]'))
    const early = await get(`files/${idOf(name)}:download?alt=media`)
    expect([early.headers.get('retry-after'), early.headers.get('x-should-retry')]).toEqual([
      '6',
      'false',
    ])
    await expectRefused(early, 409, 'video_not_ready')
  })

  test('of one that failed is not there', async () => {
    const name = await create(input('[[sim:fail]]'))
    await done(name)
    const path = `files/${idOf(name)}:download`
    await expectRefused(await get(path), 409, 'video_not_available')
  })
})

describe('a create that is wrong', () => {
  test.each<[unknown, number, string, string | undefined]>([
    ['{', 400, 'invalid_json', undefined],
    [{}, 400, 'invalid_request', 'instances'],
    [input(''), 400, 'invalid_request', 'instances[0].prompt'],
    [input('a', { durationSeconds: 0 }), 400, 'invalid_duration', 'parameters.durationSeconds'],
    [input('a', { resolution: '1080P' }), 400, 'invalid_resolution', 'parameters.resolution'],
    [input('a', { sampleCount: 2 }), 400, 'invalid_request', 'parameters.sampleCount'],
    [input('a', { aspectRatio: '1:1' }), 400, 'upstream_invalid_request', undefined],
    [input('[[sim:status=403]]'), 502, 'upstream_permission_denied', undefined],
  ])('is refused (case %#)', async (body, status, code, param) => {
    await expectRefused(await post(body), status, code, param)
  })

  test.each([
    ['models/nobody:predictLongRunning', 404, 'model_not_found'],
    ['models/txta-plus:predictLongRunning', 400, 'model_not_supported'],
    ['models/:predictLongRunning', 400, 'invalid_request'],
    [`models/${model}:generateImages`, 404, 'not_found'],
  ])('about %s is refused', async (call, status, code) => {
    await expectRefused(await post(input('a'), mine, call), status, code)
  })

  test('has a type that is not taken', async () => {
    const answer = await post('a=b', { ...mine, 'content-type': 'text/plain' })
    await expectRefused(answer, 415, 'unsupported_media_type')
  })
})

describe('an error', () => {
  const path = `operations/${'0'.repeat(32)}`

  test.each<[string, Record<string, string>]>([
    ['the vendor header', mine],
    ['a bearer', { authorization: `Bearer ${apiToken}` }],
  ])('for a caller with %s has the word, and the status beside it', async (_name, headers) => {
    const { error } = (await (await get(path, headers)).json()) as RefusedBody
    expect(error).toMatchObject({ code: 'operation_not_found', status: 'NOT_FOUND' })
    expect(error['reason']).toBeUndefined()
  })

  test.each<[string, Record<string, string>, string]>([
    ['the header of the SDK', { 'x-goog-api-key': apiToken }, ''],
    ['the query', {}, `?key=${apiToken}`],
  ])('for a caller with %s has a number, and the word beside it', async (_name, headers, more) => {
    const { error } = (await (await get(path + more, headers)).json()) as RefusedBody
    expect(error).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      reason: 'operation_not_found',
      type: 'invalid_request_error',
    })
  })

  test.each([
    [401, 'UNAUTHENTICATED', 'invalid_api_key', path, { 'x-goog-api-key': 'sk-nobody' }],
    [404, 'NOT_FOUND', 'not_found', 'nothing/here', { 'x-goog-api-key': apiToken }],
  ] as const)('%p is %s', async (status, word, reason, at, headers) => {
    const answer = await get(at, headers)
    const { error } = (await answer.json()) as RefusedBody
    expect(answer.status).toBe(status)
    expect(error).toMatchObject({ code: status, status: word, reason })
  })

  test('elsewhere has neither', async () => {
    const answer = await fetch(`${gateway.url}/v1/videos/video_0`, {
      headers: { 'x-goog-api-key': apiToken },
    })
    const { error } = (await answer.json()) as RefusedBody
    expect([error['code'], error['status']]).toEqual(['video_not_found', undefined])
  })
})

describe('an upstream', () => {
  const key = 'upk-vendorg-0123456789abcdef'
  let made = 0
  let state: object = {}
  const upstream = startUpstream(({ path }) =>
    path.endsWith(':predictLongRunning')
      ? jsonReply({ name: `models/real-3.1/operations/op-${++made}` })
      : jsonReply({ name: path.replace('/v1beta/', ''), ...state }),
  )
  let own: TestGateway
  beforeAll(async () => {
    const channel = { name: 'real', keys: [key], protocols: { vendorg: upstream.url } }
    const channels = [{ ...channel, models: { [model]: 'real-3.1' } }]
    own = await startGateway({ config: `${config}\nchannels: ${JSON.stringify(channels)}\n` })
  })
  afterAll(async () => {
    expect(await own.stop()).toBe(0)
    await upstream.stop()
  })

  const createAt = async (path: string, body: object) => {
    upstream.calls.length = 0
    const answer = await own.post(path, body)
    expect(answer.status).toBe(200)
    const { id, name } = (await answer.json()) as { id?: string; name?: string }
    return id ?? `video_${idOf(name!)}`
  }
  const taskOf = (id: string) =>
    until(`the end of ${id}`, async () => {
      const { body } = await own.admin('GET', `/tasks/${id}`)
      return body.finished_at === null ? undefined : body
    })

  test('is asked with the key of the channel and never sees that of the caller', async () => {
    state = { done: true, error: { code: 13, message: 'broke' } }
    const image = { bytesBase64Encoded: 'aGVsbG8=', mimeType: 'image/jpeg' }
    const lastFrame = { uri: 'data:image/png;base64,aGk=' }
    const path = `/vendorg/v1beta/models/${model}:predictLongRunning`
    const id = await createAt(path, input('a', { lastFrame, seed: 7 }, { image }))
    expect(await taskOf(id)).toMatchObject({ state: 'failed', error: { message: 'broke' } })
    const [create, poll] = upstream.calls
    expect([create!.path, poll!.path]).toEqual([
      '/v1beta/models/real-3.1:predictLongRunning',
      '/v1beta/models/real-3.1/operations/op-1',
    ])
    for (const call of [create!, poll!]) {
      expect(call.headers.get('x-goog-api-key')).toBe(key)
      expect(JSON.stringify([...call.headers])).not.toContain(apiToken)
    }
    expect(JSON.parse(create!.body)).toEqual({
      instances: [
        { prompt: 'a', image, lastFrame: { bytesBase64Encoded: 'aGk=', mimeType: 'image/png' } },
      ],
      parameters: {
        durationSeconds: 8,
        resolution: '720p',
        aspectRatio: '16:9',
        seed: 7,
        sampleCount: 1,
      },
    })
  })

  test('that tells the seconds is charged for those, and not marked as estimated', async () => {
    const uri = 'https://files.example/v1beta/files/x:download?alt=media'
    const sample = { video: { uri }, metadata: { durationSeconds: 5 } }
    const generateVideoResponse = { generatedSamples: [sample] }
    state = { done: true, response: { generateVideoResponse } }
    const body = { model, prompt: 'a', seconds: 6, resolution: '720p' }
    const id = await createAt('/v1/videos', body)
    const task = await taskOf(id)
    expect([task.state, Number(task.charge)]).toEqual(['succeeded', 5])
    const entries = await ledgerOf(own)
    const charge = entries.find(({ kind }) => kind === 'charge')
    expect([charge?.quantity, charge?.estimated]).toEqual([5, false])
    const shown = await fetch(`${own.url}/vendorg/v1beta/operations/${id}`, { headers: mine })
    expect(await shown.text()).not.toContain('files.example')
  })
})
