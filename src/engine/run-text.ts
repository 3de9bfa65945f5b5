// One text call from admission to answer: permission, hold, upstream, charge. A JSON answer leaves
// when its charge is durable; a stream goes on in stream-text.ts.
import { Refusal } from '../contract/errors.ts'
import type { TextReply } from '../contract/provider.ts'
import type { TextCall } from '../contract/requests.ts'
import { admitText } from './admit.ts'
import { newRecord, noteAttempt, recordUnbilled } from './call-record.ts'
import type { CallContext, Engine } from './engine.ts'
import { begin, end, failCall, type OpenCall, settleCall } from './open-call.ts'
import { openStream } from './stream-text.ts'

export type TextAnswer = { body: string } | { stream: ReadableStream<Uint8Array> }

export async function runText(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
): Promise<TextAnswer | Refusal> {
  const record = newRecord(ctx, call.interface, call.model)
  record.detail.stream = call.stream
  const admission = admitText(engine, ctx, call)
  if (admission instanceof Refusal) return recordUnbilled(engine, record, 'refused', admission)
  const open = begin(engine, ctx, call, admission, record)
  ctx.signal.addEventListener('abort', open.stop)
  const reply = await ask(open)
  if (reply.kind === 'stream') return openStream(open, reply)
  ctx.signal.removeEventListener('abort', open.stop)
  if (reply.kind === 'failed') return failCall(open, reply.error)
  record.firstByteMs = engine.clock.nowMs() - ctx.atMs
  noteAttempt(engine, record, open.startedMs, {
    status: 200,
    upstreamRequestId: reply.upstreamRequestId,
  })
  end(open)
  const settled = await settleCall(open, reply.reported, reply.countOutputTokens, 'complete')
  return settled instanceof Refusal ? settled : { body: reply.body }
}

function ask({ engine, call, admission, provider, stop, deadline }: OpenCall): Promise<TextReply> {
  const { route, key } = admission
  return provider.send(
    call,
    {
      baseUrl: route.baseUrl,
      key,
      model: route.upstreamModel,
      timeouts: route.channel.timeouts,
      http: engine.http,
      progress: deadline,
    },
    stop,
  )
}
