// How a statement is to be read and compared, from the query of its import.

import { z } from 'zod'
import type { StatementOptions } from '../../billing/reconciliation/import-statement.ts'
import {
  type ColumnMap,
  readTime,
  readZone,
  type StatementForm,
  statementFields,
} from '../../billing/reconciliation/statement-columns.ts'
import { Refusal } from '../../contract/errors.ts'
import { isObject, parseJson } from '../../lib/json/parse.ts'
import { parseNanos } from '../../lib/text/decimal.ts'
import { wrong } from '../answers.ts'
import { query } from '../schema.ts'

const maxName = 200
/** A hundredth of an amount: upstreams round in their own ways. */
const usualTolerance = '0.01'

/** How the table is written, and what it is compared with. */
export const importQuery = z.object({
  channel: z.string().min(1, 'is missing').describe('Name of a channel.'),
  name: z.string().max(maxName, `has more than ${maxName} characters`).optional(),
  map: query.text('JSON: which column is which, `{"id":"Request ID","amount":"Cost"}`.'),
  zone: query.text('Offset of its times, such as `+08:00`.'),
  dates: query.choice(['dmy', 'mdy']),
  decimal: query.choice(['.', ',']),
  cost_factor: query.text('What the upstream costs of our prices, such as `0.8`.'),
  tolerance: query.text('Share that may differ, from 0 to 1; default `0.01`.'),
  from: query.text('A day or a time.'),
  to: query.text('A day or a time.'),
})
type Given = z.output<typeof importQuery>

export function statementOptions(given: Given): StatementOptions | Refusal {
  const { channel, name = channel } = given
  const form = formFrom(given)
  if (form instanceof Refusal) return form
  const rule = ruleFrom(given)
  if (rule instanceof Refusal) return rule
  const [fromMs, untilMs] = [timeFrom(given, 'from', form), timeFrom(given, 'to', form)]
  if (fromMs instanceof Refusal) return fromMs
  if (untilMs instanceof Refusal) return untilMs
  return { channel, name, form, rule, fromMs, untilMs }
}

function formFrom({ map: columns, zone, dates, decimal = '.' }: Given): StatementForm | Refusal {
  const map = mapFrom(columns)
  if (map instanceof Refusal) return map
  const zoneMs = readZone(zone ?? 'Z')
  if (zoneMs === undefined) return wrong('zone', 'must be an offset such as +08:00')
  return { map, zoneMs, dates, decimal }
}

const maxMapDepth = 4

function mapFrom(text: string | undefined): ColumnMap | Refusal {
  if (text === undefined) return {}
  const parsed = parseJson(text, maxMapDepth)
  const form = `must be JSON such as {"id":"Request ID","amount":"Cost"}`
  if ('problem' in parsed || !isObject(parsed.value)) return wrong('map', form)
  for (const [field, header] of Object.entries(parsed.value)) {
    if (!statementFields.includes(field as (typeof statementFields)[number])) {
      return wrong('map', `has '${field}', which is none of: ${statementFields.join(', ')}`)
    }
    if (typeof header !== 'string' || header === '') return wrong('map', form)
  }
  return parsed.value as ColumnMap
}

function ruleFrom({ cost_factor: factor, tolerance }: Given): StatementOptions['rule'] | Refusal {
  const factorNanos = factor === undefined ? undefined : parseNanos(factor)
  if (factor !== undefined && (factorNanos === undefined || factorNanos <= 0n)) {
    return wrong('cost_factor', 'must be a positive number such as 0.8')
  }
  const toleranceNanos = parseNanos(tolerance ?? usualTolerance)
  if (toleranceNanos === undefined || toleranceNanos < 0n || toleranceNanos > 1_000_000_000n) {
    return wrong('tolerance', 'must be a share from 0 to 1, such as 0.01')
  }
  return { factorNanos, toleranceNanos }
}

function timeFrom(
  given: Given,
  name: 'from' | 'to',
  form: StatementForm,
): number | undefined | Refusal {
  const text = given[name]
  if (text === undefined) return undefined
  return readTime(text, form) ?? wrong(name, 'must be a day or a time, such as 2026-11-01')
}
