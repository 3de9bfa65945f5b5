// A request that has grown in translation is held for as it is sent: every byte of it may be a token that
// the upstream counts.
import { lackingNanos } from '../../billing/ledger.ts'
import { Refusal } from '../../contract/errors.ts'
import { insufficient, reserve } from '../admission/admit.ts'
import { maxCharge } from '../admission/server-tools.ts'
import type { OpenCall } from './open-call.ts'

/** A refusal: the account, or a budget, cannot pay for it. */
export function holdSent(
  open: OpenCall,
  grownBytes: number,
): undefined | Refusal | Promise<undefined | Refusal> {
  const { engine, ctx, call, admission } = open
  const { bounds, price, hold } = admission
  const inputTokens = Math.min(bounds.windowTokens, bounds.inputTokens + grownBytes)
  if (inputTokens <= bounds.inputTokens) return undefined
  const sent = { ...bounds, inputTokens }
  const wanted = maxCharge(call, price.terms, sent)
  const lacking = lackingNanos(hold, wanted)
  if (lacking === 0n) return undefined
  const join = (more: Awaited<ReturnType<typeof reserve>>): undefined | Refusal => {
    if (more instanceof Refusal) return more
    if (more === undefined) return insufficient(call, sent, wanted)
    engine.ledger.join(hold, more)
    return undefined
  }
  const held = reserve(engine, ctx, lacking)
  return held instanceof Promise ? held.then(join) : join(held)
}
