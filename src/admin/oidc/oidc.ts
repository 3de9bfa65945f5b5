// Sign-in through the identity provider: the browser is sent there, and comes back with a code that works
// once, in the browser that asked for it. A failure leads to the sign-in page, which says what it was.
import { z } from 'zod'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { answerHeaders, type RequestContext } from '../../http/request-context.ts'
import { newSecret } from '../../lib/crypto/ids.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import { useSignIn } from '../../store/catalog/people.ts'
import { addressOf, countGuess, takeBack } from '../people/guess-limits.ts'
import { beginSession } from '../people/sign-in.ts'
import { forAnyone, forRedirects } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { claimFlow } from './flow-claims.ts'
import { endedFlowCookie, type Flow, flowCookie, hintCookie, readFlow } from './flow-cookie.ts'
import { type SignInProblem, signInOptions, startQuery } from './oidc-schema.ts'
import type { Identity, OidcProvider } from './provider.ts'
import { signInPerson } from './sign-in-person.ts'

const callbackPath = '/admin/v1/oidc/callback'
/** Longer than a cookie of a sign-in is valid. */
const usedKeptMs = 3_600_000
/** As providers make them: RFC 6749 allows printable ASCII. */
const codePattern = /^[\x20-\x7e]{1,4096}$/
/** Codes that are exchanged at the same time, and who waits. */
const exchanges = new FairSemaphore({ concurrency: 8, queue: 64, queuePerKey: 8 })

const notConfigured: Refusal = refuse('not_found', 'sign-in through a provider is not configured')

const redirectUriOf = ({ deps, engine }: Pick<Ask, 'deps' | 'engine'>): string =>
  `${deps.consoleUrl ?? engine.publicUrl}${callbackPath}`

const clientOf = ({ settings: { issuer, clientId } }: OidcProvider): string =>
  `${issuer} ${clientId}`

async function start(ask: Ask<{ query: typeof startQuery }>) {
  const { engine, deps, query, x } = ask
  const { oidc } = deps
  if (oidc === undefined) return notConfigured
  const checks = { state: newSecret(''), nonce: newSecret(''), verifier: newSecret('pkce-') }
  let url: URL
  try {
    url = await oidc.startUrl(redirectUriOf(ask), checks)
  } catch (error) {
    return problem(engine, x, 'unavailable', error)
  }
  const flow = { ...checks, returnTo: ownPage(query.return_to), at: clientOf(oidc) }
  return redirect(x, url.href, flowCookie(engine, engine.clock.nowMs(), flow))
}

/** A page of the console, whatever was asked for: another site must not be opened by a sign-in. */
function ownPage(asked = '/console/'): string {
  const base = 'http://console.invalid'
  const url = /^[\x21-\x7e]{1,2000}$/.test(asked) ? URL.parse(asked, base) : null
  const isOwn = url?.origin === base && url.pathname.startsWith('/console/')
  return isOwn ? `${url.pathname}${url.search}` : '/console/'
}

async function finish(ask: Ask) {
  const { engine, deps, x } = ask
  const { oidc } = deps
  if (oidc === undefined) return notConfigured
  const nowMs = engine.clock.nowMs()
  const flow = readFlow(engine, nowMs, x)
  if (flow === undefined || flow.at !== clientOf(oidc)) return problem(engine, x, 'expired')
  const current = new URL(redirectUriOf(ask))
  current.search = URL.parse(x.request.url, current.href)?.search ?? ''
  const asked = current.searchParams
  if (asked.get('state') !== flow.state) return problem(engine, x, 'expired')
  if (asked.has('error')) return problem(engine, x, 'denied')
  if (!codePattern.test(asked.get('code') ?? '')) return problem(engine, x, 'failed')
  // Before the code is exchanged: of two who come back with it, one goes on.
  const hash = engine.seal.hash(flow.state)
  if (!claimFlow(hash, nowMs)) return problem(engine, x, 'expired')
  const identity = await identityFrom(engine, oidc, { x, current, flow })
  if (typeof identity === 'string') return problem(engine, x, identity)
  // Another gateway may have been asked at the same time.
  const isFirst = await engine.store.tx((tx) => useSignIn(tx, hash, nowMs, usedKeptMs))
  if (!isFirst) return problem(engine, x, 'expired')
  const person = await signInPerson(engine, x, identity, oidc.settings.groups)
  if (typeof person === 'string') return problem(engine, x, person)
  const cookie = await beginSession(engine, x, person)
  const hint = hintCookie(engine, identity.idToken)
  return redirect(x, flow.returnTo, endedFlowCookie, cookie, ...(hint === undefined ? [] : [hint]))
}

async function identityFrom(
  engine: BaseDeps,
  oidc: OidcProvider,
  { x, current, flow }: { x: RequestContext; current: URL; flow: Flow },
): Promise<Identity | SignInProblem> {
  // Each exchange is a call to the provider: who brings codes that it did not issue is slowed down.
  const guess = await countGuess(engine, x)
  if (guess instanceof Refusal) return 'too_many'
  const key = addressOf(x)
  let isGuess = false
  try {
    return (await exchanges.run(key, () => oidc.identify(current, flow))) ?? 'unavailable'
  } catch (error) {
    logFailure(engine, error)
    isGuess = isRefused(error)
    return 'failed'
  } finally {
    if (!isGuess) await takeBack(engine, guess)
  }
}

/** The provider refused the code. That it cannot be asked is no fault of the one who signs in. */
function isRefused(error: unknown): boolean {
  const { status, cause } = error as { status?: unknown; cause?: unknown }
  const answered = cause instanceof Response ? cause.status : status
  return typeof answered === 'number' && answered >= 400 && answered < 500
}

/** Codes and messages of the library; what they are about can hold tokens. */
export const logFailure = ({ log }: BaseDeps, error: unknown): void =>
  log.warn('sign-in failed', { reason: error instanceof Error ? error.message : 'unknown' })

function problem(engine: BaseDeps, x: RequestContext, code: SignInProblem, error?: unknown) {
  if (error !== undefined) logFailure(engine, error)
  return redirect(x, `/console/?problem=${code}`, endedFlowCookie)
}

function redirect(x: RequestContext, location: string, ...cookies: string[]): Response {
  const headers = new Headers({ ...answerHeaders(x, 'text/plain'), location })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 302, headers })
}

const route = routesOf({ tag: 'People', thing: 'session', permission: forAnyone })
const redirected = {
  status: 302,
  headers: ['location', 'set-cookie'],
} as const

export const oidcRoutes = [
  route('GET /session/options', {
    id: 'getSignInOptions',
    summary: 'How people can sign in',
    answer: signInOptions,
    returns: 'What the sign-in page offers.',
    handle: ({ deps: { oidc } }) => ({
      oidc: oidc !== undefined,
      passwords: oidc?.settings.only !== true,
    }),
  }),
  route('GET /oidc/start', {
    id: 'startOidcSignIn',
    summary: 'Begin a sign-in through the identity provider',
    description: 'For browsers. A failure leads to the sign-in page.',
    query: startQuery,
    returns: 'To the identity provider.',
    ...redirected,
    refusals: ['not_found'],
    handle: start,
  }),
  route('GET /oidc/callback', {
    id: 'finishOidcSignIn',
    permission: forRedirects,
    summary: 'End a sign-in through the identity provider',
    description: 'The redirect URI to register there.',
    query: z.object({}),
    returns: 'To the console, with a session or with the reason why not.',
    ...redirected,
    refusals: ['not_found'],
    handle: finish,
  }),
]
