// Results that outlive the upstream's link: real gateways whose upstream goes away, in every place
// where results can be kept.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeVideo } from '../../sandbox/media/video.ts'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { untilTrue } from '../support/read.ts'
import { type FakeS3, s3Keys, s3Region, startFakeS3 } from '../support/tasks/fake-s3.ts'

const daySeconds = 24 * 3600
const film = makeVideo({ width: 1280, height: 720, seconds: 2, seed: 'a1b2c3d4e5f60718' })

if (!storeKinds.includes('postgres')) {
  console.error('left out: kept results of several gateways (set TEST_POSTGRES_URL)')
}

let sandbox: Sandbox
let s3: FakeS3
let running: TestGateway[]

beforeEach(() => {
  sandbox = startSandbox({ taskSeconds: 0.1 })
  s3 = startFakeS3()
  running = []
})

afterEach(async () => {
  for (const gateway of running) await gateway.stop('SIGKILL')
  await sandbox.stop()
  await s3.stop()
})

const inS3 = () => `s3:
    endpoint: ${s3.url}
    region: ${s3Region}
    bucket: films
    prefix: kept/
    access_key: ${s3Keys.access}
    secret_key: ${s3Keys.secret}`

interface StartOptions {
  media: string
  dataDir?: string
  env?: Record<string, string>
}

