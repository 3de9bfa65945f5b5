// A call of one text style at an upstream of another: the request is written anew, the answer is
// read and written in the caller's style. Usage and failures are still read from the upstream's own
// answer, by the provider of its style.

import { Refusal } from '../../contract/errors.ts'
import { noTiers } from '../../contract/price.ts'
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
import { ensure } from '../../lib/ensure.ts'
import type { AnswerUsage } from '../../styles/common/answer.ts'
import type { Json } from '../../styles/common/conversation.ts'
import { createEnvelopes } from '../../styles/common/envelope.ts'
import { Growth } from '../../styles/common/growth.ts'
import { present } from '../../styles/common/request-reading.ts'
import type { ReadContext, Style, UpstreamStyle, WriteContext } from '../../styles/common/style.ts'
import {
  type ReadRequest,
  type RequestWork,
  readRequest,
  type WrittenRequest,
  writeRequest,
} from '../../styles/common/translate-request.ts'
import { usualSettings } from '../../styles/settings.ts'
import { longAnswerBytes, translateLongAnswer, translateLongStream } from './large/long-answers.ts'
import type { AnswerPlan } from './large/thread-work.ts'
import { isLong, translateLong } from './large/translation-thread.ts'
import { named, type ShownUsage, TranslatedStream } from './translated-stream.ts'
import { writeAnswer } from './write-answer.ts'

const reads = new WeakMap<TextCall, ReadRequest>()

/** The call in the upstream's style, and how its answer is written for the caller. */
interface Translation {
  call: TextCall
  /** By how much it is larger than the caller's. */
  grownBytes: number
  losses: readonly string[]
  cacheMarks: number
  reading: ReadContext
  writing: WriteContext
  shownUsage: ShownUsage
  envelopeKey: Uint8Array
  queueKey: string | undefined
}

export interface Given {
  call: TextCall
  upstream: Upstream
  translating: Translating
}

export async function sendAs(
  from: Style,
  to: UpstreamStyle,
  send: TextProvider['send'],
  { call, upstream, translating }: Given,
  stop: Stop,
): Promise<TextReply> {
  const made = translate(from, to, { call, upstream, translating })
  // A promise for large requests only.
  const translation = made instanceof Promise ? await made : made
  if (translation instanceof Refusal) return refused(translation)
  const { grownBytes } = translation
  const approved = grownBytes > 0 ? translating.approve(grownBytes) : undefined
  const refusal = approved instanceof Promise ? await approved : approved
  if (refusal !== undefined) return refused(refusal)
  const { markFor: _, ...plain } = upstream
  const reply = await send(translation.call, plain, stop)
  if (reply.kind === 'failed') return reply
  const { cacheMarks } = translation
  const noted = cacheMarks === 0 ? reply : { ...reply, cacheMarks }
  if (noted.kind === 'json') return answered(from, to, translation, noted)
  reads.delete(call)
  if (noted.whole !== undefined) return streamedLong(from, to, translation, noted, noted.whole)
  return streamed(from, to, translation, noted)
}

/** None of the seals is for it. */
const noRealm = ''

function targetOf(
  to: UpstreamStyle,
  { call, upstream, translating }: Given,
): RequestWork['target'] {
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

function workFor(from: Style, to: UpstreamStyle, given: Given, isCount: boolean): RequestWork {
  const { envelopeKey, maxRequestBytes, whole } = given.translating
  const target = targetOf(to, given)
  return { from, to, target, envelopeKey, maxRequestBytes, isCount, ...present({ whole }) }
}

/** `isCount`: a question about the size of its input. */
export function translate(
  from: Style,
  to: UpstreamStyle,
  given: Given,
  isCount = false,
): Translation | Refusal | Promise<Translation | Refusal> {
  const { call } = given
  const work = workFor(from, to, given, isCount)
  if (isLong(call.body, call.fields)) {
    return translateLong(work, call.body, given.upstream.queueKey).then((written) =>
      written instanceof Refusal
        ? written
        : translationOf(to, given, written, shortOf(call.fields)),
    )
  }
  const read = readOnce(work, call)
  const written = writeRequest(work, read, call.body)
  return written instanceof Refusal ? written : translationOf(to, given, written, read.fields)
}

/** Some answers repeat fields of the request, in several events; long ones are left out there. */
const maxRepeatedBytes = 64 * 1024

const shortOf = (fields: Json): Json =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => new Growth(maxRepeatedBytes).addValue(value)),
  )

function translationOf(
  to: UpstreamStyle,
  { call, upstream, translating }: Given,
  written: WrittenRequest,
  fields: Json,
): Translation {
  const { answerId: id, createdMs, realm } = translating
  const { names, shown, losses, cacheMarks } = written
  const envelopes = createEnvelopes(translating.envelopeKey)
  return {
    call: translatedCall(call, to, upstream.model, written.body),
    grownBytes: written.grownBytes,
    losses,
    cacheMarks,
    shownUsage: (reported, count) => shownUsage(translating, reported, count),
    envelopeKey: translating.envelopeKey,
    queueKey: upstream.queueKey,
    reading: { names, envelopes, realm },
    writing: {
      id,
      model: call.model,
      createdMs,
      fields,
      conversation: shown,
      envelopes,
      inputTokens: call.inputTokens,
      ...(call.codingTool && { codingTool: true }),
    },
  }
}

