// Signing in: passwords, sessions and limits against guessing. Knows no page and no role's
// powers; access.ts does.

import { Refusal, refuse } from '../../contract/errors.ts'
import type { Person, Viewer } from '../../contract/people.ts'
import type { BaseDeps, Seals } from '../../engine/base-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newSecret } from '../../lib/crypto/ids.ts'
import {
  clearFailures,
  endSession,
  findPassword,
  findSession,
  forgetOld,
  insertSession,
  touchSession,
} from '../../store/catalog/people.ts'
import { mayUsePassword } from './break-glass.ts'
import { addressOf, countGuess, type Guess, takeBack } from './guess-limits.ts'
import { checkPassword } from './passwords.ts'

/** A browser sends it back only where it came from, over TLS or on this machine. */
const cookieName = '__Host-gateway-session'
const idleMs = 60 * 60_000
const maxMs = 12 * 3_600_000
/** How often it is written down that a session is in use. */
const touchEveryMs = 60_000
const forgottenMs = 7 * 24 * 3_600_000

/**
 * Who guesses at a name must not lock out its owner elsewhere: failures count for a name at an address.
 * Those of an address count together as well: see guess-limits.ts.
 */
const subjectOf = (name: string, x: RequestContext): string => `${name}@${addressOf(x)}`

const wrong = refuse('invalid_api_key', 'the name or the password is wrong')
const wrongWherePasswordsAreOff = refuse(
  'invalid_api_key',
  'the name or the password is wrong; only the break-glass administrator has one here, ' +
    'others use single sign-on',
)

/** The guess if the password is right, and `wrong` or a wait if not. */
async function verified(
  engine: BaseDeps & Seals,
  x: RequestContext,
  { subject, password, stored }: { subject: string; password: string; stored?: string | undefined },
): Promise<Guess | Refusal> {
  const guess = await countGuess(engine, x, subject)
  if (guess instanceof Refusal) return guess
  const right = await checkPassword(addressOf(x), password, stored)
  if (right === false) return wrong
  await takeBack(engine, guess)
  return right === true ? guess : right
}

/** The cookie of a new session, or why not. */
export async function signIn(
  engine: BaseDeps & Seals,
  x: RequestContext,
  { name, password }: { name: string; password: string },
  passwordsOff = false,
): Promise<{ person: Person; cookie: string } | Refusal> {
  const found = await findPassword(engine.store.read, name.toLowerCase())
  const subject = subjectOf(name.toLowerCase(), x)
  // A person who is disabled or may not use a password gets the same answer as an unknown one.
  const may =
    found !== undefined &&
    !found.person.disabled &&
    (await mayUsePassword(engine, found.person, passwordsOff))
  const stored = may ? found.password : undefined
  const right = await verified(engine, x, { subject, password, stored })
  if (right === wrong && passwordsOff) return wrongWherePasswordsAreOff
  if (right instanceof Refusal || found === undefined)
    return right instanceof Refusal ? right : wrong
  return { person: found.person, cookie: await beginSession(engine, x, found.person, subject) }
}

/** For a signed-in user: with a stolen session, passwords cannot be guessed either. */
export async function checkOldPassword(
  engine: BaseDeps & Seals,
  x: RequestContext,
  { personId, actor }: Viewer,
  password: string,
): Promise<true | Refusal> {
  const found = await findPassword(engine.store.read, actor)
  const subject = `person ${personId}`
  const right = await verified(engine, x, { subject, password, stored: found?.password })
  if (right !== wrong) return right instanceof Refusal ? right : true
  return refuse('invalid_request', 'the old password is wrong', { param: 'old' })
}

export async function beginSession(
  engine: BaseDeps & Seals,
  x: RequestContext,
  person: Person,
  cleared?: string,
): Promise<string> {
  const secret = newSecret('')
  const nowMs = engine.clock.nowMs()
  await engine.store.tx(async (tx) => {
    await forgetOld(tx, nowMs - forgottenMs)
    if (cleared !== undefined) await clearFailures(tx, cleared)
    await insertSession(tx, {
      hash: engine.seal.hash(secret),
      personId: person.id,
      createdAtMs: nowMs,
      seenAtMs: nowMs,
      address: x.connection.ip() ?? 'unknown',
      agent: (x.request.headers.get('user-agent') ?? '').slice(0, 200),
    })
  })
  return `${cookieName}=${secret}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${maxMs / 1000}`
}

export const endedCookie = `${cookieName}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`

export const cookieOf = ({ request }: RequestContext): string | undefined =>
  new RegExp(`(?:^|; *)${cookieName}=([A-Za-z0-9]{20,80})(?:;|$)`).exec(
    request.headers.get('cookie') ?? '',
  )?.[1]

/** Whose session it is; undefined when it has ended or never was. */
export async function viewerOf(
  engine: BaseDeps & Seals,
  secret: string,
  passwordsOff = false,
): Promise<Viewer | undefined> {
  const hash = engine.seal.hash(secret)
  const found = await findSession(engine.store.read, hash)
  if (found === undefined || found.person.disabled) return undefined
  const { session, person } = found
  const isByPassword = person.subject === undefined
  if (passwordsOff && isByPassword && !(await mayUsePassword(engine, person, true))) {
    return undefined
  }
  const nowMs = engine.clock.nowMs()
  if (nowMs - session.seenAtMs > idleMs || nowMs - session.createdAtMs > maxMs) {
    await engine.store.tx((tx) => endSession(tx, hash))
    return undefined
  }
  if (nowMs - session.seenAtMs > touchEveryMs) {
    await engine.store.tx((tx) => touchSession(tx, hash, nowMs))
  }
  const { id: personId, name: actor, role, accountId } = person
  return { actor, role, personId, ...(accountId !== undefined && { accountId }) }
}

/** A page of another site cannot make a browser use its session here. */
export function isOwnPage({ request }: RequestContext): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = request.headers.get('origin')
  return origin !== null && URL.parse(origin)?.host === request.headers.get('host')
}

/** Another port of this machine is another page, too, and cookies do not know ports. */
export function isForeignPage({ request }: RequestContext): boolean {
  const site = request.headers.get('sec-fetch-site')
  return site !== null && site !== 'same-origin' && site !== 'none'
}
