// What a call leaves behind: one row of `requests` that is its log row and, if it was charged, its ledger
// entry. The columns are declared here once: the journal, both dialects' writers, the readers, the receipt
// chain and the schema derive from them.
import { chargeTextColumns, chargeTexts } from '../../contract/ledger.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import type { Booking } from './ledger-rows.ts'

type Kind = 'text' | 'int' | 'real' | 'nanos'

interface Column {
  readonly kind: Kind
  /** The empty text stands for it in a batch. */
  readonly isNullable: boolean
}

const given = <K extends Kind>(kind: K) => ({ kind, isNullable: false }) as const
const orNull = <K extends Kind>(kind: K) => ({ kind, isNullable: true }) as const

/** What the gateway knows of a call, in the order of `cellsOfCall`. */
const known = {
  request_id: given('text'),
  at_ms: given('int'),
  account_id: given('text'),
  token_id: given('text'),
  interface: given('text'),
  model: given('text'),
  channel: orNull('text'),
  upstream_request_id: orNull('text'),
  status: given('int'),
  error_code: orNull('text'),
  charge_nanos: given('nanos'),
  price_id: orNull('text'),
  input_tokens: orNull('int'),
  output_tokens: orNull('int'),
  cache_read_tokens: orNull('int'),
  cache_write_tokens: orNull('int'),
  first_byte_ms: orNull('int'),
  total_ms: given('int'),
  detail: given('text'),
  tags: orNull('text'),
  cost_nanos: orNull('nanos'),
  // From here on of calls that were charged.
  booked_at_ms: orNull('int'),
  unit: orNull('text'),
  quantity: orNull('real'),
  tier: orNull('text'),
  estimated: orNull('int'),
  ...chargeTextColumns(() => orNull('text')),
} as const satisfies Record<string, Column>

/** What the writer of the batch adds: the row's number in the ledger, and the receipt of its charge. */
const written = {
  seq: given('int'),
  number: orNull('int'),
  balance_nanos: orNull('nanos'),
  hash: orNull('text'),
} as const satisfies Record<string, Column>

type Declared = typeof known & typeof written
interface Values {
  text: string
  int: number
  real: number
  nanos: bigint
}

/** The row as readers get it. */
export type CallRow = {
  [Name in keyof Declared]:
    | Values[Declared[Name]['kind']]
    | (Declared[Name]['isNullable'] extends true ? null : never)
}

type CallColumn = keyof typeof known

/** Cells of one call in a batch. */
export const callColumns = Object.keys(known) as CallColumn[]
/** As both dialects insert them. */
export const storedColumns = [...callColumns, ...Object.keys(written)] as (keyof CallRow)[]

const columns: Readonly<Record<string, Column>> = { ...known, ...written }

export const kindOf = (name: string): Kind => columns[name]!.kind
export const isNullable = (name: string): boolean => columns[name]!.isNullable

/** Index of each cell. */
export const cell = Object.fromEntries(callColumns.map((name, i) => [name, i])) as Readonly<
  Record<CallColumn, number>
>

const S = '\x1f'

/** Caller and upstream text must not contain the separator; all other cells are our own. */
const plain = (text: string): string => (text.includes(S) ? text.replaceAll(S, ' ') : text)

