// The video routes over a real store and a server that plays the upstream: who sees what, the
// download and its headers, pages, and what DELETE does.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import { newVideoApp, type VideoApp } from './test-app.ts'
import { finishedWith, taskWith } from './test-task.ts'

const video = 'not really a film'

async function answerUpstream(request: Request): Promise<Response> {
  const headers = { 'set-cookie': 'canary=1', server: 'canary', 'content-type': 'text/html' }
  const megabytes = /\/(\d+)$/.exec(request.url)?.[1]
  if (megabytes !== undefined) return new Response(new Uint8Array(Number(megabytes) * 1024 ** 2))
  if (request.headers.get('range') !== 'bytes=0-2') return new Response(video, { headers })
  const part = { ...headers, 'content-range': `bytes 0-2/${video.length}` }
  return new Response(video.slice(0, 3), { status: 206, headers: part })
}

let app: VideoApp
beforeAll(async () => {
  app = await newVideoApp(answerUpstream)
})
afterAll(() => app.close())

const ask: VideoApp['ask'] = (...args) => app.ask(...args)
const askJson: VideoApp['askJson'] = (...args) => app.askJson(...args)
const keep: VideoApp['keep'] = (...args) => app.keep(...args)

const media = () => [{ kind: 'video' as const, url: `${app.upstreamUrl}/f.mp4` }]

describe('a stranger', () => {
  test.each([
    ['POST', ''],
    ['GET', ''],
    ['GET', '/video_1'],
    ['GET', '/video_1/content'],
    ['DELETE', '/video_1'],
  ])('is not let in by %s %p', async (method, path) => {
    const { status, body } = await askJson(method, path, {}, `sk-${'c'.repeat(30)}`)
    expect([status, body.error?.code]).toEqual([401, 'invalid_api_key'])
  })

  test('is sent away before the body is read', async () => {
    const headers = { authorization: 'Bearer sk-no', 'content-type': 'application/json' }
    const request = new Request('http://localhost/v1/videos', {
      method: 'POST',
      body: '{',
      headers,
    })
    const answer = await app.send(request)
    expect([answer.status, request.bodyUsed]).toEqual([401, false])
  })
})

describe('an id', () => {
  test('of another account looks like one that never was', async () => {
    const id = await keep(finishedWith({ media: media() }), 'other')
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/content'],
      ['DELETE', ''],
    ]) {
      const theirs = await askJson(method!, `/${id}${path}`)
      const nobodys = await askJson(method!, `/video_0${path}`)
      const shown = ({ status, body }: typeof theirs) =>
        [status, JSON.stringify(body).replaceAll(/video_\d+|req_\w+/g, '-')].join()
      expect(shown(theirs)).toBe(shown(nobodys))
      expect([theirs.status, theirs.body.error?.code]).toEqual([404, 'video_not_found'])
    }
  })

  test("of the upstream's is none here", async () => {
    await keep(taskWith({ upstreamId: 'up-1' }))
    expect((await ask('GET', '/up-1')).status).toBe(404)
  })
})

describe('a look', () => {
  test('at one that waits tells when to look again', async () => {
    const id = await keep(taskWith())
    const { status, headers, body } = await askJson('GET', `/${id}`)
    expect([status, body['id'], body['status']]).toEqual([200, id, 'queued'])
    expect([headers.get('retry-after'), headers.get('openai-poll-after-ms')]).toEqual(['2', '2000'])
    expect(headers.get('x-gateway-request-id')).toMatch(/^req_/)
  })

  test('at one that is done shows where to fetch it', async () => {
    const id = await keep(finishedWith())
    const { headers, body } = await askJson('GET', `/${id}`)
    expect(body['url']).toStartWith(`http://gateway.test/files/${id}/0?until=`)
    expect(headers.get('retry-after')).toBeNull()
  })
})

