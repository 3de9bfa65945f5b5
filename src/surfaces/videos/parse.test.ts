// Video requests: what is taken, what is refused and by which name; inputs model by model.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Refusal } from '../../contract/errors.ts'
import type { InputMedia, VideoRequest } from '../../contract/task.ts'
import { asVideoRequest } from '../../engine/tasks/task-charge.ts'
import { maxImageBytes } from '../media/images.ts'
import { parseVideo } from './parse.ts'

type Fields = Record<string, unknown>

const read = (fields: Fields, isForm = false) => parseVideo(fields, { isForm })

async function accepted(fields: Fields, form = false): Promise<VideoRequest> {
  const call = await read(fields, form)
  if (call instanceof Refusal) throw new Error(`refused: ${call.code} ${call.message}`)
  return asVideoRequest(call.request)
}

async function expectRefused(
  fields: Fields,
  code: string,
  param: string,
  form = false,
): Promise<void> {
  const refusal = await read(fields, form)
  expect(refusal).toBeInstanceOf(Refusal)
  const { code: given, extras, message } = refusal as Refusal
  expect([given as string, extras.param]).toEqual([code, param])
  expect(message.length).toBeGreaterThan(10)
}

const text = { model: 'vfa-2.7-t2v', prompt: 'a boat' }
const png = (n = 1) => `https://pictures.example/${n}.png`
const mp4 = (n = 1) => `https://videos.example/${n}.mp4`
const pngs = (n: number) => Array.from({ length: n }, (_, i) => ({ image_url: png(i) }))
const mp4s = (n: number) => Array.from({ length: n }, (_, i) => mp4(i))
const image = (url: string): InputMedia => ({ kind: 'image', url })
const video = (url: string): InputMedia => ({ kind: 'video', url })

test('a prompt alone is five seconds; which resolution is held for is not decided here', async () => {
  expect(await read(text)).toEqual({
    model: 'vfa-2.7-t2v',
    request: { prompt: 'a boat', seconds: 5, media: [] },
  })
  expect(await accepted(text)).toMatchObject({ seconds: 5, resolution: '1080p' })
})

test('null is absent, and unknown fields go nowhere', async () => {
  const nulls = { seconds: null, resolution: null, size: null, seed: null, input_image: null }
  const more = { input_reference: null, references: null, watermark: true, n: 1 }
  expect(await accepted({ ...text, ...nulls, ...more })).toEqual(await accepted(text))
  expect(await accepted({ ...text, references: { video: null } })).toEqual(await accepted(text))
})

describe('the model', () => {
  test.each([[undefined], [null], [''], [5], [['vfa-2.7-t2v']]])('%p is refused', async (model) => {
    await expectRefused({ ...text, model }, 'invalid_request', 'model')
  })

  test('may be one that no row knows: then its upstream judges the inputs', async () => {
    const fields = { input_reference: [png(), mp4()], references: { video: [mp4(2)] } }
    expect((await accepted({ model: 'own-film', ...fields })).media).toHaveLength(3)
    expect((await accepted({ model: 'constructor' })).media).toEqual([])
  })
})

describe('the prompt', () => {
  test.each([[5], [true], [['a']], [{}]])('%p is refused', async (prompt) => {
    await expectRefused({ ...text, prompt }, 'invalid_request', 'prompt')
  })

  test.each(['vfa-2.7-t2v', 'vfb-1.1-t2v', 'vfa-2.7-t2v-2026-04-25'])(
    '%s needs one',
    async (model) => {
      for (const prompt of [undefined, null, '', ' \n']) {
        await expectRefused({ model, prompt }, 'invalid_request', 'prompt')
      }
    },
  )

  test('may be left out when a picture says enough', async () => {
    expect((await accepted({ model: 'vfb-1.1-i2v', input_image: png() })).prompt).toBe('')
  })

  test('of any length is the upstream’s to judge', async () => {
    expect((await accepted({ ...text, prompt: 'a'.repeat(20_000) })).prompt).toHaveLength(20_000)
  })
})

