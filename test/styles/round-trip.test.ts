// Conversations written in a style and read again: what is lost is what the writer says is lost.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chat } from '../../src/styles/chat/index.ts'
import type {
  Conversation,
  FieldNames,
  MediaPart,
  Part,
  TextPart,
  Turn,
} from '../../src/styles/common/conversation.ts'
import type { Style, TargetSettings } from '../../src/styles/common/style.ts'
import { readFields, targetWith, writeTo } from '../../src/styles/common/test-support.ts'
import { generate } from '../../src/styles/generate/index.ts'
import { messages } from '../../src/styles/messages/index.ts'
import { responses } from '../../src/styles/responses/index.ts'

const styles: readonly Style[] = [chat, messages, responses, generate]

const words = fc.string({
  minLength: 1,
  maxLength: 8,
  unit: fc.constantFrom('a', 'é', '"', '\\', '😀', '1'),
})
const cache = fc.constantFrom(undefined, undefined, undefined, { cache: {} })

const text: fc.Arbitrary<TextPart> = fc
  .tuple(words, cache)
  .map(([value, mark]) => ({ type: 'text', text: value, ...mark }))
const image: fc.Arbitrary<MediaPart> = fc.constantFrom(
  { type: 'image', mimeType: 'image/png', data: 'AAAA' },
  { type: 'image', url: 'https://a.example/x.png' },
)
const input = fc.constantFrom('{}', '{"b":1,"a":[null,"x"]}', '{"n":12345678901234567890}')

/** One turn of each side; the assistant may call tools, whose results follow. */
const exchange = fc.record({
  asked: fc.array(fc.oneof(text, image), { minLength: 1, maxLength: 3 }),
  reasoning: fc.boolean(),
  answer: fc.option(words, { nil: undefined }),
  inputs: fc.array(input, { maxLength: 3 }),
  results: fc.array(fc.array(fc.oneof(text, image), { maxLength: 2 }), {
    minLength: 3,
    maxLength: 3,
  }),
  isError: fc.boolean(),
})

const turns = fc.array(exchange, { minLength: 1, maxLength: 4 }).map((exchanges): Turn[] => {
  let id = 0
  const all: Turn[] = []
  const add = (role: Turn['role'], parts: Part[]) => {
    const last = all.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else if (parts.length > 0) all.push({ role, parts })
  }
  for (const { asked, reasoning, answer, inputs, results, isError } of exchanges) {
    add('user', [...asked])
    const calls = inputs.map(
      (each): Part => ({
        type: 'call',
        id: `id_${id++}`,
        name: 'f',
        freeForm: false,
        input: each,
      }),
    )
    const said: Part[] = answer === undefined ? [] : [{ type: 'text', text: answer }]
    const thought: Part[] =
      reasoning && said.length + calls.length > 0 ? [{ type: 'reasoning', text: 'hm' }] : []
    add('assistant', [...thought, ...said, ...calls])
    add(
      'user',
      calls.map((call, index) => ({
        type: 'result',
        callId: (call as { id: string }).id,
        parts: results[index]!,
        isError,
      })),
    )
  }
  add('user', [{ type: 'text', text: 'go on' }])
  return all
})

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}

const settings = fc.record({
  system: fc.array(text, { maxLength: 1 }),
  tools: fc.constantFrom(
    [],
    [{ name: 'f', description: 'F.', schema }],
    [{ name: 'f', schema, strict: true }],
  ),
  parallelCalls: optional(fc.boolean()),
  maxOutputTokens: optional(fc.constantFrom(1_000, 99_000)),
  stop: fc.constantFrom([], ['x'], ['x', '\n']),
  effort: optional(fc.constantFrom('none', 'low', 'high')),
  temperature: optional(fc.constantFrom(0, 1, 1.5)),
  topK: optional(fc.constant(5)),
  seed: optional(fc.constant(7)),
  format: fc.constantFrom(
    { kind: 'text' },
    { kind: 'schema', schema, name: 'answer', strict: true },
  ),
})

const conversation = fc.tuple(turns, settings).map(([made, given]): Conversation => {
  const { temperature, topK, seed, ...rest } = given
  const present = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  return {
    turns: made,
    choices: 1,
    sampling: present({ temperature, topK, seed }),
    ...present(rest),
  } as Conversation
})

/** Neutral names, so that losses can be compared whatever the style. */
const names = new Proxy({}, { get: (_, name) => name }) as FieldNames

