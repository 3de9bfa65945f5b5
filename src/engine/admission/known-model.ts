// The model name that logs, traces and metrics may use for a request. A request refused before the
// model lookup may carry any text as its model; only the request's own row keeps that text.
import type { RequestRecord } from '../../contract/requests.ts'

/** Refused for the account or temporarily: the model was already known. */
const afterLookup: ReadonlySet<number> = new Set([402, 429, 503])

export function knownModelOf(record: RequestRecord): string | undefined {
  const { model, status, errorCode, detail } = record
  const isLookedUp = detail.ending !== 'refused' || afterLookup.has(status)
  const isKnown = isLookedUp && errorCode !== 'model_not_found'
  return model !== '' && isKnown ? model : undefined
}
