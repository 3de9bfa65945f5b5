// Whether the closing of a channel's month is what the gateway signed. Needs nothing but its JSON.
import { isSigned } from '../../lib/crypto/signing.ts'
import { isObject } from '../../lib/json/parse.ts'

interface VerifiedClosing {
  channel: string
  month: string
  currency: string
  invoice: string
  ours: string
  difference: string
  key: string
}

/** By itself, or in the month or the list of months that has it; undefined: there is none. */
export function closingIn(value: unknown): Record<string, unknown> | undefined {
  if (!isObject(value)) return undefined
  if (value['kind'] === 'channel_month') return value
  const { items } = value
  if (Array.isArray(items) && items.length === 1) return closingIn(items[0])
  return isObject(value['closing']) ? closingIn(value['closing']) : undefined
}

/** A text is what is wrong with it. */
export function verifyClosing(
  closing: Record<string, unknown>,
  wantedKey?: string,
): VerifiedClosing | string {
  const { proof, ...record } = closing
  const { key, signature } = isObject(proof) ? proof : {}
  if (typeof key !== 'string' || typeof signature !== 'string') return 'it is not signed'
  if (wantedKey !== undefined && key !== wantedKey) return `it is signed with another key: ${key}`
  if (!isSigned(JSON.stringify(record), key, signature)) {
    return 'its signature is not valid: it was changed'
  }
  const text = (name: string) => String(record[name])
  return {
    ...{ channel: text('channel'), month: text('month'), currency: text('currency') },
    ...{ invoice: text('invoice'), ours: text('ours'), difference: text('difference') },
    key,
  }
}
