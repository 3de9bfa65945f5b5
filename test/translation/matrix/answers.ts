// Answers of the matrix: the grammar of each style, and what an answer says whichever style it is in.
import { expect } from 'bun:test'
import { chatProblems } from '../../../src/styles/chat/test-grammar.ts'
import type { AnswerEvent, AnswerUsage, StopReason } from '../../../src/styles/common/answer.ts'
import { collectAnswer } from '../../../src/styles/common/collect-answer.ts'
import type { Json, StyleName } from '../../../src/styles/common/conversation.ts'
import type { Envelopes } from '../../../src/styles/common/envelope.ts'
import { parseExact } from '../../../src/styles/common/exact-json.ts'
import {
  envelopes,
  eventProblem,
  realm,
  writeContext,
} from '../../../src/styles/common/test-answers.ts'
import type { ToolNames } from '../../../src/styles/common/tool-names.ts'
import { generateProblem } from '../../../src/styles/generate/test-grammar.ts'
import { styles } from '../../../src/styles/index.ts'
import { messagesProblems } from '../../../src/styles/messages/test-grammar.ts'
import { responsesProblem } from '../../../src/styles/responses/test-grammar.ts'
import { dataLines } from '../../support/read.ts'

/** Forwarded answers have the upstream's own usage. */
const problems: Record<StyleName, (stream: string) => string[]> = {
  chat: chatProblems,
  responses: (stream) => [responsesProblem(stream) ?? []].flat(),
  messages: (stream) => messagesProblems(stream).filter((each) => each !== 'usage is not complete'),
  generate: (stream) => [generateProblem(stream) ?? []].flat(),
}

export interface AnswerSaid {
  /** What the model wrote, also to refuse. */
  text: string
  reasoning: string
  sources: { url: string; title?: string; start?: number; end?: number }[]
  calls: { id: string; name: string; input: unknown }[]
  stop: string
  usage: Pick<AnswerUsage, 'inputTokens' | 'outputTokens' | 'cacheReadTokens'> | undefined
}

/** Fails the test unless the stream keeps the grammar of its style. */
export const expectGrammar = (style: StyleName, stream: string): void =>
  expect(problems[style](stream)).toEqual([])

export function streamSaid(style: StyleName, stream: string, names: ToolNames): AnswerSaid {
  const events: AnswerEvent[] = []
  const reader = styles[style].newReader({ names, envelopes, realm })
  for (const data of dataLines(stream)) {
    if (data === '[DONE]') continue
    reader.read(parseExact(data) as Json, undefined, (event) => events.push(event))
  }
  reader.end((event) => events.push(event))
  return answerSaid(events, namespacesIn(dataLines(stream)))
}

export function jsonSaid(style: StyleName, body: string, names: ToolNames): AnswerSaid {
  const events: AnswerEvent[] = []
  const context = { names, envelopes, realm }
  styles[style].readAnswer(parseExact(body) as Json, context, (event) => events.push(event))
  return answerSaid(events, namespacesIn([body]))
}

/** By the id of a call: readers of upstreams know none. */
function namespacesIn(texts: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const text of texts) {
    if (!text.includes('"namespace"')) continue
    JSON.parse(text, (_, value) => {
      if (value?.type === 'function_call' && typeof value.namespace === 'string') {
        found.set(value.call_id, value.namespace)
      }
      return value
    })
  }
  return found
}

/** Not every style tells a stop sequence from an end, or a refusal from a filter. */
const sameStops: Partial<Record<StopReason, string>> = {
  stop_sequence: 'end',
  filtered: 'withheld',
  refusal: 'withheld',
}

/** An answer as an upstream of the style gives it; with seals of its own. */
export function answerOf(
  style: StyleName,
  events: readonly AnswerEvent[],
  stream: boolean,
): string {
  const raw: Envelopes = { wrap: ({ data }) => data, unwrap: () => undefined }
  const fields = { stream_options: { include_usage: true } }
  const context = writeContext({ envelopes: raw, fields })
  if (!stream) return JSON.stringify(styles[style].writeAnswer(events, context))
  const writer = styles[style].newWriter(context)
  return events.map((event) => writer.write(event)).join('') + writer.end()
}

function answerSaid(
  events: readonly AnswerEvent[],
  namespaces: ReadonlyMap<string, string>,
): AnswerSaid {
  expect(eventProblem(events)).toBeUndefined()
  const { blocks, stop, usage } = collectAnswer(events)
  const textOf = (kind: string): string =>
    blocks
      .filter(({ block }) => block.kind === kind)
      .map(({ text }) => text)
      .join('')
  return {
    text: textOf('text') + (textOf('refusal') || (stop?.explanation ?? '')),
    reasoning: textOf('reasoning'),
    sources: blocks.flatMap(({ citations }) => citations).map(({ quote: _, ...source }) => source),
    calls: blocks.flatMap(({ block, text }) => {
      if (block.kind !== 'call') return []
      const { id, name, freeForm } = block.call
      const namespace = namespaces.get(id) ?? block.call.namespace
      const full = namespace === undefined ? name : `${namespace}/${name}`
      return [{ id, name: full, input: freeForm ? text : JSON.stringify(parseExact(text || '{}')) }]
    }),
    stop: stop === undefined ? 'none' : (sameStops[stop.reason] ?? stop.reason),
    usage: usage && {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      cacheReadTokens: usage.cacheReadTokens,
    },
  }
}