/** What is charged; reasoning is a part of it that only callers are shown. */
function shownUsage(
  { chargedUsage }: Translating,
  { usage: reported, served }: Reported,
  countOutputTokens: () => number,
): AnswerUsage {
  const charged = chargedUsage(reported, countOutputTokens)
  const reasoningTokens = Math.min(reported?.reasoningTokens ?? 0, charged.outputTokens)
  const servedTier = served?.tiers?.find((name) => !noTiers.includes(name))
  if (servedTier === undefined) return { ...charged, reasoningTokens }
  return { ...charged, reasoningTokens, servedTier }
}

/** Under the upstream's name of the model: the answer is written anew, with the caller's. */
const translatedCall = (
  call: TextCall,
  to: UpstreamStyle,
  model: string,
  body: string,
): TextCall => ({
  ...call,
  interface: to.name,
  model,
  body,
  fields: noFields,
  wantsUsage: true,
})

/** What a provider sets for a caller's own fields is written already. */
const noFields = {}

function readOnce(work: RequestWork, call: TextCall): ReadRequest {
  const known = reads.get(call)
  if (known !== undefined) return known
  const read = readRequest(work, call.body, call.fields)
  reads.set(call, read)
  return read
}

/** Not a failure of the upstream: another one may be able to carry the field. */
export function refused({ code, message, extras }: Refusal): TextReply {
  const { param, retryAfterSeconds } = extras
  const error: UpstreamError = { code, message, about: 'translation' }
  return { kind: 'failed', error: { ...error, ...present({ param, retryAfterSeconds }) } }
}

type JsonReply = Extract<TextReply, { kind: 'json' }>

function answered(
  from: Style,
  to: UpstreamStyle,
  translation: Translation,
  reply: JsonReply,
): TextReply | Promise<TextReply> {
  const { body, parsed, outline, reported, countOutputTokens } = reply
  const usage = () => translation.shownUsage(reported, countOutputTokens)
  if (body.length > longAnswerBytes) {
    const { plan, fields, names } = planOf(from, to, translation, usage())
    const made = translateLongAnswer(plan, { fields, names }, reply, translation.queueKey)
    return made.then((each) => writtenReply(translation, reply, each))
  }
  ensure(typeof body === 'string', 'a small answer is a text')
  const given = { body, ...present({ parsed, outline }) }
  return writtenReply(translation, reply, writeAnswer(from, to, translation, given, usage))
}

type Made = Awaited<ReturnType<typeof translateLongAnswer>> | ReturnType<typeof writeAnswer>

function writtenReply({ losses }: Translation, reply: JsonReply, made: Made): TextReply {
  if ('code' in made) return spoiled(made, reply)
  const { body: _, parsed: __, outline: ___, ...rest } = reply
  const { body, losses: lost, hasCalls } = made
  const all = lost.length === 0 ? losses : [...losses, ...lost]
  return { ...rest, ...(hasCalls && { finishReason: 'tool_calls' }), body, losses: all }
}

/** The same as data, for the thread. */
function planOf(
  from: Style,
  to: UpstreamStyle,
  { reading, writing, envelopeKey }: Translation,
  usage: AnswerUsage,
): { plan: AnswerPlan; fields: string; names: string } {
  const { names, realm } = reading
  const { fields, envelopes: _, ...plain } = writing
  const { answerTool } = names
  const plan: AnswerPlan = {
    from: from.name,
    to: to.name,
    realm,
    envelopeKey: Buffer.from(envelopeKey).toString('base64'),
    writing: plain,
    usage,
    ...present({ answerTool }),
  }
  return { plan, fields: JSON.stringify(fields), names: names.renamedText }
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

/** A large answer that was made into a stream, written as a whole. */
async function streamedLong(
  from: Style,
  to: UpstreamStyle,
  translation: Translation,
  { watcher: _, answer: __, whole: ___, ...noted }: Extract<TextReply, { kind: 'stream' }>,
  whole: NonNullable<Extract<TextReply, { kind: 'stream' }>['whole']>,
): Promise<TextReply> {
  const usage = translation.shownUsage(whole.reported, () => whole.outputTokens)
  const { plan, ...texts } = planOf(from, to, translation, usage)
  const { model, choices, wantsUsage } = translation.call
  const requestId = noted.upstreamRequestId
  const call = { model, choices, wantsUsage }
  const streamPlan = { ...plan, call, ...present({ requestId }) }
  const reply = await translateLongStream(streamPlan, texts, whole, translation.queueKey)
  return reply.kind === 'stream' ? { ...noted, ...reply, losses: translation.losses } : reply
}

function streamed(
  from: Style,
  to: UpstreamStyle,
  { reading, writing, losses, shownUsage: shown }: Translation,
  reply: Extract<TextReply, { kind: 'stream' }>,
): TextReply {
  const [reader, writer] = [to.newReader(reading), from.newWriter(writing)]
  // The writer has taken what it needs; a long stream must not keep the rest of the request.
  writing.fields = {}
  return { ...reply, watcher: new TranslatedStream(reply, reader, writer, shown), losses }
}
