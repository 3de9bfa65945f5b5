// Authenticates to the upstream. A pair of access key and secret key, `ak|sk`, signs a token that
// is valid for half an hour; a single key is sent unchanged.
import { createHmac } from 'node:crypto'

const lifeSeconds = 1_800
/** Allowance for an upstream clock that is behind. */
const slackSeconds = 5
/** Renewed well before it expires: a request in flight must not outlive it. */
const renewAfterMs = 25 * 60_000
const maxTokens = 256

const tokens = new Map<string, { token: string; signedAtMs: number }>()

export function tokenFor(key: string, nowMs = Date.now()): string {
  const bar = key.indexOf('|')
  if (bar < 1 || bar === key.length - 1) return key
  const known = tokens.get(key)
  // After the clock was set back, a token would otherwise be kept past its expiry.
  const ageMs = nowMs - (known?.signedAtMs ?? 0)
  if (known !== undefined && ageMs >= 0 && ageMs < renewAfterMs) return known.token
  const token = sign(key.slice(0, bar), key.slice(bar + 1), Math.floor(nowMs / 1000))
  tokens.delete(key)
  const [oldest] = tokens.keys()
  if (tokens.size >= maxTokens && oldest !== undefined) tokens.delete(oldest)
  tokens.set(key, { token, signedAtMs: nowMs })
  return token
}

function sign(accessKey: string, secretKey: string, nowSeconds: number): string {
  const claims = { iss: accessKey, exp: nowSeconds + lifeSeconds, nbf: nowSeconds - slackSeconds }
  const text = [{ alg: 'HS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', secretKey).update(text).digest('base64url')}`
}