describe('a download', () => {
  test('is the file under our own headers only', async () => {
    const id = await keep(finishedWith({ media: media() }))
    const answer = await ask('GET', `/${id}/content`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe(video)
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'video/mp4',
      'content-length': String(video.length),
      'content-disposition': `inline; filename="${id}.mp4"`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^default-src 'none'/),
      'x-gateway-request-id': expect.stringMatching(/^req_/),
      'x-request-id': expect.stringMatching(/^req_/),
      'request-id': expect.stringMatching(/^req_/),
    })
  })

  test('of a part is that part', async () => {
    const id = await keep(finishedWith({ media: media() }))
    const answer = await ask('GET', `/${id}/content`, { headers: { range: 'bytes=0-2' } })
    expect([answer.status, await answer.text()]).toEqual([206, video.slice(0, 3)])
    expect(answer.headers.get('content-range')).toBe(`bytes 0-2/${video.length}`)
  })

  test.each([
    { range: 'bytes=0-1,2-3' },
    { range: 'lines=1-2' },
    { range: 'bytes=0-2', 'if-range': '"v1"' },
  ])('with %j is the whole', async (headers) => {
    const id = await keep(finishedWith({ media: media() }))
    const answer = await ask('GET', `/${id}/content`, { headers })
    expect([answer.status, await answer.text()]).toEqual([200, video])
  })

  test('by HEAD is the headers alone', async () => {
    const id = await keep(finishedWith({ media: media() }))
    const answer = await ask('HEAD', `/${id}/content`, { headers: { range: 'bytes=0-2' } })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(answer.headers.get('content-length')).toBe(String(video.length))
  })

  test('that is short tells its length over the wire, and a long one is all there', async () => {
    const server = Bun.serve({ port: 0, fetch: (request) => app.send(request) })
    const authorization = `Bearer ${app.secret}`
    try {
      for (const megabytes of [1, 5]) {
        const bytes = megabytes * 1024 ** 2
        const from = media().map((each) => ({ ...each, url: `${app.upstreamUrl}/${megabytes}` }))
        const id = await keep(finishedWith({ media: from }))
        const url = `${server.url}v1/videos/${id}/content`
        const answer = await fetch(url, { headers: { authorization } })
        if (megabytes === 1) expect(answer.headers.get('content-length')).toBe(String(bytes))
        expect((await answer.bytes()).length).toBe(bytes)
      }
    } finally {
      server.stop(true)
    }
  })

  test('that breaks off upstream is an error, not half a film', async () => {
    const broken = createServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc')
    })
    await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve))
    const { port } = broken.address() as AddressInfo
    const id = await keep(
      finishedWith({ media: [{ kind: 'video', url: `http://127.0.0.1:${port}/f.mp4` }] }),
    )
    const { status, body } = await askJson('GET', `/${id}/content`)
    broken.close()
    expect([status, body.error?.code]).toEqual([502, 'upstream_invalid_response'])
  })

  test('of anything but the video is not there', async () => {
    const id = await keep(finishedWith({ media: media() }))
    expect((await ask('GET', `/${id}/content?variant=thumbnail`)).status).toBe(404)
    expect((await ask('GET', `/${id}/content?variant=video`)).status).toBe(200)
  })

  test.each(['accepted', 'unknown', 'queued', 'running'] as const)(
    'of one that is %s comes too early',
    async (state) => {
      const id = await keep(taskWith({ state }))
      const { status, headers, body } = await askJson('GET', `/${id}/content`)
      expect([status, body.error?.code]).toEqual([409, 'video_not_ready'])
      expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual(['2', 'false'])
    },
  )

  test.each(['failed', 'cancelled'] as const)('of one that %s is impossible', async (state) => {
    const id = await keep(taskWith({ state }))
    const { status, headers, body } = await askJson('GET', `/${id}/content`)
    expect([status, body.error?.code]).toEqual([409, 'video_not_available'])
    expect(headers.get('retry-after')).toBeNull()
  })

  test('after its time is gone', async () => {
    const late = media().map((each) => ({ ...each, expiresAtMs: 1 }))
    const id = await keep(finishedWith({ media: late }))
    const { status, body } = await askJson('GET', `/${id}/content`)
    expect([status, body.error?.code]).toEqual([410, 'video_expired'])
  })
})

