// Whatever an answer consists of, every caller gets it in the grammar of its own style.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { chatProblems } from '../../src/styles/chat/test-grammar.ts'
import type { AnswerEvent, Block, StopReason } from '../../src/styles/common/answer.ts'
import type { StyleName } from '../../src/styles/common/conversation.ts'
import {
  call,
  conversation,
  eventProblem,
  realm,
  usage,
  writeContext,
} from '../../src/styles/common/test-answers.ts'
import { generateProblem } from '../../src/styles/generate/test-grammar.ts'
import { styles } from '../../src/styles/index.ts'
import { messagesProblems } from '../../src/styles/messages/test-grammar.ts'
import { responsesProblem } from '../../src/styles/responses/test-grammar.ts'

const problemIn: Readonly<Record<StyleName, (stream: string) => string | undefined>> = {
  chat: (stream) => chatProblems(stream)[0],
  responses: responsesProblem,
  messages: (stream) => messagesProblems(stream)[0],
  generate: generateProblem,
}

const text = fc.constantFrom('Hello', ' wörld', '\n\n', '"q\\"', '\u{1f600}', 'data: x')
const kinds = fc.constantFrom<Block>(
  { kind: 'text' },
  { kind: 'text' },
  { kind: 'refusal' },
  { kind: 'reasoning' },
  { kind: 'reasoning', redacted: true },
  call('c', 'read_file'),
  call('c', 'apply_patch', true),
)
const oneBlock = fc.record({
  block: kinds,
  texts: fc.array(text, { minLength: 1, maxLength: 3 }),
  isSealed: fc.boolean(),
  isCited: fc.boolean(),
})

type Given = { block: Block; texts: string[]; isSealed: boolean; isCited: boolean }

function eventsOf({ block: given, texts, isSealed, isCited }: Given, index: number): AnswerEvent[] {
  const isCall = given.kind === 'call'
  const isRedacted = given.kind === 'reasoning' && given.redacted === true
  const block: Block = isCall ? call(`c${index}`, given.call.name, given.call.freeForm) : given
  const json = isCall && !given.call.freeForm ? ['{"path":', JSON.stringify(texts[0]), '}'] : texts
  const pieces = isRedacted ? [] : json
  const seal = { realm, data: 'sig', ...(isRedacted && { redacted: true as const }) }
  return [
    { type: 'open', index, block },
    ...pieces.map(
      (piece): AnswerEvent => ({ type: isCall ? 'input' : 'text', index, text: piece }),
    ),
    ...(isCited && given.kind === 'text'
      ? [{ type: 'cite' as const, index, citation: { url: 'https://a.example', start: 0, end: 2 } }]
      : []),
    ...((isSealed && (isCall || given.kind === 'reasoning')) || isRedacted
      ? [{ type: 'seal' as const, index, seal }]
      : []),
    { type: 'close', index },
  ]
}

const ending = fc.option(fc.constantFrom<StopReason>('length', 'filtered', 'refusal'), {
  nil: undefined,
})

const answers = fc
  .tuple(fc.array(oneBlock, { maxLength: 6 }), ending, fc.option(text, { nil: undefined }))
  .map(([blocks, cut, explanation]): AnswerEvent[] => {
    const hasCall = blocks.some(({ block }) => block.kind === 'call')
    const hasRefusal = blocks.some(({ block }) => block.kind === 'refusal')
    const isRefused = (hasRefusal || cut === 'refusal') && !hasCall
    const whole = hasCall ? 'calls' : isRefused ? 'refusal' : 'end'
    const reason = cut === undefined || cut === 'refusal' ? whole : cut
    return [
      { type: 'begin' },
      ...blocks.flatMap(eventsOf),
      { type: 'stop', reason, ...(explanation !== undefined && { explanation }) },
      { type: 'usage', usage },
    ]
  })

const contexts = fc
  .record({
    codingTool: fc.boolean(),
    wantsSeals: fc.boolean(),
    showReasoning: fc.boolean(),
  })
  .map(({ codingTool, ...fields }) =>
    writeContext({
      codingTool,
      conversation: conversation(fields),
      fields: { stream_options: { include_usage: true } },
    }),
  )

test.each(Object.values(styles).map((style) => [style.name, style] as const))(
  'any answer is a stream of the %s style',
  (name, style) => {
    fc.assert(
      fc.property(answers, contexts, fc.nat(), (events, context, broken) => {
        expect(eventProblem(events)).toBeUndefined()
        const writer = style.newWriter(context)
        const stream = events.map((event) => writer.write(event)).join('') + writer.end()
        expect(problemIn[name](stream)).toBeUndefined()
        style.writeAnswer(events, context)
        if (name === 'responses' || name === 'generate') {
          const failing = style.newWriter(context)
          const before = events.slice(0, 1 + (broken % (events.length - 2)))
          const error = { code: 'upstream_error', message: 'broken' } as const
          const cut = before.map((event) => failing.write(event)).join('')
          expect(problemIn[name](cut + failing.write({ type: 'fail', error }))).toBeUndefined()
        }
      }),
      { numRuns: 200 },
    )
  },
)
