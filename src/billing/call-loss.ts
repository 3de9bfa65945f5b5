// Losses of a call, noted on its log row; the store writes them to the losses table in the same
// commit. Knows neither why work was lost nor how it is shown.
import type { LossReason } from '../contract/ledger.ts'
import type { CallLoss, RequestDetail, RequestRecord } from '../contract/requests.ts'
import { formatNanos } from '../lib/text/decimal.ts'

/** The largest amount a row can hold. */
const maxNanos = 2n ** 63n - 1n

/** Parts that cannot be distinguished afterwards are merged. */
export function addLoss(
  detail: RequestDetail,
  part: Omit<CallLoss, 'nanos'>,
  amountNanos: bigint,
): void {
  const nanos = amountNanos > maxNanos ? maxNanos : amountNanos
  const parts = detail.loss ?? []
  detail.loss = parts
  const same = parts.find((each) => isSame(each, part))
  if (same === undefined) {
    parts.push({ ...part, nanos: nanos.toString() })
    return
  }
  same.nanos = (BigInt(same.nanos) + nanos).toString()
  if (part.quantity !== undefined) same.quantity = (same.quantity ?? 0) + part.quantity
  if (part.estimated) same.estimated = true
  if (part.costNanos !== undefined) same.costNanos = sumOf(same.costNanos, part.costNanos)
}

const sumOf = (a: string | null = '0', b: string | null): string | null =>
  a === null || b === null ? null : (BigInt(a) + BigInt(b)).toString()

const isSame = (a: Omit<CallLoss, 'nanos'>, b: Omit<CallLoss, 'nanos'>): boolean =>
  a.reason === b.reason && a.channel === b.channel && a.upstreamId === b.upstreamId

/** Total loss of a call. */
export const lossNanos = ({ loss = [] }: Pick<RequestDetail, 'loss'>): bigint =>
  loss.reduce((sum, { nanos }) => sum + BigInt(nanos), 0n)

/** The part of a call's cost that its account could not cover. */
export function addShortLoss(
  { channel = '', upstreamRequestId, detail }: RequestRecord,
  { estimated }: { estimated?: boolean | undefined },
  shortNanos: bigint,
): void {
  const part = {
    reason: 'balance_short' as const,
    channel,
    ...(upstreamRequestId !== undefined && { upstreamId: upstreamRequestId }),
    ...(estimated && { estimated }),
  }
  addLoss(detail, part, shortNanos)
}

/**
 * The call is not answered after all: what its account could not cover is not delivered either.
 * False: the account could cover it.
 */
export function undoShortLoss({ detail }: RequestRecord): boolean {
  const short = detail.loss?.find(({ reason }) => reason === 'balance_short')
  if (short === undefined) return false
  const { nanos, ...part } = short
  detail.loss = detail.loss!.filter((each) => each !== short)
  addLoss(detail, { ...part, reason: 'not_delivered' }, BigInt(nanos))
  return true
}

/** Readable text, one line per part. */
export const explainLoss = ({ loss = [] }: Pick<RequestDetail, 'loss'>): string[] =>
  loss.map(({ reason, channel, nanos, estimated }) => {
    const about = estimated === true ? 'about ' : ''
    return `${sentences[reason](channel)}: ${about}${formatNanos(BigInt(nanos))}`
  })

const lost = (why: string) => (channel: string) =>
  `done by channel ${channel}, ${why}, and carried by the operator`

const sentences: Readonly<Record<LossReason, (channel: string) => string>> = {
  balance_short: () => 'not covered by the balance and carried by the operator',
  failed_after_cost: lost('which failed after it had begun'),
  caller_left: lost('of no use to a caller who had left'),
  not_delivered: lost('but not handed over'),
  implausible_usage: (channel) =>
    `reported by channel ${channel} above what the request allows and the answer shows, and carried by the operator`,
  late_success: lost('but too late'),
  unknown_create: lost('as far as anybody knows'),
  second_task: lost('although it had not been requested'),
}