describe('seconds', () => {
  const inputs: Record<string, Fields> = {
    'vfa-2.7-t2v': {},
    'vfa-2.7-t2v-2026-04-25': {},
    'vfa-2.7-i2v': { input_reference: png() },
    'vfa-2.7-r2v': { references: { video: [mp4()] } },
    'vfa-2.7-videoedit': { references: { video: [mp4()] } },
    'vfb-1.1-t2v': {},
    'vfb-1.1-i2v': { input_reference: png() },
    'vfb-1.1-r2v': { input_reference: png() },
    'vfb-1.0-i2v': { input_reference: png() },
    'vfb-1.0-r2v': { input_reference: png() },
    'vfb-1.0-video-edit': { input_reference: png() },
    'own-film': {},
  }

  test.each(Object.entries(inputs))('of %s are bounded on both sides', async (model, input) => {
    const min = model.startsWith('vfb-') ? 3 : 2
    const asked = (seconds: unknown) => ({ model, prompt: 'a boat', ...input, seconds })
    for (const form of [false, true]) {
      for (const seconds of [min, String(min), 15, '15']) {
        expect((await accepted(asked(seconds), form)).seconds).toBe(Number(seconds))
      }
      for (const seconds of [min - 1, String(min - 1), 16, '16', 0, -5]) {
        await expectRefused(asked(seconds), 'invalid_duration', 'seconds', form)
      }
    }
  })

  test.each([[1.5], ['5.0'], ['abc'], [''], [' 5'], ['5s'], [true], [[5]], [{}], ['1e1'], [1e99]])(
    '%p are refused',
    (seconds) => expectRefused({ ...text, seconds }, 'invalid_duration', 'seconds'),
  )
})

describe('the resolution', () => {
  test.each(['720p', '1080p'] as const)('%s is taken', async (resolution) => {
    expect((await accepted({ ...text, resolution })).resolution).toBe(resolution)
  })

  test.each([['1080P'], ['720'], [720], ['480p'], [''], [' 720p'], [['720p']], [true]])(
    '%p is refused',
    (resolution) => expectRefused({ ...text, resolution }, 'invalid_resolution', 'resolution'),
  )

  test.each<[string, '720p' | '1080p', string]>([
    ['1280x720', '720p', '16:9'],
    ['720x1280', '720p', '9:16'],
    ['1920x1080', '1080p', '16:9'],
    ['1080x1920', '1080p', '9:16'],
    ['1080x1080', '1080p', '1:1'],
    ['960x720', '720p', '4:3'],
    ['1680x720', '720p', '21:9'],
  ])('comes from the size %s when it is not given', async (size, resolution, ratio) => {
    expect(await accepted({ ...text, size })).toMatchObject({ resolution, ratio })
  })

  test.each([
    ['1024x1792'],
    ['721x1280'],
    ['1920X1080'],
    ['720p'],
    ['1280*720'],
    [720],
    [''],
    ['x'],
  ])('does not come from the size %p', (size) =>
    expectRefused({ ...text, size }, 'invalid_resolution', 'size'),
  )

  test('that is given goes before the size', async () => {
    expect(await accepted({ ...text, resolution: '720p', size: 'x' })).toEqual(
      await accepted({ ...text, resolution: '720p' }),
    )
  })
})

describe('the seed', () => {
  test.each([0, 42, 2_147_483_647])(
    '%p is taken as a number, and as digits in a form',
    async (seed) => {
      expect((await accepted({ ...text, seed })).seed).toBe(seed)
      expect((await accepted({ ...text, seed: String(seed) }, true)).seed).toBe(seed)
      await expectRefused({ ...text, seed: String(seed) }, 'invalid_seed', 'seed')
    },
  )

  test.each([[2_147_483_648], [-1], [1.5], [true], [[1]], [{}], ['']])(
    '%p is refused',
    async (seed) => {
      await expectRefused({ ...text, seed }, 'invalid_seed', 'seed')
      const inForm = typeof seed === 'number' ? String(seed) : seed
      await expectRefused({ ...text, seed: inForm }, 'invalid_seed', 'seed', true)
    },
  )
})