/** One text, in the order of `callColumns`: the cheapest form to build and to send to another thread. */
export function cellsOfCall(call: RequestRecord): string {
  const { usage, charge, upstreamRequestId } = call
  const first =
    `${call.requestId}${S}${call.atMs}${S}${call.accountId}${S}${call.tokenId}${S}${call.interface}${S}` +
    `${plain(call.model)}${S}${call.channel ?? ''}${S}` +
    `${upstreamRequestId === undefined ? '' : plain(upstreamRequestId)}${S}` +
    `${call.status}${S}${call.errorCode ?? ''}${S}${call.chargeNanos}${S}${call.priceId ?? ''}${S}`
  const tokens =
    usage === undefined
      ? noTokens
      : `${usage.inputTokens}${S}${usage.outputTokens}${S}${usage.cacheReadTokens}${S}` +
        `${usage.cacheWriteTokens}${S}`
  const rest =
    `${call.firstByteMs ?? ''}${S}${call.totalMs}${S}${JSON.stringify(call.detail)}${S}` +
    `${call.tags ?? ''}${S}${costText(call)}`
  if (charge === undefined) return first + tokens + rest + uncharged
  const { unit = '', quantity = '', tier = '', estimated } = charge
  let charged = `${S}${call.atMs + call.totalMs}${S}${unit}${S}${quantity}${S}${tier}${S}${estimated === true ? 1 : 0}${S}`
  for (const { field } of chargeTexts) charged += `${charge[field] ?? ''}${S}`
  return first + tokens + rest + charged
}

const noTokens = S.repeat(cell.first_byte_ms - cell.input_tokens)

/** Nothing was served where a call that is not charged has none. */
const costText = ({ costNanos, charge }: RequestRecord): bigint | '' | '0' =>
  costNanos ?? (costNanos === undefined && charge === undefined ? '0' : '')

const uncharged = S.repeat(1 + callColumns.length - cell.booked_at_ms)

/** The entry that the cells of a charged call are; no entry is booked in a closed month. */
export function chargeIn(
  cells: readonly string[],
  at: number,
  id: number,
  closedUntilMs: number,
): Booking {
  const textOf = (name: CallColumn): string | undefined => cells[at + cell[name]] || undefined
  const numberOf = (name: CallColumn): number => Number(cells[at + cell[name]])
  const quantity = textOf('quantity')
  const booking: Booking = {
    id,
    atMs: Math.max(numberOf('booked_at_ms'), closedUntilMs),
    accountId: cells[at + cell.account_id]!,
    kind: 'charge',
    amountNanos: -BigInt(cells[at + cell.charge_nanos]!),
    ref: cells[at + cell.request_id]!,
    model: cells[at + cell.model]!,
    unit: textOf('unit'),
    quantity: quantity === undefined ? undefined : Number(quantity),
    tier: textOf('tier'),
    priceId: textOf('price_id'),
    tokenId: cells[at + cell.token_id]!,
    estimated: cells[at + cell.estimated] === '1',
    tags: textOf('tags'),
    costNanos: costIn(cells, at),
    channel: textOf('channel'),
    usage: {
      inputTokens: numberOf('input_tokens'),
      outputTokens: numberOf('output_tokens'),
      cacheReadTokens: numberOf('cache_read_tokens'),
      cacheWriteTokens: numberOf('cache_write_tokens'),
    },
  }
  for (const { column, field } of chargeTexts) booking[field] = textOf(column)
  return booking
}

const costIn = (cells: readonly string[], at: number): bigint | undefined => {
  const text = cells[at + cell.cost_nanos]
  return text === '' || text === undefined ? undefined : BigInt(text)
}

/** What the cells of a call that was not charged add to the totals; undefined: nothing, as most do. */
export function freeCostIn(cells: readonly string[], at: number): Booking | undefined {
  const text = cells[at + cell.cost_nanos]
  if (text === '' || text === '0') return undefined
  const tags = cells[at + cell.tags]
  const priceId = cells[at + cell.price_id]
  const channel = cells[at + cell.channel]
  return {
    id: 0,
    atMs: Number(cells[at + cell.at_ms]) + Number(cells[at + cell.total_ms]),
    accountId: cells[at + cell.account_id]!,
    kind: 'charge',
    isFree: true,
    amountNanos: 0n,
    ref: cells[at + cell.request_id]!,
    model: cells[at + cell.model]!,
    unit: 'token',
    tokenId: cells[at + cell.token_id]!,
    costNanos: BigInt(text!),
    ...(priceId && { priceId }),
    ...(channel && { channel }),
    ...(tags && { tags }),
  }
}
