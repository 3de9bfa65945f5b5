// Upstreams that speak the responses style.

import type { Provider } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { bearer } from '../common/bearer.ts'
import { readErrorEvent } from '../common/errors.ts'
import { FileBatches } from '../text/batches/file-batches.ts'
import { counterFor } from '../text/count-tokens.ts'
import { textProvider } from '../text/provider.ts'
import type { Json, TextStyle } from '../text/style.ts'
import { backgroundOf } from './background.ts'
import { finishReasonOf } from './finish-reason.ts'
import { learnResponse } from './ids.ts'
import { repairAnswer } from './repair.ts'
import { stream } from './stream.ts'
import { failedWith, readResponseUsage } from './usage.ts'

export const responsesStyle: TextStyle = {
  protocol: 'responses',
  path: '/responses',
  noun: 'a response',
  headers: (_, upstream) => bearer(upstream),
  ids: learnResponse,
  repair: repairAnswer,
  readAnswer,
  stream,
}

const countQuestion = { path: '/responses/input_tokens', fields: ['input_tokens'] } as const

export const responses: Provider = {
  ...textProvider(
    responsesStyle,
    counterFor(responsesStyle, () => countQuestion),
  ),
  response: backgroundOf(responsesStyle),
  batches: new FileBatches(responsesStyle),
}

/** `incomplete` is an answer: it stopped at a limit. Any other unfinished one is an error. */
const ended = new Set<unknown>(['completed', 'incomplete', undefined])

function readAnswer(answer: Json): ReturnType<TextStyle['readAnswer']> {
  const { output, status, error } = answer
  if (status === 'failed') return { failed: failedWith(answer, readErrorEvent(error, undefined)) }
  if (!Array.isArray(output) || !ended.has(status)) return undefined
  return {
    reported: readResponseUsage(answer),
    finishReason: finishReasonOf(answer),
    text: () => output.map(textOf).join(''),
  }
}

function textOf(item: unknown): string {
  if (!isObject(item)) return ''
  const parts = [item['content'], item['summary']].flatMap((list) =>
    Array.isArray(list) ? list : [],
  )
  const texts = parts.map((part) => (isObject(part) ? part['text'] : undefined))
  return [...texts, item['arguments'], item['name']].filter(isText).join('')
}

const isText = (value: unknown): value is string => typeof value === 'string'
