// The model of a request as logs, traces and metrics may name it. What was refused before its model was
// looked up names whatever its caller wrote; that is for the request's row only.
import type { RequestRecord } from '../../contract/requests.ts'

/** Refused for the account or for now: by then the model was known. */
const afterLookup: ReadonlySet<number> = new Set([402, 429, 503])

export function knownModelOf(record: RequestRecord): string | undefined {
  const { model, status, errorCode, detail } = record
  const isLookedUp = detail.ending !== 'refused' || afterLookup.has(status)
  const isKnown = isLookedUp && errorCode !== 'model_not_found'
  return model !== '' && isKnown ? model : undefined
}
