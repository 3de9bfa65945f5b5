// A text that is made once and sent often: with its tag, and packed for those who take it so.
import { createHash } from 'node:crypto'
import { answerHeaders, type RequestContext } from '../http/request-context.ts'
import { hasTag } from '../lib/http/byte-range.ts'

interface Packed {
  type: string
  body: Buffer<ArrayBuffer>
  packed: Uint8Array<ArrayBuffer>
  etag: string
}

export function pack(type: string, text: string): Packed {
  const body = Buffer.from(text)
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { type, body, packed: Bun.gzipSync(body), etag }
}

export function answerPacked(
  x: RequestContext,
  { type, body, packed, etag }: Packed,
  policy: string,
  status = 200,
): Response {
  const { headers: asked } = x.request
  const headers: Record<string, string> = {
    ...answerHeaders(x, type),
    etag,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': policy,
  }
  if (status === 200 && hasTag(asked.get('if-none-match') ?? undefined, etag)) {
    return new Response(null, { status: 304, headers })
  }
  const packs = asked.get('accept-encoding')?.includes('gzip') === true
  return packs
    ? new Response(packed, { status, headers: { ...headers, 'content-encoding': 'gzip' } })
    : new Response(body, { status, headers })
}

const kept = new Map<string, Promise<Packed>>()

/** Made on first use, then cached; after a failure the next request tries again. */
export function packedOnce(key: string, make: () => Promise<Packed>): Promise<Packed> {
  const known = kept.get(key)
  if (known !== undefined) return known
  const making = make()
  kept.set(key, making)
  making.catch(() => kept.delete(key))
  return making
}
