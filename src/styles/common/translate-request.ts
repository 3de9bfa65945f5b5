// A caller's request in the style of an upstream: plain data in, plain data out, so that a thread can do
// the work. What is made has at most four times the size of what came.
import { Refusal, refuse } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Conversation, Json } from './conversation.ts'
import { createEnvelopes } from './envelope.ts'
import { needsExact, parseExact } from './exact-json.ts'
import { Growth, grownTooLarge, maxBytesFor } from './growth.ts'
import { Losses } from './losses.ts'
import { present } from './request-reading.ts'
import {
  keepsSettings,
  type Style,
  type Target,
  type UpstreamStyle,
  type WriteContext,
} from './style.ts'
import { type AnswerNames, ToolNames } from './tool-names.ts'

/** What is to be written, and for whom. */
export interface RequestWork {
  from: Style
  to: UpstreamStyle
  target: Omit<Target, 'envelopes' | 'growth'>
  envelopeKey: Uint8Array
  /** The largest request that may be sent. */
  maxRequestBytes: number
  /** A question about the size of its input. */
  isCount: boolean
  /** Only if the upstream's style has all of its settings: another protocol may have them. */
  whole?: true
}

/** A request as its caller sent it: read once for all upstreams that it is written for. */
export interface ReadRequest {
  conversation: Conversation | Refusal
  losses: readonly string[]
  fields: Json
}

export interface WrittenRequest {
  /** As JSON. */
  body: string
  /** By how much it is larger than the caller's. */
  grownBytes: number
  losses: readonly string[]
  cacheMarks: number
  names: AnswerNames
  shown: WriteContext['conversation']
}

/** `given`: the body, parsed, if it is. */
export function readRequest(
  { from, envelopeKey, isCount }: RequestWork,
  body: string,
  given?: Json,
): ReadRequest {
  const exact = given === undefined || needsExact(body) ? parseExact(body) : undefined
  const whole = isObject(exact) ? exact : (given ?? {})
  const fields = (isCount && from.count?.requestIn?.(whole)) || whole
  const losses = new Losses()
  const envelopes = createEnvelopes(envelopeKey)
  const conversation = from.readRequest({ fields, body, envelopes }, losses)
  return { conversation, fields, losses: losses.names }
}

/** With the names of tools as they were sent, which only this thread has. */
type Written = WrittenRequest & { names: ToolNames }

export function writeRequest(
  { to, target: plain, envelopeKey, maxRequestBytes, isCount, whole }: RequestWork,
  { conversation, losses: lostInReading }: ReadRequest,
  body: string,
): Written | Refusal {
  if (conversation instanceof Refusal) return conversation
  if (whole && !keepsSettings(to.lacks, conversation)) return notWhole
  const losses = new Losses()
  for (const name of lostInReading) losses.add(name)
  const bodyBytes = Buffer.byteLength(body)
  const growth = new Growth(maxBytesFor(bodyBytes, maxRequestBytes))
  const target = { ...plain, envelopes: createEnvelopes(envelopeKey), growth }
  const names = new ToolNames(conversation.tools, to.toolName)
  const request = to.writeRequest(conversation, target, names, losses)
  if (request instanceof Refusal) return request
  const changed = losses.names
  if (target.strict && changed.length > 0) return notStrict(changed[0]!)
  const asked = (isCount && to.count?.bodyOf(request, target.model)) || request
  const written = JSON.stringify(asked)
  const grownBytes = Buffer.byteLength(written) - bodyBytes
  if (bodyBytes + grownBytes > growth.maxBytes) {
    const { tools, turns } = conversation.fieldNames
    const isTools = JSON.stringify(request['tools'] ?? '').length > written.length / 2
    return grownTooLarge(isTools ? tools : turns, growth.maxBytes)
  }
  const { cacheMarks } = losses
  return {
    body: written,
    grownBytes,
    losses: changed,
    cacheMarks,
    names,
    shown: shownOf(conversation),
  }
}

/** Without the rest of the request: a long stream must not keep it. */
const shownOf = ({
  showReasoning,
  wantsSeals,
  tools,
}: Conversation): WriteContext['conversation'] => ({
  tools: tools.filter((tool) => tool.search),
  ...present({ showReasoning, wantsSeals }),
})

/** For the engine: callers get no such refusal, because the call is sent with the loss then. */
const notWhole = refuse('invalid_request', 'a setting would be changed')

export const notStrict = (param: string): Refusal =>
  refuse(
    'invalid_request',
    `'${param}' would be changed for the upstream of this model, and changes are not allowed`,
    { param },
  )
