// Fetches an image that a caller gave by URL, for an upstream that takes bytes only. The caller
// chose the URL, so it is guarded like any download, and the result must be an image.
import type { FetchedMedia } from '../../../contract/provider.ts'
import type { EgressRules } from '../../../lib/net/address-guard.ts'
import { openDownload } from '../../../lib/net/guarded-fetch.ts'
import { imageTypeOf } from '../../../lib/text/image-type.ts'

const maxBytes = 20 * 1024 * 1024
const maxRedirects = 3
const headTimeoutMs = 10_000
const idleTimeoutMs = 10_000
const totalTimeoutMs = 30_000

export async function fetchMedia(
  { egressAllow }: EgressRules,
  url: string,
): Promise<FetchedMedia | { problem: string }> {
  const signal = AbortSignal.timeout(totalTimeoutMs)
  const answer = await openDownload(url, {
    rules: { allow: egressAllow, httpsOnly: false },
    maxRedirects,
    headTimeoutMs,
    idleTimeoutMs,
    maxBytes,
    signal,
  })
  if ('problem' in answer) return { problem: answer.problem }
  if (answer.status !== 200) {
    await answer.body.cancel()
    return { problem: `the address answered with ${answer.status}` }
  }
  let bytes: Uint8Array
  try {
    bytes = await new Response(answer.body).bytes()
  } catch {
    return { problem: `the file broke off, took too long or is larger than ${maxBytes} bytes` }
  }
  const mimeType = imageTypeOf(bytes) ?? declaredType(answer.headers['content-type'])
  return mimeType === undefined ? { problem: 'the file is not a picture' } : { bytes, mimeType }
}

/** The declared type counts only where the first bytes are not recognised. */
const declaredType = (header: string | undefined): string | undefined =>
  /^image\/[a-z0-9.+-]{1,64}(?=\s*(?:;|$))/i.exec(header ?? '')?.[0].toLowerCase()