describe('the ways to hand over an input', () => {
  const take = async (input_reference: unknown) =>
    (await accepted({ model: 'own-film', input_reference })).media

  test.each<[unknown, InputMedia[]]>([
    [png(), [image(png())]],
    [{ image_url: png() }, [image(png())]],
    [{ image_url: { url: png() } }, [image(png())]],
    [{ type: 'image_url', image_url: png(), video_url: null }, [image(png())]],
    [{ video_url: 'https://h.example/a' }, [video('https://h.example/a')]],
    [{ video_url: { url: mp4() } }, [video(mp4())]],
    [{ image_url: mp4() }, [video(mp4())]],
    [
      [png(1), { image_url: png(2) }],
      [image(png(1)), image(png(2))],
    ],
    [[], []],
    ['https://h.example/a.MP4?x=1', [video('https://h.example/a.MP4?x=1')]],
    ['http://h.example/a.mov#t=1', [video('http://h.example/a.mov#t=1')]],
    ['https://h.example/a.png?f=b.mp4', [image('https://h.example/a.png?f=b.mp4')]],
    ['https://h.example/mp4', [image('https://h.example/mp4')]],
    ['data:image/png;base64,AAAA', [image('data:image/png;base64,AAAA')]],
    [{ image_url: 'data:image/jpeg;base64,AA==' }, [image('data:image/jpeg;base64,AA==')]],
  ])('%j is understood', async (given, media) => {
    expect(await take(given)).toEqual(media)
  })

  test.each([
    [''],
    ['pictures/1.png'],
    ['ftp://h.example/a.png'],
    ['file:///etc/passwd'],
    ['https://'],
    ['https://h.example/a b.png'],
    [`https://h.example/${'a'.repeat(8_200)}`],
    ['data:text/html;base64,AAAA'],
    ['data:image/png,AAAA'],
    ['data:image/png;base64,'],
    ['data:image/png;base64,A*A'],
    [5],
    [true],
    [{}],
    [{ url: png() }],
    [{ file_id: 'file_1' }],
    [{ image_url: 5 }],
    [{ image_url: {} }],
    [{ image_url: '' }],
    [{ image_url: png(), video_url: mp4() }],
    [{ video_url: 'data:video/mp4;base64,AAAA' }],
    [[png(), null]],
    [[[png()]]],
  ])('%j is refused', async (input_reference) => {
    await expectRefused(
      { model: 'own-film', input_reference },
      'invalid_request',
      'input_reference',
    )
  })

  test('base64 may have blanks and line ends, with and without its kind', async () => {
    const bytes = Buffer.from('\x89PNG\r\n\x1a\nrest of it', 'latin1').toString('base64')
    const lines = `${bytes.slice(0, 9)}\r\n${bytes.slice(9)}\n`
    const plain = [image(`data:image/png;base64,${bytes}`)]
    expect(await take(`data:image/png;base64,${lines}`)).toEqual(plain)
    expect(await take(lines)).toEqual(plain)
    expect(await take({ image_url: `\n${lines}` })).toEqual(plain)
  })

  test('a long list is refused without looking at its items', async () => {
    const many = new Array(81).fill(5)
    await expectRefused({ ...text, input_reference: many }, 'too_many_images', 'input_reference')
    await expectRefused(
      { ...text, references: { video: many } },
      'invalid_request',
      'references.video',
    )
  })

  test('an image as base64 may have 20 MiB', async () => {
    const max = Math.ceil(maxImageBytes / 3) * 4
    const uri = (length: number) => `data:image/png;base64,${'A'.repeat(length)}`
    expect(await take(uri(max))).toHaveLength(1)
    const larger = { model: 'own-film', input_reference: uri(max + 1) }
    await expectRefused(larger, 'request_too_large', 'input_reference')
  })

  test.each([[mp4()], [5], [{}], [[png()]], ['']])(
    'input_image %j is refused',
    async (input_image) => {
      await expectRefused({ model: 'vfb-1.0-i2v', input_image }, 'invalid_request', 'input_image')
    },
  )

  test.each([['x'], [5], [[mp4()]]])('references %j is refused', async (references) => {
    await expectRefused({ model: 'vfa-2.7-r2v', references }, 'invalid_request', 'references')
  })

  test.each([[mp4()], [5], [[5]], [['']], [['data:image/png;base64,AAAA']], [[{ url: mp4() }]]])(
    'references.video %j is refused',
    async (given) => {
      const fields = { model: 'vfa-2.7-r2v', references: { video: given } }
      await expectRefused(fields, 'invalid_request', 'references.video')
    },
  )

  test('one video of a form need not be a list', async () => {
    const fields = { model: 'vfa-2.7-r2v', references: { video: mp4() } }
    expect((await accepted(fields, true)).media).toEqual([video(mp4())])
  })
})

