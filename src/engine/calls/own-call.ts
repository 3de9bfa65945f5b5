// Calls that the gateway makes for a task: the task holds and is charged for them, so that they hold, count
// and cost nothing themselves. Their log row tells how the answer came about.
import { beyondNanos } from '../../billing/ledger.ts'
import type { CallContext, CallingTask } from '../../contract/caller-api.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { TextReply } from '../../contract/provider.ts'
import { trimmed } from '../../lib/json/trim.ts'
import { leavePlace } from '../routing/channel-places.ts'
import { dropProbes } from '../routing/learn.ts'
import type { PickedRoute } from '../routing/pick-route.ts'
import { endRecord, recordUnbilled, writeRecord } from './call-record.ts'
import type { OpenCall } from './open-call.ts'

/** What is still to be held for a call. */
export const beyondTask = ({ own }: Pick<CallContext, 'own'>, wantedNanos: bigint): bigint =>
  beyondNanos(wantedNanos, own?.task?.heldNanos ?? 0n)

/** A call that its task no longer wants gives back its place; nothing was sent. */
export function leaveUnwanted({ engine, slotOwner }: OpenCall, picked: PickedRoute): Refusal {
  leavePlace(engine, picked.route.channel, picked.channelState, slotOwner)
  dropProbes(picked)
  return refuse('conflict', 'its task has ended')
}

/** Ends the task by the answer; a refusal: it is not delivered. */
export async function settleTask(
  { engine, hold, pass, record }: OpenCall,
  task: CallingTask,
  { body, reported, countOutputTokens }: Extract<TextReply, { kind: 'json' }>,
): Promise<Refusal | undefined> {
  engine.ledger.release(hold)
  pass.leave(undefined)
  if (reported.raw !== undefined) record.detail.reported = trimmed(reported.raw)
  const answer = { body, reported, outputTokens: countOutputTokens() }
  const refusal = await task.settle(answer, record)
  if (refusal !== undefined) return recordUnbilled(engine, record, 'failed', refusal)
  writeRecord(engine, endRecord(engine, record, 'complete', 200))
  return undefined
}
