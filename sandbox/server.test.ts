import { afterAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Sandbox, startSandbox } from './server.ts'
import { ask, askStream, type Body, chatOf, loggedCalls, post, untilLogged } from './testing.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

const errorOf = async (response: Response) => ((await response.json()) as Body).error

/** What a plain socket sees, and whether the end was proper. */
function rawPost(to: Sandbox, body: string): Promise<{ seen: string; broken: boolean }> {
  return new Promise((resolve) => {
    let seen = ''
    let broken = false
    const socket = connect(to.port, '127.0.0.1', () => {
      const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: sandbox\r\n'
      socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    })
    socket.on('data', (bytes) => {
      seen += bytes.toString()
    })
    socket.on('error', () => {
      broken = true
    })
    socket.on('close', () => resolve({ seen, broken }))
  })
}

test('every answer has an id of its own, which is also the id in the call log', async () => {
  const first = await post(sandbox, chatOf('id', { user: 'id-1' }))
  const second = await post(sandbox, chatOf('id', { user: 'id-2' }))
  const id = first.headers.get('x-request-id')
  expect(id).toMatch(/^sbx-[0-9a-f]{8}-\d+$/)
  expect(second.headers.get('x-request-id')).not.toBe(id)
  expect((await untilLogged(sandbox, 'id-1')).id).toBe(id ?? 'none')
})

test('the base addresses of the protocols are what a channel needs', async () => {
  expect(sandbox.protocols).toEqual({
    chat: `${sandbox.url}/v1`,
    responses: `${sandbox.url}/v1`,
    messages: sandbox.url,
    generate: sandbox.url,
    embeddings: `${sandbox.url}/v1`,
    rerank: `${sandbox.url}/v1`,
    moderations: `${sandbox.url}/v1`,
    speech: `${sandbox.url}/v1`,
    transcriptions: `${sandbox.url}/v1`,
    vf: sandbox.url,
    arkvendor: `${sandbox.url}/api/v3`,
    vendorg: sandbox.url,
    images: `${sandbox.url}/v1`,
    imgvendor: `${sandbox.url}/imgvendor`,
  })
})

test('an unknown path and a wrong method are refused in the shape of the protocol', async () => {
  const lost = await fetch(`${sandbox.url}/v1/nothing`, { method: 'POST', body: '{}' })
  expect(lost.status).toBe(404)
  expect(lost.headers.has('x-request-id')).toBe(true)
  expect(await errorOf(lost)).toMatchObject({ type: 'invalid_request_error', param: null })
  const wrong = await fetch(`${sandbox.url}/v1/chat/completions`)
  expect(wrong.status).toBe(405)
  expect((await errorOf(wrong))?.type).toBe('invalid_request_error')
})

test('with a key set, any other key is refused and echoed with its middle hidden', async () => {
  const locked = startSandbox({ key: 'sk-right-abcdefghijkl' })
  try {
    const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
    const refused = await post(locked, chatOf('x'), bearer('sk-wrong-secretmiddle-wxyz'))
    expect(refused.status).toBe(401)
    const error = await errorOf(refused)
    expect(error?.code).toBe('invalid_api_key')
    expect(error?.message).toContain('sk-wr********wxyz')
    expect(error?.message).not.toContain('secretmiddle')
    const accepted = await post(locked, chatOf('x'), bearer('sk-right-abcdefghijkl'))
    expect(accepted.status).toBe(200)
    expect((await post(locked, chatOf('x'), { headers: {} })).status).toBe(401)
  } finally {
    await locked.stop()
  }
})

test('tokens: the answer has exactly that many, in both forms', async () => {
  for (const count of [0, 1, 17, 500]) {
    const text = `[[sim:tokens=${count}]]`
    expect((await ask(sandbox, text)).usage?.completion_tokens).toBe(count)
    const chunks = await askStream(sandbox, text)
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta?.content)).toHaveLength(count)
  }
})

test('status: an error of that status, with a time to retry for 429 and 503', async () => {
  for (const status of [400, 401, 403, 404, 429, 500, 502, 503, 529]) {
    const response = await post(sandbox, chatOf(`[[sim:status=${status}]]`, { stream: true }))
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe(status === 429 || status === 503 ? '1' : null)
    expect((await errorOf(response))?.message).toContain(String(status))
  }
})

test('fail: a server error, or a refusal of the content', async () => {
  const failed = await post(sandbox, chatOf('[[sim:fail]]'))
  expect(failed.status).toBe(500)
  expect((await errorOf(failed))?.type).toBe('server_error')
  const refused = await post(sandbox, chatOf('[[sim:fail=content_policy]]'))
  expect(refused.status).toBe(400)
  expect((await errorOf(refused))?.code).toBe('data_inspection_failed')
})

test('leak: the message holds the key, an internal address and a stack trace', async () => {
  const response = await post(sandbox, chatOf('[[sim:leak]]'))
  expect(response.status).toBe(500)
  const message = (await errorOf(response))?.message
  expect(message).toContain('sk-upstream-0123456789')
  expect(message).toMatch(/http:\/\/10\.12\.0\.7:8443\/internal\/v1\/infer\?token=\w/)
  expect(message).toMatch(/\n {4}at .*\(\/srv\/.*:\d+:\d+\)/)
})

