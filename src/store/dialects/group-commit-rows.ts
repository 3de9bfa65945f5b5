// Batches of hot-path records as rows of text: concatenated cells, the cheapest form to build and to send
// to another thread. Column types turn digits back into numbers. The cells of a call: ledger/call-row.ts.
import type { RequestRecord } from '../../contract/requests.ts'
import { newShortId } from '../../lib/crypto/ids.ts'

const S = '\x1f'

/** Losses noted on a row are also written to the losses table, where they can be summed. */
export const lossColumns = [
  'id',
  'at_ms',
  'account_id',
  'ref',
  'reason',
  'channel',
  'model',
  'upstream_id',
  'unit',
  'quantity',
  'amount_nanos',
  'is_estimate',
] as const
export const nullableInLosses: ReadonlySet<string> = new Set(['unit', 'quantity'])

/** Caller and upstream text must not contain the separator; all other cells are our own. */
const cell = (text: string): string => (text.includes(S) ? text.replaceAll(S, ' ') : text)

export function lossRows({
  requestId,
  atMs,
  totalMs,
  accountId,
  model,
  detail,
}: RequestRecord): string {
  const endedMs = atMs + totalMs
  const rows = (detail.loss ?? []).map(
    ({ reason, channel, upstreamId = '', unit = '', quantity = '', nanos, estimated }) =>
      `${newShortId('loss', endedMs)}${S}${endedMs}${S}${accountId}${S}${requestId}${S}` +
      `${reason}${S}${cell(channel)}${S}${cell(model)}${S}${cell(upstreamId)}${S}${unit}${S}` +
      `${quantity}${S}${nanos}${S}${estimated === true ? 1 : 0}${S}`,
  )
  return rows.join('')
}

/** A row from the cells of a text of rows. */
export const rowOf = (cells: readonly string[]): string => cells.map((text) => text + S).join('')

export function cellsOf(rows: string): string[] {
  const cells = rows.split(S)
  cells.pop()
  return cells
}

const maxNanos = 2n ** 63n - 1n

/** Rejects what the database would reject, so that one bad record cannot fail its batch. */
export function problemOf({ atMs, totalMs, status, chargeNanos, charge }: RequestRecord) {
  if (!Number.isSafeInteger(atMs)) return 'a request needs a whole atMs'
  if (!Number.isSafeInteger(status)) return 'a request needs a whole status'
  if (chargeNanos > maxNanos || chargeNanos < -maxNanos) {
    return 'the charge of a request is out of range'
  }
  if (charge === undefined) return undefined
  if (!Number.isSafeInteger(atMs + totalMs)) return 'a charge needs a whole time'
  return chargeNanos < 0n ? `a charge cannot be ${chargeNanos}` : undefined
}
