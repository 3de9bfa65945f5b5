// Single fields changed inside a JSON text, compared with what a parser reads before and after.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  namesOnce,
  restoreModel,
  withEdits,
  withField,
  withMember,
  withModel,
  withModelIn,
  withoutField,
} from './splice.ts'

type Json = Record<string, unknown>

const names = fc.constantFrom('model', 'mode', 'models', 'a', 'response', 'x"model"', 'modèle', '')
const scalar = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, 'model', '"model"', '"model":"x"', '{"model":"x"}', '\\', '],},{[', ':,'),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.dictionary(names, tie('value'), { maxKeys: 3 }) },
  ),
}))
const object = fc.dictionary(names, value, { maxKeys: 5 })
const space = fc.constantFrom('', '', ' ', '\n', '\t', ' \r\n ')

/** The same JSON with odd space between its parts and, if wanted, escapes in its strings. */
function written(of: unknown, gap: () => string, escaped: boolean): string {
  if (Array.isArray(of)) {
    return `[${gap()}${of.map((each) => written(each, gap, escaped)).join(`${gap()},${gap()}`)}${gap()}]`
  }
  if (typeof of === 'object' && of !== null) {
    const fields = Object.entries(of).map(
      ([name, each]) =>
        `${written(name, gap, escaped)}${gap()}:${gap()}${written(each, gap, escaped)}`,
    )
    return `{${gap()}${fields.join(`${gap()},${gap()}`)}${gap()}}`
  }
  const plain = JSON.stringify(of)
  if (typeof of !== 'string' || !escaped) return plain
  return plain.replace(/(?<!\\)e/g, '\\u0065').replaceAll('/', '\\/')
}

const texts = fc
  .record({ of: object, gaps: fc.array(space, { minLength: 1 }), escaped: fc.boolean() })
  .map(({ of, gaps, escaped }) => {
    let next = 0
    const gap = () => gaps[next++ % gaps.length]!
    return { of, text: gap() + written(of, gap, escaped) + gap() }
  })
const model = fc.oneof(fc.string(), fc.constantFrom('$&', '$1', "$'", 'a"b', 'a\\b', '\n'))

test('the writer of these tests writes JSON', () => {
  fc.assert(fc.property(texts, ({ of, text }) => expect(JSON.parse(text)).toEqual(of)))
})

