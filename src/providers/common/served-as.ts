// How an answer says that it was served: by which service tier, and where.
import type { ServedAs } from '../../contract/usage.ts'
import { isObject } from '../../lib/json/parse.ts'

const maxName = 64

/** Most answers say this or nothing. */
const usual: Readonly<Record<string, ServedAs>> = {
  default: { tiers: ['default'] },
  standard: { tiers: ['standard'] },
}

const nameIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, maxName).toLowerCase() : undefined

export function servedBy(tier: unknown): ServedAs | undefined {
  const name = nameIn(tier)
  if (name === undefined) return undefined
  return (Object.hasOwn(usual, name) ? usual[name] : undefined) ?? { tiers: [name] }
}

/** Of the messages style: a speed counts before the tier. */
export function servedIn(usage: unknown): ServedAs | undefined {
  if (!isObject(usage)) return undefined
  const { service_tier, speed, inference_geo } = usage
  if (speed == null && inference_geo == null) return servedBy(service_tier)
  const tiers = [nameIn(speed), nameIn(service_tier)].filter((name) => name !== undefined)
  const geo = nameIn(inference_geo)
  if (tiers.length === 0 && geo === undefined) return undefined
  return { ...(tiers.length > 0 && { tiers }), ...(geo !== undefined && { geo }) }
}
