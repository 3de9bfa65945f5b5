// A sign-in on its way, in a cookie of the browser that began it: encrypted with the master key, so that
// every gateway and worker can finish it and no page can read or make one. SameSite is Lax: the browser
// comes back from the site of the provider.
import type { Seals } from '../../engine/base-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Checks } from './provider.ts'

const cookieName = '__Host-gateway-oidc'
const validMs = 10 * 60_000
const context = 'oidc sign-in'

export interface Flow extends Checks {
  /** Page of the console to open in the end. */
  returnTo: string
  /** Issuer and client that it began with. */
  at: string
  expiresAtMs: number
}

const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax'

export function flowCookie(
  { seal }: Seals,
  nowMs: number,
  flow: Omit<Flow, 'expiresAtMs'>,
): string {
  const text = JSON.stringify({ ...flow, expiresAtMs: nowMs + validMs } satisfies Flow)
  return `${cookieName}=${seal.encrypt(text, context)}; ${attributes}; Max-Age=${validMs / 1000}`
}

/** The ID token, for signing out: sent to the session's address alone. */
const hintName = '__Secure-gateway-oidc-hint'
const hintAttributes = 'Path=/admin/v1/session; Secure; HttpOnly; SameSite=Strict'
const hintContext = 'oidc id token'
/** Browsers drop longer cookies; the provider then asks the person whether to sign out. */
const maxHintLength = 3_800
const hintSeconds = 12 * 3_600

export function hintCookie({ seal }: Seals, idToken: string): string | undefined {
  const sealed = seal.encrypt(idToken, hintContext)
  if (sealed.length > maxHintLength) return undefined
  return `${hintName}=${sealed}; ${hintAttributes}; Max-Age=${hintSeconds}`
}

export const endedHintCookie = `${hintName}=; ${hintAttributes}; Max-Age=0`

export function readHint({ seal }: Seals, { request }: RequestContext): string | undefined {
  const pattern = new RegExp(`(?:^|; *)${hintName}=(v1\\.[\\w-]{20,4000})(?:;|$)`)
  const sealed = pattern.exec(request.headers.get('cookie') ?? '')?.[1]
  try {
    return sealed === undefined ? undefined : seal.decrypt(sealed, hintContext)
  } catch {
    return undefined
  }
}

export const endedFlowCookie = `${cookieName}=; ${attributes}; Max-Age=0`

/** Undefined when there is none, or when it is not ours or has expired. */
export function readFlow(
  { seal }: Seals,
  nowMs: number,
  { request }: RequestContext,
): Flow | undefined {
  const pattern = new RegExp(`(?:^|; *)${cookieName}=(v1\\.[\\w-]{40,4000})(?:;|$)`)
  const sealed = pattern.exec(request.headers.get('cookie') ?? '')?.[1]
  if (sealed === undefined) return undefined
  try {
    const flow = JSON.parse(seal.decrypt(sealed, context)) as Flow
    return flow.expiresAtMs > nowMs ? flow : undefined
  } catch {
    return undefined
  }
}
