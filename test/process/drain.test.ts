// SIGTERM: no new work, running answers end properly and are charged, exit code 0.
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { chargesOf, readAccount, readLedger, readRequests } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const requestIdOf = (response: Response) => response.headers.get('x-gateway-request-id')!

/** The answer's text; its first bytes have arrived when this resolves. */
async function begun(response: Response): Promise<{ id: string; rest: () => Promise<string> }> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  const first = await reader.read()
  let text = decoder.decode(first.value, { stream: true })
  return {
    id: requestIdOf(response),
    async rest() {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return text
        text += decoder.decode(value, { stream: true })
      }
    },
  }
}

/** The status of a probe on a connection of its own; 0 when nobody listens any more. */
async function probe(url: string, init: RequestInit = {}): Promise<number> {
  try {
    return (await fetch(url, { ...init, keepalive: false })).status
  } catch {
    return 0
  }
}

async function untilNotReady(gateway: TestGateway): Promise<number> {
  for (;;) {
    const status = await probe(`${gateway.url}/readyz`)
    if (status !== 200) return status
    await Bun.sleep(5)
  }
}

/** A connection that has served one answer and is kept open; gives '' when it has been closed. */
async function openConnection(gateway: TestGateway) {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.on('error', () => {})
  const ask = (line: string) =>
    new Promise<string>((resolve) => {
      text = ''
      const settle = () => resolve(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? '')
      if (socket.destroyed) return settle()
      socket.once('data', settle)
      socket.once('close', settle)
      socket.write(`${line} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    })
  expect(await ask('GET /readyz')).toBe('200')
  return { statusOf: (line: string) => ask(line).finally(() => socket.destroy()) }
}

const newCall = (gateway: TestGateway) =>
  probe(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'txta-plus', messages: [{ role: 'user', content: 'late' }] }),
  })

describe('SIGTERM', () => {
  test('lets twenty slow streams end with their marker and their charge, and takes nothing new', async () => {
    const gateway = await startGateway()
    const slow = 'slowly [[sim:chunk=20ms]] [[sim:tokens=50]]'
    const streams = await Promise.all(
      Array.from({ length: 20 }, async () => begun(await gateway.chat(slow, { stream: true }))),
    )
    const kept = await openConnection(gateway)
    const exit = gateway.stop('SIGTERM')
    expect([0, 503]).toContain(await untilNotReady(gateway))
    expect([0, 503]).toContain(await newCall(gateway))
    expect(['', '503']).toContain(await kept.statusOf('GET /readyz'))
    const texts = await Promise.all(streams.map(({ rest }) => rest()))
    for (const text of texts) {
      expect(text).toEndWith('data: [DONE]\n\n')
      expect(text).toContain('"finish_reason":"stop"')
    }
    expect(await exit).toBe(0)

    const again = await startGateway({ dataDir: gateway.dataDir })
    const charged = chargesOf(await readLedger(again)).map(({ request_id }) => request_id!)
    expect(charged.toSorted()).toEqual(streams.map(({ id }) => id).toSorted())
    const rows = await readRequests(again)
    expect(rows.filter(({ ending }) => ending === 'complete')).toHaveLength(20)
    const { body } = await again.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
    expect(await again.stop()).toBe(0)
  })

  test('lets JSON answers end, and charges the stream whose caller has left', async () => {
    const gateway = await startGateway()
    const hangUp = new AbortController()
    const left = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'txta-plus',
        stream: true,
        messages: [{ role: 'user', content: 'bye [[sim:chunk=75ms]] [[sim:tokens=40]]' }],
      }),
      signal: hangUp.signal,
    })
    const abandoned = await begun(left)
    const { held } = await readAccount(gateway)
    const answer = gateway.chat('patience [[sim:delay=600ms]] [[sim:tokens=7]]')
    // Its hold shows that the JSON call is on its way.
    while ((await readAccount(gateway)).held === held) await Bun.sleep(5)
    hangUp.abort()
    const exit = gateway.stop('SIGTERM')
    await untilNotReady(gateway)
    const response = await answer
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ usage: { completion_tokens: 7 } })
    expect(await exit).toBe(0)

    const again = await startGateway({ dataDir: gateway.dataDir })
    const charged = chargesOf(await readLedger(again)).map(({ request_id }) => request_id!)
    expect(charged.toSorted()).toEqual([abandoned.id, requestIdOf(response)].toSorted())
    const row = (await readRequests(again)).find((r) => r.request_id === abandoned.id)
    expect(row).toMatchObject({ ending: 'caller_left', status: 499 })
    expect((await readAccount(again)).held).toBe('0.00')
    await again.stop()
  })

  test('ends an idle gateway with code 0, and so does SIGINT', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const gateway = await startGateway()
      const startedMs = performance.now()
      expect(await gateway.stop(signal)).toBe(0)
      const tookMs = Math.round(performance.now() - startedMs)
      console.error(`drain: an idle gateway ended ${tookMs} ms after ${signal}`)
      expect(await probe(`${gateway.url}/healthz`)).toBe(0)
    }
  })

  test('given a second time ends soon, without waiting for a stream, and charges what it gave', async () => {
    const gateway = await startGateway()
    const endless = 'endless [[sim:chunk=200ms]] [[sim:tokens=1000]]'
    const stream = await begun(await gateway.chat(endless, { stream: true }))
    const first = gateway.stop('SIGTERM')
    await untilNotReady(gateway)
    expect(await gateway.stop('SIGTERM')).toBe(0)
    expect(await first).toBe(0)
    const text = await stream.rest().catch(() => '')
    expect(text).not.toContain('[DONE]')
    const again = await startGateway({ dataDir: gateway.dataDir })
    expect(text).toContain('shutting down')
    const charges = chargesOf(await readLedger(again))
    expect(charges).toMatchObject([{ estimated: true, unit: 'token' }])
    await again.stop()
  })
})
