// The sums that are selected of rows of totals, and of sums of them.
import { sql } from 'kysely'
import { sumColumns } from './grains.ts'

interface Units {
  withUnit?: boolean | undefined
  withCosts?: boolean | undefined
}

type Sign = '' | '-'

// PostgreSQL sums bigint to numeric; the cast keeps the integer convention on both dialects.
const sumsOf = (sign: Sign, cells: Readonly<Record<string, string>> = {}) =>
  sql.raw(
    sumColumns
      .map((name) => {
        const sum = `${sign}coalesce(sum(${cells[name] ?? name}), 0)`
        return `${name === 'quantity' ? sum : `CAST(${sum} AS bigint)`} AS ${name}`
      })
      .join(', '),
  )

const ofCharges = (name: string) => `CASE kind WHEN 'charge' THEN ${name} ELSE 0 END`

/** Of a refund, what is given back and nothing else. */
const ofWork = {
  quantity: ofCharges('quantity'),
  entries: ofCharges('entries'),
  estimated: ofCharges('estimated'),
  amount_nanos: 'amount_nanos - refund_nanos',
}

export const sums = sumsOf('')
export const negatedSums = sumsOf('-')
/** Of rows of charges and of refunds. */
export const workSums = sumsOf('', ofWork)
export const negatedWorkSums = sumsOf('-', ofWork)

/** The first and the last unit by name: they are the same where there is one. */
const unitsOf = (first: string, last: string, tokens: string) =>
  sql.raw(`, min(${first}) AS first_unit, max(${last}) AS last_unit, max(${tokens}) AS tokens`)

/** Of rows that count. */
export const unitsOfRows = ({ withUnit, withCosts }: Units) => {
  if (withUnit !== true) return sql``
  const counts = withCosts ? 'entries > 0 OR cost_nanos <> 0 OR refund_nanos <> 0' : 'entries > 0'
  const unit = `CASE WHEN ${counts} THEN unit END`
  return unitsOf(unit, unit, `CASE WHEN unit = 'token' AND (${counts}) THEN 1 ELSE 0 END`)
}

/** Of sums. */
export const unitsOfSums = ({ withUnit }: Units) =>
  withUnit === true ? unitsOf('first_unit', 'last_unit', 'tokens') : sql``
