// How a statement is to be read and compared, from the query of its import.
import type { StatementOptions } from '../../billing/reconciliation/import-statement.ts'
import {
  type ColumnMap,
  readTime,
  readZone,
  type StatementForm,
  statementFields,
} from '../../billing/reconciliation/statement-columns.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { isObject, parseJson } from '../../lib/json/parse.ts'
import { parseNanos } from '../../lib/text/decimal.ts'

type Read = (name: string) => string | undefined

const wrong = (param: string, what: string): Refusal =>
  refuse('invalid_request', `'${param}' ${what}`, { param })

const maxName = 200
/** A hundredth of an amount: upstreams round in their own ways. */
const usualTolerance = '0.01'

export function statementOptionsFrom(read: Read): StatementOptions | Refusal {
  const channel = read('channel')
  if (channel === undefined || channel === '') return wrong('channel', 'is missing')
  const name = read('name') ?? channel
  if (name.length > maxName) return wrong('name', `has more than ${maxName} characters`)
  const form = formFrom(read)
  if (form instanceof Refusal) return form
  const rule = ruleFrom(read)
  if (rule instanceof Refusal) return rule
  const [fromMs, untilMs] = [timeFrom(read, 'from', form), timeFrom(read, 'to', form)]
  if (fromMs instanceof Refusal) return fromMs
  if (untilMs instanceof Refusal) return untilMs
  return { channel, name, form, rule, fromMs, untilMs }
}

function formFrom(read: Read): StatementForm | Refusal {
  const map = mapFrom(read('map'))
  if (map instanceof Refusal) return map
  const zoneMs = readZone(read('zone') ?? 'Z')
  if (zoneMs === undefined) return wrong('zone', 'must be an offset such as +08:00')
  const dates = read('dates')
  if (dates !== undefined && dates !== 'dmy' && dates !== 'mdy') {
    return wrong('dates', 'must be dmy or mdy')
  }
  const decimal = read('decimal') ?? '.'
  if (decimal !== '.' && decimal !== ',') return wrong('decimal', "must be '.' or ','")
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

function ruleFrom(read: Read): StatementOptions['rule'] | Refusal {
  const factor = read('cost_factor')
  const factorNanos = factor === undefined ? undefined : parseNanos(factor)
  if (factor !== undefined && (factorNanos === undefined || factorNanos <= 0n)) {
    return wrong('cost_factor', 'must be a positive number such as 0.8')
  }
  const toleranceNanos = parseNanos(read('tolerance') ?? usualTolerance)
  if (toleranceNanos === undefined || toleranceNanos < 0n || toleranceNanos > 1_000_000_000n) {
    return wrong('tolerance', 'must be a share from 0 to 1, such as 0.01')
  }
  return { factorNanos, toleranceNanos }
}

function timeFrom(read: Read, name: string, form: StatementForm): number | undefined | Refusal {
  const text = read(name)
  if (text === undefined) return undefined
  return readTime(text, form) ?? wrong(name, 'must be a day or a time, such as 2026-11-01')
}
