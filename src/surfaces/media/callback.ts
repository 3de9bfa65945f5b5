// The address a caller names for a notice, judged and put into its wish. It is the gateway's to use:
// no upstream ever sees it.
import { Refusal } from '../../contract/errors.ts'
import { callbackIn } from '../../engine/callbacks/callback-url.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Fields } from '../text/fields.ts'

export function withCallback<Call extends object>(
  engine: Engine,
  { callback_url: url }: Fields,
  call: Call | Refusal,
): (Call & { callbackUrl?: string }) | Refusal {
  if (call instanceof Refusal) return call
  const told = callbackIn(engine, url)
  return told instanceof Refusal ? told : { ...call, ...told }
}