describe('a field that is set', () => {
  const plainName = fc.constantFrom('model', 'mode', 'models', 'a', 'response', 'modèle')

  test('is set at the top and changes nothing else', () => {
    fc.assert(
      fc.property(texts, plainName, value, ({ of, text }, name, set) => {
        const changed = withField(text, name, JSON.stringify(set))
        expect(JSON.parse(changed)).toEqual({ ...of, [name]: set })
      }),
      { numRuns: 1_000 },
    )
  })

  test('leaves every byte around it as it was', () => {
    fc.assert(
      fc.property(texts, plainName, ({ of, text }, name) => {
        const marker = '"the only one of its kind"'
        const [before = '', after = ''] = withField(text, name, marker).split(marker)
        if (Object.hasOwn(of, name)) {
          expect(text).toStartWith(before)
          expect(text).toEndWith(after)
          const old = text.slice(before.length, text.length - after.length)
          expect(JSON.parse(old)).toEqual(of[name])
        } else {
          const added = `{"${name}":`
          expect(before).toEndWith(added)
          const rest = after.replace(/^,/, '')
          expect(`${before.slice(0, -added.length)}{${rest}`).toBe(text)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['{}', '{"a":1}'],
    ['{ }', '{"a":1 }'],
    ['{"b":2}', '{"a":1,"b":2}'],
    ['{"b":"a"}', '{"a":1,"b":"a"}'],
    ['{"b":{"a":2}}', '{"a":1,"b":{"a":2}}'],
    ['{ "a" : [1, {"a":2}] , "b":2}', '{ "a" : 1 , "b":2}'],
    ['{"\\u0061":5}', '{"\\u0061":1}'],
    ['{"a":1e400,"n":12345678901234567890}', '{"a":1,"n":12345678901234567890}'],
    ['{"a":5,"b":2,"a":6}', '{"a":1,"b":2}'],
    ['data: {"a":5}\n\n', 'data: {"a":1}\n\n'],
    ['event: e\ndata: {"a":5,"a":6}\n\n', 'event: e\ndata: {"a":1}\n\n'],
  ])('in %j', (text, wanted) => {
    expect(withField(text, 'a', '1')).toBe(wanted)
  })
})

describe('the model’s name', () => {
  const holds = (of: unknown): of is Json =>
    typeof of === 'object' && of !== null && !Array.isArray(of)
  /** What a reader of the restored text sees: the name where one was. */
  const renamed = (of: Json, name: string) =>
    typeof of['model'] === 'string' ? { ...of, model: name } : of

  test('is put into a text that names one, at the top, whatever stands elsewhere', () => {
    fc.assert(
      fc.property(texts, fc.string(), model, fc.boolean(), ({ of }, old, name, first) => {
        const { model: _, ...rest } = of
        const whole = first ? { model: old, ...rest } : { ...rest, model: old }
        const changed = withModel(JSON.stringify(whole), name)
        expect(changed).toBe(JSON.stringify({ ...whole, model: name }))
      }),
      { numRuns: 1_000 },
    )
  })

  test('is put back at the top where one stands, and nowhere else', () => {
    fc.assert(
      fc.property(texts, model, ({ of, text }, name) => {
        const changed = restoreModel(text, name)
        expect(JSON.parse(changed)).toEqual(renamed(of, name))
        if (typeof of['model'] !== 'string') expect(changed).toBe(text)
      }),
      { numRuns: 2_000 },
    )
  })

  test('is put back one level down where one stands, and nowhere else', () => {
    const holders = fc.oneof(object, scalar, fc.array(scalar))
    fc.assert(
      fc.property(texts, holders, model, ({ of }, holder, name) => {
        const text = JSON.stringify({ ...of, response: holder })
        const inner = holds(holder) ? renamed(holder, name) : holder
        const changed = withModelIn(text, 'response', name)
        expect(changed).toBe(JSON.stringify({ ...of, response: inner }))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    [
      '{"response":{"id":1,"model":"a","output":[]}}',
      '{"response":{"id":1,"model":"x","output":[]}}',
    ],
    ['{"a":{},"response":{"model":"a"}}', '{"a":{},"response":{"model":"x"}}'],
    ['{"response":{"tools":[],"model":"a"}}', '{"response":{"tools":[],"model":"x"}}'],
    ['{"response":{"model":null}}', '{"response":{"model":null}}'],
    ['{"response":{"a":{"model":"a"}}}', '{"response":{"a":{"model":"a"}}}'],
    ['{"response":{"a":1},"model":"a"}', '{"response":{"a":1},"model":"a"}'],
    ['{"model":"a","response":{}}', '{"model":"a","response":{}}'],
    ['{"response":{"model":"a"},"response" : {}}', '{"response":{"model":"a"},"response" : {}}'],
    [
      '{"response":{"object":"response","model":"a"}}',
      '{"response":{"object":"response","model":"x"}}',
    ],
    [
      '{"a":"{\\"response\\":{","response":{"model":"a"}}',
      '{"a":"{\\"response\\":{","response":{"model":"x"}}',
    ],
  ])('is put back in the response of %j', (text, wanted) => {
    expect(withModelIn(text, 'response', 'x')).toBe(wanted)
  })

  test('is looked for in what is no JSON without a throw', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      '"',
      '\\',
      '\\u0065',
      ':',
      ',',
      'model',
      '"model"',
      'x',
    )
    const broken = fc.array(pieces, { maxLength: 30 }).map((all) => `data: {${all.join('')}}\n\n`)
    fc.assert(
      fc.property(fc.oneof(broken, fc.string()), (text) => {
        expect(restoreModel(text, 'x')).toBeString()
        expect(withModelIn(text, 'model', 'x')).toBeString()
      }),
      { numRuns: 3_000 },
    )
  })

  test('is one only, even where two were given', () => {
    const twice = '{"model":"a","n":1,"mod\\u0065l":"b"}'
    expect(withModel(twice, 'x')).toBe('{"model":"x","n":1}')
    expect(restoreModel(twice, 'x')).toBe('{"model":"x","n":1,"mod\\u0065l":"x"}')
    const event = 'data: {"model":"a","model":"b"}\n\n'
    expect(withModel(event, 'x')).toBe('data: {"model":"x"}\n\n')
    expect(restoreModel(event, 'x')).toBe('data: {"model":"x","model":"x"}\n\n')
  })

  test.each([
    ['{"usage":{"model":"a"}}', '{"usage":{"model":"a"}}'],
    ['{"list":[{"model":"a"}]}', '{"list":[{"model":"a"}]}'],
    ['{"model":{"name":"a"}}', '{"model":{"name":"a"}}'],
    ['{"model":null}', '{"model":null}'],
    ['{"a":{},"model" : "b" , "c":1}', '{"a":{},"model" : "x" , "c":1}'],
    ['{"model" : "b"}', '{"model":"x"}'],
    ['data: {"model":"b"}\n\n', 'data: {"model":"x"}\n\n'],
    [': comment\n\n', ': comment\n\n'],
  ])('is put back in %j', (text, wanted) => {
    expect(restoreModel(text, 'x')).toBe(wanted)
  })
})

test.each<[string, boolean]>([
  ['{"model":"a"}', true],
  ['{"text":"say \\"model\\"","model":"a"}', true],
  ['{}', false],
  ['{"model":"a","model":"b"}', false],
  ['{"model":"model"}', false],
  ['{"mod\\u0065l":"b","model":"a"}', false],
  ['{"text":"\\u00e9","model":"a"}', true],
])('%j names its model once: %p', (text, once) => {
  expect(namesOnce(text)).toBe(once)
})

test('a field is left out, however it is spelled and wherever it stands', () => {
  const cases: [text: string, left: string][] = [
    ['{"a":1}', '{}'],
    ['{"a":1,"b":[1,{"a":2}]}', '{"b":[1,{"a":2}]}'],
    ['{ "b" : 2 , "a" : {"x":"}"} }', '{"b" : 2}'],
    ['{"b":12345678901234567890,"\\u0061":1,"c":"a","a":2}', '{"b":12345678901234567890,"c":"a"}'],
    ['{"b":"\\"a\\":1"}', '{"b":"\\"a\\":1"}'],
    ['{}', '{}'],
  ]
  for (const [text, left] of cases) expect(withoutField(text, 'a')).toBe(left)
  expect(withEdits('{"a":1,"b":2}', { a: '', c: '[3]', b: '0' })).toBe('{"c":[3],"b":0}')
})

describe('a member that is put into an object', () => {
  test.each([
    ['{"usage":{"a":1}}', '{"usage":{"note":1,"a":1}}'],
    ['{"x":[{"usage":{}}],"usage":{}}', '{"x":[{"usage":{}}],"usage":{"note":1}}'],
    ['{"usage" : { } }', '{"usage" : {"note":1 } }'],
    ['{"usage":null,"b":2}', '{"usage":{"note":1},"b":2}'],
    ['{"b":2}', '{"usage":{"note":1},"b":2}'],
    [' {}', ' {"usage":{"note":1}}'],
  ])('%s', (text, wanted) => {
    expect(withMember(text, ['usage'], '"note":1')).toBe(wanted)
  })

  test('is found in any text, and the rest stays as it is', () => {
    fc.assert(
      fc.property(texts, fc.array(names, { minLength: 1, maxLength: 2 }), ({ of, text }, path) => {
        const parsed = JSON.parse(withMember(text, path, '"the note":[1]')) as Json
        const [first, second] = path as [string, string | undefined]
        const { 'the note': note, ...others } = (
          second === undefined ? parsed[first] : (parsed[first] as Json)[second]
        ) as Json
        expect(note).toEqual([1])
        const before = second === undefined ? of[first] : (of[first] as Json | null)?.[second]
        expect(others).toEqual(isPlain(before) ? before : {})
        expect({ ...parsed, [first]: 0 }).toEqual({ ...of, [first]: 0 })
      }),
    )
  })
})

const isPlain = (of: unknown): of is Json =>
  typeof of === 'object' && of !== null && !Array.isArray(of)
