// Images for a waiting caller: delivered images are charged, all else is free, even when the
// caller, the gateway or the upstream goes away in between.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createPriceBook } from '../../../billing/prices/price-book.ts'
import { createCatalog } from '../../../catalog/snapshot.ts'
import { TokenTable } from '../../../catalog/token-table.ts'
import type { CreateKey, MadeImages } from '../../../contract/caller-api.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { Checked, ImageProvider, Started } from '../../../contract/provider.ts'
import type { ImageRequest, OutputMedia } from '../../../contract/task.ts'
import { newId } from '../../../lib/crypto/ids.ts'
import { listLosses } from '../../../store/ledger/losses.ts'
import { claimShort } from '../../../store/ledger/short-accounts.ts'
import { storeKinds } from '../../../store/test-stores.ts'
import { testChannelWith } from '../../routing/test-channel.ts'
import { endTask } from '../../tasks/end-task.ts'
import { pollOnce } from '../../tasks/poll/abandoned-checks.ts'
import { anError, newTaskEngine, says, type TaskEngine } from '../../tasks/test-task-engine.ts'
import { type FetchImages, makeImages, maxWaitMs } from './make-images.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: pictures on PostgreSQL (set TEST_POSTGRES_URL)')
}

const imageNanos = 200_000_000n
const key: CreateKey = { path: '/v1/images/generations', key: 'k' }
const files = (count: number): OutputMedia[] =>
  Array.from({ length: count }, (_, i) => ({ kind: 'image', url: `https://example.com/${i}.png` }))
const done = (count: number) =>
  ({ state: 'succeeded', media: files(count), usage: {}, raw: {} }) as const
const atOnce = (count: number): Started => ({
  kind: 'finished',
  report: done(count),
  upstreamRequestId: 'up-1',
})
const started = (): Started => ({
  kind: 'started',
  upstreamId: newId('up'),
  upstreamRequestId: undefined,
})
const running = says({ state: 'running' })

