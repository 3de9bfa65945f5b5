import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { startSandbox } from '../server.ts'
import { loggedCalls, postTo, untilLogged } from '../testing.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

interface Answer {
  object: string
  model: string
  data: { object: string; index: number; embedding: number[] | string }[]
  usage?: { prompt_tokens: number; total_tokens: number }
}

const post = (body: object) =>
  postTo(`${sandbox.protocols.embeddings}/embeddings`, { model: 'txta-embed', ...body })

const embed = async (body: object) => (await (await post(body)).json()) as Answer

const vectorsOf = ({ data }: Answer) => data.map(({ embedding }) => embedding as number[])

const lengthOf = (vector: number[]) => Math.hypot(...vector)

test('one text has one vector of length 1, of the usual size, and counts its tokens', async () => {
  const answer = await embed({ input: 'four little words here' })
  const [vector] = vectorsOf(answer)
  expect(answer).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: vector! }],
    model: 'txta-embed',
    usage: { prompt_tokens: 4, total_tokens: 4 },
  })
  expect(vector).toHaveLength(1024)
  expect(lengthOf(vector!)).toBeCloseTo(1, 6)
})

test('a text has the same vector alone and among others, and another text has another', async () => {
  const [alone] = vectorsOf(await embed({ input: 'one' }))
  const several = await embed({ input: ['two', 'one'] })
  const [other, again] = vectorsOf(several)
  expect(again).toEqual(alone!)
  expect(other).not.toEqual(alone!)
  expect(several.data.map(({ index }) => index)).toEqual([0, 1])
  expect(several.usage?.prompt_tokens).toBe(2)
})

test('token numbers are one input or many, each number a token', async () => {
  const one = await embed({ input: [5, 6, 7] })
  expect(one.data).toHaveLength(1)
  expect(one.usage?.prompt_tokens).toBe(3)
  const many = await embed({ input: [[5, 6, 7], [8]] })
  expect(many.usage?.prompt_tokens).toBe(4)
  expect(vectorsOf(many)[0]).toEqual(vectorsOf(one)[0]!)
})

test('Base64 carries the very numbers of the list', async () => {
  const [listed] = vectorsOf(await embed({ input: 'both', encoding_format: 'float' }))
  const answer = await embed({ input: 'both', encoding_format: 'base64' })
  const bytes = Buffer.from(answer.data[0]?.embedding as string, 'base64')
  const decoded = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
  expect(decoded).toEqual(listed!)
  expect(listed!.every((value) => Math.fround(value) === value)).toBe(true)
})

test('the number of dimensions is what was asked for, up to its bounds', async () => {
  const [most] = vectorsOf(await embed({ input: 'size', dimensions: 4096 }))
  expect(most).toHaveLength(4096)
  const [few] = vectorsOf(await embed({ input: 'size', dimensions: 8 }))
  const begun = most!.slice(0, 8)
  for (const [i, value] of few!.entries()) {
    expect(value).toBeCloseTo(begun[i]! / lengthOf(begun), 5)
  }
  const [least] = vectorsOf(await embed({ input: 'size', dimensions: 1 }))
  expect(Math.abs(least![0]!)).toBe(1)
  for (const dimensions of [0, 4097, 1.5, '8']) {
    expect((await post({ input: 'size', dimensions })).status).toBe(400)
  }
})

test('2048 inputs are taken and one more is refused', async () => {
  const input = Array(2048).fill('x')
  expect((await embed({ input, dimensions: 1 })).data).toHaveLength(2048)
  const refused = await post({ input: [...input, 'x'], dimensions: 1 })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { param: 'input' } })
})

test('what is missing, empty or wrong is refused and named', async () => {
  const cases: [body: object, param: string][] = [
    [{ model: '', input: 'x' }, 'model'],
    [{}, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: ['x', ''] }, 'input'],
    [{ input: [[]] }, 'input'],
    [{ input: [-1] }, 'input'],
    [{ input: { text: 'x' } }, 'input'],
    [{ input: 'x', encoding_format: 'hex' }, 'encoding_format'],
  ]
  for (const [body, param] of cases) {
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } })
  }
})

test('directives are obeyed here too', async () => {
  expect('usage' in (await embed({ input: '[[sim:no-usage]]' }))).toBe(false)
  expect((await post({ input: ['x', '[[sim:status=429]]'] })).status).toBe(429)
  expect((await post({ input: '[[sim:fail]]' })).status).toBe(500)
  const refused = await post({ input: '[[sim:fail=content_policy]]' })
  expect(await refused.json()).toMatchObject({ error: { code: 'data_inspection_failed' } })
  const cut = await post({ input: '[[sim:cut=1]]', user: 'cut-vector' })
  const outcome = await cut.text().then(
    () => 'whole',
    () => 'broken',
  )
  expect(outcome).toBe('broken')
  expect((await untilLogged(sandbox, 'cut-vector')).finished).toBe(false)
})

test('the call log has the input, and no output', async () => {
  await embed({ input: ['two words', 'one'], user: 'logged' })
  expect((await loggedCalls(sandbox)).at(-1)).toMatchObject({
    protocol: 'embeddings',
    model: 'txta-embed',
    user: 'logged',
    prompt_tokens: 3,
    completion_tokens: 0,
    finished: true,
  })
})

test('the official client reads the same numbers whichever encoding it asks for', async () => {
  const client = new OpenAI({ apiKey: 'any', baseURL: sandbox.protocols.embeddings ?? '' })
  const asked = { model: 'txta-embed', input: ['a', 'b'], dimensions: 16 }
  const plain = await client.embeddings.create({ ...asked, encoding_format: 'float' })
  const usual = await client.embeddings.create(asked)
  expect(usual.data.map((row) => row.embedding)).toEqual(plain.data.map((row) => row.embedding))
})
