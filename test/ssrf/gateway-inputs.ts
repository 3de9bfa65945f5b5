// The addresses that a running gateway takes, from its callers and from its upstreams, and asks by
// itself: a row for each, which hands an address in and tells whether its file came back.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { allowedAddress, file } from './canaries.ts'
import type { Input, Outcome } from './hops.ts'
import type { SsrfUpstream } from './upstream.ts'

const auth = { authorization: `Bearer ${apiToken}` }
/** Hundreds of tasks are watched at once: more often, and the looks are all that the machine does. */
const pollEveryMs = 2_000
const maxPolls = 100
/** At each input. */
const atOnce = 100
/** An account without a usable address is asked for again, in the hope of a better one. */
const enoughLooks = 2

const paths = {
  videos: '/v1/videos',
  images: '/v1/images/generations',
  vendorg: '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
  imgvendor: '/imgvendor/v1/images/generations',
  arkvendor: '/arkvendor/api/v3/contents/generations/tasks',
}

const models = ['vendorg-video-1', 'imga-plus', 'imgvendor-v1', 'vidmodel-1-5-pro']

const configFor = (upstream: SsrfUpstream, more: object) =>
  JSON.stringify({
    accounts: [{ name: 'acme', balance: '100000000.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    channels: [
      {
        name: 'upstream',
        keys: ['upk-0123456789abcdef'],
        protocols: upstream.protocols,
        models: Object.fromEntries(models.map((model) => [model, '*'])),
      },
    ],
    ...more,
  })

const startOn = (upstream: SsrfUpstream, more: object = {}): Promise<TestGateway> =>
  startGateway({
    config: configFor(upstream, more),
    env: { GATEWAY_EGRESS_ALLOW: `${allowedAddress}/32` },
  })

/** A gateway and the upstream behind it. */
interface Stage {
  gateway: TestGateway
  upstream: SsrfUpstream
}

type Try = (stage: Stage, url: string) => Promise<Outcome>

const rows: readonly { name: string; tryOne: Try; keeps?: true; follows?: false }[] = [
  { name: 'result of a video, downloaded', tryOne: downloadVideo },
  { name: 'result of a video, kept', tryOne: keepVideo, keeps: true },
  { name: 'result of an image task, kept', tryOne: keepPicture, keeps: true },
  { name: 'result of an image, as Base64', tryOne: takePicture },
  { name: 'result of an image, by its link', tryOne: downloadPicture },
  { name: 'picture of a caller, fetched for an upstream', tryOne: handInPicture },
  { name: 'callback of an image task', tryOne: callBackImage, follows: false },
  { name: 'callback of a native task', tryOne: callBackNative, follows: false },
]

export interface GatewayInputs {
  inputs: Input[]
  stop(): Promise<void>
}

export async function startGatewayInputs(upstream: SsrfUpstream): Promise<GatewayInputs> {
  const plain = await startOn(upstream)
  const keeping = await startOn(upstream, { media: { keep: 'data' } })
  return {
    inputs: rows.map(({ name, tryOne, keeps, follows = true }) => {
      const stage = { gateway: keeps ? keeping : plain, upstream }
      return { name, follows, atOnce, tryOne: (url) => tryOne(stage, url) }
    }),
    async stop() {
      await Promise.all([plain.stop(), keeping.stop()])
    },
  }
}

const get = (gateway: TestGateway, path: string) =>
  fetch(path.startsWith('http') ? path : `${gateway.url}${path}`, { headers: auth })

/** Whether the file of the allowed address came, byte by byte. */
const verdict = (status: number, bytes: Uint8Array): Outcome =>
  status === 200 && file.equals(bytes) ? 'allowed' : 'refused'

/** Asks until there is an answer. */
async function patiently<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let polls = 0; polls < maxPolls; polls++) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await Bun.sleep(pollEveryMs)
  }
  throw new Error(`nothing came of ${what}`)
}

/** Whether the task has succeeded; not so if its upstream was found to give no address. */
async function ended({ gateway, upstream }: Stage, id: string, prompt: string) {
  return patiently(id, async () => {
    const { body } = await gateway.admin('GET', `/tasks/${id}`)
    if (body.state === 'succeeded') return true
    return body.state === 'failed' || upstream.told(prompt) >= enoughLooks ? false : undefined
  })
}

/** The id of a video whose upstream says that it lies at the address. */
async function makeVideo(stage: Stage, url: string): Promise<string | undefined> {
  const prompt = stage.upstream.promptFor(url)
  const input = { model: 'vendorg-video-1', prompt, seconds: '4' }
  const { id } = (await (await stage.gateway.post(paths.videos, input)).json()) as { id: string }
  return (await ended(stage, id, prompt)) ? id : undefined
}

