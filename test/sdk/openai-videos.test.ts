// Videos with the official SDK: it always sends forms, polls by retrieving, and downloads the file.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { ledgerOf, until } from '../support/read.ts'

let gateway: TestGateway
let client: OpenAI
beforeAll(async () => {
  gateway = await startGateway({ env: { GATEWAY_SANDBOX_TASK_SECONDS: '1' } })
  client = new OpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

type Params = Parameters<OpenAI['videos']['create']>[0]
const create = (fields: Record<string, unknown>) =>
  client.videos.create({ prompt: 'a cat', ...fields } as unknown as Params)

/** What it fails with; the SDK's promises are not quite promises. */
const thrown = async (work: PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await work
  } catch (error) {
    return error
  }
}

const ended = (id: string) =>
  until(`the end of ${id}`, async () => {
    const video = await client.videos.retrieve(id)
    return ['queued', 'in_progress'].includes(video.status) ? undefined : video
  })

test('a video is created, followed, downloaded and paid for by its seconds', async () => {
  const made = await create({ model: 'vfb-1.1-t2v', seconds: '4' })
  expect([made.status, made.object, made.seconds as string]).toEqual(['queued', 'video', '4'])
  const video = await ended(made.id)
  expect([video.status, video.progress]).toEqual(['completed', 100])
  const bytes = Buffer.from(await (await client.videos.downloadContent(made.id)).arrayBuffer())
  expect(bytes.toString('latin1', 4, 8)).toBe('ftyp')
  const charge = (await ledgerOf(gateway)).find(({ kind }) => kind === 'charge')
  // Omitted, the resolution is 1080p: four seconds of 1.20.
  expect([charge?.amount, charge?.unit, charge?.quantity]).toEqual(['-4.80', 'video_second', 4])
})

test('a picture may come along as an object or as a file', async () => {
  const url = 'https://example.com/cat.png'
  const linked = await create({ model: 'vfb-1.1-i2v', input_reference: { image_url: url } })
  expect((await ended(linked.id)).status).toBe('completed')
  const file = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47])], 'cat.png', {
    type: 'image/png',
  })
  const sent = await create({ model: 'vfb-1.1-i2v', input_reference: file })
  expect((await ended(sent.id)).status).toBe('completed')
})

test('a video that failed says why and costs nothing', async () => {
  const before = (await ledgerOf(gateway)).filter(({ kind }) => kind === 'charge').length
  const made = await create({ model: 'vfb-1.1-t2v', prompt: 'x [[sim:fail=content_policy]]' })
  const video = await ended(made.id)
  expect([video.status, video.error?.code]).toEqual(['failed', 'content_policy_violation'])
  expect(await thrown(client.videos.downloadContent(made.id))).toMatchObject({
    status: 409,
    code: 'video_not_available',
  })
  expect((await ledgerOf(gateway)).filter(({ kind }) => kind === 'charge').length).toBe(before)
})

test('lists, deletes, and does not find what is not there', async () => {
  const page = await client.videos.list({ limit: 2 })
  expect(page.data).toHaveLength(2)
  const [first] = page.data
  expect(await client.videos.delete(first!.id)).toMatchObject({ deleted: true })
  expect(await thrown(client.videos.retrieve(first!.id))).toMatchObject({
    status: 404,
    code: 'video_not_found',
  })
  expect(await thrown(create({ model: 'vfb-1.1-t2v', seconds: '2' }))).toMatchObject({
    status: 400,
    code: 'invalid_duration',
  })
})
