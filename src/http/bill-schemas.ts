// Bills and usage as they go over the wire, to callers and to administrators alike.
import {
  flag,
  list,
  money,
  named,
  number,
  object,
  orNull,
  type Schema,
  text,
  time,
  whole,
  word,
} from './schema.ts'

export const pageOf = (item: Schema): Schema =>
  object({
    items: list(item),
    next_cursor: orNull(text('For the next page, as `cursor`; null when there is none.')),
  })

export const monthText = text('Such as `2026-11`.', { pattern: '^\\d{4}-(?:0[1-9]|1[0-2])$' })

/** Of texts only. */
const tokenSums = {
  'input_tokens?': whole(0),
  'output_tokens?': whole(0),
  'cache_read_tokens?': whole(0),
  'cache_write_tokens?': whole(0),
}

export const usageRow = named(
  'UsageRow',
  object({
    'month?': text(),
    'day?': text(),
    'hour?': text(),
    'model?': orNull(text()),
    'token_id?': orNull(text()),
    'token?': orNull(text()),
    'tier?': orNull(text()),
    'price_id?': orNull(text()),
    'account_id?': text(),
    'account?': orNull(text()),
    unit: orNull(text('Null where several units are added up.')),
    quantity: orNull(number()),
    charges: whole(0, undefined, 'How many charges.'),
    amount: money(),
    estimated: whole(0, undefined, 'How many of the charges are estimates.'),
    ...tokenSums,
  }),
)

const figures = {
  account: text(),
  account_id: text(),
  month: text(),
  currency: text(),
  opening_balance: money(),
  credits: money(),
  adjustments: money(),
  charges: money('What the month cost.'),
  closing_balance: money(),
  charge_count: whole(0),
}

export const monthRow = named(
  'Month',
  object({
    ...figures,
    state: word(['open', 'closed']),
    closed_at: orNull(time()),
  }),
)

const billFields = {
  ...figures,
  totals: list(
    object({
      model: orNull(text()),
      unit: orNull(text()),
      charges: whole(0),
      quantity: number(),
      amount: money(),
      estimated: whole(0),
      ...tokenSums,
    }),
  ),
  tokens: list(
    object({ token_id: orNull(text()), name: orNull(text()), charges: whole(0), amount: money() }),
  ),
  movements: list(
    object({
      id: text(),
      at: time(),
      kind: word(['credit', 'adjust']),
      amount: money(),
      note: orNull(text()),
    }),
  ),
  has_more_movements: flag('There are more than are listed here; the lines have all.'),
  state: word(['open', 'closed']),
  closed_at: orNull(time()),
  note: orNull(text()),
  last_number: orNull(whole(0, undefined, 'The last receipt that belongs to it.')),
  differences: list(object({ what: text(), closed: text(), ledger: text() }), {
    description: 'Where a closed bill is not what the ledger says now.',
  }),
  'proof?': object({ key: text(), signature: text() }),
}

export const billWith = (more: Readonly<Record<string, Schema>> = {}): Schema =>
  object({ ...billFields, ...more })

export const bill = named('Bill', billWith())
