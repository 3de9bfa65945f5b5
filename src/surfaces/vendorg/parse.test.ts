import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { parseOperation } from './parse.ts'

type Fields = Record<string, unknown>

const read = (instance: Fields = {}, parameters?: unknown) =>
  parseOperation({ instances: [{ prompt: 'a boat', ...instance }], parameters })

async function accepted(instance: Fields = {}, parameters?: unknown): Promise<VideoRequest> {
  const request = await read(instance, parameters)
  if (request instanceof Refusal) throw new Error(`refused: ${request.code} ${request.message}`)
  return request
}

function expectRefused(request: VideoRequest | Refusal, code: string, param: string): void {
  expect(request).toBeInstanceOf(Refusal)
  const { code: given, extras } = request as Refusal
  expect([given as string, extras.param]).toEqual([code, param])
}

const uri = (n = 1) => ({ uri: `https://pictures.example/${n}.png` })
const bytes = { bytesBase64Encoded: 'aGk=', mimeType: 'image/png' }
const inline = 'data:image/png;base64,aGk='

test('a prompt alone is eight seconds at 720p, lying', async () => {
  const usual = { prompt: 'a boat', seconds: 8, resolution: '720p', ratio: '16:9', media: [] }
  expect(await read()).toEqual(usual as VideoRequest)
  const nulls = { durationSeconds: null, aspectRatio: null, resolution: null, seed: null }
  expect(await read({ image: null }, { ...nulls, lastFrame: null, sampleCount: null })).toEqual(
    usual as VideoRequest,
  )
  expect(await read({}, null)).toEqual(usual as VideoRequest)
})

test('every parameter arrives', async () => {
  const more = { durationSeconds: 6, aspectRatio: '9:16', resolution: '1080p', seed: 0 }
  const inputs = { negativePrompt: 'rain', personGeneration: 'dont_allow', enhancePrompt: true }
  expect(await accepted({}, { ...more, sampleCount: 1, ...inputs, unheardOf: 1 })).toEqual({
    ...inputs,
    prompt: 'a boat',
    seconds: 6,
    resolution: '1080p',
    ratio: '9:16',
    seed: 0,
    media: [],
  })
})

test.each([
  [{ negativePrompt: 7 }],
  [{ personGeneration: true }],
  [{ personGeneration: 'x'.repeat(65) }],
  [{ enhancePrompt: 'yes' }],
])('a wish of the wrong kind is refused by its name (%#)', async (inputs) => {
  const [name] = Object.keys(inputs)
  expectRefused(await read({}, inputs), 'invalid_request', `parameters.${name}`)
})

describe('the instances', () => {
  test.each([
    [undefined],
    [null],
    [{}],
    [[]],
    [['a']],
    [[null]],
    [[{ prompt: 'a' }, { prompt: 'b' }]],
  ])('%j are refused', async (instances) => {
    expectRefused(await parseOperation({ instances }), 'invalid_request', 'instances')
  })

  test.each([[undefined], [null], [''], [' \n'], [5]])('need a prompt (case %#)', async (prompt) =>
    expectRefused(await read({ prompt }), 'invalid_request', 'instances[0].prompt'),
  )

  test('take a prompt of any length', async () => {
    expect((await accepted({ prompt: '🚢'.repeat(6_000) })).prompt).toHaveLength(12_000)
  })
})

describe('the parameters', () => {
  test.each([[[]], ['a'], [5]])('%j are refused', async (parameters) => {
    expectRefused(await read({}, parameters), 'invalid_request', 'parameters')
  })

  test.each([1, 3, 4, 8, 9, 15, '3', '8'])('durationSeconds may be %p', async (durationSeconds) => {
    expect((await accepted({}, { durationSeconds })).seconds).toBe(Number(durationSeconds))
  })

  test.each([[0], [601], [-8], [4.5], ['8s'], [''], ['0'], [true], [[8]], [{}]])(
    'durationSeconds may not be %j',
    async (durationSeconds) => {
      const param = 'parameters.durationSeconds'
      expectRefused(await read({}, { durationSeconds }), 'invalid_duration', param)
    },
  )

  test.each([['1080P'], ['4k'], ['480p'], [720], [''], [['720p']]])(
    'resolution may not be %j',
    async (resolution) =>
      expectRefused(await read({}, { resolution }), 'invalid_resolution', 'parameters.resolution'),
  )

  test.each([['16x9'], [''], [1.78], ['0:1'], ['16:9 '], ['160:90']])(
    'aspectRatio may not be %j',
    async (aspectRatio) =>
      expectRefused(await read({}, { aspectRatio }), 'invalid_request', 'parameters.aspectRatio'),
  )

  test.each([['7'], [-1], [1.5], [2_147_483_648], [true]])('seed may not be %j', async (seed) => {
    expectRefused(await read({}, { seed }), 'invalid_seed', 'parameters.seed')
  })

  test.each([[2], [0], ['2'], [true]])('sampleCount may not be %j', async (sampleCount) => {
    expectRefused(await read({}, { sampleCount }), 'invalid_request', 'parameters.sampleCount')
  })
})

