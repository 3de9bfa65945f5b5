// A call of one text style at an upstream of another: the request is written anew, the answer is
// read and written in the caller's style. Usage and failures are still read from the upstream's own
// answer, by the provider of its style.

import { Refusal } from '../../contract/errors.ts'
import type {
  Reported,
  Stop,
  TextProvider,
  TextReply,
  Translating,
  Upstream,
  UpstreamError,
} from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { AnswerEvent, AnswerUsage } from '../../styles/common/answer.ts'
import type { Conversation, Json } from '../../styles/common/conversation.ts'
import { createEnvelopes, type Envelopes } from '../../styles/common/envelope.ts'
import { needsExact, parseExact } from '../../styles/common/exact-json.ts'
import { Losses } from '../../styles/common/losses.ts'
import { present } from '../../styles/common/request-reading.ts'
import {
  keepsSettings,
  type ReadContext,
  type Style,
  type Target,
  type WriteContext,
} from '../../styles/common/style.ts'
import { ToolNames } from '../../styles/common/tool-names.ts'
import { usualSettings } from '../../styles/settings.ts'
import { AnswerLosses, named, type ShownUsage, TranslatedStream } from './translated-stream.ts'

/** A request as the caller sent it, read once for all tries of its call. */
interface Read {
  conversation: Conversation | Refusal
  losses: readonly string[]
  fields: Json
}

const reads = new WeakMap<TextCall, Read>()

/** The call in the upstream's style, and how its answer is written for the caller. */
interface Translation {
  call: TextCall
  losses: readonly string[]
  cacheMarks: number
  reading: ReadContext
  writing: WriteContext
  shownUsage: ShownUsage
}

export interface Given {
  call: TextCall
  upstream: Upstream
  translating: Translating
}

export async function sendAs(
  from: Style,
  to: Style,
  send: TextProvider['send'],
  { call, upstream, translating }: Given,
  stop: Stop,
): Promise<TextReply> {
  const translation = translate(from, to, { call, upstream, translating })
  if (translation instanceof Refusal) return refused(translation)
  const { markFor: _, ...plain } = upstream
  const reply = await send(translation.call, plain, stop)
  if (reply.kind === 'failed') return reply
  const { cacheMarks } = translation
  const noted = cacheMarks === 0 ? reply : { ...reply, cacheMarks }
  if (noted.kind === 'json') return answered(from, to, translation, noted)
  reads.delete(call)
  return streamed(from, to, translation, noted)
}

/** None of the seals is for it. */
const noRealm = ''

function targetOf(to: Style, { call, upstream, translating }: Given): Omit<Target, 'envelopes'> {
  const { model, strict = false, withoutSeals } = upstream
  const { maxOutputTokens, realm, settings } = translating
  return {
    model,
    stream: call.stream,
    maxOutputTokens,
    strict,
    realm: withoutSeals ? noRealm : realm,
    settings: { ...usualSettings[to.name], ...settings },
  }
}

