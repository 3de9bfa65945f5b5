// The fields of declarations: names, amounts, durations, addresses, each with its message. Knows no
// declaration as a whole.
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { parseNanos } from '../../lib/text/decimal.ts'
import { editDistance } from '../../lib/text/edit-distance.ts'

/** The known name with the smallest edit distance to the given one. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const scored = known.map((each) => ({ each, slips: editDistance(name, each) }))
  return scored.sort((a, b) => a.slips - b.slips)[0]?.each
}

export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `is not a known key; did you mean "${nearestName(issue.keys[0] ?? '', known)}"?`
        : undefined,
  })
}

export const text = (pattern: RegExp, says: string, description: string) =>
  z.string().regex(pattern, `must be ${says}`).meta({ description })

export const count = (description: string) => z.int().min(1).meta({ description })

export const name = (description: string) =>
  text(
    /^[A-Za-z0-9._-]{1,64}$/,
    '1 to 64 letters, digits, dots, dashes or underscores',
    description,
  )

export const modelName = (description: string) =>
  text(
    /^[a-z0-9][a-z0-9.-]{0,127}$/,
    'a model name: small letters, digits, dots and dashes',
    description,
  )

export const modelPattern = (description: string) =>
  text(
    /^(?:\*|[a-z0-9][a-z0-9.-]{0,127}\*?)$/,
    'a model name, or a prefix that ends in one *',
    description,
  )

export const region = (description: string) =>
  text(/^[a-z0-9-]{1,32}$/, '1 to 32 small letters, digits or dashes', description)

export const timestamp = (description: string) =>
  z.iso
    .datetime({ offset: true, error: 'must be an RFC 3339 time such as 2027-01-01T00:00:00Z' })
    .meta({ description })

// A number would already have lost digits at this point.
export const amount = (description: string) =>
  z
    .string({
      error: (issue) =>
        typeof issue.input === 'number'
          ? `must be a quoted decimal: write "${issue.input}" instead of ${issue.input}`
          : undefined,
    })
    .refine((value) => (parseNanos(value) ?? -1n) >= 0n, {
      message: 'must be a decimal of at least 0, such as "0.80"',
    })
    .meta({ description, pattern: '^\\d{1,9}(\\.\\d{1,9})?$' })

const isCidr = (value: string) =>
  ipaddr.IPv4.isValidCIDRFourPartDecimal(value) || ipaddr.IPv6.isValidCIDR(value)
const isIp = (value: string) =>
  ipaddr.IPv4.isValidFourPartDecimal(value) || ipaddr.IPv6.isValid(value)

/** '10.1.2.3' -> '10.1.2.3/32'   '::1' -> '::1/128'   '10.0.0.0/8' -> itself   else undefined */
export function asCidr(value: string): string | undefined {
  if (value.includes('%')) return undefined
  if (isCidr(value)) return value
  return isIp(value) ? `${value}/${value.includes(':') ? 128 : 32}` : undefined
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** '500ms' -> 500   '10s' -> 10000   '1.5m' -> 90000   '10' -> undefined */
export function parseDurationMs(value: string): number | undefined {
  const parts = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(value)
  if (parts === null) return undefined
  return Math.round(Number(parts[1]) * unitMs[parts[2] as keyof typeof unitMs])
}

const maxMs = 24 * 3_600_000
export const duration = (description: string) =>
  z
    .string({ error: () => 'must be a duration with its unit, such as 500ms, 10s or 2m' })
    .refine((value) => {
      const ms = parseDurationMs(value)
      return ms !== undefined && ms >= 1 && ms <= maxMs
    }, 'must be a duration from 1ms to 24h with its unit, such as 500ms, 10s or 2m')
    .meta({ description, examples: ['10s'] })

const baseUrlRule = 'must be an http or https address without credentials, query or fragment'

export const baseUrl = (description: string) =>
  z
    .string()
    .refine((value) => {
      if (!/^https?:\/\/[^\s?#@\\]+$/i.test(value) || !URL.canParse(value)) return false
      return new URL(value).hostname !== ''
    }, baseUrlRule)
    .meta({ description })

export const unique = (values: readonly unknown[]) => new Set(values).size === values.length
