// Pictures with the official SDKs: made from words, changed from files, as addresses and as bytes.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateImage } from 'ai'
import OpenAI, { APIError } from 'openai'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { ledgerOf } from '../support/read.ts'

let gateway: TestGateway
let client: OpenAI
beforeAll(async () => {
  gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.5' } })
  client = new OpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

/** Width and height as the file itself says. */
function sizeOf(png: Buffer): string {
  expect(png.toString('latin1', 1, 4)).toBe('PNG')
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`
}
const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
const charges = async () => (await ledgerOf(gateway)).filter(({ kind }) => kind === 'charge')
const newest = async () => {
  const [charge] = await charges()
  return [charge?.amount, charge?.unit, charge?.quantity]
}
const thrown = async (work: PromiseLike<unknown>): Promise<APIError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof APIError) return error
    throw error
  }
  throw new Error('it did not fail')
}

test('pictures by address are those of the asked size, need no token, and cost each', async () => {
  const made = await client.images.generate({
    model: 'imga-plus',
    prompt: 'a boat in the fog',
    n: 2,
    size: '512x768' as '1024x1024',
  })
  expect(made.created).toBeGreaterThan(1_700_000_000)
  const urls = made.data!.map(({ url }) => url!)
  expect(urls).toHaveLength(2)
  const files = await Promise.all(urls.map(bytesAt))
  expect(files.map(sizeOf)).toEqual(['512x768', '512x768'])
  expect(files[0]!.equals(files[1]!)).toBe(false)
  expect(await newest()).toEqual(['-0.40', 'image', 2])
})

test('bytes are those of the file', async () => {
  const ask = { model: 'imga-plus', prompt: 'the same boat', size: '256x256' } as const
  const linked = await client.images.generate(ask)
  const packed = await client.images.generate({ ...ask, response_format: 'b64_json' })
  const file = await bytesAt(linked.data![0]!.url!)
  expect(Buffer.from(packed.data![0]!.b64_json!, 'base64').equals(file)).toBe(true)
})

const picture = async (name: string) => {
  const made = await client.images.generate({
    model: 'imga-plus',
    prompt: name,
    size: '256x256',
    response_format: 'b64_json',
  })
  const bytes = Buffer.from(made.data![0]!.b64_json!, 'base64')
  return new File([bytes], `${name}.png`, { type: 'image/png' })
}

test('one file and three files can be changed', async () => {
  const files = await Promise.all(['one', 'two', 'three'].map(picture))
  for (const image of [files[0]!, files]) {
    const made = await client.images.edit({ model: 'imga-edit', prompt: 'make it blue', image })
    expect(sizeOf(await bytesAt(made.data![0]!.url!))).toMatch(/^\d+x\d+$/)
  }
  const four = [...files, files[0]!]
  const error = await thrown(
    client.images.edit({ model: 'imga-edit', prompt: 'too many', image: four }),
  )
  expect([error.status, error.code]).toEqual([400, 'too_many_images'])
})

test('what fails is an error of its class, and free', async () => {
  const before = (await charges()).length
  const ask = (prompt: string) => client.images.generate({ model: 'imga-plus', prompt })
  const refused = await thrown(ask('no [[sim:status=400]]'))
  expect([refused.status, refused.code]).toEqual([400, 'upstream_invalid_request'])
  expect(refused.requestID).toMatch(/^req_/)
  const none = await thrown(ask('nothing [[sim:no-output]]'))
  expect([none.status, none.code]).toEqual([502, 'no_output'])
  const leaky = await thrown(ask('tell me [[sim:leak]]'))
  expect(JSON.stringify(leaky.error)).not.toMatch(/sandbox-|127\.0\.0\.1/)
  const odd = await thrown(
    client.images.generate({ model: 'imga-plus', prompt: 'x', size: '1x1' as '256x256' }),
  )
  expect([odd.status, odd.code, odd.param]).toEqual([400, 'invalid_request', 'size'])
  const film = await thrown(client.images.generate({ model: 'vfa-2.7-t2v', prompt: 'x' }))
  expect([film.status, film.code]).toEqual([400, 'model_not_supported'])
  expect(await charges()).toHaveLength(before)
})

test('fewer than were asked for are charged as many as came', async () => {
  const made = await client.images.generate({
    model: 'imga-plus',
    prompt: 'some [[sim:partial=2]]',
    n: 4,
  })
  expect(made.data).toHaveLength(2)
  expect(await newest()).toEqual(['-0.40', 'image', 2])
})

test('asked again under a key, they are the same and paid for once', async () => {
  const ask = () =>
    client.images
      .generate(
        { model: 'imga-plus', prompt: 'once', response_format: 'b64_json', size: '256x256' },
        { headers: { 'Idempotency-Key': 'pictures-1' } },
      )
      .withResponse()
  const first = await ask()
  const before = (await charges()).length
  const again = await ask()
  expect(again.data.data).toEqual(first.data.data)
  expect(again.response.headers.get('idempotent-replayed')).toBe('true')
  expect(await charges()).toHaveLength(before)
})

test('the ai SDK has pictures made', async () => {
  const providers = [
    createOpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1` }).image('imga-plus'),
    createOpenAICompatible({
      name: 'gateway',
      apiKey: apiToken,
      baseURL: `${gateway.url}/v1`,
    }).imageModel('imga-plus'),
  ]
  for (const model of providers) {
    const { images } = await generateImage({ model, prompt: 'a lighthouse', n: 2, size: '256x256' })
    expect(images.map(({ uint8Array }) => sizeOf(Buffer.from(uint8Array)))).toEqual([
      '256x256',
      '256x256',
    ])
  }
})
