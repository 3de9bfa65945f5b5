// One text call, phase by phase: admit, send, then stream or settle. Each phase is one file. A JSON
// answer is sent when its charge is durable; a stream's last event waits for that in stream-text.ts.
import type { CallContext, TextAnswer } from '../../contract/caller-api.ts'
import { Refusal } from '../../contract/errors.ts'
import type { RequestRecord, TextCall } from '../../contract/requests.ts'
import { admitText } from '../admission/admit.ts'
import type { Jobs } from '../jobs.ts'
import { newRecord, recordUnbilled } from './call-record.ts'
import type { CallDeps, OpenCall } from './open-call.ts'
import { sendCall } from './send-call.ts'
import { settleCall } from './settle-call.ts'
import { CallerStream } from './stream-text.ts'

export async function runText(
  engine: CallDeps,
  ctx: CallContext,
  call: TextCall,
): Promise<TextAnswer | Refusal> {
  const beganMs = performance.now()
  const record = newRecord(ctx, call.interface, call.model)
  record.detail.stream = call.stream
  // Usually no promise: awaiting the value anyway would cost every call a turn.
  const admitted = admitText(engine, ctx, call)
  const admission = admitted instanceof Promise ? await admitted : admitted
  if (admission instanceof Refusal) {
    await notifyEmpty(engine, ctx, admission)
    return recordUnbilled(engine, record, 'refused', admission)
  }
  record.priceId = admission.price.id
  const open = { engine, ctx, call: admission.sent, admission, record, beganMs, upstreamMs: 0 }
  const answer = await sendCall(open)
  if (answer instanceof Refusal) {
    await notifyEmpty(engine, ctx, answer)
    return answer
  }
  const rest = { rate: admission.pass.view, ...translationOf(record), ...servedOf(record) }
  if (answer.kind === 'stream') {
    recordOverhead(open)
    forgetBody(open.call)
    forgetBody(call)
    return { stream: new CallerStream(open, answer), ...rest }
  }
  const refusal = await settleCall(open, answer.reported, answer.countOutputTokens, 'complete')
  recordOverhead(open)
  if (refusal !== undefined) await notifyEmpty(engine, ctx, refusal)
  return refusal ?? { body: answer.body, ...rest }
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

function translationOf({ detail }: RequestRecord): Pick<TextAnswer, 'translation'> | undefined {
  const { translation: path, translationLosses: losses = [] } = detail
  return path === undefined ? undefined : { translation: { path, losses } }
}

const servedOf = ({
  detail: { servedModel },
}: RequestRecord): Pick<TextAnswer, 'servedModel'> | undefined =>
  servedModel === undefined ? undefined : { servedModel }

/** All time before the answer began, except for upstream time. */
const recordOverhead = ({ engine, record, beganMs, upstreamMs }: OpenCall): void =>
  engine.meters?.overhead(record, performance.now() - beganMs - upstreamMs)
