// Streams of every upstream style for callers of every style, cut at every byte: packets change nothing,
// and a stream that breaks off has no end that its upstream did not give.
import { describe, expect, test } from 'bun:test'
import type { StyleName } from '../../src/styles/common/conversation.ts'
import { type Chain, chainFor, styleNames } from './chain.ts'
import { problemsIn } from './grammars.ts'
import {
  hardWires,
  plainWires,
  richStreams,
  tools,
  upstreamStreams,
  variants,
  wireOf,
} from './upstream-streams.ts'

function feed(
  style: StyleName,
  pieces: Iterable<Uint8Array>,
  given: 'streams' | 'events' = 'streams',
  isBroken = false,
): Chain {
  const chain = chainFor(style, tools, given)
  // A watcher may change the bytes that it is given.
  for (const piece of pieces) chain.take(Uint8Array.from(piece))
  chain.close(isBroken)
  return chain
}

/** All that callers see, and what it costs. */
const result = (chain: Chain) => {
  const outcome = chain.outcome()
  const usage = outcome === 'finished' ? chain.usage() : undefined
  return JSON.stringify([chain.all(), chain.passed(), outcome, usage])
}

/** Of a stream that has ended, for each caller. */
const problems = (chain: Chain): string[] =>
  chain.all().flatMap((stream, at) => [...problemsIn(styleNames[at]!, stream)])

const all: [style: StyleName, name: string, wire: string][] = [
  ...[...richStreams, ...upstreamStreams].map((each): [StyleName, string, string] => [
    each.style,
    each.name,
    wireOf(each),
  ]),
  ...plainWires.map(([style, wire]): [StyleName, string, string] => [style, 'plain text', wire]),
]
const changed = hardWires.flatMap(([style, plain]) =>
  variants.map(([name, change]): [StyleName, string, string, string] => [
    style,
    name,
    change(plain),
    plain,
  ]),
)

/** The writers are given the same events at every cut; some cuts are tried with the writers, too. */
const stride = 41

function sameAtEveryCut(style: StyleName, bytes: Buffer): void {
  const whole = { events: '', streams: '' }
  for (const given of ['events', 'streams'] as const) {
    whole[given] = result(feed(style, [bytes], given))
    const step = given === 'events' ? 1 : stride
    for (let at = 1; at < bytes.length; at += step) {
      const cut = result(feed(style, [bytes.subarray(0, at), bytes.subarray(at)], given))
      if (cut !== whole[given]) expect([at, cut]).toEqual([at, whole[given]])
    }
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(result(feed(style, single, given))).toBe(whole[given])
  }
}

describe('a stream in packets of any size is the same', () => {
  test.each(all)('%s with %s', (style, _, wire) => {
    sameAtEveryCut(style, Buffer.from(wire))
  })
})

describe('a stream of another server is the same, in packets of any size', () => {
  test.each(changed)('%s %s', (style, _, wire, plain) => {
    expect(result(feed(style, [Buffer.from(wire)]))).toBe(result(feed(style, [Buffer.from(plain)])))
    sameAtEveryCut(style, Buffer.from(wire))
  })
})

/** The first byte after which the upstream has said that it stopped; past the end if it never does. */
function saidAt(style: StyleName, wire: Buffer): number {
  const signs: Record<StyleName, RegExp> = {
    chat: /"finish_reason":"[^"]|\[DONE\]/,
    messages: /"stop_reason":"[^"]|"message_stop"/,
    responses: /^data: .*"type":"response\.(?:completed|incomplete)"/m,
    generate: /"(?:finishReason|blockReason)":"[^"]/,
  }
  const text = wire.toString('latin1')
  for (let at = 0; ; ) {
    const end = text.indexOf('\n\n', at)
    if (end === -1) return Number.POSITIVE_INFINITY
    // Line ends may be missing behind the last event.
    if (signs[style].test(text.slice(at, end))) return end
    at = end + 2
  }
}

/** Broken connections differ from closed ones only near the end: some will do. */
const breakEvery = 5

describe('a stream that breaks off has no end of its own making', () => {
  test.each(all)('%s with %s', (style, _, wire) => {
    const bytes = Buffer.from(wire)
    const [passed = ''] = feed(style, [bytes], 'events').passed()
    const said = saidAt(style, bytes)
    for (let at = 0; at <= bytes.length; at++) {
      for (const isBroken of at === bytes.length || at % breakEvery === 0
        ? [false, true]
        : [false]) {
        const prefix = [bytes.subarray(0, at)]
        const cut = feed(style, prefix, 'events', isBroken)
        const outcome: unknown = cut.outcome()
        const [given = ''] = cut.passed()
        const isSound =
          outcome === 'finished'
            ? at >= said && problems(feed(style, prefix, 'streams', isBroken)).length === 0
            : outcome !== undefined && passed.startsWith(given) && cut.all()[0] === given
        if (!isSound)
          expect([at, isBroken, outcome, given]).toEqual([at, isBroken, 'sound', passed])
      }
    }
  })
})

test('every stream that says its end is one whole answer for every caller', () => {
  const ended = all.filter(
    ([style, , wire]) => feed(style, [Buffer.from(wire)]).outcome() === 'finished',
  )
  expect(ended.length).toBeGreaterThan(40)
  for (const [style, name, wire] of ended) {
    expect([style, name, problems(feed(style, [Buffer.from(wire)]))]).toEqual([style, name, []])
  }
})

test('signs of life between any two events leave every stream whole', () => {
  for (const each of richStreams) {
    const chain = chainFor(each.style, tools)
    for (const event of wireOf(each).split(/(?<=\n\n)/)) {
      chain.take(Buffer.from(event))
      if (chain.outcome() === undefined && chain.passed()[3] !== '') chain.wait()
    }
    chain.close()
    expect([each.style, chain.outcome(), problems(chain)]).toEqual([each.style, 'finished', []])
  }
})
