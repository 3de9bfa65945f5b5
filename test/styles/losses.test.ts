// Nothing is lost in silence: whatever a conversation holds, a request of any style gives it back, but
// for what the writer named; and it names nothing that comes back.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Conversation, Json, Part, Tool, Turn } from '../../src/styles/common/conversation.ts'
import { effortOf } from '../../src/styles/common/effort.ts'
import { objectSchema } from '../../src/styles/common/json-schema.ts'
import { conversation, realm, target } from '../../src/styles/common/test-answers.ts'
import { readRequest, writeRequest } from '../../src/styles/common/test-requests.ts'
import { styles } from '../../src/styles/index.ts'

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 })
const word = fc.constantFrom('Hello', 'wörld \u{1f600}', '{"a": 1}\n', '<system>', '[error] x')
const cache = maybe(fc.constantFrom({}, { ttl: '1h' }))
const marked = (part: object) => (mark: { ttl?: string } | undefined) =>
  (mark === undefined ? part : { ...part, cache: mark }) as Part

const text = fc
  .tuple(word, cache)
  .map(([value, mark]) => marked({ type: 'text', text: value })(mark))
const image = fc.constantFrom<Part>(
  { type: 'image', mimeType: 'image/png', data: 'AAAA' },
  { type: 'image', mimeType: 'image/png', url: 'https://a.example/x.png' },
)
const document = fc.constantFrom<Part>({
  type: 'document',
  mimeType: 'application/pdf',
  data: 'BBBB',
})
const reasoning = fc.constantFrom<Part>(
  { type: 'reasoning', text: 'Hm', seal: { realm: 'other', data: 'x' } },
  { type: 'reasoning', text: 'Hm' },
)
const refusal = fc.constant<Part>({ type: 'refusal', text: 'No.' })

const result = (callId: string) =>
  fc
    .tuple(
      fc.array(fc.oneof({ weight: 4, arbitrary: word }, fc.constant('')), { maxLength: 1 }),
      maybe(image),
      fc.boolean(),
    )
    .map(([words, picture, isError]): Part => {
      const parts = words
        .filter((each) => each !== '')
        .map((each) => ({ type: 'text', text: each }))
      return {
        type: 'result',
        callId,
        parts: [...parts, ...(picture ? [picture] : [])],
        isError,
      } as Part
    })

/** A turn of the user, one of the assistant, and the results of its calls. */
const round = (at: number): fc.Arbitrary<Turn[]> =>
  fc
    .record({
      asked: fc.array(fc.oneof({ weight: 5, arbitrary: text }, image, document), {
        minLength: 1,
        maxLength: 2,
      }),
      thought: maybe(reasoning),
      said: maybe(
        fc.oneof(
          { weight: 5, arbitrary: word.map((value): Part => ({ type: 'text', text: value })) },
          refusal,
        ),
      ),
      inputs: fc.array(fc.constantFrom('{}', '{"n":12345678901234567890,"a":"b"}'), {
        maxLength: 2,
      }),
      results: fc.tuple(result(`c${at}_0`), result(`c${at}_1`)),
      told: maybe(fc.constant('Now in German.')),
    })
    .map(({ asked, thought, said, inputs, results, told }) => {
      const calls = inputs.map(
        (input, index): Part => ({
          type: 'call',
          id: `c${at}_${index}`,
          name: 'find',
          freeForm: false,
          input,
        }),
      )
      const answer = [thought, said, ...calls].filter((part) => part !== undefined)
      const isEmpty = said === undefined && calls.length === 0
      const turns: Turn[] = [{ role: 'user', parts: asked }]
      if (!isEmpty) turns.push({ role: 'assistant', parts: answer })
      if (calls.length > 0) turns.push({ role: 'user', parts: results.slice(0, calls.length) })
      else if (told !== undefined && !isEmpty) {
        turns.push({ role: 'system', parts: [{ type: 'text', text: told }] })
      }
      return turns
    })