describe('a file of a form', () => {
  const upload = (type: string, bytes: number[] | Uint8Array) =>
    read({ model: 'vfb-1.1-i2v', input_reference: { type, bytes: new Uint8Array(bytes) } }, true)

  test.each<[string, number[], string]>([
    ['image/png', [1, 2, 3], 'data:image/png;base64,AQID'],
    ['image/webp; q=1', [1, 2, 3], 'data:image/webp;base64,AQID'],
    ['', [0xff, 0xd8, 0xff], 'data:image/jpeg;base64,/9j/'],
    ['application/octet-stream', [0x89, 0x50, 0x4e, 0x47], 'data:image/png;base64,iVBORw=='],
  ])('of type %p becomes a data URI', async (type, bytes, url) => {
    expect(await upload(type, bytes)).toMatchObject({ request: { media: [image(url)] } })
  })

  test('of the WebP kind is known by its content', async () => {
    const webp = [...Buffer.from('RIFF\n\n\n\nWEBPVP8 ')]
    expect(await upload('', webp)).toMatchObject({
      request: { media: [{ url: expect.stringContaining('data:image/webp;base64,') }] },
    })
  })

  test.each<[string, number[]]>([
    ['video/mp4', [1]],
    ['text/html', [0x89, 0x50, 0x4e, 0x47]],
    ['', [1, 2, 3]],
    ['image/png', []],
    ['image/a"b', [1]],
  ])('of type %p and bytes %j is refused', async (type, bytes) => {
    expect(await upload(type, bytes)).toMatchObject({
      code: 'invalid_request',
      extras: { param: 'input_reference' },
    })
  })

  test('has at most 20 MiB', async () => {
    expect(await upload('image/png', new Uint8Array(maxImageBytes))).not.toBeInstanceOf(Refusal)
    expect(await upload('image/png', new Uint8Array(maxImageBytes + 1))).toMatchObject({
      code: 'request_too_large',
    })
  })
})