describe.each([...storeKinds])('pictures on %s', (on) => {
  let it: TaskEngine
  let start: () => Started
  let check: () => Checked
  let cancel: () => Awaited<ReturnType<NonNullable<ImageProvider['cancel']>>>
  let asked: { starts: number; checks: number; cancels: number }
  let fetchable: (file: OutputMedia) => boolean
  let caller: AbortController

  const provider: ImageProvider = {
    async start() {
      asked.starts++
      return start()
    },
    async check() {
      asked.checks++
      return check()
    },
    async cancel() {
      asked.cancels++
      return cancel()
    },
  }
  let fetchNow: FetchImages
  const fetchImages: FetchImages = async (_, __, media) =>
    media.map((file) => (fetchable(file) ? btoa(file.url) : undefined))

  beforeEach(async () => {
    it = await newTaskEngine(on)
    asked = { starts: 0, checks: 0, cancels: 0 }
    start = () => atOnce(2)
    check = () => running
    cancel = () => ({ kind: 'cancelled' })
    fetchable = () => true
    fetchNow = fetchImages
    caller = new AbortController()
    Object.assign(it.engine, {
      providers: new Map([['images', { protocol: 'images', image: provider }]]),
      catalog: catalog(),
      prices: createPriceBook([price], new Set(), () => it.clock.ms),
    })
  })
  afterEach(() => it.close())

  const make = (
    more: Partial<ImageRequest> = {},
    how: { wantsBytes?: boolean; key?: CreateKey } = {},
  ): Promise<MadeImages | Refusal> =>
    makeImages(
      it.engine,
      {
        requestId: newId('req', it.clock.ms),
        atMs: it.clock.ms,
        token: it.token,
        signal: caller.signal,
        errorEvent: () => new Uint8Array(),
      },
      {
        interface: 'images',
        kind: 'image',
        model: 'imga-plus',
        request: { prompt: 'a boat', count: 2, media: [], isEdit: false, ...more },
        wantsBytes: how.wantsBytes ?? false,
        ...(how.key !== undefined && { key: how.key }),
      },
      (...args) => fetchNow(...args),
    )
  const made = async (...args: Parameters<typeof make>): Promise<MadeImages> => {
    const result = await make(...args)
    if (result instanceof Refusal) throw new Error(`${result.code}: ${result.message}`)
    return result
  }
  const refused = async (...args: Parameters<typeof make>): Promise<Refusal> => {
    const result = await make(...args)
    if (!(result instanceof Refusal)) throw new Error('it was not refused')
    return result
  }
  const booked = async () => (await it.booked((await it.single()).id)).map(([kind]) => kind)
  const charge = async () => (await it.single()).chargeNanos
  /** Losses: the reason, how many images, and whether it is an estimate. */
  const lost = async () => {
    const { items } = await listLosses(it.engine.store.read, { limit: 10 })
    return items.map(({ reason, quantity, amountNanos, isEstimate }) => {
      expect(amountNanos).toBe(BigInt(quantity!) * imageNanos)
      return [reason, quantity, isEstimate]
    })
  }
  /** When abandoned tasks are checked. */
  const checkAbandoned = async () => {
    it.clock.ms += 10 * 60_000
    return pollOnce(it.engine)
  }

  test('that come at once are charged one by one', async () => {
    const { task, images } = await made({ count: 4 })
    expect(images.map(({ part }) => part)).toEqual([0, 1])
    expect(task).toMatchObject({ state: 'succeeded', chargeNanos: 2n * imageNanos })
    expect(await it.booked(task.id)).toEqual([
      ['hold', -4n * imageNanos],
      ['release', 4n * imageNanos],
      ['charge', -2n * imageNanos],
    ])
  })

  test('that take their time are asked for until they are there', async () => {
    start = started
    check = () => (asked.checks < 2 ? running : says(done(2)))
    const { task, images } = await made()
    expect(images).toHaveLength(2)
    expect([asked.checks, await charge()]).toEqual([2, 2n * imageNanos])
    // Polls of a waiting connection are recorded at the end, all at once.
    expect((await it.row(task.id)).timeline).toMatch(
      / 1 polled queued 0\n\d+ 0 1 ended succeeded 100\n$/,
    )
  })

  test('more than were asked for are neither handed over nor charged', async () => {
    start = () => atOnce(5)
    expect((await made({ count: 2 })).images).toHaveLength(2)
    expect(await charge()).toBe(2n * imageNanos)
  })

  test('that cannot be fetched are not delivered and not charged', async () => {
    start = () => atOnce(3)
    fetchable = ({ url }) => !url.endsWith('/1.png')
    const { task, images } = await made({ count: 3 }, { wantsBytes: true })
    expect(images.map(({ part, base64 = '' }) => [part, atob(base64)])).toEqual([
      [0, 'https://example.com/0.png'],
      [1, 'https://example.com/2.png'],
    ])
    expect([task.media.length, task.chargeNanos]).toEqual([2, 2n * imageNanos])
    expect(await lost()).toEqual([['not_delivered', 1, false]])
  })

  test('none of which can be fetched cost nothing', async () => {
    fetchable = () => false
    expect((await refused({}, { wantsBytes: true })).code).toBe('result_download_failed')
    expect(await booked()).toEqual(['hold', 'release'])
    expect(await lost()).toEqual([['not_delivered', 2, false]])
  })

  test.each(['result_download_failed', 'no_output'])(
    'that came to nothing (%s) are not made a second time under their key',
    async (code) => {
      let starts = 0
      start = () => {
        starts++
        return atOnce(code === 'no_output' ? 0 : 2)
      }
      fetchable = () => false
      expect((await refused({}, { wantsBytes: true, key })).code).toBe(code)
      fetchable = () => true
      const again = await refused({}, { wantsBytes: true, key })
      expect([again.code, again.extras.replayOf !== undefined, starts]).toEqual([code, true, 1])
    },
  )

  test('that are none are an error, with a hint for edits, and free', async () => {
    start = () => atOnce(0)
    const { code, message } = await refused({ isEdit: true })
    expect(code).toBe('no_output')
    expect(message).toMatch('not public')
    expect(await booked()).toEqual(['hold', 'release'])
    expect(await lost()).toEqual([['not_delivered', 2, true]])
  })

  const refusals: Record<string, Started> = {
    refused: { kind: 'refused', error: anError('no') },
    'failed at once': {
      kind: 'finished',
      report: { state: 'failed', error: anError('no'), raw: {} },
      upstreamRequestId: undefined,
    },
  }
  test.each(Object.keys(refusals))('that were %s cost nothing', async (name) => {
    start = () => refusals[name]!
    expect((await refused()).code).toBe('upstream_error')
    expect(await booked()).toEqual(['hold', 'release'])
    expect(await lost()).toEqual([])
  })

  test('of which nobody knows are never asked for again, and end free', async () => {
    start = () => ({ kind: 'unknown', error: anError('cut off') })
    expect((await refused()).code).toBe('upstream_outcome_unknown')
    await it.tick()
    expect([asked.starts, await booked()]).toEqual([1, ['hold', 'release']])
    // This upstream has no list, so the outcome stays unknown.
    expect(await lost()).toEqual([['unknown_create', 2, true]])
    expect(await checkAbandoned()).toBe(0)
  })

  test('that take too long are called off and cost nothing', async () => {
    start = started
    check = () => {
      it.clock.ms += maxWaitMs
      return running
    }
    expect((await refused()).code).toBe('upstream_timeout')
    expect([asked.cancels, await booked()]).toEqual([1, ['hold', 'release']])
    expect(await checkAbandoned()).toBe(0)
  })

  /** The operator has decided so. */
  const releaseLeft = () => {
    const { declared } = it.engine
    it.engine.declared = { ...declared, file: { ...declared.file, left_calls: 'release' } }
  }

  test('whose caller has left are called off and cost nothing', async () => {
    releaseLeft()
    start = started
    check = () => {
      caller.abort()
      return running
    }
    await refused()
    expect([asked.cancels, await booked()]).toEqual([1, ['hold', 'release']])
    expect(await it.single()).toMatchObject({ state: 'cancelled' })
    expect(await checkAbandoned()).toBe(0)
  })

  test.each([
    ['whose caller has left', 'cancelled', 'caller_left'],
    ['that took too long', 'failed', 'late_success'],
  ] as const)(
    '%s and that could not be called off are the operator’s',
    async (_, state, reason) => {
      releaseLeft()
      start = started
      cancel = () => ({ kind: 'refused', error: anError('too late') })
      check = () => {
        if (state === 'cancelled') caller.abort()
        else it.clock.ms += maxWaitMs
        return running
      }
      await refused({ count: 3 })
      expect([await booked(), await lost()]).toEqual([['hold', 'release'], []])
      check = () => says(done(2))
      expect(await checkAbandoned()).toBe(1)
      expect(await lost()).toEqual([[reason, 2, false]])
      expect(await it.single()).toMatchObject({ state, chargeNanos: 0n })
      expect(await checkAbandoned()).toBe(0)
    },
  )

  test.each([
    ['that come at once', () => atOnce(2)],
    ['that take their time', started],
  ])('%s and cost more than is left are not delivered, and free', async (_, begin) => {
    const { store } = it.engine
    const { accountId } = it.token
    await store.tx((tx) => claimShort(tx, { accountId, ref: 'another' }))
    const terms = { unit: 'image', perImageNanos: 1_000n * imageNanos } as const
    start = () => {
      it.engine.prices = createPriceBook([{ ...price, terms }], new Set(), () => it.clock.ms)
      return begin()
    }
    check = () => says(done(2))
    const { status, code } = await refused()
    expect([status, code]).toEqual([402, 'insufficient_quota'])
    const task = await it.single()
    expect(task).toMatchObject({ state: 'failed', chargeNanos: 0n, media: [] })
    expect(task).not.toHaveProperty('reported')
    expect(await booked()).toEqual(['hold', 'release'])
    const { items } = await listLosses(store.read, { limit: 2 })
    expect(items.map(({ reason, quantity }) => [reason, quantity])).toEqual([['not_delivered', 2]])
  })

  test('that came after somebody had ended their task are the operator’s', async () => {
    start = started
    fetchNow = async (engine, task, media) => {
      await endTask(engine, task, { state: 'failed', error: anError('ended elsewhere') })
      return media.map(({ url }) => btoa(url))
    }
    check = () => says(done(2))
    expect((await refused({}, { wantsBytes: true })).message).toMatch('too late')
    expect([await booked(), await lost()]).toEqual([
      ['hold', 'release'],
      [['not_delivered', 2, false]],
    ])
  })

  test('asked for under a key are waited for although the caller has left, and had again', async () => {
    start = started
    check = () => {
      caller.abort()
      return asked.checks < 2 ? running : says(done(2))
    }
    const first = await made({}, { key })
    const again = await made({}, { key })
    expect([first.replayed, again.replayed, asked.starts]).toEqual([false, true, 1])
    expect(again.task.id).toBe(first.task.id)
    expect(again.images).toHaveLength(2)
    expect(await booked()).toEqual(['hold', 'release', 'charge'])
  })

  describe('that a gateway died over', () => {
    /** The row while a caller waits, and after the caller has left. */
    const die = async (how: { key?: CreateKey }) => {
      start = started
      check = () => {
        throw new Error('died')
      }
      await make({}, how).catch(() => undefined)
      check = () => says(done(2))
    }

    test('end free, as nobody could see them', async () => {
      await die({})
      expect(await it.single()).toMatchObject({ state: 'queued', ephemeral: true })
      expect(await it.advance()).toBe(0)
      await it.tick()
      expect(await it.single()).toMatchObject({ state: 'failed', chargeNanos: 0n })
      expect(await booked()).toEqual(['hold', 'release'])
      expect(await checkAbandoned()).toBe(1)
      expect(await lost()).toEqual([['not_delivered', 2, false]])
    })

    test('are looked after like any task if they have a key, and had by asking again', async () => {
      await die({ key })
      expect((await refused({}, { key })).code).toBe('idempotency_in_flight')
      await it.tick()
      expect((await made({}, { key })).images).toHaveLength(2)
      expect([asked.starts, await charge()]).toEqual([1, 2n * imageNanos])
    })
  })
})

const price = {
  id: 'price_image',
  model: 'imga-plus',
  terms: { unit: 'image', perImageNanos: imageNanos },
  effectiveFromMs: 0,
  source: 'builtin',
} as const

const catalog = () =>
  createCatalog({
    region: 'cn',
    models: [
      {
        name: 'imga-plus',
        kind: 'image',
        interfaces: ['images'],
        protocols: ['images'],
        displayName: 'imga-plus',
        ownedBy: 'us',
        source: 'builtin',
      },
    ],
    channels: [
      testChannelWith({
        keys: ['upk-secret-0123456789abcdef'],
        protocols: { images: 'http://upstream.test' },
        models: { 'imga-plus': 'draw-9' },
        timeouts: { connectMs: 10_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 600_000 },
      }),
    ],
    tokens: new TokenTable(),
    isPriced: () => true,
  })