async function downloadVideo(stage: Stage, url: string): Promise<Outcome> {
  const id = await makeVideo(stage, url)
  if (id === undefined) return 'refused'
  const answer = await get(stage.gateway, `${paths.videos}/${id}/content`)
  return verdict(answer.status, await answer.bytes())
}

async function keepVideo(stage: Stage, url: string): Promise<Outcome> {
  const id = await makeVideo(stage, url)
  return id === undefined ? 'refused' : whenKept(stage.gateway, id)
}

/** An image task; undefined if it is refused. */
async function makePicture(stage: Stage, url: string, more: object = {}) {
  const prompt = stage.upstream.promptFor(url)
  const input = { model_name: 'imgvendor-v1', prompt, ...more }
  const answer = await stage.gateway.post(paths.imgvendor, input)
  const { data } = (await answer.json()) as { data?: { task_id: string } }
  return answer.status === 200 && data !== undefined ? { id: data.task_id, prompt } : undefined
}

async function keepPicture(stage: Stage, url: string): Promise<Outcome> {
  const made = await makePicture(stage, url)
  if (made === undefined || !(await ended(stage, made.id, made.prompt))) return 'refused'
  return whenKept(stage.gateway, made.id)
}

/** Tasks of whose results the log says that they could not be kept; every line is read once. */
const unkept = { readChars: 0, ids: new Set<string>() }
const unkeptLine = /"a result could not be kept yet","task_id":"(\w+)"/g

function readLog(output: string): void {
  const end = output.lastIndexOf('\n') + 1
  const lines = output.slice(unkept.readChars, end)
  for (const [, id] of lines.matchAll(unkeptLine)) unkept.ids.add(id!)
  unkept.readChars = end
}

/** It lies in the data directory, or the log says why not. */
const whenKept = (gateway: TestGateway, id: string): Promise<Outcome> =>
  patiently(id, async () => {
    readLog(gateway.output())
    if (unkept.ids.has(id)) return 'refused'
    const names = readdirSync(join(gateway.dataDir, 'media'))
    const isKept = names.some((name) => name.startsWith(id) && !name.endsWith('.part'))
    return isKept ? 'allowed' : undefined
  })

async function askPicture({ gateway, upstream }: Stage, url: string, format: string) {
  const prompt = upstream.promptFor(url)
  const input = { model: 'imga-plus', prompt, response_format: format }
  const answer = await gateway.post(paths.images, input)
  const { data } = (await answer.json()) as { data?: [{ url?: string; b64_json?: string }?] }
  return { status: answer.status, ...data?.[0] }
}

async function takePicture(stage: Stage, url: string): Promise<Outcome> {
  const { status, b64_json = '' } = await askPicture(stage, url, 'b64_json')
  return verdict(status, Buffer.from(b64_json, 'base64'))
}

async function downloadPicture(stage: Stage, url: string): Promise<Outcome> {
  const { url: link } = await askPicture(stage, url, 'url')
  if (link === undefined) return 'refused'
  const answer = await get(stage.gateway, link)
  return verdict(answer.status, await answer.bytes())
}

async function handInPicture({ gateway, upstream }: Stage, uri: string): Promise<Outcome> {
  const prompt = upstream.promptFor(upstream.film)
  const answer = await gateway.post(paths.vendorg, { instances: [{ prompt, image: { uri } }] })
  await answer.bytes()
  return answer.status === 200 ? 'allowed' : 'refused'
}

async function callBackImage(stage: Stage, url: string): Promise<Outcome> {
  const made = await makePicture(stage, stage.upstream.film, { callback_url: url })
  return made === undefined ? 'refused' : whenCalled(stage, made.id)
}

async function callBackNative(stage: Stage, url: string): Promise<Outcome> {
  const text = stage.upstream.promptFor(stage.upstream.film)
  const content = [{ type: 'text', text }]
  const input = { model: 'vidmodel-1-5-pro', content, callback_url: url }
  const answer = await stage.gateway.post(paths.arkvendor, input)
  const { platform_id: id } = (await answer.json()) as { platform_id?: string }
  return answer.status === 200 && id !== undefined ? whenCalled(stage, id) : 'refused'
}

/** By what is written down of it. */
const whenCalled = ({ gateway }: Stage, id: string): Promise<Outcome> =>
  patiently(id, async () => {
    const { body } = await gateway.admin('GET', `/tasks/${id}`)
    const attempts: { status: number | null }[] = body.callback?.attempts ?? []
    if (attempts.some(({ status }) => status === 200)) return 'allowed'
    return attempts.length > 0 ? 'refused' : undefined
  })