describe('inputs by model', () => {
  const refs = (images: number) => ({ input_reference: pngs(images) })
  const videos = (videos: number) => ({ references: { video: mp4s(videos) } })

  test.each<[string, Fields, number]>([
    ['vfb-1.1-t2v', {}, 0],
    ['vfa-2.7-t2v', { input_reference: [] }, 0],
    ['vfb-1.1-i2v', refs(1), 1],
    ['vfb-1.1-i2v', { input_image: png() }, 1],
    ['vfb-1.1-r2v', refs(1), 1],
    ['vfb-1.1-r2v', refs(9), 9],
    ['vfb-1.1-r2v', { input_reference: png() }, 1],
    ['vfb-1.0-i2v', { input_image: png() }, 1],
    ['vfb-1.0-i2v', refs(1), 1],
    ['vfb-1.1-r2v', refs(12), 12],
    ['vfb-1.0-r2v', refs(1), 1],
    ['vfb-1.0-r2v', refs(10), 10],
    ['vfb-1.0-video-edit', refs(1), 1],
    ['vfb-1.0-video-edit', videos(1), 1],
    ['vfb-1.0-video-edit', { ...refs(1), ...videos(6) }, 7],
    ['vfa-2.7-i2v', refs(1), 1],
    ['vfa-2.7-i2v', refs(2), 2],
    ['vfa-2.7-i2v', refs(3), 3],
    ['vfa-2.7-i2v', { input_reference: [mp4(), png(), png()] }, 3],
    ['vfa-2.7-i2v', { input_image: mp4() }, 1],
    ['vfa-2.7-i2v', { input_reference: { image_url: mp4() } }, 1],
    ['vfa-2.7-i2v', { input_reference: mp4() }, 1],
    ['vfa-2.7-i2v', { input_reference: [mp4(), png()] }, 2],
    ['vfa-2.7-i2v', { input_reference: { video_url: 'https://h.example/clip' } }, 1],
    ['vfa-2.7-i2v-2026-04-25', { input_reference: [mp4(), png()] }, 2],
    ['vfa-2.7-r2v', videos(1), 1],
    ['vfa-2.7-r2v', { ...videos(6), ...refs(10) }, 16],
    ['vfa-2.7-videoedit', videos(1), 1],
    ['vfa-2.7-videoedit', { ...videos(1), ...refs(10) }, 11],
  ])('%s takes %j', async (model, input, count) => {
    expect((await accepted({ model, prompt: 'a boat', ...input })).media).toHaveLength(count)
  })

  test.each<[string, Fields, string, string]>([
    ['vfb-1.1-t2v', refs(1), 'invalid_request', 'input_reference'],
    ['vfb-1.1-t2v', { input_image: png() }, 'invalid_request', 'input_image'],
    ['vfb-1.1-t2v', videos(1), 'invalid_request', 'references.video'],
    ['vfa-2.7-t2v', { input_reference: mp4() }, 'invalid_request', 'input_reference'],
    ['vfa-2.7-t2v-2026-04-25', refs(1), 'invalid_request', 'input_reference'],
    ['vfb-1.1-i2v', {}, 'invalid_request', 'input_reference'],
    ['vfb-1.1-i2v', refs(2), 'too_many_images', 'input_reference'],
    ['vfb-1.1-i2v', { ...refs(1), input_image: png() }, 'too_many_images', 'input_reference'],
    ['vfb-1.1-i2v', { input_reference: mp4() }, 'invalid_request', 'input_reference'],
    ['vfb-1.1-i2v', { ...refs(1), ...videos(1) }, 'invalid_request', 'references.video'],
    ['vfb-1.1-r2v', {}, 'invalid_request', 'input_reference'],
    ['vfb-1.1-r2v', { input_reference: [png(), mp4()] }, 'invalid_request', 'input_reference'],
    ['vfb-1.0-i2v', {}, 'invalid_request', 'input_reference'],
    ['vfb-1.0-i2v', refs(2), 'too_many_images', 'input_reference'],
    ['vfb-1.0-i2v', { ...refs(1), input_image: png() }, 'too_many_images', 'input_reference'],
    [
      'vfb-1.0-i2v',
      { input_reference: { image_url: mp4() } },
      'invalid_request',
      'input_reference',
    ],
    ['vfb-1.0-r2v', {}, 'invalid_request', 'input_reference'],
    ['vfb-1.0-r2v', videos(1), 'invalid_request', 'references.video'],
    ['vfb-1.0-video-edit', {}, 'invalid_request', 'input_reference'],
    ['vfb-1.0-video-edit', refs(2), 'too_many_images', 'input_reference'],
    ['vfb-1.0-video-edit', { input_reference: mp4() }, 'invalid_request', 'input_reference'],
    ['vfa-2.7-i2v', {}, 'invalid_request', 'input_reference'],
    ['vfa-2.7-i2v', { input_reference: [png(), mp4()] }, 'invalid_request', 'input_reference'],
    ['vfa-2.7-i2v', { input_reference: [mp4(), mp4()] }, 'invalid_request', 'input_reference'],
    ['vfa-2.7-i2v', videos(1), 'invalid_request', 'references.video'],
    ['vfa-2.7-r2v', {}, 'invalid_request', 'references.video'],
    ['vfa-2.7-r2v', refs(1), 'invalid_request', 'references.video'],
    ['vfa-2.7-r2v', { ...videos(1), input_reference: mp4() }, 'invalid_request', 'input_reference'],
    ['vfa-2.7-videoedit', {}, 'invalid_request', 'references.video'],
    ['vfa-2.7-videoedit', refs(1), 'invalid_request', 'references.video'],
    ['vfa-2.7-videoedit', videos(2), 'invalid_request', 'references.video'],
  ])('%s refuses %j', async (model, input, code, param) => {
    await expectRefused({ model, prompt: 'a boat', ...input }, code, param)
  })

  test('come in the order they were given', async () => {
    const input = { ...videos(2), ...refs(2), input_image: png(7) }
    expect(
      (await accepted({ model: 'vfa-2.7-r2v', ...input })).media.map(({ url }) => url),
    ).toEqual([png(0), png(1), png(7), mp4(0), mp4(1)])
  })
})

