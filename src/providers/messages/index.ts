// Upstreams that speak the messages style.
import type { Provider, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { askForModels } from '../common/list-models.ts'
import { markMessages } from '../text/cache-marks.ts'
import { counterFor } from '../text/count-tokens.ts'
import { senderFor } from '../text/sender.ts'
import type { Json, ReadAnswer, TextStyle } from '../text/style.ts'
import { MessageBatches } from './batches.ts'
import { repairAnswer } from './repair.ts'
import { stream } from './stream.ts'
import { readUsage } from './usage.ts'
import { countingAt, vertexCount, vertexOf } from './vertex.ts'

export const messagesStyle: TextStyle = {
  protocol: 'messages',
  path: '/v1/messages',
  noun: 'a message',
  headers,
  withCacheMarks: (call) => markMessages(call, { instructions: ['system', 'tools'], takesMark }),
  repair: repairAnswer,
  readAnswer,
  stream,
}

const countQuestion = {
  path: `${messagesStyle.path}/count_tokens`,
  fields: ['input_tokens'],
} as const

const vertexStyle = vertexOf(messagesStyle)
const sendPlain = senderFor(messagesStyle)
const sendVertex = senderFor(vertexStyle)
const countPlain = counterFor(messagesStyle, () => countQuestion)
const countVertex = counterFor(countingAt(vertexStyle), vertexCount)

export const messages: Provider = {
  protocol: messagesStyle.protocol,
  path: messagesStyle.path,
  listModels: (upstream, stop) =>
    askForModels('/v1/models?limit=1000', headers({}, upstream), upstream, stop),
  text: {
    send: (call, upstream, stop) =>
      (upstream.vertex === undefined ? sendPlain : sendVertex)(call, upstream, stop),
    countTokens: (call, upstream, stop) =>
      (upstream.vertex === undefined ? countPlain : countVertex)(call, upstream, stop),
  },
  batches: new MessageBatches(messagesStyle),
}

const takesMark = ({ type, defer_loading: isDeferred }: Json): boolean =>
  type !== 'thinking' && type !== 'redacted_thinking' && isDeferred !== true

const oldestVersion = '2023-06-01'

/** The caller's version and betas under the header names of this upstream. */
function headers(
  { dialect }: Pick<TextCall, 'dialect'>,
  { key, messages: channel }: Pick<Upstream, 'key' | 'messages'>,
) {
  const sent: Record<string, string> = {}
  if (channel.auth !== 'bearer') sent['x-api-key'] = key
  if (channel.auth !== 'x-api-key') sent['authorization'] = `Bearer ${key}`
  const version = channel.version ?? dialect?.version ?? oldestVersion
  for (const name of channel.headers === 'both' ? ['msgapi', 'anthropic'] : [channel.headers]) {
    sent[`${name}-version`] = version
    if (dialect?.beta !== undefined) sent[`${name}-beta`] = dialect.beta
  }
  return sent
}

function readAnswer(answer: Json): ReadAnswer | undefined {
  const { content, usage, stop_reason: finishReason } = answer
  if (!Array.isArray(content)) return undefined
  return { reported: readUsage(usage), finishReason, text: () => content.map(textOf).join('') }
}

function textOf(block: unknown): string {
  if (!isObject(block)) return ''
  const { text, thinking, name, input } = block
  const called = input === undefined ? undefined : JSON.stringify(input)
  return [text, thinking, name, called].filter((piece) => typeof piece === 'string').join('')
}