const closed = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
const find = fc.record(
  {
    name: fc.constant('find'),
    description: fc.constant('Finds.'),
    schema: fc.constantFrom<Json>({ type: 'object', properties: {} }, closed),
    strict: fc.boolean(),
    cache: fc.constant({}),
  },
  { requiredKeys: ['name', 'schema'] },
)
const patch = fc.constant<Tool>({ name: 'patch', freeForm: {} })

const any: fc.Arbitrary<Conversation> = fc
  .record(
    {
      system: fc.array(text, { maxLength: 2 }) as fc.Arbitrary<Conversation['system']>,
      rounds: fc.tuple(round(0), round(1)),
      tools: fc
        .tuple(find, maybe(patch))
        .map((tools) => tools.filter((each) => each !== undefined)),
      toolChoice: fc.constantFrom<NonNullable<Conversation['toolChoice']>>(
        { mode: 'auto' },
        { mode: 'none' },
        { mode: 'required' },
        { mode: 'tool', name: 'find' },
        { mode: 'allowed', names: ['find'], required: false },
        { mode: 'allowed', names: ['find'], required: true },
      ),
      parallelCalls: fc.boolean(),
      maxOutputTokens: fc.constantFrom(100, 1_000_000),
      stop: fc.constantFrom([], ['x']),
      sampling: fc.record(
        {
          temperature: fc.constantFrom(0, 1, 1.5),
          topP: fc.constant(0.5),
          topK: fc.constant(3),
          seed: fc.constant(4),
          presencePenalty: fc.constant(1),
          frequencyPenalty: fc.constant(1),
        },
        { requiredKeys: [] },
      ),
      format: fc.constantFrom<Conversation['format']>(
        { kind: 'text' },
        { kind: 'json' },
        { kind: 'schema', schema: closed, name: 'n', strict: true },
      ),
      effort: fc.constantFrom('none', 'minimal', 'low', 'high', 'xhigh', 'max'),
      showReasoning: fc.constant(true),
    },
    { requiredKeys: ['system', 'rounds', 'tools', 'stop', 'sampling', 'format'] },
  )
  .map(({ rounds, ...fields }) => {
    const turns = [
      ...rounds.flat(),
      { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Go' }] },
    ]
    return conversation({ ...fields, turns: joinTurns(turns) } as Partial<Conversation>)
  })

function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  for (const { role, parts } of turns) {
    const last = joined.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else joined.push({ role, parts: [...parts] })
  }
  return joined
}

const partsOf = ({ turns }: Conversation) => turns.flatMap(({ parts }) => parts)
const ofType = (given: Conversation, type: Part['type']) =>
  partsOf(given).filter((part) => part.type === type)
const bare = ({ cache: _, ...part }: Part & { cache?: unknown }): object => part
const without = (part: object, ...names: string[]): object =>
  Object.fromEntries(Object.entries(part).filter(([name]) => !names.includes(name)))

/** A refusal that became text is named by itself. Names and types of files are their upstream's own. */
const contentOf = (part: Part): unknown =>
  part.type === 'text' || part.type === 'refusal'
    ? part.text
    : without(bare(part), 'seal', 'name', ...('url' in part ? ['mimeType'] : []))

/** A choice of one tool, or of all that are offered, has a shorter form. */
function choiceOf(choice: Conversation['toolChoice']): unknown {
  if (choice?.mode !== 'allowed') return choice ?? { mode: 'auto' }
  return choice.required ? { mode: 'tool', name: choice.names[0] } : { mode: 'auto' }
}

