// A call for embeddings of one style at an upstream of another. Usage is read from the upstream's own
// answer, by the provider of its style.
import { Refusal } from '../../contract/errors.ts'
import type { Stop, TextProvider, TextReply } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import { Losses, strictRefusal } from '../../styles/common/losses.ts'
import type { EmbeddingStyle } from '../../styles/common/style.ts'
import { failure } from '../common/errors.ts'
import { parseUpstream } from './read-events.ts'
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
  const { body, outline } = reply
  const isRead = outline === undefined && typeof body === 'string'
  const parsed = isRead ? parseUpstream(body) : undefined
  const vectors = isObject(parsed) ? to.readVectors(parsed) : undefined
  if (vectors?.length !== request.inputs.length) {
    const message = 'the upstream did not answer with one vector for each input'
    const error = failure('upstream_invalid_response', message, reply.upstreamRequestId)
    const { usage } = reply.reported
    const reported = usage !== undefined && { usage }
    return { kind: 'failed', error: { ...error, about: 'answer', begun: true, ...reported } }
  }
  const inputTokens = reply.reported.usage?.inputTokens ?? call.inputTokens
  const answer = from.writeAnswer(vectors, { model: call.model, fields: call.fields, inputTokens })
  return { ...reply, body: JSON.stringify(answer), losses: losses.names }
}
