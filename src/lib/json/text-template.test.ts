// An event that is like the one before has the value that parsing would give.
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

test('an event with another text has the value that parsing gives, whatever the texts are', () => {
  const words = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('a', 'index', '0', '"', '\\', '","x":"', '\n', '}]}', 'content'),
  )
  fc.assert(
    fc.property(words, words, fc.constantFrom({}, { id: 'b' }, { x: 'y' }), (one, other, more) => {
      const template = learned(event(one), one)
      for (const data of [event(other), event(other, more), event(one)]) {
        const value = template.match(data)
        if (value !== undefined) expect(value).toEqual(JSON.parse(data))
      }
    }),
    { numRuns: 1000 },
  )
})

test('an event with a plain text matches, one with other fields or escapes does not', () => {
  const template = learned(event(' word'), ' word')
  expect(template.match(event(' other'))).toEqual(JSON.parse(event(' other')))
  expect(template.match(event('two', { usage: null }))).toBeUndefined()
  expect(template.match(event('a "quote"'))).toBeUndefined()
  expect(template.match(event('a\nline'))).toBeUndefined()
  expect(template.match(event(''))).toBeUndefined()
})

test('a text that stands elsewhere too, or is spelled with escapes, teaches nothing', () => {
  expect(learned(event('a'), 'a').match(event('b'))).toBeUndefined()
  expect(learned(event('id'), 'id').match(event('b'))).toBeUndefined()
  const spelled = '{"hi":1,"content":"\\u0068i"}'
  expect(learned(spelled, 'hi').match('{"ho":1,"content":"\\u0068i"}')).toBeUndefined()
})

test('a stream whose events are never alike is not learned for ever', () => {
  const template = new TextTemplate()
  for (let i = 0; i < 5; i++) {
    const data = event(`w${i}`, { n: i })
    expect(template.match(data)).toBeUndefined()
    template.learn(data, JSON.parse(data), `w${i}`)
  }
  expect(template.match(event('w', { n: 4 }))).toBeUndefined()
})
