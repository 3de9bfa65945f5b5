// The address a caller names for a notice, judged and put into its wish. It is the gateway's to use:
// no upstream ever sees it.

import type { CallerApi } from '../../contract/caller-api.ts'
import { Refusal } from '../../contract/errors.ts'
import type { Fields } from '../common/fields.ts'

export function withCallback<Call extends object>(
  api: CallerApi,
  { callback_url: url }: Fields,
  call: Call | Refusal,
): (Call & { callbackUrl?: string }) | Refusal {
  if (call instanceof Refusal) return call
  const told = api.callbackIn(url)
  return told instanceof Refusal ? told : { ...call, ...told }
}
