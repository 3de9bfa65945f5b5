// Bedrock: models of the messages style by InvokeModel, all others by Converse. The id of the model tells which;
// it is in the path, one segment whatever is in it. Requests are signed by the client of the channel, or carry
// a key of Bedrock.
import type { HttpAnswer, HttpPort } from '../../contract/http.ts'
import type { Provider, TextProvider, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { senderFor } from '../text/sender.ts'
import type { TextStyle } from '../text/style.ts'
import { converseStyle } from './converse.ts'
import { asRefusal, errorEvent } from './errors.ts'
import { EventStreamAnswer, type Frame, type WriteFrame } from './event-stream.ts'

const version = 'bedrock-2023-05-31'

const isMessages = (model: string): boolean => model.includes('anthropic.')

const keyHeaders = (_: TextCall, { key }: Upstream): Record<string, string> =>
  key === '' ? {} : { authorization: `Bearer ${key}` }

const pathOf =
  (whole: string, streamed: string) =>
  ({ stream }: TextCall, { model }: Upstream): string =>
    `/model/${encodeURIComponent(model)}/${stream ? streamed : whole}`

/** The path says it. */
const inPath = { model: '', stream: '' }

const invokeStyle = (messages: TextStyle): TextStyle => ({
  ...messages,
  pathOf: pathOf('invoke', 'invoke-with-response-stream'),
  headers: keyHeaders,
  fieldsFor({ dialect }) {
    const betas = dialect?.beta?.split(',').map((each) => each.trim())
    return {
      ...inPath,
      anthropic_version: JSON.stringify(version),
      ...(betas !== undefined && { anthropic_beta: JSON.stringify(betas.filter(Boolean)) }),
    }
  },
})

/** `messages`: the style that InvokeModel takes for the models of its maker. */
export function bedrockProvider(messages: TextStyle): Provider {
  const invoke = framed(senderFor(invokeStyle(messages)), invokeEvents)
  const converse = framed(
    senderFor({
      ...converseStyle,
      pathOf: pathOf('converse', 'converse-stream'),
      headers: keyHeaders,
      fieldsFor: () => inPath,
    }),
    converseEvents,
  )
  return {
    protocol: 'bedrock',
    path: '/model/{model}/converse and /model/{model}/invoke',
    styleOf: (model) => (isMessages(model) ? messages.protocol : converseStyle.protocol),
    question: {
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 1 },
    },
    text: {
      send: (call, upstream, stop) =>
        (isMessages(upstream.model) ? invoke : converse)(call, upstream, stop),
    },
  }
}

/** With a client whose answers are server-sent events, and whose refusals have a status that fits. */
const framed =
  (send: TextProvider['send'], write: WriteFrame): TextProvider['send'] =>
  (call, upstream, stop) =>
    send(call, { ...upstream, http: readingFrames(upstream.http, write) }, stop)

function readingFrames(http: HttpPort, write: WriteFrame): HttpPort {
  const read = (answer: HttpAnswer): HttpAnswer | Promise<HttpAnswer> =>
    answer.status === 200 && /amazon\.eventstream/.test(answer.header('content-type') ?? '')
      ? new EventStreamAnswer(answer, write)
      : asRefusal(answer)
  return {
    ...http,
    post(url, headers, body, limits) {
      const sent = http.post(url, headers, body, limits)
      return { answer: sent.answer.then(read), cancel: () => sent.cancel() }
    },
  }
}

const isError = ({ headers }: Frame): boolean => headers[':message-type'] !== 'event'

/** The model's own events, encoded; the last has measurements besides. */
function invokeEvents(frame: Frame): string {
  if (isError(frame)) return errorEvent(frame)
  const chunk = parsed(frame.payload)['bytes']
  if (typeof chunk !== 'string') return ''
  const text = Buffer.from(chunk, 'base64').toString()
  const { 'amazon-bedrock-invocationMetrics': metrics, ...event } = parsed(text)
  const shown = metrics === undefined && !text.includes('\n') ? text : JSON.stringify(event)
  return `event: ${event['type']}\ndata: ${shown}\n\n`
}

/** `p` is padding. */
function converseEvents(frame: Frame): string {
  if (isError(frame)) return errorEvent(frame)
  const { p: _, ...event } = parsed(frame.payload)
  const type = frame.headers[':event-type'] ?? ''
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
