// What every place for kept files promises, whichever it is.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeS3, s3Keys, s3Region, startFakeS3 } from '../../test/support/tasks/fake-s3.ts'
import { openDirectory } from './directory.ts'
import { openS3 } from './s3.ts'
import type { MediaStore } from './store.ts'

const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, i) => (i * 7 + 3) % 251)
const whole = bytesOf(100_000)
const partBytes = 30_000

async function* inPieces(bytes: Uint8Array, size = 16_384): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
}

async function* brokenAfter(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes)
  throw new Error('it broke off')
}

const read = async (body: ReadableStream<Uint8Array> | Blob | undefined) =>
  body === undefined ? undefined : new Uint8Array(await new Response(body).arrayBuffer())

let dir: string
let s3: FakeS3

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gateway-media-'))
  s3 = startFakeS3()
})

afterEach(async () => {
  await s3.stop()
  rmSync(dir, { recursive: true, force: true })
})

const remote = (more: { secretKey?: string; pathStyle?: boolean; endpoint?: string } = {}) =>
  openS3(
    {
      endpoint: s3.url,
      region: s3Region,
      bucket: 'films',
      prefix: 'kept/',
      accessKey: s3Keys.access,
      secretKey: s3Keys.secret,
      pathStyle: true,
      ...more,
    },
    { partBytes, retryMs: 1 },
  )

const places: [string, () => MediaStore, () => string[]][] = [
  ['a directory', () => openDirectory(dir), () => readdirSync(dir).filter((n) => n !== '.place')],
  ['an S3-compatible store', () => remote(), () => [...s3.objects.keys(), ...s3.uploads.keys()]],
]

describe.each(places)('%s', (_, open, names) => {
  test('gives back what was written, whole or in part', async () => {
    const store = open()
    const written = await store.write('a-0.mp4', inPieces(whole))
    expect(written).toEqual({ bytes: 100_000, etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) })
    expect(await read(await store.open('a-0.mp4', { first: 0, last: 99_999 }))).toEqual(whole)
    const part = await read(await store.open('a-0.mp4', { first: 40_000, last: 40_009 }))
    expect(part).toEqual(whole.slice(40_000, 40_010))
  })

  test('tags equal content alike, and other content differently', async () => {
    const store = open()
    const [a, b, c] = [
      await store.write('a', inPieces(whole)),
      await store.write('b', inPieces(whole, 999)),
      await store.write('c', inPieces(whole.slice(1))),
    ]
    expect(a).toEqual(b)
    expect(c).not.toEqual(a)
  })

  test('takes a file that is smaller than a piece', async () => {
    const store = open()
    expect(await store.write('a', inPieces(bytesOf(5)))).toMatchObject({ bytes: 5 })
    expect(await read(await store.open('a', { first: 0, last: 4 }))).toEqual(bytesOf(5))
  })

  test('has nothing of a file whose body broke off', async () => {
    const store = open()
    expect(await store.write('a', brokenAfter(whole))).toEqual({ problem: 'it broke off' })
    expect(await store.open('a', { first: 0, last: 0 })).toBeUndefined()
    expect(names()).toEqual([])
  })

  test('gives nothing for what is not there, or is shorter than asked for', async () => {
    const store = open()
    expect(await store.open('a', { first: 0, last: 0 })).toBeUndefined()
    await store.write('a', inPieces(bytesOf(5)))
    expect(await store.open('a', { first: 5, last: 9 })).toBeUndefined()
  })

  test('removes a file, and is content when there is none', async () => {
    const store = open()
    await store.write('a', inPieces(whole))
    expect([await store.remove('a'), await store.remove('a')]).toEqual([true, true])
    expect(names()).toEqual([])
  })

  test('is the same place when it is opened again', () => {
    expect(open().place).toBe(open().place)
  })

  test('refuses names that lead elsewhere', async () => {
    const store = open()
    for (const name of ['../a', 'a/b', '.part', '', 'a.mp4.part']) {
      const failure = await Promise.resolve()
        .then(() => store.remove(name))
        .catch((error: Error) => error.message)
      expect(failure).toMatch('may not be used')
    }
  })
})