describe('pictures', () => {
  const everything = { image: uri(1), lastFrame: uri(2) }
  const references = [{ image: uri(3), referenceType: 'asset' }, { image: bytes }]
  const expected = [
    { kind: 'image', url: uri(1).uri, role: 'first_frame' },
    { kind: 'image', url: uri(2).uri, role: 'last_frame' },
    { kind: 'image', url: uri(3).uri, role: 'reference' },
    { kind: 'image', url: inline, role: 'reference' },
  ] as const

  test('are taken in the instance and in the parameters', async () => {
    const all = { ...everything, referenceImages: references }
    expect((await accepted(all)).media).toEqual(expected)
    expect((await accepted({}, all)).media).toEqual(expected)
    const { image, ...rest } = all
    expect((await accepted({ image }, rest)).media).toEqual(expected)
  })

  test.each<[Fields, string]>([
    [bytes, inline],
    [{ bytesBase64Encoded: 'aGk=' }, inline],
    [{ uri: inline }, inline],
    [{ inlineData: { data: 'aGk=', mimeType: 'image/webp' } }, 'data:image/webp;base64,aGk='],
    [uri(), uri().uri],
    [{ uri: 'http://pictures.example/a?b=c' }, 'http://pictures.example/a?b=c'],
  ])('may be given as %j', async (image, url) => {
    expect((await accepted({ image })).media).toEqual([{ kind: 'image', url, role: 'first_frame' }])
  })

  test('of references may stand without a wrapper', async () => {
    expect((await accepted({ referenceImages: [bytes] })).media[0]!.url).toBe(inline)
  })

  test.each<[unknown, string]>([
    ['https://pictures.example/a.png', ''],
    [[uri()], ''],
    [{ gcsUri: 'gs://b/a.png' }, ''],
    [{ mimeType: 'image/png' }, ''],
    [{ ...uri(), ...bytes }, ''],
    [{ ...bytes, mimeType: 'video/mp4' }, ''],
    [{ ...bytes, mimeType: 'image/png;x,y' }, ''],
    [{ bytesBase64Encoded: 'no base64!', mimeType: 'image/png' }, ''],
    [{ bytesBase64Encoded: '', mimeType: 'image/png' }, ''],
    [{ bytesBase64Encoded: 7, mimeType: 'image/png' }, ''],
    [{ uri: 'data:text/html;base64,aGk=' }, ''],
    [{ uri: 'gs://b/a.png' }, '.uri'],
    [{ uri: 'file:///etc/passwd' }, '.uri'],
    [{ uri: 'data:image/png,aGk=' }, '.uri'],
    [{ uri: 7 }, '.uri'],
    [{ uri: `https://pictures.example/${'a'.repeat(9_000)}` }, '.uri'],
  ])('may not be given as %j', async (image, part) => {
    expectRefused(await read({ image }), 'invalid_request', `instances[0].image${part}`)
  })

  test('may not be too large', async () => {
    const image = { bytesBase64Encoded: 'A'.repeat(28_000_000), mimeType: 'image/png' }
    expectRefused(await read({ image }), 'request_too_large', 'instances[0].image')
  })

  test('may have blanks and line ends in their base64, and say that they are data', async () => {
    const lines = 'iVBO\r\nRw0K\n Ggo=\n'
    const expected = [
      { kind: 'image', url: 'data:image/png;base64,iVBORw0KGgo=', role: 'first_frame' },
    ]
    for (const image of [
      { bytesBase64Encoded: lines, mimeType: 'image/png' },
      { bytesBase64Encoded: `data:image/png;base64,${lines}`, mimeType: 'image/png' },
      { uri: `data:image/png;base64,${lines}` },
    ]) {
      expect((await accepted({ image })).media as unknown[]).toEqual(expected)
    }
  })

  test('may not be given twice', async () => {
    expectRefused(
      await read({ image: uri() }, { image: uri() }),
      'invalid_request',
      'parameters.image',
    )
  })

  test('at the end need one at the beginning', async () => {
    expectRefused(await read({ lastFrame: uri() }), 'invalid_request', 'instances[0].image')
  })

  test('to refer to are in a list; how many a model takes is its own', async () => {
    const many = (n: number) => ({ referenceImages: Array(n).fill({ image: uri() }) })
    const param = 'parameters.referenceImages'
    expect((await accepted({}, many(10))).media).toHaveLength(10)
    expectRefused(await read({}, many(65)), 'too_many_images', param)
    expectRefused(await read({}, { referenceImages: { a: 1 } }), 'invalid_request', param)
    const wrong = await read({ referenceImages: [{ image: uri() }, { image: 'x' }] })
    expectRefused(wrong, 'invalid_request', 'instances[0].referenceImages[1].image')
  })

  test('that move are not taken', async () => {
    expectRefused(await read({ video: uri() }), 'invalid_request', 'instances[0].video')
    expectRefused(await read({}, { video: uri() }), 'invalid_request', 'instances[0].video')
  })
})
