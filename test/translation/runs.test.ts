// Events that only continue a text take a shorter way through a translation. What callers get is the
// same as without it: here every event is also sent with blanks of its own, so that none is like
// another and all are parsed.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StyleName } from '../../src/styles/common/conversation.ts'
import { testSeed } from '../support/seeded.ts'
import { chainFor } from './chain.ts'

type Event = Record<string, unknown>

const word = fc.constantFrom('a', ' word', '', '"', '\\', '\n', '日本', '0', '}', ',"delta":"x"')

/** Pieces of two items that come at the same time, with what changes in every event and what does not. */
const piece: fc.Arbitrary<Piece> = fc.record({
  item: fc.constantFrom(0, 0, 0, 1),
  part: fc.constantFrom(0, 0, 0, 1),
  text: word,
  kind: fc.constantFrom('output_text', 'output_text', 'output_text', 'refusal', 'reasoning_text'),
  isPadded: fc.boolean(),
})
interface Piece {
  item: number
  part: number
  text: string
  kind: string
  isPadded: boolean
}

const streams: Readonly<Record<'responses' | 'generate', (pieces: readonly Piece[]) => Event[]>> = {
  responses(pieces) {
    const id = (item: number) => `item_${item}`
    const deltas = pieces.map(({ item, part, text, kind, isPadded }) => ({
      type: `response.${kind}.delta`,
      item_id: id(kind === 'reasoning_text' ? item + 2 : item),
      output_index: kind === 'reasoning_text' ? item + 2 : item,
      content_index: part,
      delta: text,
      ...(isPadded && { obfuscation: text.repeat(2) }),
    }))
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
    const response = { id: 'resp_1', status: 'completed', output: [], usage }
    const all = [{ type: 'response.created', response: { id: 'resp_1' } }, ...deltas]
    return [...all, { type: 'response.completed', response }].map((event, sequence_number) => ({
      ...event,
      sequence_number,
    }))
  },
  generate(pieces) {
    const usageOf = (count: number) => ({
      promptTokenCount: 3,
      candidatesTokenCount: count,
      totalTokenCount: count + 3,
    })
    const parts = pieces.map(({ text, kind, isPadded }, at) => {
      const part = kind === 'reasoning_text' ? { text, thought: true } : { text }
      const content = { parts: [part], role: 'model' }
      const candidates = [{ content, index: 0 }]
      return { candidates, ...(isPadded && { usageMetadata: usageOf(at) }), responseId: 'r' }
    })
    const last = { content: { parts: [{ text: 'end' }], role: 'model' }, finishReason: 'STOP' }
    return [...parts, { candidates: [last], usageMetadata: usageOf(9), responseId: 'r' }]
  },
}

const named: ReadonlySet<StyleName> = new Set(['responses'])

function written(style: StyleName, events: readonly Event[], blanks: boolean, perRead: number) {
  const chain = chainFor(style)
  const texts = events.map((event, at) => {
    const json = JSON.stringify(event)
    const data = blanks ? `{${' '.repeat(at + 1)}${json.slice(1)}` : json
    return `${named.has(style) ? `event: ${event['type']}\n` : ''}data: ${data}\n\n`
  })
  for (let at = 0; at < texts.length; at += perRead) {
    chain.take(Buffer.from(texts.slice(at, at + perRead).join('')))
  }
  chain.close()
  return { all: chain.all(), outcome: chain.outcome(), usage: chain.usage() }
}

describe.each(['responses', 'generate'] as const)('a run of %s events', (style) => {
  test('gives callers what events that are parsed one by one give them', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 14 }),
        fc.integer({ min: 1, max: 5 }),
        (pieces, n) => {
          const events = streams[style](pieces)
          expect(written(style, events, false, n)).toEqual(written(style, events, true, n))
        },
      ),
      { seed: testSeed(), numRuns: 400 },
    )
  })

  test('ends where a piece belongs elsewhere', () => {
    const like = (item: number, text: string): Piece => ({
      item,
      part: 0,
      text,
      kind: 'output_text',
      isPadded: false,
    })
    const order = [0, 0, 0, 0, 1, 1, 0, 1, 0, 0]
    const events = streams[style](order.map((item, at) => like(item, `t${at}`)))
    const { all, outcome } = written(style, events, false, 4)
    expect(outcome).toBe('finished')
    expect(written(style, events, true, 4).all).toEqual(all)
    for (const text of all) for (const at of order.keys()) expect(text).toContain(`"t${at}"`)
  })
})
