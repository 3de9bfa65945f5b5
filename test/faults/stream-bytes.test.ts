// A stream passes as it came: byte for byte and in order, however the upstream's packets are cut.
// With a mapped model name, the name is all that differs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { openCaller } from './caller.ts'
import { canary, chunkedStream, openStream } from './fault.ts'
import { type RawUpstream, startRawUpstream } from './raw-upstream.ts'
import { good, type StyleName, streaming, styles } from './styles.ts'

const token = 'sk-bytes-0123456789abcdefghijklmn'
const upstreamModel = 'upstream-name'
/** Calls under way at the same time, each on a connection of its own. */
const width = 24
/** Every byte matters near these; elsewhere bigger steps will do. */
const stride = 7
const nearness = 4

let upstream: RawUpstream
let gateway: TestGateway

const names = (style: StyleName) => ({ plain: `plain-${style}`, mapped: `mapped-${style}` })

beforeAll(async () => {
  upstream = await startRawUpstream()
  const models = streaming.flatMap((style) =>
    Object.values(names(style)).map((name) => [name, style]),
  )
  const address = `http://127.0.0.1:${upstream.port}`
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token }],
      channels: models.map(([name = '', style = '']) => ({
        name: `c-${name}`,
        keys: [canary],
        protocols: { [style]: address + styles[style as StyleName].basePath },
        models: { [name]: name.startsWith('mapped') ? `${upstreamModel}-${style}` : '*' },
      })),
      models: models.map(([name, style]) => ({ name, kind: 'text', interfaces: [style] })),
      prices: models.map(([model]) => ({
        model,
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

/** A good stream with all that a reader has to leave alone, as one text. */
function richStream(style: StyleName, model: string, newline: string): string {
  const [first = '', ...rest] = styles[style].events(model, good)
  const odd = [
    ': a comment, ünïcödé 你好 😀\n\n',
    'id: 7\nretry: 3000\nevent: unknown.event\ndata: {"type":"unknown.event","x":[1,2.50,"😀é"]}\n\n',
    'data: {"type":"of.several.lines",\ndata: "text":"Grüße 你"}\n\n',
    'data:{"no":"space","object":"x","nested":{"model":"inner"}}\n\n',
    'ignored-field: 1\n\n',
  ]
  return [first, ...odd, ...rest].join('').replaceAll('\n', newline)
}

/** Where to cut: around every border, inside every odd character, and at steps in between. */
function placesIn(bytes: Buffer): number[] {
  const places = new Set<number>()
  for (let at = 1; at < bytes.length; at++) {
    const odd = bytes[at]! >= 0x80 || bytes[at - 1]! >= 0x80
    const border = bytes.subarray(Math.max(0, at - nearness), at + nearness).includes('\n')
    if (odd || border || at % stride === 0) places.add(at)
  }
  return [...places]
}

interface Served {
  style: StyleName
  model: string
  pieces: readonly Uint8Array[]
  framing: 'chunked' | 'close'
}

/** What the upstream answers to the call with this mark. */
const served = new Map<string, Served>()
let marks = 0

async function serve(mark: string, wire: Parameters<Parameters<RawUpstream['on']>[1]>[0]) {
  const { pieces, framing } = served.get(mark)!
  await wire.send(framing === 'chunked' ? chunkedStream : openStream)
  for (const piece of pieces) {
    if (framing === 'close') await wire.send(piece)
    else {
      const size = Buffer.from(`${piece.length.toString(16)}\r\n`)
      await wire.send(Buffer.concat([size, piece, Buffer.from('\r\n')]))
    }
    await Bun.sleep(2)
  }
  if (framing === 'chunked') await wire.send('0\r\n\r\n')
  else wire.end()
}

/** What callers get for each of the streams, in the order of the streams. */
/** Ids of responses and their items have a mark behind them, and nothing else has. */
const withoutMarks = (text: string): string => {
  const plain = text.replaceAll(/(?<="(?:resp|msg)_\w+)_gw[0-9a-f]{44}(?=")/g, '')
  expect(plain).not.toContain('_gw')
  return plain
}

async function passAll(all: readonly Served[]): Promise<string[]> {
  const results: string[] = new Array(all.length)
  const left = all.entries()
  const worker = async () => {
    const caller = await openCaller(gateway.url)
    for (const [index, each] of left) {
      const mark = `mark-${++marks}`
      served.set(mark, each)
      const { ask, path } = styles[each.style]
      const asked = { ...ask(each.model, true), metadata: { mark } }
      const answer = await caller.post(path(each.model, true), token, asked)
      expect([answer.status, answer.whole]).toEqual([200, true])
      results[index] = withoutMarks(answer.text)
      served.delete(mark)
    }
    caller.close()
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}

const kinds = streaming.flatMap((style) =>
  (['plain', 'mapped'] as const).flatMap((kind) =>
    (['LF', 'CRLF'] as const).map((newline): [StyleName, 'plain' | 'mapped', 'LF' | 'CRLF'] => [
      style,
      kind,
      newline,
    ]),
  ),
)

describe('a stream', () => {
  beforeAll(() => {
    for (const style of streaming) {
      for (const model of [names(style).plain, `${upstreamModel}-${style}`]) {
        upstream.on(model, (wire) => serve(/"mark":"([^"]+)"/.exec(wire.asked.body)![1]!, wire))
      }
    }
  })

  const wireOf = (style: StyleName, kind: 'plain' | 'mapped', newline: 'LF' | 'CRLF') => {
    const model = names(style)[kind]
    const end = newline === 'LF' ? '\n' : '\r\n'
    const sent = kind === 'plain' ? model : `${upstreamModel}-${style}`
    const bytes = Buffer.from(richStream(style, sent, end))
    return { model, bytes, expected: richStream(style, model, end) }
  }

  test.each(kinds)('of %s (%s, %s) is the same wherever it is cut', async (style, kind, end) => {
    const { model, bytes, expected } = wireOf(style, kind, end)
    const all = placesIn(bytes).map(
      (at): Served => ({
        style,
        model,
        pieces: [bytes.subarray(0, at), bytes.subarray(at)],
        framing: at % 2 === 0 ? 'chunked' : 'close',
      }),
    )
    for (const [index, text] of (await passAll(all)).entries()) {
      const at = all[index]!.pieces[0]!.length
      expect([at, text]).toEqual([at, expected])
    }
  })

  test('of any kind is the same byte by byte', async () => {
    const all: Served[] = []
    const expected: string[] = []
    for (const [style, kind, end] of kinds) {
      const wire = wireOf(style, kind, end)
      const pieces = Array.from(wire.bytes, (byte) => Uint8Array.of(byte))
      for (const framing of ['chunked', 'close'] as const) {
        all.push({ style, model: wire.model, pieces, framing })
        expected.push(wire.expected)
      }
    }
    expect(await passAll(all)).toEqual(expected)
  })
})
