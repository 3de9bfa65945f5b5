// Standard Webhooks signatures: id, time and body under a shared secret. Knows neither the message
// nor its recipient.
import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const newKeyBytes = 32
/** Fewer can be guessed; a longer value is probably not a secret. */
const minBytes = 24
const maxBytes = 64

interface Notice {
  /** The same for every attempt, so that a receiver can detect repeats. */
  id: string
  atMs: number
  body: string
}

export const webhookSecretOf = (key: Uint8Array): string =>
  prefix + Buffer.from(key).toString('base64')

export const newWebhookSecret = (): string => webhookSecretOf(randomBytes(newKeyBytes))

/**
 * Headers of one attempt, with a signature by each secret. Throws for an invalid secret: nothing is
 * ever signed with an empty one.
 */
export function signedHeaders(
  secrets: string | readonly string[],
  { id, atMs, body }: Notice,
): Record<string, string> {
  const seconds = String(Math.floor(atMs / 1_000))
  const signatures = [secrets].flat().map((secret) => {
    const mac = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`)
    return `v1,${mac.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  }
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : '', 'base64')
  if (key.length >= minBytes && key.length <= maxBytes) return key
  throw new Error('this is no secret to sign notices with')
}