/** What each name in the list of losses is about. */
const aspects: Readonly<Record<string, (given: Conversation) => unknown>> = {
  system: ({ system }) => system.map(({ text: value }) => value).join('\n\n'),
  turns: ({ turns }) =>
    turns.map(({ role, parts }) => [
      role,
      parts.filter(({ type }) => type !== 'reasoning' && type !== 'result').map(contentOf),
    ]),
  reasoning: (given) => ofType(given, 'reasoning').length,
  refusal: (given) => ofType(given, 'refusal').length,
  result: (given) =>
    ofType(given, 'result').map((part) =>
      part.type === 'result'
        ? [part.callId, part.parts.filter(({ type }) => type !== 'text').map(contentOf)]
        : [],
    ),
  isError: (given) => ofType(given, 'result').map((part) => part.type === 'result' && part.isError),
  cache: ({ system, tools, ...rest }) =>
    [...system, ...tools, ...partsOf({ system, tools, ...rest } as Conversation)].filter(
      (part) => 'cache' in part && part.cache !== undefined,
    ).length,
  tools: ({ tools, toolChoice }) =>
    tools
      .filter(({ name }) => toolChoice?.mode !== 'allowed' || toolChoice.names.includes(name))
      .filter(({ freeForm }) => freeForm === undefined)
      .map(({ name, description, schema }) =>
        name === 'patch' ? '' : [name, description, objectSchema(schema).schema],
      )
      .filter((tool) => tool !== ''),
  toolStrict: ({ tools }) => tools.map(({ strict }) => strict === true),
  toolFreeForm: ({ tools }) => tools.map(({ freeForm }) => freeForm !== undefined),
  toolChoice: ({ toolChoice, tools }) => [choiceOf(toolChoice), tools.map(({ name }) => name)],
  parallelCalls: ({ parallelCalls, toolChoice }) =>
    parallelCalls !== false || toolChoice?.mode === 'none',
  maxOutputTokens: ({ maxOutputTokens = 4_096 }) => maxOutputTokens,
  stop: ({ stop }) => stop,
  temperature: ({ sampling }) => sampling.temperature ?? 1,
  topP: ({ sampling }) => sampling.topP,
  topK: ({ sampling }) => sampling.topK,
  seed: ({ sampling }) => sampling.seed,
  presencePenalty: ({ sampling }) => sampling.presencePenalty,
  frequencyPenalty: ({ sampling }) => sampling.frequencyPenalty,
  format: ({ format }) => [format.kind, format.kind === 'schema' ? format.schema : undefined],
  effort: (given) => effortOf(given),
}

/** A change that makes another one. */
const implied: Readonly<Record<string, readonly string[]>> = {
  result: ['turns'],
  format: ['system'],
  toolChoice: ['toolStrict', 'toolFreeForm', 'cache'],
}

function changedIn(given: Conversation, read: Conversation): string[] {
  return Object.keys(aspects).filter(
    (name) => !Bun.deepEquals(aspects[name]!(given), aspects[name]!(read)),
  )
}

test.each(Object.values(styles).map((style) => [style.name, style] as const))(
  'a request of the %s style says what it changes',
  (_, style) => {
    let written = 0
    fc.assert(
      fc.property(any, fc.boolean(), fc.boolean(), (given, freeFormTools, mediaInResults) => {
        const to = target({ freeFormTools, mediaInResults }, { realm })
        const { body, losses, param } = writeRequest(style, given, to)
        if (param !== undefined) return
        written++
        const read = readRequest(style, body)
        expect([read.param, read.losses]).toEqual([undefined, []])
        const declared = losses.filter((name) => aspects[name] !== undefined)
        const changed = changedIn(given, read.conversation)
        const silent = changed.filter(
          (name) => !declared.some((each) => each === name || implied[each]?.includes(name)),
        )
        const isAllowed = given.toolChoice?.mode === 'allowed'
        const untrue = declared.filter(
          (name) => !changed.includes(name) && !(name === 'toolChoice' && isAllowed),
        )
        expect({ silent, untrue }).toEqual({ silent: [], untrue: [] })
      }),
      { numRuns: 150 },
    )
    expect(written).toBeGreaterThan(15)
  },
)
