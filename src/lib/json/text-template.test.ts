// An event that is like the ones before has the value that parsing would give.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TextTemplate } from './text-template.ts'

const event = (content: string, more: object = {}): string =>
  JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { content } }], ...more })

function learned(data: string, text: string): TextTemplate {
  const template = new TextTemplate()
  template.learn(data, JSON.parse(data), text)
  return template
}

/** As a reader of a stream uses it: what does not match is parsed and learned. */
function play(template: TextTemplate, events: readonly [data: string, text: string][]): number {
  let matched = 0
  for (const [data, text] of events) {
    const value = template.match(data)
    if (value === undefined) template.learn(data, JSON.parse(data), text)
    else {
      matched++
      expect(value).toEqual(JSON.parse(data))
    }
  }
  return matched
}

test('events have the values that parsing gives, whatever changes between them', () => {
  const words = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('a', 'index', '0', '"', '\\', '","x":"', '\n', '}]}', 'content', '":1,"', ''),
  )
  const more = fc.record(
    {
      n: fc.oneof(fc.integer(), fc.constantFrom(0, -0, 1e21, 1.5, 2 ** 60, null)),
      id: words,
      content: words,
      deep: fc.record({ n: fc.integer(), m: fc.nat() }, { requiredKeys: [] }),
      __proto__: fc.constantFrom('p', 7),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(words, more), { maxLength: 8 }), (events) => {
      play(
        new TextTemplate(),
        events.map(([text, rest]) => [event(text, rest), text]),
      )
    }),
    { numRuns: 3000 },
  )
})

test('an event with a plain text matches, one with other fields or escapes does not', () => {
  const template = learned(event(' word'), ' word')
  expect(template.match(event(' other'))).toEqual(JSON.parse(event(' other')))
  expect(template.match(event('two', { usage: null }))).toBeUndefined()
  expect(template.match(event('a "quote"'))).toBeUndefined()
  expect(template.match(event('a\nline'))).toBeUndefined()
})

test('numbers and texts beside it may change once two events have shown that they do', () => {
  const at = (i: number): [string, string] => [
    event(`w${i}`, { sequence_number: i, obfuscation: 'x'.repeat(i % 5), usage: { out: i * 7 } }),
    `w${i}`,
  ]
  const events = Array.from({ length: 100 }, (_, i) => at(i))
  expect(play(new TextTemplate(), events)).toBeGreaterThan(95)
})

test('a number that JSON does not allow, or that a double cannot hold, is left to the parser', () => {
  const template = new TextTemplate()
  for (const n of [1, 2]) {
    const data = event(`w${n}`, { n })
    template.learn(data, JSON.parse(data), `w${n}`)
  }
  for (const n of ['007', '-0', '1e3', '1.5', '12345678901234567', '', '--1', '-', '1 ']) {
    expect(template.match(event('w').replace(/\}$/, `,"n":${n}}`))).toBeUndefined()
  }
  expect(template.match(event('w', { n: -3 }))).toEqual(JSON.parse(event('w', { n: -3 })))
})

test('a key that stands twice, or text that is spelled with escapes, teaches nothing', () => {
  const twice = '{"content":"a","x":{"content":"b"}}'
  expect(learned(twice, 'b').match(twice.replace('"b"', '"c"'))).toBeUndefined()
  const spelled = '{"hi":1,"content":"\\u0068i"}'
  expect(learned(spelled, 'hi').match('{"ho":1,"content":"\\u0068i"}')).toBeUndefined()
})

test('a stream whose events are never alike is not learned for ever', () => {
  const template = new TextTemplate()
  for (let i = 0; i < 7; i++) {
    const data = event(`w${i}`, { [`n${i}`]: i })
    expect(template.match(data)).toBeUndefined()
    template.learn(data, JSON.parse(data), `w${i}`)
  }
  const last = event('w', { n6: 4 })
  expect(template.match(last)).toBeUndefined()
})
