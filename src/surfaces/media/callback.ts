// Checks the callback address of a request and adds it to the task. Only the gateway uses it: no
// upstream ever sees it.

import type { CallerApi } from '../../contract/caller-api.ts'
import { Refusal } from '../../contract/errors.ts'
import type { Fields } from '../common/fields.ts'

export function withCallback<Call extends object>(
  api: CallerApi,
  { callback_url: url }: Fields,
  call: Call | Refusal,
): (Call & { callbackUrl?: string }) | Refusal {
  if (call instanceof Refusal) return call
  const callback = api.callbackIn(url)
  return callback instanceof Refusal ? callback : { ...call, ...callback }
}
