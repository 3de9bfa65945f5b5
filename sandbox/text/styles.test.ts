// A directive means the same in every text protocol, in that protocol's own shapes.
import { afterAll, describe, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { chatOf, longText, postTo, readNamedEvents, untilLogged } from '../testing.ts'

interface Style {
  name: string
  path: string
  body(text: string): object
  /** Where the caller says who its user is. */
  user(name: string): object
  /** How an error looks inside a stream, after that many events. */
  error(after: number): unknown
  /** Events of an answer of three tokens. */
  events: number
  contentPolicy: object
}

const message = 'The model failed in the middle of its answer.'
const inspection = { code: 'data_inspection_failed', type: 'data_inspection_failed' }
const objectError = { message, type: 'server_error', code: 'internal_error', param: null }

const styles: Style[] = [
  {
    name: 'chat',
    path: '/v1/chat/completions',
    body: (text) => chatOf(text, { stream_options: { include_usage: true } }),
    user: (user) => ({ user }),
    error: () => ({ error: objectError }),
    events: 7,
    contentPolicy: inspection,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: (input) => ({ model: 'txta-plus', input }),
    user: (user) => ({ user }),
    error: (sequence_number) => ({
      type: 'error',
      event: 'error',
      code: 'internal_error',
      message,
      param: null,
      sequence_number,
    }),
    events: 11,
    contentPolicy: inspection,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    body: (text) => chatOf(text, { max_tokens: 1000 }),
    user: (user_id) => ({ metadata: { user_id } }),
    error: () => ({ type: 'error', event: 'error', error: { type: 'api_error', message } }),
    events: 9,
    contentPolicy: { type: 'invalid_request_error' },
  },
]

/** One style tells the caller again who its user is. */
interface Echo {
  user?: unknown
  metadata?: unknown
}

/** The data of every event, named or not. */
const read = (text: string): unknown[] =>
  text.startsWith('event: ')
    ? readNamedEvents(text)
    : text
        .split('\n\n')
        .slice(0, -1)
        .map((event) => event.replace(/^data: /, ''))
        .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as unknown)))

for (const style of styles) {
  const sandbox = startSandbox({ now: () => Date.UTC(2026, 10, 18) })
  afterAll(() => sandbox.stop())
  const post = (text: string, more: object = {}) =>
    postTo(sandbox.url + style.path, { ...style.body(text), ...more })
  const stream = async (text: string, more: object = {}) =>
    read(await (await post(text, { stream: true, ...more })).text())

  describe(style.name, () => {
    test('the same request has the same answer, whoever asks', async () => {
      const answer = async (text: string, more?: object) => {
        const { user, metadata, ...rest } = (await (await post(text, more)).json()) as Echo
        return rest
      }
      const first = await answer('same')
      expect(await answer('same', style.user('somebody'))).toEqual(first)
      expect(await answer('other')).not.toEqual(first)
    })

    test('tokens, chunk and delay: that many, one by one, later', async () => {
      expect(await stream('[[sim:tokens=3]]')).toHaveLength(style.events)
      const slow = '[[sim:tokens=3]] [[sim:chunk=1ms]] [[sim:delay=5ms]]'
      expect(await stream(slow)).toHaveLength(style.events)
      await stream('[[sim:tokens=3]]', style.user('three'))
      const logged = await untilLogged(sandbox, 'three', (call) => call.finished)
      expect(logged).toMatchObject({ protocol: style.name, stream: true, completion_tokens: 3 })
    })

    test('the call log has the same counts for both forms', async () => {
      const tokens = { prompt_tokens: 11, completion_tokens: 9, finished: true }
      const text = 'one [[sim:tokens=9]]'
      await (await post(text, style.user('whole'))).text()
      await stream(text, style.user('streamed'))
      expect(await untilLogged(sandbox, 'whole')).toMatchObject({ ...tokens, stream: false })
      expect(await untilLogged(sandbox, 'streamed')).toMatchObject({ ...tokens, stream: true })
    })

    test('status and leak: an error in the shape of the protocol, before a stream', async () => {
      const limited = await post('[[sim:status=429]]', { stream: true })
      expect(limited.status).toBe(429)
      expect(limited.headers.get('retry-after')).toBe('1')
      expect(await limited.json()).toMatchObject({ error: { type: 'rate_limit_error' } })
      const leaked = (await (await post('[[sim:leak]]')).json()) as { error: { message: string } }
      expect(leaked.error.message).toContain('sk-upstream-0123456789')
      expect(leaked.error.message).toContain('http://10.12.0.7:8443')
    })

    test('fail: the model fails, or the content is refused', async () => {
      expect((await post('[[sim:fail]]')).status).toBe(500)
      const refused = await post('[[sim:fail=content_policy]]')
      expect(refused.status).toBe(400)
      const error = { message: expect.stringContaining('inappropriate'), ...style.contentPolicy }
      expect(await refused.json()).toMatchObject({ error })
    })

    test('no-usage: no usage is told anywhere', async () => {
      expect(await (await post('[[sim:no-usage]]')).json()).not.toHaveProperty('usage')
      const told = JSON.stringify(await stream('[[sim:no-usage]]'))
      // A response that has only begun says null, as ever.
      expect(told.replaceAll('"usage":null', '')).not.toContain('usage"')
    })

    test('error-after: that many events, an error event, and a proper end', async () => {
      const whole = await stream('[[sim:tokens=3]]')
      for (const after of [0, 3]) {
        const text = `[[sim:error-after=${after}]]`
        const events = await stream(text, style.user(`error ${after}`))
        expect(events).toHaveLength(after + 1)
        expect(events.at(-1)).toEqual(style.error(after))
        expect((await untilLogged(sandbox, `error ${after}`)).finished).toBe(false)
      }
      const late = await stream(`[[sim:tokens=3]] [[sim:error-after=${whole.length}]]`)
      expect(late).toHaveLength(whole.length)
      expect((await post('[[sim:error-after=0]]')).status).toBe(200)
    })

    test('cut: a stream breaks after that many events, a whole answer in its middle', async () => {
      for (const stream of [true, false]) {
        const user = `cut ${stream}`
        const response = await post('[[sim:cut=4]]', { stream, ...style.user(user) })
        expect(response.status).toBe(200)
        const outcome = await response.text().then(
          () => 'proper',
          () => 'broken',
        )
        expect(outcome).toBe('broken')
        expect((await untilLogged(sandbox, user)).finished).toBe(false)
      }
    })

    test('a prefix seen before is a hit, also in a stream', async () => {
      const text = longText('prefix', 300)
      const first = JSON.stringify(await (await post(text)).json())
      expect(first).not.toMatch(/cache\w*_tokens":256/)
      const again = JSON.stringify(await stream(text))
      expect(again).toMatch(/cache\w*_tokens":256/)
    })
  })
}

test('hang: nothing comes in any style until the server stops', async () => {
  const doomed = startSandbox()
  const stuck = styles.map(({ path, body, user }) =>
    postTo(doomed.url + path, { ...body('[[sim:hang]]'), ...user(`hangs on ${path}`) }).then(
      () => 'answered',
      () => 'broken',
    ),
  )
  for (const { path } of styles) {
    expect((await untilLogged(doomed, `hangs on ${path}`)).status).toBe(0)
  }
  await doomed.stop()
  expect(await Promise.all(stuck)).toEqual(['broken', 'broken', 'broken'])
})