const partsOf = ({ turns: all }: Conversation): Part[] => all.flatMap(({ parts }) => parts)
const ofType = (talk: Conversation, type: Part['type']) =>
  partsOf(talk).filter((part) => part.type === type)

/** Each side of what may differ, by the name of the loss. */
const aspects: Readonly<Record<string, (talk: Conversation) => unknown>> = {
  cache: (talk) =>
    [...talk.system, ...partsOf(talk)]
      .flatMap((part): Part[] => (part.type === 'result' ? [part, ...part.parts] : [part]))
      .filter((part) => 'cache' in part && part.cache).length,
  reasoning: (talk) => ofType(talk, 'reasoning'),
  isError: (talk) => ofType(talk, 'result').map((part) => part.type === 'result' && part.isError),
  result: (talk) =>
    ofType(talk, 'result').map(
      (part) =>
        part.type === 'result' &&
        part.parts.flatMap((each) => (each.type === 'text' ? [] : [each.url ?? each.data])),
    ),
  calls: (talk) => ofType(talk, 'call'),
  texts: (talk) =>
    talk.turns.map(({ role, parts }) => [
      role,
      ...parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    ]),
  system: (talk) => talk.system.map((part) => part.text),
  images: (talk) => ofType(talk, 'image').length,
  tools: ({ tools }) => tools.map(({ strict: _, ...tool }) => tool),
  toolStrict: ({ tools }) => tools.map(({ strict }) => strict ?? false),
  parallelCalls: ({ parallelCalls, tools }) => tools.length > 0 && parallelCalls === false,
  maxOutputTokens: ({ maxOutputTokens }) => maxOutputTokens,
  stop: ({ stop }) => stop,
  effort: ({ effort }) => effort,
  temperature: ({ sampling }) => sampling.temperature,
  topK: ({ sampling }) => sampling.topK,
  seed: ({ sampling }) => sampling.seed,
  format: ({ format }) => format.kind === 'schema' && format.schema,
}

function observedLosses(before: Conversation, after: Conversation): string[] {
  const isOther = (name: string) => !Bun.deepEquals(aspects[name]!(before), aspects[name]!(after))
  return Object.keys(aspects).filter(isOther)
}

/** What a loss explains besides itself. */
const explains: Readonly<Record<string, readonly string[]>> = {
  result: ['images', 'texts'],
}

const channels: fc.Arbitrary<Partial<TargetSettings>> = fc.record({
  cacheControl: fc.boolean(),
  instructions: fc.constantFrom('first', 'anywhere'),
  replayReasoning: fc.boolean(),
})

test.each(styles.map((style) => [style.name, style] as const))(
  'a conversation in the style %s loses what its writer says, and nothing else',
  (_, style) => {
    fc.assert(
      fc.property(conversation, channels, (given, channel) => {
        const before = { ...given, fieldNames: names }
        const { request, losses, param } = writeTo(style, before, targetWith(channel))
        // One style has no stop sequences, and no way to leave them out.
        if (param !== undefined) return void expect(param).toBe('stop')
        const read = readFields(style, request)
        expect(read.losses).toEqual([])
        const observed = observedLosses(before, withDefaults(read.conversation, before))
        const explained = observed.filter(
          (name) => !losses.some((loss) => explains[loss]?.includes(name)),
        )
        expect(explained.toSorted()).toEqual(losses)
      }),
      { numRuns: 300 },
    )
  },
)

/** A limit that the caller did not give is the one of the hold; fields that steer nothing are not sent. */
function withDefaults(after: Conversation, before: Conversation): Conversation {
  const { maxOutputTokens, ...rest } = after
  const isOwn = before.maxOutputTokens !== undefined && maxOutputTokens !== undefined
  const forced = before.sampling.temperature === 1 && after.sampling.temperature === undefined
  return {
    ...rest,
    ...(isOwn && { maxOutputTokens }),
    ...(forced && { sampling: { ...after.sampling, temperature: 1 } }),
  }
}

test('a conversation that went through every style says the same calls and texts', () => {
  fc.assert(
    fc.property(conversation, (given) => {
      let talk: Conversation = { ...given, fieldNames: names, stop: [] }
      for (const style of [...styles, ...styles]) {
        talk = readFields(style, writeTo(style, talk).request).conversation
      }
      expect(aspects['calls']!(talk)).toEqual(aspects['calls']!(given))
      expect(aspects['images']!(talk)).toEqual(
        partsOf(given)
          .flatMap((part): readonly Part[] => (part.type === 'result' ? part.parts : [part]))
          .filter(({ type }) => type === 'image').length,
      )
    }),
    { numRuns: 100 },
  )
})