describe('a directory', () => {
  test('keeps files for this user only', async () => {
    const store = openDirectory(join(dir, 'new'))
    await store.write('a', inPieces(whole))
    expect(statSync(join(dir, 'new')).mode & 0o777).toBe(0o700)
    expect(statSync(join(dir, 'new', 'a')).mode & 0o777).toBe(0o600)
  })

  test('lets a reader read on while the file is removed', async () => {
    const store = openDirectory(dir)
    const large = bytesOf(20_000_000)
    await store.write('a', inPieces(large))
    const body = await store.open('a', { first: 1, last: large.length - 1 })
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(body) })
    const answer = await fetch(`http://127.0.0.1:${server.port}`)
    expect(answer.headers.get('content-length')).toBe(String(large.length - 1))
    await store.remove('a')
    expect(Buffer.compare(await answer.bytes(), large.subarray(1))).toBe(0)
    await server.stop(true)
  })

  test('tidies up what a dead writer left, and nothing of a living one', async () => {
    const store = openDirectory(dir)
    await store.write('kept', inPieces(whole))
    for (const name of ['old.part', 'young.part']) writeFileSync(join(dir, name), 'x')
    const nowMs = Date.now()
    utimesSync(join(dir, 'old.part'), nowMs / 1000 - 7_200, nowMs / 1000 - 7_200)
    await store.tidy(nowMs)
    expect(readdirSync(dir).sort()).toEqual(['.place', 'kept', 'young.part'])
  })

  test('is another place than any other directory', () => {
    expect(openDirectory(join(dir, 'a')).place).not.toBe(openDirectory(join(dir, 'b')).place)
  })
})

describe('an S3-compatible store', () => {
  test('gets a large file in parts, and a small one at once', async () => {
    await remote().write('large', inPieces(whole))
    await remote().write('small', inPieces(bytesOf(partBytes)))
    const asked = s3.requests.map((each) => each.replace(/uploadId=[\w-]+/, 'uploadId=…'))
    expect(asked).toEqual([
      'POST /films/kept/large?uploads=',
      ...[1, 2, 3, 4].map((n) => `PUT /films/kept/large?partNumber=${n}&uploadId=…`),
      'POST /films/kept/large?uploadId=…',
      'PUT /films/kept/small',
    ])
    expect(s3.objects.get('/films/kept/large')).toEqual(Buffer.from(whole))
  })

  test('can have the bucket in its host name', async () => {
    const endpoint = s3.url.replace('127.0.0.1', 'localhost')
    const store = remote({ pathStyle: false, endpoint })
    expect(await store.write('a', inPieces(whole))).toMatchObject({ bytes: 100_000 })
    expect([...s3.objects.keys()]).toEqual(['/kept/a'])
    expect(await read(await store.open('a', { first: 9, last: 19 }))).toEqual(whole.slice(9, 20))
  })

  test('is asked again for a part it stumbled over, a few times', async () => {
    s3.failNext(503, 2)
    expect(await remote().write('a', inPieces(bytesOf(5)))).toMatchObject({ bytes: 5 })
    s3.failNext(503, 3)
    expect(await remote().write('b', inPieces(bytesOf(5)))).toEqual({
      problem: 'the media store answered 503',
    })
  })

  test('that refuses the keys is a problem, without the keys in it', async () => {
    const store = remote({ secretKey: 'wrong-secret' })
    expect(await store.write('a', inPieces(whole))).toEqual({
      problem: 'the media store answered 403',
    })
    expect(await store.remove('a')).toBe(false)
    const opened = store.open('a', { first: 0, last: 0 })
    expect(await opened.catch((error: Error) => error.message)).toMatch('answered 403')
  })

  test('that redirects is a problem, and neither files nor keys go elsewhere', async () => {
    const elsewhere: string[] = []
    const other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        elsewhere.push(request.method)
        return new Response('x', { headers: { etag: '"x"' } })
      },
    })
    const location = `http://127.0.0.1:${other.port}/`
    const redirecting = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(null, { status: 307, headers: { location } }),
    })
    const store = remote({ endpoint: `http://127.0.0.1:${redirecting.port}` })
    for (const bytes of [bytesOf(5), whole]) {
      const written = await store.write('a', inPieces(bytes))
      expect(written).toEqual({ problem: 'the media store answered 307' })
    }
    const opened = store.open('a', { first: 0, last: 0 })
    expect(await opened.catch((error: Error) => error.message)).toMatch('answered 307')
    expect([await store.remove('a'), elsewhere]).toEqual([false, []])
    await Promise.all([other.stop(true), redirecting.stop(true)])
  })

  test('that answers a range with something else is an error', async () => {
    const wrong = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('12345') })
    const store = remote({ endpoint: `http://127.0.0.1:${wrong.port}` })
    const opened = store.open('a', { first: 5, last: 9 })
    expect(await opened.catch((error: Error) => error.message)).toMatch('answered 200')
    await wrong.stop(true)
  })

  test('that is not there is a problem', async () => {
    await s3.stop()
    expect(await remote().write('a', inPieces(whole))).toEqual({ problem: expect.any(String) })
  })
})
