import { afterAll, describe, expect, test } from 'bun:test'
import { differingShare, readPng } from '../media/test-png.ts'
import { startSandbox } from '../server.ts'
import { loggedCalls, postTo, untilLogged } from '../testing.ts'

const clock = { time: Date.parse('2026-01-02T03:04:05.678Z') }
const sandbox = startSandbox({ now: () => clock.time })
afterAll(() => sandbox.stop())

interface Body {
  created: number
  data: { url?: string; b64_json?: string }[]
  usage?: Record<string, unknown>
  error?: { message: string; type: string; code: string | null; param: string | null }
}

const base = sandbox.protocols.images ?? ''
const orderOf = (prompt: string, more: object = {}) => ({ model: 'imga-plus', prompt, ...more })
const generate = (prompt: string, more: object = {}) =>
  postTo(`${base}/images/generations`, orderOf(prompt, more))
const edit = (body: object | FormData) =>
  postTo(`${base}/images/edits`, body, body instanceof FormData ? { body } : {})
const read = async (response: Response) => (await response.json()) as Body
const made = async (prompt: string, more: object = {}) => read(await generate(prompt, more))
const pngAt = async (url: string | undefined) => readPng(await (await fetch(url!)).bytes())

const png = new File([Buffer.from('89504e470d0a1a0a00ff', 'hex')], 'a.png', { type: 'image/png' })
const otherPng = new File([Buffer.from('89504e470d0a1a0a00fe', 'hex')], 'b.png', {
  type: 'image/png',
})

function formOf(words: Record<string, string>, files: [name: string, File][]): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(words)) form.append(name, value)
  for (const [name, file] of files) form.append(name, file)
  return form
}

describe('images are drawn', () => {
  test('at once, as many and as large as asked for, with usage', async () => {
    const response = await generate('a cat', { n: 2, size: '640x480' })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-request-id')).toMatch(/^sbx-/)
    const { created, data, usage } = await read(response)
    expect(created).toBe(Math.floor(clock.time / 1000))
    expect(data).toHaveLength(2)
    const [first, second] = await Promise.all(data.map(({ url }) => pngAt(url)))
    expect([first!.width, first!.height]).toEqual([640, 480])
    expect(differingShare(first!, second!)).toBeGreaterThan(0.3)
    expect(usage).toMatchObject({ output_tokens: 516, input_tokens_details: { image_tokens: 0 } })
  })

  test('1024 x 1024 when nothing is said', async () => {
    for (const more of [{}, { size: 'auto' }]) {
      const { data } = await made('a cat', more)
      expect(await pngAt(data[0]!.url)).toMatchObject({ width: 1024, height: 1024 })
    }
  })

  test('as bytes that are those of the file at the address', async () => {
    const { data } = await made('a dog', { n: 2, response_format: 'b64_json' })
    const { data: same } = await made('a dog', { n: 2 })
    for (const [index, { b64_json, url }] of data.entries()) {
      expect(url).toBeUndefined()
      const file = await fetch(same[index]!.url!)
      expect(file.headers.get('content-type')).toBe('image/png')
      expect(Buffer.from(await file.bytes()).toString('base64')).toBe(b64_json!)
    }
  })

  test('alike for the same words and seed, otherwise with others', async () => {
    const pathOf = async (prompt: string, more: object) =>
      new URL((await made(prompt, more)).data[0]!.url!).pathname
    const one = await pathOf('a fox', { seed: 1 })
    expect(await pathOf('a fox', { seed: 1, n: 3, user: 'x' })).toBe(one)
    expect(await pathOf('a fox', { seed: 2 })).not.toBe(one)
    expect(await pathOf('an ox', { seed: 1 })).not.toBe(one)
  })

  test('and their addresses work for a day, in parts too', async () => {
    const { url } = (await made('a day')).data[0]!
    const part = await fetch(url!, { headers: { range: 'bytes=1-3' } })
    expect([part.status, await part.text()]).toEqual([206, 'PNG'])
    expect((await fetch(url!.replace('-0-', '-1-'))).status).toBe(403)
    clock.time += 86_399_000
    expect((await fetch(url!)).status).toBe(200)
    clock.time += 1_000
    expect((await fetch(url!)).status).toBe(403)
  })
})

