// Why a chat answer ended. In a stream the event that says so is forwarded unparsed, so it is looked for in
// the last bytes before the usage or the end.
import { dataOf, endOfEvent, startOfEvent } from '../../lib/http/sse.ts'
import { isObject } from '../../lib/json/parse.ts'
import { parseUpstream } from '../text/read-events.ts'
import type { StreamState } from '../text/style.ts'

const key = Buffer.from('"finish_reason"')
const value = /^\s*:\s*"([^"\\]+)/
/** Enough for every word that is kept. */
const valueBytes = 64
/** An event or two may follow the one that says it. */
const maxEvents = 4

/** Of the choice with index 0. */
export function firstReason(choices: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices) {
    if (!isObject(choice)) continue
    const { index, finish_reason: reason } = choice
    if (index === undefined || index === 0) return reason ?? undefined
  }
  return undefined
}

export function finishReasonIn(bytes: Buffer, { finishReason, call }: StreamState): unknown {
  if (finishReason !== undefined) return finishReason
  let at = bytes.length
  for (let events = 0; events < maxEvents && at > 0; events++) {
    at = bytes.lastIndexOf(key, at - 1)
    if (at === -1) return undefined
    const reason = call.choices === 1 ? wordAt(bytes, at + key.length) : reasonOfEvent(bytes, at)
    if (reason !== undefined && reason !== '') return reason
  }
  return undefined
}

const wordAt = (bytes: Buffer, at: number): string | undefined =>
  value.exec(bytes.toString('latin1', at, at + valueBytes))?.[1]

/** Of several choices, an event may be about any. */
function reasonOfEvent(bytes: Buffer, at: number): unknown {
  const start = startOfEvent(bytes, at)
  const data = dataOf(bytes.toString('utf8', start, endOfEvent(bytes, start)))
  const event = parseUpstream(data ?? '')
  return isObject(event) ? firstReason(event['choices']) : undefined
}
