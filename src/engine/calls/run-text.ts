// One text call, phase by phase: admit, send, then stream or settle. Each phase is one file. A JSON
// answer is sent when its charge is durable; a stream's last event waits for that in stream-text.ts.
import type { CallContext, TextAnswer } from '../../contract/caller-api.ts'
import { Refusal, type RefusalCode } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { Jobs } from '../jobs.ts'
import { admitText } from './admit.ts'
import { recordUnbilled } from './call-record.ts'
import { type CallDeps, OpenCall } from './open-call.ts'
import { sendCall } from './send-call.ts'
import { giveUp, settleCall } from './settle-call.ts'
import { CallerStream } from './stream-text.ts'

export async function runText(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
): Promise<TextAnswer | Refusal> {
  const open = new OpenCall(engine, ctx, call)
  // Usually no promise: awaiting the value anyway would cost every call a turn.
  const admitted = admitText(open)
  const refused = admitted instanceof Promise ? await admitted : admitted
  if (refused !== undefined) {
    if (ctx.own?.isTrial && trialEnds.has(refused.code)) return refused
    await notifyEmpty(engine, ctx, refused)
    return recordUnbilled(engine, open.record, 'refused', refused)
  }
  ctx.signal.addEventListener('abort', open)
  const answer = await sendCall(open)
  if (answer instanceof Refusal) {
    if (answer.code === 'insufficient_quota') await notifyEmpty(engine, ctx, answer)
    return answer
  }
  const { pass } = open
  if (answer.kind === 'stream') {
    recordOverhead(open)
    forgetBody(open.call)
    forgetBody(call)
    const { contentType } = answer.reply
    return answerOf(open, pass.view, undefined, new CallerStream(open, answer), contentType)
  }
  const keep = ctx.own?.keep
  if (keep !== undefined && !(await keep(ctx.requestId, answer.body))) {
    return giveUp(open, notKept, open.hasLeft)
  }
  const ending = open.hasLeft ? 'caller_left' : 'complete'
  const refusal = await settleCall(open, answer.reported, answer.countOutputTokens, ending)
  recordOverhead(open)
  if (refusal === undefined)
    return answerOf(open, pass.view, answer.body, undefined, answer.contentType)
  await notifyEmpty(engine, ctx, refusal)
  return refusal
}

const trialEnds: ReadonlySet<string> = new Set<RefusalCode>([
  'rate_limit_exceeded',
  'insufficient_quota',
  'budget_exhausted',
])

const notKept = { code: 'overloaded', message: 'the answer could not be kept' } as const

function answerOf(
  { engine, record }: OpenCall,
  rate: TextAnswer['rate'],
  body: TextAnswer['body'],
  stream: CallerStream | undefined,
  contentType: string | undefined,
): TextAnswer {
  const { translation: path, translationLosses: losses = [], servedModel } = record.detail
  return {
    record,
    currency: engine.declared.file.currency,
    rate,
    translation: path === undefined ? undefined : { path, losses },
    servedModel,
    contentType,
    body,
    stream,
  }
}

/** A refusal for want of balance is told before its caller gets it. */
export async function notifyEmpty(
  { jobs }: { readonly jobs: Pick<Jobs, 'emptyAccounts'> },
  { token }: Pick<CallContext, 'token'>,
  refusal: unknown,
): Promise<void> {
  const isEmpty = refusal instanceof Refusal && refusal.code === 'insufficient_quota'
  if (isEmpty) await jobs.emptyAccounts.refused(token.accountId)
}

/** It is not sent again: a stream may last for an hour, and a body may have many megabytes. */
function forgetBody(call: TextCall): void {
  call.body = ''
  call.fields = {}
}

/** All time before the answer began, except for upstream time. */
const recordOverhead = ({ engine, record, beganMs, upstreamMs }: OpenCall): void =>
  engine.meters?.overhead(record, performance.now() - beganMs - upstreamMs)
