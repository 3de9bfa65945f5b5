// Upstreams that send more than anybody can use: refused with little memory, whatever the framing.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, errorIn, rowOf, until } from '../support/read.ts'
import { openCaller } from './caller.ts'
import { asChunk, canary, chunkedLine, head, type Mode, type Scene, wholeAnswer } from './fault.ts'
import { type RawUpstream, startRawUpstream, type Wire } from './raw-upstream.ts'
import { all, good, type StyleName, streaming, styles } from './styles.ts'

const token = 'sk-sizes-0123456789abcdefghijklmn'
const mebibyte = 1024 * 1024
const limitBytes = 64 * mebibyte
const sentBytes = 80 * mebibyte

let upstream: RawUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startRawUpstream()
  const address = `http://127.0.0.1:${upstream.port}`
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token }],
      channels: all.map((style) => ({
        name: `c-${style}`,
        keys: [canary],
        protocols: { [style]: address + styles[style].basePath },
        models: { [`m-${style}`]: '*' },
      })),
      models: all.map((style) => ({ name: `m-${style}`, kind: 'text', interfaces: [style] })),
      prices: all.map((style) => ({
        model: `m-${style}`,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const peakBytes = (): number => {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}
/** The highest mark starts anew where the process is now; where that is not allowed, it stays. */
const forgetPeak = (): Promise<number> =>
  Bun.write(`/proc/${gateway.pid}/clear_refs`, '5').catch(() => 0)

const piece = ' '.repeat(mebibyte)
async function sendPieces(wire: Wire, each: string): Promise<void> {
  for (let bytes = 0; bytes < sentBytes && !wire.gone; bytes += mebibyte) await wire.send(each)
}

const bomb = Bun.gzipSync(Buffer.alloc(400 * mebibyte, 0x20))
const manyCodings = `content-encoding: ${Array(1_000).fill('gzip').join(', ')}\r\n`

type Sender = (wire: Wire, scene: Scene) => unknown

const answers: [name: string, modes: readonly Mode[], Sender][] = [
  [
    'a body of 80 MiB of known length',
    ['json', 'stream'],
    async (wire) => {
      await wire.send(head('application/json', `content-length: ${sentBytes}\r\n`))
      await sendPieces(wire, piece)
    },
  ],
  [
    'a body of 80 MiB in chunks',
    ['json', 'stream'],
    async (wire) => {
      await wire.send(head('application/json', chunkedLine))
      await sendPieces(wire, asChunk(piece))
      await wire.send('0\r\n\r\n')
    },
  ],
  [
    'a body of 80 MiB until it closes',
    ['json'],
    async (wire) => {
      await wire.send(head('application/json', 'connection: close\r\n'))
      await sendPieces(wire, piece)
      wire.end()
    },
  ],
  [
    'an event of 80 MiB',
    ['json'],
    async (wire) => {
      await wire.send(`${head('text/event-stream', 'connection: close\r\n')}data: {"a":"`)
      await sendPieces(wire, piece)
      wire.end()
    },
  ],
  [
    'an error of 80 MiB',
    ['json', 'stream'],
    async (wire) => {
      await wire.send(head('application/json', chunkedLine, '500 Oops'))
      await sendPieces(wire, asChunk(piece))
    },
  ],
  [
    'a gzip bomb',
    ['json', 'stream'],
    async (wire) => {
      const framing = `content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n`
      await wire.send(head('application/json', framing))
      await wire.send(bomb)
    },
  ],
  [
    'a bomb with a bad status',
    ['json'],
    async (wire) => {
      const framing = `content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n`
      await wire.send(head('application/json', framing, '500 Oops'))
      await wire.send(bomb)
    },
  ],
  [
    'a thousand codings',
    ['json', 'stream'],
    (wire, scene) => wire.send(wholeAnswer(scene, good).replace('\r\n', `\r\n${manyCodings}`)),
  ],
]

const cases = answers.flatMap(([name, modes, script]) =>
  all.flatMap((style) =>
    modes
      .filter((mode) => mode === 'json' || styles[style].final !== '')
      .map((mode): [string, StyleName, Mode, Sender] => [name, style, mode, script]),
  ),
)

test.each(cases)('F19: %s is refused cheaply (%s, %s)', async (_, style, mode, script) => {
  const scene = { style: styles[style], mode, model: `m-${style}` } as Scene
  upstream.on(scene.model, async (wire) => void (await script(wire, scene)))
  await forgetPeak()
  const before = peakBytes()
  const caller = await openCaller(gateway.url)
  const body = styles[style].ask(scene.model, mode === 'stream')
  const path = styles[style].path(scene.model, mode === 'stream')
  const answer = await caller.post(path, token, body)
  caller.close()
  expect(peakBytes() - before).toBeLessThan(2 * limitBytes)
  const { code, message } = errorIn(answer.text)
  expect([answer.status, answer.whole]).toEqual([502, true])
  expect(['upstream_invalid_response', 'upstream_error']).toContain(code)
  expect(message).toEndWith(`(${answer.headers['x-request-id']})`)
  const row = await rowOf(gateway, answer.headers['x-request-id']!)
  expect([row.ending, row.error_code, row.charge]).toEqual(['failed', code, '0.00'])
  expect((await accountOf(gateway)).held).toBe('0.00')
})

test.each(streaming)(
  'an event of 80 MiB that breaks off passes and is free (%s)',
  async (style) => {
    const { path, ask } = styles[style]
    const model = `m-${style}`
    upstream.on(model, async (wire) => {
      await wire.send(`${head('text/event-stream', 'connection: close\r\n')}data: {"a":"`)
      await sendPieces(wire, piece)
      wire.end()
    })
    await forgetPeak()
    const before = peakBytes()
    const response = await fetch(`${gateway.url}${path(model, true)}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask(model, true)),
    })
    const text = await response.text()
    expect(peakBytes() - before).toBeLessThan(2 * limitBytes)
    expect([response.status, text.length > sentBytes - mebibyte]).toEqual([200, true])
    expect(text.slice(-1_000)).toContain('upstream_error')
    const row = await rowOf(gateway, response.headers.get('x-request-id')!)
    expect([row.ending, row.charge]).toEqual(['failed', '0.00'])
  },
)

test('a flood of events for a caller that does not read stays with the upstream', async () => {
  const event = `data: ${JSON.stringify({ choices: [{ delta: { content: 'x'.repeat(60_000) } }] })}\n\n`
  const events = 3_000
  let sent = 0
  upstream.on('m-chat', async (wire) => {
    await wire.send(head('text/event-stream', 'connection: close\r\n'))
    for (; sent < events && !wire.gone; sent++) await wire.send(event)
    wire.end()
  })
  await forgetPeak()
  const before = peakBytes()
  const caller = await openCaller(gateway.url)
  caller.stopReading()
  const { path, ask } = styles.chat
  caller.post(path('m-chat', true), token, ask('m-chat', true)).catch(() => {})
  await until('the upstream to be held back', async () => {
    const earlier = sent
    await Bun.sleep(200)
    return sent > 0 && sent === earlier ? true : undefined
  })
  expect(sent).toBeLessThan(events)
  expect(peakBytes() - before).toBeLessThan(2 * limitBytes)
  caller.close()
})
