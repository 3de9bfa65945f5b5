// The token of this browser tab: created when a call is sent, and forgotten with the tab.
import { api } from '../../../lib/api.ts'

const storageKey = 'gateway-playground-token'
const goodForMs = 12 * 3_600_000
const marginMs = 120_000

interface StoredToken {
  account: string
  like: string
  secret: string
  untilMs: number
}

/** What a token may do, as the admin API has it. */
export interface Rights {
  models: string[]
  limits: Record<string, number>
  allowed_ips: string[]
}

/**
 * The token of this tab for an account, made when there is none that lasts long enough; with the rights of
 * another one.
 */
export async function tokenFor(
  account: string,
  rights?: Rights,
  neededMs: number = 0,
): Promise<string> {
  const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as StoredToken | null
  const like = rights === undefined ? '' : JSON.stringify(rights)
  const isFitting = stored?.account === account && stored.like === like
  if (isFitting && stored.untilMs > Date.now() + neededMs) return stored.secret
  const untilMs = Date.now() + Math.max(goodForMs, neededMs + marginMs)
  const body = {
    account,
    name: `playground-${untilMs.toString(36)}`,
    expires_at: new Date(untilMs).toISOString(),
    ...rights,
  }
  const { token: secret } = await api<{ token: string }>('POST', '/tokens', { body })
  const next: StoredToken = { account, like, secret, untilMs: untilMs - marginMs / 2 }
  sessionStorage.setItem(storageKey, JSON.stringify(next))
  return secret
}
