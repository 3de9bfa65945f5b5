// Seals on reasoning: an opaque text that only its maker can read, and that says what it was given
// out with. A seal of another maker, or of another protocol, or an altered one, opens to nothing.
import type { Json } from '../http/fields.ts'

export interface Seals {
  make(claims: Json): string
  open(seal: unknown): Json | undefined
}

/** Sandboxes of one maker take each other's seals. */
export function createSeals(maker: string, protocol: string): Seals {
  const tagOf = (claims: string) =>
    new Bun.CryptoHasher('sha256', `${maker} ${protocol}`).update(claims).digest('hex')
  return {
    make: (claims) => {
      const text = JSON.stringify(claims)
      return Buffer.from(tagOf(text) + text).toString('base64')
    },
    open: (seal) => {
      if (typeof seal !== 'string') return undefined
      const bytes = Buffer.from(seal, 'base64')
      // Base64 with something added, or written in another way, is not what was given out.
      if (bytes.toString('base64') !== seal) return undefined
      const [tag, text] = [bytes.toString().slice(0, 64), bytes.toString().slice(64)]
      return tag === tagOf(text) ? (JSON.parse(text) as Json) : undefined
    },
  }
}

/** For claims about a text. */
export const digestOf = (text: string): string =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 24)
