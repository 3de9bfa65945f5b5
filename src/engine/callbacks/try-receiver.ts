// A test callback, to see whether a receiver can be reached and accepts the signature. Sent once
// under the same rules as any other, and stored nowhere.

import { newId } from '../../lib/crypto/ids.ts'
import type { EgressRules } from '../../lib/net/address-guard.ts'
import { guardedPost } from '../../lib/net/guarded-post.ts'
import { signedHeaders } from '../../lib/net/webhook.ts'
import { type SecretDeps, signingSecrets } from './callback-secret.ts'
import { callbackRules } from './callback-url.ts'

interface ReceiverTrial {
  /** It answered with 2xx. */
  ok: boolean
  took_ms: number
  status?: number
  error?: string
}

const timeoutMs = 15_000

/** Signed as a callback of this account would be. */
export async function tryReceiver(
  deps: SecretDeps & EgressRules,
  accountId: string,
  url: string,
): Promise<ReceiverTrial> {
  const secrets = await signingSecrets(deps, accountId)
  const atMs = deps.clock.nowMs()
  const began = performance.now()
  const said = { message: 'a test of callbacks' }
  const body = JSON.stringify({
    type: 'gateway.test',
    timestamp: new Date(atMs).toISOString(),
    data: said,
  })
  const posted = await guardedPost(url, {
    rules: callbackRules(deps),
    headers: {
      'content-type': 'application/json',
      'user-agent': 'model-gateway',
      ...signedHeaders(secrets, { id: newId('msg', atMs), atMs, body }),
    },
    body,
    timeoutMs,
  })
  const took_ms = Math.round(performance.now() - began)
  if ('problem' in posted) return { ok: false, took_ms, error: posted.problem }
  const { status } = posted
  return { ok: status >= 200 && status < 300, took_ms, status }
}
