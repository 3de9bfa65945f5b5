// Copies of results: a good copy, a bad one, and one that its owner no longer wants. The upstream
// is a small server that replies as the test scripts it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputMedia, VideoTask } from '../../contract/task.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { openDirectory } from '../../media/directory.ts'
import { findKeptFiles, oldMarks } from '../../store/tasks/files.ts'
import { findTaskRow, insertTask } from '../../store/tasks/tasks.ts'
import { storeKinds, until } from '../../store/test-stores.ts'
import type { Engine } from '../engine.ts'
import { newTestEngine, type TestEngine } from '../test-engine.ts'
import { copyTask } from './copy-media.ts'
import { MediaKeeper } from './keep-media.ts'
import { openKept, withTrueExpiry } from './kept-media.ts'
import { type MediaStorage, openMediaStorage } from './media-storage.ts'
import { openContent } from './open-content.ts'
import { forgetMedia, removeExpired, trimToBudget } from './trim-media.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: copies of results on PostgreSQL (set TEST_POSTGRES_URL)')
}

const dayMs = 24 * 3_600_000
const videoBytes = new Uint8Array(5_000).fill(7)

describe.each([...storeKinds])('results on %s', (on) => {
  let base: TestEngine
  let engine: Engine
  let keeper: MediaKeeper
  let media: MediaStorage
  let dir: string
  let upstream: Bun.Server<undefined>
  let say: (request: Request) => Response | Promise<Response>
  let asked: number

  beforeEach(async () => {
    base = await newTestEngine(on)
    dir = mkdtempSync(join(tmpdir(), 'gateway-keep-'))
    asked = 0
    say = () => new Response(videoBytes)
    upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked++
        return say(request)
      },
    })
    use({})
  })

  afterEach(async () => {
    await keeper.stop()
    await upstream.stop(true)
    await base.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const use = (more: { budgetBytes?: number; egressAllow?: string[] }) => {
    const { budgetBytes = 1e9, egressAllow = ['127.0.0.1/32'] } = more
    media = openMediaStorage({ stores: [openDirectory(dir)], budgetBytes, keepMs: 30 * dayMs })
    engine = { ...base.engine, egressAllow, media }
    keeper = new MediaKeeper(engine, media)
    Object.assign(engine, { jobs: { ...engine.jobs, mediaKeeper: keeper } })
  }
  const urlOf = (name: string) => `http://127.0.0.1:${upstream.port}/${name}`
  const video = (): OutputMedia => ({ kind: 'video', url: urlOf('v.mp4') })
  const frame = (): OutputMedia => ({ kind: 'image', url: urlOf('f.png') })

  async function succeeded(media: OutputMedia[] = [video()], more: Partial<VideoTask> = {}) {
    const { ms } = base.clock
    const task: VideoTask = {
      kind: 'video',
      id: newId('video', ms),
      accountId: 'acc_1',
      tokenId: 'tok_1',
      requestId: 'req_1',
      interface: 'videos',
      model: 'vfa-2.7-t2v',
      protocol: 'vf',
      channelId: 'ch_1',
      channel: 'main',
      upstreamModel: 'film-1',
      keyFingerprint: 'mark',
      state: 'succeeded',
      progress: 100,
      request: { prompt: 'a cat', seconds: 5, resolution: '720p', media: [] },
      priceId: 'price_1',
      holdNanos: 0n,
      chargeNanos: 3n,
      media,
      createdAtMs: ms - 60_000,
      updatedAtMs: ms,
      finishedAtMs: ms,
      nextCheckAtMs: ms,
      checks: 1,
      misses: 0,
      hidden: false,
      ...more,
    }
    await engine.store.tx((tx) => insertTask(tx, task))
    return task
  }
  const copy = (task: VideoTask, stop = new AbortController().signal) =>
    copyTask(engine, media, task.id, stop)
  const keptOf = (task: VideoTask) => findKeptFiles(engine.store.read, [task.id])
  const files = () => readdirSync(dir).filter((name) => name !== '.place')

  test('every output is copied, as the kind of file it is', async () => {
    const task = await succeeded([video(), frame()])
    say = ({ url }) =>
      new Response(videoBytes, {
        headers: { 'content-type': url.endsWith('.png') ? 'image/png' : 'text/html' },
      })
    expect(await copy(task)).toBeUndefined()
    const kept = (await keptOf(task)).sort((a, b) => a.part - b.part)
    expect(kept.map(({ type, bytes }) => [type, bytes])).toEqual([
      ['video/mp4', 5_000],
      ['image/png', 5_000],
    ])
    for (const { name } of kept) {
      expect(Buffer.compare(readFileSync(join(dir, name)), videoBytes)).toBe(0)
    }
    await copy(task)
    expect(asked).toBe(2)
  })

  test('a copy lives by its own days, not by the link', async () => {
    const task = await succeeded([{ ...video(), expiresAtMs: base.clock.ms + 1_000 }])
    await copy(task)
    const [shown] = await withTrueExpiry(engine, [task])
    expect(shown?.media[0]?.expiresAtMs).toBe(base.clock.ms + 30 * dayMs)
    base.clock.ms += 30 * dayMs - 1
    expect(await openContent(engine, task)).toMatchObject({ status: 200, lengthBytes: 5_000 })
    base.clock.ms += 1
    expect(await openContent(engine, task)).toMatchObject({ code: 'video_expired' })
    const [later] = await withTrueExpiry(engine, [task])
    expect(later?.media).toEqual(task.media)
  })

  test('a failed copy changes nothing of the task, and is tried again later and later', async () => {
    const task = await succeeded()
    say = () => new Response('busy', { status: 503 })
    const waits: number[] = []
    for (let attempt = 1; attempt <= 3; attempt++) {
      const againMs = (await copy(task))!
      waits.push(againMs - base.clock.ms)
      expect(await copy(task)).toBeUndefined()
      base.clock.ms = againMs
    }
    expect(waits).toEqual([5_000, 20_000, 80_000])
    expect(asked).toBe(3)
    expect(await findTaskRow(engine.store.read, task.id)).toEqual(task)
    say = () => new Response(videoBytes)
    expect(await copy(task)).toBeUndefined()
    expect(await keptOf(task)).toHaveLength(1)
    expect(files()).toHaveLength(1)
  })

  test('a copy that never works is given up', async () => {
    const task = await succeeded()
    say = () => new Response('no', { status: 500 })
    for (let attempt = 1; attempt <= 8; attempt++)
      base.clock.ms = (await copy(task)) ?? base.clock.ms
    base.clock.ms += dayMs
    await copy(task)
    expect(asked).toBe(6)
    expect(await keptOf(task)).toEqual([])
  })

  test('a link that is over is not asked', async () => {
    const task = await succeeded([{ ...video(), expiresAtMs: base.clock.ms }])
    expect(await copy(task)).toBeUndefined()
    expect(asked).toBe(0)
  })

  test('what came inside an answer has no address, and nobody tries again', async () => {
    const task = await succeeded([{ kind: 'image', url: 'data:image/png;base64,…' }])
    expect(await copy(task)).toBeUndefined()
    expect(await copy(task)).toBeUndefined()
    expect([asked, files().length]).toEqual([0, 0])
  })

  test('pictures that somebody left undone are found too, and old films are not', async () => {
    const image = await succeeded([frame()], { id: newId('image', base.clock.ms) })
    const old = await succeeded([video()], { id: newId('video', base.clock.ms - 4 * dayMs) })
    await keeper.start()
    await until(async () => (await keptOf(image)).length === 1)
    await keeper.settled()
    expect(await keptOf(old)).toEqual([])
  })

  test('an address that may not be asked is not asked', async () => {
    use({ egressAllow: [] })
    expect(await copy(await succeeded())).toBeGreaterThan(base.clock.ms)
    expect(asked).toBe(0)
  })

  test('an empty file and one that breaks off are not kept', async () => {
    say = () => new Response('')
    const halved = Bun.listen({
      port: 0,
      hostname: '127.0.0.1',
      socket: {
        data(socket) {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf`)
          socket.end()
        },
      },
    })
    const half: OutputMedia = { kind: 'video', url: `http://127.0.0.1:${halved.port}/v.mp4` }
    for (const file of [video(), half]) {
      const task = await succeeded([file])
      expect(await copy(task)).toBeGreaterThan(base.clock.ms)
      expect(await keptOf(task)).toEqual([])
    }
    halved.stop(true)
    expect(files()).toEqual([])
  })

  test('a copy that is broken off by the end of the gateway is free at once', async () => {
    const task = await succeeded()
    const stop = new AbortController()
    say = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(videoBytes),
          pull: () => stop.abort(),
        }),
      )
    expect(await copy(task, stop.signal)).toBeUndefined()
    say = () => new Response(videoBytes)
    await copy(task)
    expect(await keptOf(task)).toHaveLength(1)
    expect(files()).toHaveLength(1)
  })

  test('what its owner put away is removed, also when it is being copied', async () => {
    const kept = await succeeded()
    await copy(kept)
    await forgetMedia(engine, kept)
    expect(files()).toEqual([])
    const task = await succeeded()
    say = async () => {
      await forgetMedia(engine, task)
      return new Response(videoBytes)
    }
    await copy(task)
    expect([await keptOf(kept), await keptOf(task), files()]).toEqual([[], [], []])
    await copy(await succeeded([video()], { hidden: true }))
    expect(asked).toBe(2)
  })

  test('a copy that is missing is fetched from the upstream', async () => {
    const task = await succeeded()
    await copy(task)
    for (const name of files()) rmSync(join(dir, name))
    expect(await openKept(engine, task, {})).toBeUndefined()
    expect(await openContent(engine, task)).toMatchObject({ status: 200 })
    expect(asked).toBe(2)
  })

  test('a part is what was asked for, if it is of the file that was meant', async () => {
    const task = await succeeded()
    await copy(task)
    const [{ etag } = { etag: '' }] = await keptOf(task)
    const open = (range: string, ifRange?: string) => openKept(engine, task, { range, ifRange })
    expect(await open('bytes=-2')).toMatchObject({
      status: 206,
      contentRange: 'bytes 4998-4999/5000',
    })
    expect(await open('bytes=0-9', etag)).toMatchObject({ status: 206, lengthBytes: 10, etag })
    expect(await open('bytes=0-9', '"other"')).toMatchObject({ status: 200, lengthBytes: 5_000 })
    expect(await open('bytes=5000-')).toEqual({ status: 416, sizeBytes: 5_000 })
  })

  test('the oldest go until the rest fits', async () => {
    use({ budgetBytes: 12_000 })
    const tasks: VideoTask[] = []
    for (let made = 0; made < 4; made++) {
      tasks.push(await succeeded())
      base.clock.ms += 1
      await copy(tasks.at(-1)!)
    }
    await keeper.settled()
    expect(await trimToBudget(engine, media)).toBe(10_000)
    const left = await Promise.all(tasks.map(async (task) => (await keptOf(task)).length))
    expect(left).toEqual([0, 0, 1, 1])
    expect(files()).toHaveLength(2)
    // A deleted copy is not fetched again.
    for (const task of tasks) await copy(task)
    expect(asked).toBe(4)
  })

  test('what has had its days goes, and its mark later', async () => {
    const task = await succeeded()
    await copy(task)
    base.clock.ms += 30 * dayMs + 1
    await removeExpired(engine, media)
    expect([await keptOf(task), files()]).toEqual([[], []])
    const marks = () => oldMarks(engine.store.read, media.main.place, Number.MAX_SAFE_INTEGER, 9)
    expect(await marks()).toHaveLength(1)
    base.clock.ms += 8 * dayMs
    await removeExpired(engine, media)
    expect(await marks()).toEqual([])
  })

  test('what somebody left undone is found and copied, a few at a time', async () => {
    let at = 0
    let most = 0
    say = async () => {
      most = Math.max(most, ++at)
      await Bun.sleep(20)
      at--
      return new Response(videoBytes)
    }
    const old = await succeeded([video()], { id: newId('video', base.clock.ms - 4 * dayMs) })
    const tasks: VideoTask[] = []
    for (let made = 0; made < 12; made++) tasks.push(await succeeded())
    await keeper.start()
    await until(() => files().length === 12)
    await keeper.settled()
    expect(await keptOf(old)).toEqual([])
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(4)
  })
})