describe('DELETE', () => {
  test('of one that is over puts it out of sight', async () => {
    const id = await keep(finishedWith())
    const { status, body } = await askJson('DELETE', `/${id}`)
    expect([status, body]).toEqual([200, { id, object: 'video.deleted', deleted: true }])
    expect((await ask('GET', `/${id}`)).status).toBe(404)
    expect((await ask('DELETE', `/${id}`)).status).toBe(404)
  })

  test('of one that its upstream cannot cancel changes nothing', async () => {
    const id = await keep(taskWith({ state: 'running' }))
    const { status, headers, body } = await askJson('DELETE', `/${id}`)
    expect([status, body.error?.code]).toEqual([409, 'task_not_cancellable'])
    expect(headers.get('x-should-retry')).toBe('false')
    expect((await askJson('GET', `/${id}`)).body['status']).toBe('in_progress')
  })
})

describe('the list', () => {
  const page = async (query: string) => {
    const { body } = await askJson('GET', query)
    const data = body['data'] as { id: string }[]
    return { ids: data.map(({ id }) => id), ...body }
  }

  test('goes through all of an account in pages, either way', async () => {
    await keep(taskWith(), 'other')
    const last = await keep(taskWith())
    const all = (await page('?limit=100')).ids
    expect(all[0]).toBe(last)
    expect(all.length).toBeGreaterThan(2)
    for (const order of ['asc', 'desc']) {
      const found: string[] = []
      for (let after = '', more = true; more && found.length <= all.length; ) {
        const next = await page(`?limit=2&order=${order}${after}`)
        found.push(...next.ids)
        expect(next).toMatchObject({ first_id: next.ids[0], last_id: next.ids.at(-1) })
        after = `&after=${next.ids.at(-1)}`
        more = (next as unknown as { has_more: boolean }).has_more
      }
      expect(found).toEqual(order === 'desc' ? all : all.toReversed())
    }
  })

  test('has twenty at a time unless asked otherwise', async () => {
    while ((await page('?limit=100')).ids.length < 21) await keep(taskWith())
    const first = await page('')
    expect(first.ids).toHaveLength(20)
    expect(first).toMatchObject({ object: 'list', has_more: true })
  })

  test('after a video that is not there is refused', async () => {
    for (const after of ['video_0000', 'video_ffff']) {
      const { status, body } = await askJson('GET', `?after=${after}`)
      expect(status).toBe(404)
      expect(body['error']).toMatchObject({ code: 'video_not_found', param: 'after' })
    }
  })

  test.each([
    'status=queued',
    'filter[status]=queued',
    'filter.status=queued',
    'model=x',
    'page=2',
  ])('asked by %s, which it does not know, is refused', async (query) => {
    const { status, body } = await askJson('GET', `?${query}`)
    expect(status).toBe(400)
    expect(body['error']).toMatchObject({ param: query.split('=')[0] })
  })

  test('past its end is empty', async () => {
    const last = await keep(taskWith())
    expect(await page(`?order=asc&after=${last}`)).toMatchObject({
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    })
  })

  test.each([
    ['limit', '0'],
    ['limit', '101'],
    ['limit', '1.5'],
    ['limit', ''],
    ['order', 'up'],
    ['after', 'req_1'],
    ['after', ''],
  ])('with %s=%p is refused', async (name, value) => {
    const { status, body } = await askJson('GET', `?${name}=${value}`)
    expect([status, body.error]).toEqual([400, expect.objectContaining({ param: name })])
  })

  test.each(['1', '100'])('may have a limit of %s', async (limit) => {
    expect((await ask('GET', `?limit=${limit}`)).status).toBe(200)
  })
})