export function translate(
  from: Style,
  to: Style,
  { call, upstream, translating }: Given,
): Translation | Refusal {
  const envelopes = createEnvelopes(translating.envelopeKey)
  const { conversation, fields, losses: lostInReading } = readOnce(from, call, envelopes)
  if (conversation instanceof Refusal) return conversation
  if (translating.whole && !keepsSettings(to.lacks, conversation)) return notWhole
  const losses = new Losses()
  for (const name of lostInReading) losses.add(name)
  const target = { ...targetOf(to, { call, upstream, translating }), envelopes }
  const names = new ToolNames(conversation.tools, to.toolName)
  const request = to.writeRequest(conversation, target, names, losses)
  if (request instanceof Refusal) return request
  const changed = losses.names
  if (target.strict && changed.length > 0) return notStrict(changed[0]!)
  const { answerId: id, createdMs, realm } = translating
  return {
    call: translatedCall(call, to, target.model, request),
    losses: changed,
    cacheMarks: losses.cacheMarks,
    shownUsage: (reported, count) => shownUsage(translating, reported, count),
    reading: { names, envelopes, realm },
    writing: {
      id,
      model: call.model,
      createdMs,
      fields,
      conversation: shownOf(conversation),
      envelopes,
      inputTokens: call.inputTokens,
      ...(call.codingTool && { codingTool: true }),
    },
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

/** What is charged; reasoning is a part of it that only callers are shown. */
function shownUsage(
  { chargedUsage }: Translating,
  { usage: reported }: Reported,
  countOutputTokens: () => number,
): AnswerUsage {
  const charged = chargedUsage(reported, countOutputTokens)
  const reasoningTokens = Math.min(reported?.reasoningTokens ?? 0, charged.outputTokens)
  return { ...charged, reasoningTokens }
}

/** Under the upstream's name of the model: the answer is written anew, with the caller's. */
const translatedCall = (call: TextCall, to: Style, model: string, request: Json): TextCall => ({
  ...call,
  interface: to.name,
  model,
  body: JSON.stringify(request),
  fields: request,
  wantsUsage: true,
})

function readOnce(from: Style, call: TextCall, envelopes: Envelopes): Read {
  const known = reads.get(call)
  if (known !== undefined) return known
  const losses = new Losses()
  const exact = needsExact(call.body) ? parseExact(call.body) : undefined
  const fields = isObject(exact) ? exact : call.fields
  const conversation = from.readRequest({ fields, body: call.body, envelopes }, losses)
  const read = { conversation, fields, losses: losses.names }
  reads.set(call, read)
  return read
}

/** For the engine: callers get no such refusal, because the call is sent with the loss then. */
const notWhole = new Refusal('invalid_request', 'a setting would be changed')

export const notStrict = (param: string): Refusal =>
  new Refusal(
    'invalid_request',
    `'${param}' would be changed for the upstream of this model, and changes are not allowed`,
    { param },
  )

/** Not a failure of the upstream: another one may be able to carry the field. */
export function refused({ code, message, extras: { param } }: Refusal): TextReply {
  const error: UpstreamError = { code, message, about: 'translation' }
  return { kind: 'failed', error: param === undefined ? error : { ...error, param } }
}

type JsonReply = Extract<TextReply, { kind: 'json' }>

function answered(
  from: Style,
  to: Style,
  { reading, writing, losses, shownUsage: shown }: Translation,
  reply: JsonReply,
): TextReply {
  const { body, parsed, outline, ...rest } = reply
  const isExact = parsed !== undefined && !needsExact(body)
  const answer = outline ?? (isExact ? parsed : parseExact(body))
  const events: AnswerEvent[] = []
  const lost = new AnswerLosses()
  if (outline !== undefined) lost.add('content')
  let failure: UpstreamError | undefined
  to.readAnswer(isObject(answer) ? answer : {}, reading, (event) => {
    if (event.type === 'fail') failure ??= event.error
    else if (event.type === 'lost') lost.add(event.what)
    else if (event.type !== 'usage') events.push(event)
  })
  if (failure !== undefined) return spoiled(failure, reply)
  events.push({ type: 'usage', usage: shown(reply.reported, reply.countOutputTokens) })
  const hasCalls = events.some((event) => event.type === 'stop' && event.reason === 'calls')
  const written = JSON.stringify(from.writeAnswer(events, writing))
  const all = lost.names.length === 0 ? losses : [...losses, ...lost.names]
  return { ...rest, ...(hasCalls && { finishReason: 'tool_calls' }), body: written, losses: all }
}

/** The upstream's work is a loss, not charged to the caller. */
const spoiled = (error: UpstreamError, reply: JsonReply): TextReply => ({
  kind: 'failed',
  error: {
    ...error,
    begun: true,
    outputTokens: reply.countOutputTokens(),
    ...present({ usage: reply.reported.usage }),
    ...named(reply.upstreamRequestId),
  },
})

function streamed(
  from: Style,
  to: Style,
  { reading, writing, losses, shownUsage: shown }: Translation,
  reply: Extract<TextReply, { kind: 'stream' }>,
): TextReply {
  const [reader, writer] = [to.newReader(reading), from.newWriter(writing)]
  // The writer has taken what it needs; a long stream must not keep the rest of the request.
  writing.fields = {}
  return { ...reply, watcher: new TranslatedStream(reply, reader, writer, shown), losses }
}
