// Signing in: passwords, sessions and what happens to whoever guesses. Knows no page and no role's
// powers; access.ts does.

import { type Refusal, refuse } from '../contract/errors.ts'
import type { Person, Viewer } from '../contract/people.ts'
import type { Engine } from '../engine/engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { newSecret } from '../lib/ids.ts'
import {
  clearFailures,
  endSession,
  findFailures,
  findPassword,
  findSession,
  forgetOld,
  insertSession,
  noteFailure,
  touchSession,
} from '../store/people.ts'

/** A browser sends it back only where it came from, over TLS or on this machine. */
const cookieName = '__Host-gateway-session'
const idleMs = 60 * 60_000
const longestMs = 12 * 3_600_000
/** How often it is written down that a session is in use. */
const touchEveryMs = 60_000
const forgottenMs = 7 * 24 * 3_600_000
/** Hashing takes memory on purpose: only so many at once. */
const mostHashes = 4
const hashing = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

export const leastPassword = 12
export const mostPassword = 256

let busy = 0

/** Undefined when too many are being hashed already. */
async function oneOfFew<T>(work: () => Promise<T>): Promise<T | undefined> {
  if (busy >= mostHashes) return undefined
  busy++
  return work().finally(() => {
    busy--
  })
}

export const hashPassword = (password: string): Promise<string> =>
  Bun.password.hash(password, hashing)

let nobodys: Promise<string> | undefined

/** Checked against when there is no such person, so that both take as long. */
function nobodysPassword(): Promise<string> {
  nobodys ??= hashPassword(newSecret(''))
  return nobodys
}

/** Failures that are free, and how long one has to wait after each further one. */
const freeFailures = { name: 5, address: 20 }
const waitsMs = [5_000, 15_000, 60_000, 300_000, 900_000]

const subjectsOf = (name: string, address: string) => [`name ${name}`, `address ${address}`]

async function waitMsFor(engine: Engine, subjects: readonly string[], nowMs: number) {
  const free = [freeFailures.name, freeFailures.address]
  let mostMs = 0
  for (const [i, subject] of subjects.entries()) {
    const found = await findFailures(engine.store.read, subject)
    if (found === undefined || found.failures < free[i]!) continue
    const step = Math.min(found.failures - free[i]!, waitsMs.length - 1)
    mostMs = Math.max(mostMs, found.lastAtMs + waitsMs[step]! - nowMs)
  }
  return mostMs
}

const tooManyAt = (waitMs: number): Refusal =>
  refuse('rate_limit_exceeded', 'too many sign-ins failed; wait a little', {
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  })

const wrong = refuse('invalid_api_key', 'the name or the password is wrong')

/** The cookie of a new session, or why not. */
export async function signIn(
  engine: Engine,
  x: Exchange,
  { name, password }: { name: string; password: string },
): Promise<{ person: Person; cookie: string } | Refusal> {
  const nowMs = engine.clock.nowMs()
  const address = x.connection.ip() ?? 'unknown'
  const subjects = subjectsOf(name.toLowerCase(), address)
  const waitMs = await waitMsFor(engine, subjects, nowMs)
  if (waitMs > 0) return tooManyAt(waitMs)
  const found = await findPassword(engine.store.read, name.toLowerCase())
  const stored = found?.password ?? (await nobodysPassword())
  const right = await oneOfFew(() => Bun.password.verify(password, stored))
  if (right === undefined) return tooManyAt(1_000)
  if (!right || found === undefined || found.person.disabled) {
    await engine.store.tx(async (tx) => {
      for (const subject of subjects) await noteFailure(tx, subject, nowMs)
    })
    return wrong
  }
  return { person: found.person, cookie: await beginSession(engine, x, found.person, subjects) }
}

export async function beginSession(
  engine: Engine,
  x: Exchange,
  person: Person,
  cleared: readonly string[] = [],
): Promise<string> {
  const secret = newSecret('')
  const nowMs = engine.clock.nowMs()
  await engine.store.tx(async (tx) => {
    await forgetOld(tx, nowMs - forgottenMs)
    if (cleared.length > 0) await clearFailures(tx, cleared)
    await insertSession(tx, {
      hash: engine.seal.hash(secret),
      personId: person.id,
      createdAtMs: nowMs,
      seenAtMs: nowMs,
      address: x.connection.ip() ?? 'unknown',
      agent: (x.request.headers.get('user-agent') ?? '').slice(0, 200),
    })
  })
  return `${cookieName}=${secret}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=${longestMs / 1000}`
}

export const endedCookie = `${cookieName}=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0`

export const cookieOf = ({ request }: Exchange): string | undefined =>
  new RegExp(`(?:^|; *)${cookieName}=([A-Za-z0-9]{20,80})(?:;|$)`).exec(
    request.headers.get('cookie') ?? '',
  )?.[1]

/** Whose session it is; undefined when it has ended or never was. */
export async function viewerOf(engine: Engine, secret: string): Promise<Viewer | undefined> {
  const hash = engine.seal.hash(secret)
  const found = await findSession(engine.store.read, hash)
  if (found === undefined || found.person.disabled) return undefined
  const { session, person } = found
  const nowMs = engine.clock.nowMs()
  if (nowMs - session.seenAtMs > idleMs || nowMs - session.createdAtMs > longestMs) {
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
export function isOwnPage({ request }: Exchange): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = request.headers.get('origin')
  return origin !== null && URL.parse(origin)?.host === request.headers.get('host')
}

/** Another port of this machine is another page, too, and cookies do not know ports. */
export function isForeignPage({ request }: Exchange): boolean {
  const site = request.headers.get('sec-fetch-site')
  return site !== null && site !== 'same-origin' && site !== 'none'
}