test('no-usage: usage is missing even when a stream was asked for it', async () => {
  expect('usage' in (await ask(sandbox, '[[sim:no-usage]]'))).toBe(false)
  const more = { stream_options: { include_usage: true } }
  const chunks = await askStream(sandbox, '[[sim:no-usage]]', more)
  expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
})

test('delay: a later call without one is answered first', async () => {
  const order: string[] = []
  const slow = ask(sandbox, '[[sim:delay=400ms]]', { user: 'slow' }).then(() => order.push('slow'))
  expect((await untilLogged(sandbox, 'slow')).status).toBe(0)
  await ask(sandbox, 'quick').then(() => order.push('quick'))
  await slow
  expect(order).toEqual(['quick', 'slow'])
})

test('chunk: the stream pauses between chunks, and ends there when the caller leaves', async () => {
  const leaving = new AbortController()
  const body = chatOf('[[sim:chunk=60s]]', { stream: true, user: 'paused' })
  const response = await post(sandbox, body, { signal: leaving.signal })
  const reader = response.body?.getReader()
  const first = new TextDecoder().decode((await reader?.read())?.value)
  expect(first.match(/data: /g)).toHaveLength(1)
  leaving.abort()
  await reader?.read().catch(() => undefined)
  const { finished, completion_tokens } = await untilLogged(sandbox, 'paused')
  expect({ finished, completion_tokens }).toEqual({ finished: false, completion_tokens: 0 })
  expect((await askStream(sandbox, '[[sim:chunk=1ms]] [[sim:tokens=5]]')).length).toBe(7)
})

test('cut: a stream breaks after that many chunks', async () => {
  const body = chatOf('[[sim:cut=5]]', { stream: true, user: 'cut-stream' })
  const response = await post(sandbox, body)
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow()
  const { seen, broken } = await rawPost(sandbox, JSON.stringify(body))
  expect(broken).toBe(true)
  expect(seen.match(/^data: /gm)).toHaveLength(5)
  expect(seen).not.toContain('\r\n0\r\n')
  const logged = await untilLogged(sandbox, 'cut-stream')
  expect(logged).toMatchObject({ status: 200, finished: false, completion_tokens: 4 })
})

test('cut: a completion breaks in the middle of its body', async () => {
  const body = chatOf('[[sim:cut=5]]', { user: 'cut-whole' })
  const outcome = post(sandbox, body).then((response) => response.text())
  await expect(outcome).rejects.toThrow()
  const { seen, broken } = await rawPost(sandbox, JSON.stringify(body))
  expect(broken).toBe(true)
  expect(seen).toContain('"chat.completion"')
  expect(seen).not.toContain('"usage"')
  expect((await untilLogged(sandbox, 'cut-whole')).finished).toBe(false)
})

test('hang: nothing comes until the caller leaves or the server stops', async () => {
  const doomed = startSandbox()
  const leaving = new AbortController()
  const left = post(doomed, chatOf('[[sim:hang]]', { user: 'leaves' }), { signal: leaving.signal })
  await untilLogged(doomed, 'leaves')
  leaving.abort()
  await expect(left).rejects.toThrow()

  const stuck = post(doomed, chatOf('[[sim:hang]]', { user: 'stays' }))
  const outcome = stuck.then(
    () => 'answered',
    () => 'broken',
  )
  expect((await untilLogged(doomed, 'stays')).status).toBe(0)
  await doomed.stop()
  expect(await outcome).toBe('broken')
})

test('a server with a running stream stops at once', async () => {
  const doomed = startSandbox()
  const response = await post(doomed, chatOf('[[sim:chunk=60s]]', { stream: true }))
  await doomed.stop()
  await expect(response.text()).rejects.toThrow()
})

test('the call log tells what was asked and how it ended, and can be cleared', async () => {
  const own = startSandbox()
  try {
    const answer = await ask(own, 'logged', { user: 'me' })
    await askStream(own, 'logged', { user: 'me too' })
    await post(own, chatOf('[[sim:status=429]]'))
    const usage = {
      prompt_tokens: answer.usage?.prompt_tokens,
      completion_tokens: answer.usage?.completion_tokens,
    }
    const same = { protocol: 'chat', model: 'txta-plus', status: 200, finished: true, ...usage }
    expect(await loggedCalls(own)).toMatchObject([
      { ...same, user: 'me', stream: false },
      { ...same, user: 'me too', stream: true },
      { status: 429, finished: true, prompt_tokens: 0, completion_tokens: 0 },
    ] as never)
    await fetch(`${own.url}/_sandbox/calls`, { method: 'DELETE' })
    const cleared = await fetch(`${own.url}/_sandbox/calls`)
    expect(await cleared.json()).toEqual({ total: 0, calls: [] })
  } finally {
    await own.stop()
  }
})
