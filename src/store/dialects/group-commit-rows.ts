// Encodes a hot-path record as rows of text: concatenated cells, the cheapest form to build and to
// send to another thread. Column types turn digits back into numbers.
import type { Entry } from '../../contract/ledger.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import { newShortId } from '../../lib/crypto/ids.ts'

const S = '\x1f'

/** Caller and upstream text must not contain the separator; all other cells are our own. */
const cell = (text: string): string => (text.includes(S) ? text.replaceAll(S, ' ') : text)

export function requestRow(request: RequestRecord): string {
  const { usage } = request
  return (
    `${request.requestId}${S}${request.atMs}${S}${request.accountId}${S}${request.tokenId}${S}` +
    `${request.interface}${S}${cell(request.model)}${S}${request.channel ?? ''}${S}` +
    `${cell(request.upstreamRequestId ?? '')}${S}${request.status}${S}` +
    `${request.errorCode ?? ''}${S}${request.chargeNanos}${S}${request.priceId ?? ''}${S}` +
    `${usage?.inputTokens ?? ''}${S}${usage?.outputTokens ?? ''}${S}` +
    `${usage?.cacheReadTokens ?? ''}${S}${usage?.cacheWriteTokens ?? ''}${S}` +
    `${request.firstByteMs ?? ''}${S}${request.totalMs}${S}${JSON.stringify(request.detail)}${S}` +
    `${request.tags ?? ''}${S}`
  )
}

export function entryRow(entry: Entry): string {
  return (
    `${entry.atMs}${S}${entry.accountId}${S}${entry.kind}${S}${entry.amountNanos}${S}` +
    `${entry.ref}${S}${entry.model ?? ''}${S}${entry.unit ?? ''}${S}${entry.quantity ?? ''}${S}` +
    `${entry.priceId ?? ''}${S}${entry.estimated === true ? 1 : 0}${S}${cell(entry.note ?? '')}${S}` +
    `${entry.tokenId ?? ''}${S}${entry.tier ?? ''}${S}${entry.tags ?? ''}${S}` +
    `${entry.servedModel ?? ''}${S}`
  )
}

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
export function problemOf(request: RequestRecord, entry: Entry | undefined): string | undefined {
  if (!Number.isSafeInteger(request.atMs)) return 'a request needs a whole atMs'
  if (!Number.isSafeInteger(request.status)) return 'a request needs a whole status'
  if (!fits(request.chargeNanos)) return 'the charge of a request is out of range'
  if (entry === undefined) return undefined
  if (!Number.isSafeInteger(entry.atMs)) return 'an entry needs a whole atMs'
  if (!fits(entry.amountNanos)) return 'the amount of an entry is out of range'
  return signFits(entry) ? undefined : `a ${entry.kind} cannot be ${entry.amountNanos}`
}

const fits = (nanos: bigint) => nanos <= maxNanos && nanos >= -maxNanos

function signFits({ kind, amountNanos }: Entry): boolean {
  if (kind === 'charge' || kind === 'hold') return amountNanos <= 0n
  return kind === 'release' ? amountNanos >= 0n : amountNanos !== 0n
}
