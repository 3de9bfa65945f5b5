// Forms: the same fields as JSON would give, and the limits on both sides.
import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../contract/errors.ts'
import type { RequestContext } from '../request-context.ts'
import { isForm, isUpload, readForm } from './read-form.ts'

const limits = { bodyBytes: 64 * 1024, bodyMs: 5_000, jsonDepth: 8 }
const address = 'http://gateway/v1/videos'

const contextFor = (init: RequestInit) =>
  ({ request: new Request(address, { method: 'POST', ...init }) }) as RequestContext

function formOf(parts: [string, string | Blob][]): FormData {
  const form = new FormData()
  for (const [name, value] of parts) form.append(name, value)
  return form
}

/** The bytes and their type, as they come over the wire. */
async function encoded(form: FormData): Promise<{ body: Uint8Array; type: string }> {
  const response = new Response(form)
  const type = response.headers.get('content-type')!
  return { body: await response.bytes(), type }
}

async function readParts(parts: [string, string | Blob][], bodyBytes = limits.bodyBytes) {
  const { body, type } = await encoded(formOf(parts))
  const x = contextFor({ body, headers: { 'content-type': type } })
  return readForm(x, { ...limits, bodyBytes })
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('a form', () => {
  test.each<[[string, string][], unknown]>([
    [[], {}],
    [
      [
        ['model', 'm'],
        ['seconds', '8'],
        ['prompt', ''],
      ],
      { model: 'm', seconds: '8', prompt: '' },
    ],
    [[['0', 'a']], { 0: 'a' }],
    [[['input_reference[image_url]', 'u']], { input_reference: { image_url: 'u' } }],
    [[['input_reference[image_url][url]', 'u']], { input_reference: { image_url: { url: 'u' } } }],
    [[['references[video][]', 'a']], { references: { video: ['a'] } }],
    [
      [
        ['references[video][]', 'a'],
        ['references[video][]', 'b'],
      ],
      { references: { video: ['a', 'b'] } },
    ],
    [
      [
        ['r[]', 'a'],
        ['r[]', 'b'],
      ],
      { r: ['a', 'b'] },
    ],
    [
      [
        ['r', 'a'],
        ['r', 'b'],
        ['r[]', 'c'],
        ['r', 'd'],
      ],
      { r: ['a', 'b', 'c', 'd'] },
    ],
    [
      [
        ['r', 'a'],
        ['r[]', 'b'],
      ],
      { r: ['a', 'b'] },
    ],
    [
      [
        ['r[1]', 'b'],
        ['r[0]', 'a'],
        ['r[10]', 'c'],
      ],
      { r: ['a', 'b', 'c'] },
    ],
    [
      [
        ['r[][x]', '1'],
        ['r[][y]', '2'],
        ['r[][x]', '3'],
      ],
      { r: [{ x: '1', y: '2' }, { x: '3' }] },
    ],
    [
      [
        ['r[0][x]', '1'],
        ['r[1][x]', '2'],
      ],
      { r: [{ x: '1' }, { x: '2' }] },
    ],
  ])('of %j gives fields', async (parts, fields) => {
    const form = await readParts(parts)
    expect(form).not.toBeInstanceOf(Refusal)
    expect(plain((form as { fields: unknown }).fields)).toEqual(fields)
  })

  test('cannot reach a prototype by the names of its parts', async () => {
    const form = await readParts([
      ['__proto__[polluted]', 'yes'],
      ['constructor[prototype][polluted]', 'yes'],
    ])
    expect(form).not.toBeInstanceOf(Refusal)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test.each<[[string, string][]]>([
    [[['a[', 'x']]],
    [[['a]', 'x']]],
    [[['[a]', 'x']]],
    [[['a[b]c', 'x']]],
    [[['a[b][c][d][e]', 'x']]],
    [
      [
        ['a', 'x'],
        ['a[b]', 'y'],
      ],
    ],
    [
      [
        ['a[b]', 'x'],
        ['a', 'y'],
      ],
    ],
    [
      [
        ['a[]', 'x'],
        ['a[b]', 'y'],
      ],
    ],
    [
      [
        ['a[b]', 'x'],
        ['a[]', 'y'],
      ],
    ],
  ])('of %j is refused', async (parts) => {
    expect(await readParts(parts)).toMatchObject({
      code: 'invalid_request',
      extras: { param: parts.at(-1)![0] },
    })
  })

  test('may go four names deep', async () => {
    expect(await readParts([['a[b][c][d]', 'x']])).toMatchObject({
      fields: { a: { b: { c: { d: 'x' } } } },
    })
  })

  test('has a limit on its parts', async () => {
    const parts = (count: number) =>
      Array.from({ length: count }, (_, i): [string, string] => [`f${i}`, 'x'])
    expect(await readParts(parts(256))).not.toBeInstanceOf(Refusal)
    expect(await readParts(parts(257))).toMatchObject({ code: 'invalid_request' })
  })

  test('may have long texts, with any characters', async () => {
    const texts = [
      '汉字'.repeat(300_000),
      'é\u0000€'.repeat(400_000),
      'short',
      'a'.repeat(1_048_576),
    ]
    const parts = texts.map((text, number): [string, string] => [`t${number}`, text])
    const read = await readParts(parts, 16 * 1024 * 1024)
    expect(Object.values((read as { fields: Record<string, unknown> }).fields)).toEqual(texts)
  })

  test('may hold a file, which is no field of JSON', async () => {
    const file = new File([new Uint8Array([1, 2, 3])], 'a.png', { type: 'image/png' })
    const form = await readParts([['input_reference', file]])
    const upload = (form as { fields: Record<string, unknown> }).fields['input_reference']
    expect(isUpload(upload)).toBe(true)
    const bytes = new Uint8Array([1, 2, 3])
    expect(upload).toEqual({ type: 'image/png', fileName: 'a.png', bytes })
    expect(isUpload({ type: 'image/png', bytes: [1, 2, 3] })).toBe(false)
  })
})

describe('the body of a form', () => {
  test('may have as many bytes as the limit and not one more', async () => {
    const { body, type } = await encoded(formOf([['prompt', 'x'.repeat(500)]]))
    const read = (bodyBytes: number, sent: Uint8Array | ReadableStream, length?: number) => {
      const headers: Record<string, string> = { 'content-type': type }
      if (length !== undefined) headers['content-length'] = String(length)
      return readForm(contextFor({ body: sent, headers }), { ...limits, bodyBytes })
    }
    const stream = () => new Blob([body]).stream()
    const size = body.length
    expect(await read(size, body, size)).not.toBeInstanceOf(Refusal)
    expect(await read(size, stream())).not.toBeInstanceOf(Refusal)
    expect(await read(size - 1, body, size)).toMatchObject({ code: 'request_too_large' })
    expect(await read(size - 1, stream())).toMatchObject({ code: 'request_too_large' })
  })

  test('is not read at all when it says that it is too large', async () => {
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': String(limits.bodyBytes + 1),
    }
    const x = contextFor({ body: 'x', headers })
    expect(await readForm(x, limits)).toMatchObject({ code: 'request_too_large' })
    expect(x.request.bodyUsed).toBe(false)
  })

  test('that never ends is given up', async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([45, 45])),
    })
    const x = contextFor({ body, headers: { 'content-type': 'multipart/form-data; boundary=b' } })
    expect(await readForm(x, { ...limits, bodyMs: 20 })).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('did not arrive'),
    })
  })

  test('that breaks off is refused', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('gone')),
    })
    const x = contextFor({ body, headers: { 'content-type': 'multipart/form-data; boundary=b' } })
    expect(await readForm(x, limits)).toMatchObject({ code: 'invalid_request' })
  })

  test.each([
    ['multipart/form-data', '--b--\r\n'],
    ['multipart/form-data; boundary=b', ''],
    ['multipart/form-data; boundary=b', 'hello'],
    ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n5'],
  ])('of type %p and text %j is refused', async (type, body) => {
    const x = contextFor({ body, headers: { 'content-type': type } })
    expect(await readForm(x, limits)).toMatchObject({ code: 'invalid_request' })
  })

  test('may not be compressed', async () => {
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      'content-encoding': 'gzip',
    }
    expect(await readForm(contextFor({ body: 'x', headers }), limits)).toMatchObject({
      code: 'unsupported_media_type',
    })
  })
})

test.each([
  ['multipart/form-data; boundary=b', true],
  ['Multipart/Form-Data;boundary=b', true],
  ['multipart/form-data', true],
  ['multipart/form-database', false],
  ['application/json', false],
])('the type %p is a form: %p', (type, expected) => {
  expect(isForm(contextFor({ body: 'x', headers: { 'content-type': type } }))).toBe(expected)
})
