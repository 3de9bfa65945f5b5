// Every field of both requests, on both sides of its bounds.
import { expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import { type ImageCall, parseEdit, parseGeneration } from './parse.ts'

const basic = { model: 'imga-plus', prompt: 'a boat' }
const image = 'https://example.com/a.png'
const inline = 'data:image/png;base64,iVBORw0KGgo='

const told = (call: ImageCall | Refusal) =>
  call instanceof Refusal ? [call.code, call.extras.param] : call

const generation = (more: object, form = false) =>
  told(parseGeneration({ ...basic, ...more }, form))
const edit = async (more: object, form = false) =>
  told(await parseEdit({ ...basic, ...more }, form))
const media = (call: ImageCall | Refusal) =>
  call instanceof Refusal ? call.code : call.request.media.map(({ url }) => url)

test('the least that can be asked for is one picture by address', () => {
  expect(generation({})).toEqual({
    kind: 'image',
    model: 'imga-plus',
    request: { prompt: 'a boat', count: 1, media: [], isEdit: false },
    wantsBytes: false,
  })
})

test.each([
  ['n', 1, { count: 1 }],
  ['n', 10, { count: 10 }],
  ['n', null, { count: 1 }],
  ['size', '64x4096', { size: { width: 64, height: 4096 } }],
  ['size', '1024x1536', { size: { width: 1024, height: 1536 } }],
  ['seed', 0, { seed: 0 }],
  ['seed', 2_147_483_647, { seed: 2_147_483_647 }],
  ['negative_prompt', 'rain', { negativePrompt: 'rain' }],
])('%s may be %p', (name, value, request) => {
  expect(generation({ [name]: value })).toMatchObject({ request })
})

test.each([
  ['size', 'auto'],
  ['size', null],
  ['stream', false],
  ['stream', null],
  ['response_format', 'url'],
])('%s: %p is as if it were not there', (name, value) => {
  expect(generation({ [name]: value })).toEqual(generation({}))
})

test.each([
  ['model', '', 'invalid_request'],
  ['prompt', undefined, 'invalid_request'],
  ['prompt', ' ', 'invalid_request'],
  ['prompt', 5, 'invalid_request'],
  ...[0, 11, 1.5, -1, '1', true, Number.POSITIVE_INFINITY, 2 ** 64].map(
    (n) => ['n', n, 'invalid_request'] as const,
  ),
  ...['63x64', '64x63', '4097x64', '64x4097', '99999x99999', '0x0', '064x64', '64X64', '', 64].map(
    (size) => ['size', size, 'invalid_request'] as const,
  ),
  ['response_format', 'png', 'invalid_request'],
  ['response_format', 1, 'invalid_request'],
  ['stream', true, 'invalid_request'],
  ['stream', 'false', 'invalid_request'],
  ['seed', -1, 'invalid_seed'],
  ['seed', 2_147_483_648, 'invalid_seed'],
  ['seed', '1', 'invalid_seed'],
  ['negative_prompt', 5, 'invalid_request'],
] as const)('%s may not be %p', (name, value, code) => {
  expect(generation({ [name]: value })).toEqual([code, name])
})

test('a prompt may have 32000 characters, as people count them', () => {
  expect(generation({ prompt: '😀'.repeat(32_000) })).toMatchObject({ kind: 'image' })
  expect(generation({ prompt: '😀'.repeat(32_001) })).toEqual(['invalid_request', 'prompt'])
  expect(generation({ prompt: 'a'.repeat(32_001) })).toEqual(['invalid_request', 'prompt'])
})

test('bytes are wanted when base64 is', () => {
  expect(generation({ response_format: 'b64_json' })).toMatchObject({ wantsBytes: true })
})

test('what SDKs send besides goes nowhere', () => {
  const extras = { quality: 'hd', style: 'vivid', background: 'auto', user: 'u', moderation: 'low' }
  expect(generation(extras)).toEqual(generation({}))
})

test('a form says numbers in digits', async () => {
  const more = { image: image, n: '3', seed: '7', stream: 'false', size: '512x512' }
  expect(await edit(more, true)).toMatchObject({
    request: { count: 3, seed: 7, size: { width: 512, height: 512 } },
  })
  for (const n of ['0', '11', '1.5', 'x']) {
    expect(await edit({ image: image, n }, true)).toEqual(['invalid_request', 'n'])
  }
  expect(await edit({ image: image, stream: 'true' }, true)).toEqual(['invalid_request', 'stream'])
})

test('pictures to edit are found wherever they stand', async () => {
  const forms: object[] = [
    { images: [{ image_url: image }] },
    { images: [{ image_url: { url: image } }] },
    { images: [image] },
    { image: image },
    { image: [image] },
    { images: { image_url: image } },
  ]
  for (const form of forms) {
    const call = await parseEdit({ ...basic, ...form }, false)
    expect(media(call)).toEqual([image])
    expect(call).toMatchObject({ request: { isEdit: true } })
  }
  const both = await parseEdit({ ...basic, images: [{ image_url: inline }], image: image }, false)
  expect(media(both)).toEqual([inline, image])
})

test('files of a form become data addresses', async () => {
  const bytes = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  for (const type of ['image/png', 'application/octet-stream', '']) {
    expect(media(await parseEdit({ ...basic, image: { type, bytes } }, true))).toEqual([inline])
  }
})

test('three pictures can be edited at once, four cannot', async () => {
  const images = (count: number) => Array.from({ length: count }, () => ({ image_url: image }))
  expect(await edit({ images: images(3) })).toMatchObject({ kind: 'image' })
  expect(await edit({ images: images(4) })).toEqual(['too_many_images', 'images'])
  expect(await edit({ image: [image, image], images: images(2) })).toEqual([
    'too_many_images',
    'images',
  ])
})

test.each([
  ['nothing', { images: undefined }],
  ['an empty list', { images: [] }],
  ['an empty object', { images: [{}] }],
  ['a number', { images: [{ image_url: 5 }] }],
  ['a file of another service', { images: [{ file_id: 'file-1' }] }],
  ['an address of another kind', { images: [{ image_url: 'ftp://example.com/a.png' }] }],
  ['a page', { images: [{ image_url: 'data:text/html;base64,AAAA' }] }],
  ['no base64', { images: [{ image_url: 'data:image/png;base64,?' }] }],
  ['a file that is no picture', { image: { type: 'text/html', bytes: Buffer.from('<html>') } }],
  ['an empty file', { image: { type: 'image/png', bytes: Buffer.alloc(0) } }],
])('%s cannot be edited', async (_, fields) => {
  expect(await edit(fields)).toEqual(['invalid_request', Object.keys(fields)[0]])
})

test('a file may have 20 MB and not a byte more', async () => {
  const file = (size: number) => ({ image: { type: 'image/png', bytes: Buffer.alloc(size) } })
  expect(await edit(file(20 * 1024 * 1024), true)).toMatchObject({ kind: 'image' })
  expect(await edit(file(20 * 1024 * 1024 + 1), true)).toEqual(['request_too_large', 'image'])
})

test('a mask is refused rather than left out', async () => {
  const mask = { type: 'image/png', bytes: Buffer.from('\x89PNG', 'latin1') }
  expect(await edit({ image: image, mask }, true)).toEqual(['invalid_request', 'mask'])
  expect(await edit({ image: image, mask: null })).toMatchObject({ kind: 'image' })
})