describe('the length of an edit', () => {
  const edit = { references: { video: [mp4()] }, prompt: 'x' }

  test('is that of its source, unless one is asked for and can be sent', async () => {
    const open = await accepted({ ...edit, model: 'vfa-2.7-videoedit' })
    expect(open).toMatchObject({ followsSource: true })
    const cut = await accepted({ ...edit, model: 'vfa-2.7-videoedit', seconds: 4 })
    expect([cut.seconds, cut.followsSource]).toEqual([4, undefined])
    const never = await accepted({ ...edit, model: 'vfb-1.0-video-edit', seconds: 4 })
    expect(never).toMatchObject({ followsSource: true })
    expect(await accepted({ model: 'vfa-2.7-t2v', prompt: 'x' })).not.toHaveProperty(
      'followsSource',
    )
  })
})

test.each([
  ['duration', 5],
  ['durationSeconds', 5],
  ['ratio', '9:16'],
  ['aspect_ratio', '9:16'],
  ['frames', 57],
  ['negative_prompt', 'rain'],
  ['image', png()],
  ['video', mp4()],
  ['input', {}],
  ['parameters', {}],
  ['content', []],
  ['n', 2],
])('%s is a word of other dialects, and refused with the right one', async (name, value) => {
  await expectRefused({ model: 'vfa-2.7-t2v', prompt: 'x', [name]: value }, 'invalid_request', name)
  await accepted({ model: 'vfa-2.7-t2v', prompt: 'x', [name]: null })
})

test('references of pictures are not taken among those of videos', async () => {
  const references = { image: [png()], video: [mp4()] }
  await expectRefused({ model: 'vfa-2.7-r2v', references }, 'invalid_request', 'references.image')
})

test('whatever stands in the fields, what is taken can be filmed and paid for', async () => {
  const value = fc.oneof(
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    // Mostly absent, or a request with nothing wrong in it hardly ever comes.
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 4, arbitrary: fc.constantFrom(png(), mp4(), '5', 5) },
  )
  const names = ['prompt', 'seconds', 'resolution', 'size', 'seed', 'input_reference']
  const odd = fc.record(
    Object.fromEntries([...names, 'input_image', 'references'].map((name) => [name, value])),
    { requiredKeys: [] },
  )
  const taken: VideoRequest[] = []
  await fc.assert(
    fc.asyncProperty(odd, fc.boolean(), async (fields, form) => {
      const call = await read({ model: 'own-film', ...fields }, form)
      if (call instanceof Refusal) return
      const request = asVideoRequest(call.request)
      const { seconds, resolution, media } = request
      expect(Number.isInteger(seconds) && seconds >= 2 && seconds <= 15).toBe(true)
      expect(['720p', '1080p']).toContain(resolution)
      for (const { url } of media) expect(url).toMatch(/^(https?:\/\/|data:image\/)/)
      taken.push(request)
    }),
    { numRuns: 500 },
  )
  expect(taken.length).toBeGreaterThan(5)
})