async function start({ media, dataDir = tempDir(), env = {} }: StartOptions): Promise<TestGateway> {
  const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { vf: "${sandbox.protocols.vf}" }
    models: { vfa-2.7-t2v: "*" }
${media}
`
  const egress = { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' }
  const gateway = await startGateway({ config, dataDir, env: { ...egress, ...env } })
  running.push(gateway)
  return gateway
}

const ask = (gateway: TestGateway, path: string, init: RequestInit = {}) =>
  fetch(`${gateway.url}/v1/videos${path}`, {
    ...init,
    headers: { authorization: `Bearer ${apiToken}`, ...(init.headers as object) },
  })

interface Video {
  id: string
  status: string
  completed_at: number
  expires_at: number
}

const poll = async (gateway: TestGateway, id: string) =>
  (await (await ask(gateway, `/${id}`)).json()) as Video

async function create(gateway: TestGateway): Promise<string> {
  const body = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: '2', resolution: '720p' }
  const answer = await gateway.post('/v1/videos', body)
  return ((await answer.json()) as Video).id
}

const isKept = ({ completed_at, expires_at }: Video) => expires_at > completed_at + 2 * daySeconds
const whenKept = (gateway: TestGateway, id: string) => untilTrue(() => poll(gateway, id), isKept)
const whenDone = (gateway: TestGateway, id: string) =>
  untilTrue(
    () => poll(gateway, id),
    ({ status }) => status === 'completed',
  )

/** Short enough to be read when it is not what was expected. */
const inShort = (bytes: Uint8Array) => `${bytes.length} bytes, ${Bun.hash(bytes).toString(16)}`
const bodyOf = async (answer: Response) => inShort(await answer.bytes())

/** The file as the upstream has it. */
async function truthOf(gateway: TestGateway, id: string): Promise<Uint8Array> {
  const { body } = await gateway.admin('GET', `/tasks/${id}`)
  const answer = await fetch(body.media[0].url)
  expect(answer.status).toBe(200)
  return answer.bytes()
}

const filesIn = (dataDir: string) =>
  readdirSync(join(dataDir, 'media')).filter((name) => name !== '.place')

describe.each([
  ['the data directory', () => 'media: { keep: data, days: 7 }'],
  ['an S3-compatible store', () => `media:\n  keep: s3\n  days: 7\n  ${inS3()}`],
])('kept in %s', (place, media) => {
  test('a result is all there when its upstream has gone', async () => {
    const gateway = await start({ media: media() })
    const id = await create(gateway)
    const { expires_at } = await whenKept(gateway, id)
    const truth = await truthOf(gateway, id)
    await sandbox.stop()

    const inWeekMs = Date.now() + 7 * daySeconds * 1000
    expect(Math.abs(expires_at * 1000 - inWeekMs)).toBeLessThan(60_000)
    const listed = (await (await ask(gateway, '')).json()) as { data: Video[] }
    expect(listed.data[0]?.expires_at).toBe(expires_at)

    const whole = await ask(gateway, `/${id}/content`)
    expect(whole.status).toBe(200)
    expect(whole.headers.get('content-type')).toBe('video/mp4')
    expect(await bodyOf(whole)).toBe(inShort(truth))
    const etag = whole.headers.get('etag')!
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/)

    const size = truth.length
    const parts: [Record<string, string>, number, string | null, Uint8Array][] = [
      [{ range: 'bytes=0-9' }, 206, `bytes 0-9/${size}`, truth.slice(0, 10)],
      [{ range: 'bytes=-5' }, 206, `bytes ${size - 5}-${size - 1}/${size}`, truth.slice(-5)],
      [
        { range: `bytes=${size - 3}-` },
        206,
        `bytes ${size - 3}-${size - 1}/${size}`,
        truth.slice(-3),
      ],
      [{ range: 'bytes=0-1,5-6' }, 200, null, truth],
      [{ range: 'bytes=0-9', 'if-range': etag }, 206, `bytes 0-9/${size}`, truth.slice(0, 10)],
      [{ range: 'bytes=0-9', 'if-range': '"other"' }, 200, null, truth],
      [{ 'if-none-match': etag }, 304, null, truth.slice(0, 0)],
      [{ 'if-none-match': '"other"' }, 200, null, truth],
    ]
    for (const [headers, status, range, bytes] of parts) {
      const answer = await ask(gateway, `/${id}/content`, { headers })
      expect([headers, answer.status, answer.headers.get('content-range')]).toEqual([
        headers,
        status,
        range,
      ])
      expect(answer.headers.get('etag')).toBe(etag)
      expect(await bodyOf(answer)).toBe(inShort(bytes))
    }
    const beyond = await ask(gateway, `/${id}/content`, { headers: { range: `bytes=${size}-` } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${size}`])
    const head = await ask(gateway, `/${id}/content`, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(size))

    expect(existsSync(join(gateway.dataDir, 'media'))).toBe(place === 'the data directory')
    expect(s3.objects.size).toBe(place === 'the data directory' ? 0 : 1)
    expect(gateway.output()).not.toContain(s3Keys.secret)
  })

  test('a result goes when its owner puts the video away', async () => {
    const gateway = await start({ media: media() })
    const id = await create(gateway)
    await whenKept(gateway, id)
    expect((await ask(gateway, `/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect(s3.objects.size).toBe(0)
    if (place === 'the data directory') expect(filesIn(gateway.dataDir)).toEqual([])
  })
})

test('without the setting nothing is kept, and a result lives as long as its link', async () => {
  const gateway = await start({ media: '' })
  const id = await create(gateway)
  const { expires_at, completed_at } = await whenDone(gateway, id)
  expect(expires_at).toBeLessThanOrEqual(completed_at + daySeconds)
  await sandbox.stop()
  expect((await ask(gateway, `/${id}/content`)).status).toBe(502)
  const files = readdirSync(join(gateway.dataDir, 'media'))
  expect(files.filter((name) => name.startsWith('video_'))).toEqual([])
})

test('beyond the budget the oldest go first', async () => {
  const budget = Math.ceil((film.length * 2.5) / 1000)
  const gateway = await start({ media: `media: { keep: data, budget: ${budget}KB }` })
  const ids: string[] = []
  for (let made = 0; made < 3; made++) {
    ids.push(await create(gateway))
    await whenKept(gateway, ids.at(-1)!)
  }
  const [first = '', ...others] = ids
  const gone = await untilTrue(
    () => poll(gateway, first),
    (video) => !isKept(video),
  )
  expect(gone.expires_at).toBeLessThanOrEqual(gone.completed_at + daySeconds)
  await untilTrue(
    async () => filesIn(gateway.dataDir),
    (files) => files.length === 2,
  )
  for (const name of filesIn(gateway.dataDir)) {
    expect(statSync(join(gateway.dataDir, 'media', name)).mode & 0o777).toBe(0o600)
  }
  await sandbox.stop()
  expect((await ask(gateway, `/${first}/content`)).status).toBe(502)
  for (const id of others) expect((await ask(gateway, `/${id}/content`)).status).toBe(200)
})

describe.each(['media-copied', 'media-kept'])('after a kill at %s', (point) => {
  test.each([
    ['the data directory', () => 'media: { keep: data }'],
    ['an S3-compatible store', () => `media:\n  keep: s3\n  ${inS3()}`],
  ])('a result appears in %s, once', async (place, media) => {
    const dataDir = tempDir()
    const env = { GATEWAY_CRASH_AT: point }
    const doomed = await start({ media: media(), dataDir, env })
    const id = await create(doomed)
    await untilTrue(
      () => poll(doomed, id).then(String, () => 'dead'),
      (seen) => seen === 'dead',
    )
    const gateway = await start({ media: media(), dataDir })
    await whenKept(gateway, id)
    const truth = await truthOf(gateway, id)
    await sandbox.stop()
    expect(await bodyOf(await ask(gateway, `/${id}/content`))).toBe(inShort(truth))
    const there = place === 'the data directory' ? filesIn(dataDir) : [...s3.objects.keys()]
    expect(there).toHaveLength(1)
  })
})

if (storeKinds.includes('postgres')) {
  describe('several gateways on one database', () => {
    let place: Place

    beforeEach(async () => {
      place = await newPlace('postgres')
    })

    afterEach(async () => {
      for (const gateway of running) await gateway.stop('SIGKILL')
      await place.remove()
    })

    const two = async (media: string) => {
      const masterKey = Buffer.alloc(32, 7).toString('base64')
      const env = {
        GATEWAY_DATABASE_URL: place.options.databaseUrl!,
        GATEWAY_MASTER_KEY: masterKey,
      }
      return [await start({ media, env }), await start({ media, env })] as const
    }

    test('copy a result once, and both have it', async () => {
      const [one, other] = await two(`media:\n  keep: s3\n  ${inS3()}`)
      const ids = [await create(one), await create(other), await create(one)]
      for (const id of ids) await whenKept(other, id)
      await sandbox.stop()
      for (const gateway of [one, other]) {
        for (const id of ids) {
          expect((await ask(gateway, `/${id}/content`)).status).toBe(200)
        }
      }
      expect(s3.requests.filter((request) => request.startsWith('PUT'))).toHaveLength(3)
    })

    test('fall back to the upstream for what another has in its directory', async () => {
      const [one, other] = await two('media: { keep: data }')
      const id = await create(one)
      await untilTrue(
        async () => [await poll(one, id), await poll(other, id)],
        (seen) => seen.some(isKept),
      )
      const truth = await truthOf(one, id)
      for (const gateway of [one, other]) {
        expect(await bodyOf(await ask(gateway, `/${id}/content`))).toBe(inShort(truth))
      }
      expect([await poll(one, id), await poll(other, id)].filter(isKept)).toHaveLength(1)
    })

    test('take over a copy from one that died', async () => {
      const env = {
        GATEWAY_DATABASE_URL: place.options.databaseUrl!,
        GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      }
      const media = `media:\n  keep: s3\n  ${inS3()}`
      const doomed = await start({ media, env: { ...env, GATEWAY_CRASH_AT: 'media-copied' } })
      const id = await create(doomed)
      await untilTrue(
        () => poll(doomed, id).then(String, () => 'dead'),
        (seen) => seen === 'dead',
      )
      await whenKept(await start({ media, env }), id)
      expect(s3.objects.size).toBe(1)
    })
  })
}