describe('images are edited', () => {
  test('when they come as addresses in JSON', async () => {
    const images = [{ image_url: 'https://up.example/a.png' }]
    const answer = await read(await edit(orderOf('bluer', { images, size: '512x512' })))
    expect(answer.usage).toMatchObject({ input_tokens_details: { image_tokens: 258 } })
    expect(await pngAt(answer.data[0]!.url)).toMatchObject({ width: 512, height: 512 })
  })

  test('when they come as one file or several in a form, and bear their mark', async () => {
    const words = { model: 'imga-edit', prompt: 'bluer', n: '2', size: '512x256' }
    const one = await read(await edit(formOf(words, [['image', png]])))
    expect(one.data).toHaveLength(2)
    expect(await pngAt(one.data[1]!.url)).toMatchObject({ width: 512, height: 256 })
    const list: [string, File][] = [
      ['image[]', png],
      ['image[]', otherPng],
      ['image[]', png],
    ]
    const three = await read(await edit(formOf(words, list)))
    const named = (body: Body) => new URL(body.data[0]!.url!).pathname
    expect(named(one)).toMatch(/-512x256-1i[0-9a-f]{6}f50\.png$/)
    expect(named(three)).toMatch(/-512x256-3i[0-9a-f]{6}f50\.png$/)
    const other = await read(await edit(formOf(words, [['image', otherPng]])))
    const again = await read(await edit(formOf(words, [['image', png]])))
    expect(named(other)).not.toBe(named(one))
    expect(named(again)).toBe(named(one))
  })

  test('and how much they shall be like them is seen', async () => {
    const words = { model: 'imga-edit', prompt: 'alike', input_fidelity: 'high' }
    const { data } = await read(await edit(formOf(words, [['image', png]])))
    expect(data[0]!.url).toContain('f90.png')
  })
})

test.each<[string, object, string]>([
  ['n', { n: 0 }, 'n'],
  ['n', { n: 11 }, 'n'],
  ['n', { n: 1.5 }, 'n'],
  ['size', { size: '1024*1024' }, 'size'],
  ['size', { size: '8x8' }, 'size'],
  ['size', { size: '9000x100' }, 'size'],
  ['size', { size: '8192x8192' }, 'size'],
  ['response_format', { response_format: 'png' }, 'response_format'],
  ['prompt', { prompt: '' }, 'prompt'],
  ['model', { model: '' }, 'model'],
])('a wrong %s is refused: %#', async (_, more, param) => {
  const response = await generate('a cat', more)
  expect(response.status).toBe(400)
  expect((await read(response)).error).toMatchObject({ type: 'invalid_request_error', param })
})

test('an edit without an image, or with what is none, is refused', async () => {
  const text = new File(['words'], 'a.txt', { type: 'text/plain' })
  const words = { model: 'imga-edit', prompt: 'bluer' }
  const bodies = [
    orderOf('bluer'),
    orderOf('bluer', { images: [] }),
    orderOf('bluer', { images: [{ image_url: 'file:///etc/hosts' }] }),
    orderOf('bluer', { images: Array(17).fill({ image_url: 'https://up.example/a.png' }) }),
    formOf(words, []),
    formOf(words, [['image', text]]),
  ]
  for (const body of bodies) {
    const response = await edit(body)
    expect(response.status).toBe(400)
    expect((await read(response)).error?.param).toBe('image')
  }
})

test('a form is taken for edits only, and only when it is one', async () => {
  const body = formOf({ model: 'imga-plus', prompt: 'a cat' }, [])
  const drawn = await postTo(`${base}/images/generations`, '', { body })
  expect(drawn.status).toBe(400)
  const torn = await fetch(`${base}/images/edits`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: '--y\r\n',
  })
  expect(torn.status).toBe(400)
})

describe('directives', () => {
  test('deliver fewer images, or none, and the log says how many', async () => {
    const two = await made('[[sim:partial=2]]', { n: 4, user: 'partial' })
    expect(two.data).toHaveLength(2)
    expect(await untilLogged(sandbox, 'partial')).toMatchObject({ images: 2, status: 200 })
    expect((await made('[[sim:images=3]]', { n: 1 })).data).toHaveLength(1)
    expect((await made('[[sim:no-output]]', { n: 4 })).data).toEqual([])
    expect((await made('[[sim:no-usage]]')).usage).toBeUndefined()
  })

  test('are read in a form too', async () => {
    const words = { model: 'imga-edit', prompt: 'bluer [[sim:status=429]]' }
    const response = await edit(formOf(words, [['image', png]]))
    expect(response.status).toBe(429)
    expect((await loggedCalls(sandbox)).at(-1)).toMatchObject({ model: 'imga-edit', status: 429 })
  })

  test('fail, refuse the content, leak and cut', async () => {
    expect((await generate('[[sim:fail]]')).status).toBe(500)
    const refused = await generate('[[sim:fail=content_policy]]')
    expect([refused.status, (await read(refused)).error?.code]).toEqual([
      400,
      'data_inspection_failed',
    ])
    expect(await (await generate('[[sim:leak]]')).text()).toContain('sk-upstream-0123456789')
    const broken = generate('[[sim:cut=0]]').then((answer) => answer.json())
    expect(await broken.catch(() => 'broke off')).toBe('broke off')
  })
})
