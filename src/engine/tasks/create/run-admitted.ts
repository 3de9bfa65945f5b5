// Runs a create within its token's limits, counted as in flight until it is over.
import type { CallContext } from '../../../contract/caller-api.ts'
import { Refusal } from '../../../contract/errors.ts'
import type { RequestRecord } from '../../../contract/requests.ts'
import { enter } from '../../admission/reserve.ts'
import { recordUnbilled } from '../../calls/call-record.ts'
import type { Engine } from '../../engine.ts'

export async function runAdmitted<Made>(
  engine: Engine,
  ctx: CallContext,
  record: RequestRecord,
  work: () => Promise<Made | Refusal> | Refusal,
  tokens = 0,
): Promise<Made | Refusal> {
  const pass = await enter(engine, ctx, tokens)
  if (pass instanceof Refusal) return recordUnbilled(engine, record, 'refused', pass)
  engine.load.running++
  try {
    return await work()
  } finally {
    engine.load.running--
    pass.leave(tokens)
  }
}
