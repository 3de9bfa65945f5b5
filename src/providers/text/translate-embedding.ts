// A call for embeddings of one style at an upstream of another. Usage is read from the upstream's own
// answer, by the provider of its style.
import { Refusal } from '../../contract/errors.ts'
import type {
  Stop,
  TextProvider,
  TextReply,
  Upstream,
  UpstreamError,
} from '../../contract/provider.ts'
import { Losses, strictRefusal } from '../../styles/common/losses.ts'
import type { EmbeddingStyle } from '../../styles/common/style.ts'
import { failure } from '../common/errors.ts'
import { longAnswerBytes, unread } from './large/long-answers.ts'
import type { VectorPlan, VectorResult } from './large/thread-work.ts'
import { translationThread } from './large/translation-thread.ts'
import { type AskedVectors, writeVectors } from './large/write-vectors.ts'
import { type Given, refused } from './translate.ts'

export async function sendEmbedding(
  from: EmbeddingStyle,
  to: EmbeddingStyle,
  send: TextProvider['send'],
  { call, upstream }: Given,
  stop: Stop,
): Promise<TextReply> {
  const losses = new Losses()
  const request = from.readRequest(call.fields, losses)
  if (request instanceof Refusal) return refused(request)
  const { model } = upstream
  const fields = to.writeRequest(request, model, losses)
  const changed = strictRefusal(upstream.strict === true, losses)
  if (changed !== undefined) return refused(changed)
  const { method: _, ...plain } = call
  const method = to.method === undefined ? undefined : { method: to.method }
  const makes = 'embedding' as const
  const sent = { ...plain, ...method, makes, model, fields, body: JSON.stringify(fields) }
  const reply = await send(sent, upstream, stop)
  if (reply.kind !== 'json') return reply
  const inputTokens = reply.reported.usage?.inputTokens ?? call.inputTokens
  const { encoding_format, requests } = call.fields
  const made = await translated(from, to, upstream, reply, {
    ...{ count: request.inputs.length, model: call.model, inputTokens },
    fields: { encoding_format, requests: requests == null ? undefined : [] },
  })
  return 'body' in made
    ? { ...reply, ...made, losses: losses.names }
    : { kind: 'failed', error: made.error }
}

type JsonReply = Extract<TextReply, { kind: 'json' }>
type Encoded = string | Uint8Array<ArrayBuffer>

async function translated(
  from: EmbeddingStyle,
  to: EmbeddingStyle,
  upstream: Upstream,
  { body, outline, reported: { usage }, upstreamRequestId }: JsonReply,
  asked: AskedVectors,
): Promise<{ body: Encoded } | { error: UpstreamError }> {
  let made: Encoded | undefined
  try {
    if (outline === undefined && typeof body === 'string') {
      made =
        body.length > longAnswerBytes
          ? await writeLongVectors({ from: from.name, to: to.name, ...asked }, body, upstream)
          : writeVectors(from, to, asked, body)
    }
  } catch (cause) {
    return { error: unread(upstreamRequestId, cause) }
  }
  if (made !== undefined) return { body: made }
  const message = 'the upstream did not answer with one vector for each input'
  const error = failure('upstream_invalid_response', message, upstreamRequestId)
  const reported = usage !== undefined && { usage }
  return { error: { ...error, about: 'answer', begun: true, ...reported } }
}

/** Vectors have thousands of numbers each: a hundred of them take a tenth of a second. */
async function writeLongVectors(
  plan: VectorPlan,
  body: string,
  { queueKey = '' }: Upstream,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const message = { vectorPlan: JSON.stringify(plan), body }
  const made = (await translationThread.run(queueKey, message)) as VectorResult
  return made.body
}
