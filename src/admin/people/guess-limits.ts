// Limits against guessing: of a name at an address, and of an address over all names and codes. A guess
// counts as a failure before it is checked, in the store, so that guesses at the same time and at
// several gateways are seen by each other; what was no failure is taken back. Knows no password.
import ipaddr from 'ipaddr.js'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import {
  addFailures,
  type Failures,
  findFailures,
  forgetFailures,
  lockFailures,
} from '../../store/catalog/people.ts'

/** Failures that are free, and how long one has to wait after each further one. */
const freeFailures = 5
const waitsMs = [5_000, 15_000, 60_000, 300_000, 900_000]
/** A failure counts for so long after the last one; also bounds how many are kept. */
const failuresKeptMs = 3_600_000

/** Failures of one address in ten minutes, counted by the minute. */
const maxOfAddress = 30
const minuteMs = 60_000
const countedMinutes = 10

/** One caller has a whole /64 of IPv6. */
export function addressOf({ connection }: RequestContext): string {
  const text = connection.ip()
  if (text === undefined || !ipaddr.isValid(text)) return text ?? 'unknown'
  const address = ipaddr.process(text)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  return new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()
}

/** A guess that counts as a failure until it is taken back. */
export interface Guess {
  /** Rows that count it; the address comes first, in every gateway. */
  subjects: readonly string[]
}

const minuteOf = (nowMs: number): number => Math.floor(nowMs / minuteMs)
const addressKey = (address: string, minute: number): string => `address ${address} ${minute}`

/** Counts a guess, or refuses it. `subject`: who is guessed at; absent: only the address counts. */
export async function countGuess(
  { store, clock }: BaseDeps,
  x: RequestContext,
  subject?: string,
): Promise<Guess | Refusal> {
  const nowMs = clock.nowMs()
  const address = addressOf(x)
  const waits = async (db: typeof store.read): Promise<Refusal | undefined> =>
    refusalFor(
      Math.max(
        await waitOfAddress(db, address, nowMs),
        subject === undefined ? 0 : await waitOfSubject(db, subject, nowMs),
      ),
    )
  // Those who have to wait are refused without a write.
  const refusal = await waits(store.read)
  if (refusal !== undefined) return refusal
  const subjects = [
    addressKey(address, minuteOf(nowMs)),
    ...(subject === undefined ? [] : [subject]),
  ]
  return store.tx(async (tx): Promise<Guess | Refusal> => {
    await forgetFailures(tx, nowMs - failuresKeptMs)
    for (const each of subjects) await lockFailures(tx, each, nowMs)
    const late = await waits(tx)
    if (late !== undefined) return late
    for (const each of subjects) await addFailures(tx, each, 1, nowMs)
    return { subjects }
  })
}

/** It was none, or could not be checked. */
export const takeBack = ({ store, clock }: BaseDeps, { subjects }: Guess): Promise<void> =>
  store.tx(async (tx) => {
    for (const each of subjects) await addFailures(tx, each, -1, clock.nowMs())
  })

async function waitOfSubject(
  db: BaseDeps['store']['read'],
  subject: string,
  nowMs: number,
): Promise<number> {
  const [found] = await findFailures(db, [subject])
  if (found === undefined || found.failures < freeFailures) return 0
  const waitMs = waitsMs[Math.min(found.failures - freeFailures, waitsMs.length - 1)]!
  // A clock that was set back does not make it longer.
  return Math.min(waitMs, found.lastAtMs + waitMs - nowMs)
}

/** Until enough of its failures are more than ten minutes old. */
async function waitOfAddress(
  db: BaseDeps['store']['read'],
  address: string,
  nowMs: number,
): Promise<number> {
  const now = minuteOf(nowMs)
  const minutes = Array.from({ length: countedMinutes + 1 }, (_, ago) => now - ago).reverse()
  const keys = minutes.map((minute) => addressKey(address, minute))
  const found = new Map((await findFailures(db, keys)).map((each) => [each.subject, each]))
  let left = sumOf(found.values())
  if (left < maxOfAddress) return 0
  for (const [at, minute] of minutes.entries()) {
    left -= found.get(keys[at]!)?.failures ?? 0
    if (left < maxOfAddress) return (minute + countedMinutes + 1) * minuteMs - nowMs
  }
  return 0
}

const sumOf = (found: Iterable<Failures>): number => {
  let sum = 0
  for (const { failures } of found) sum += failures
  return sum
}

const refusalFor = (waitMs: number): Refusal | undefined =>
  waitMs <= 0
    ? undefined
    : refuse('rate_limit_exceeded', 'too many sign-ins failed; wait a little', {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      })

/** Wrong codes within a minute, from all callers; further ones have to wait. */
const wrongPerMinute = 20
let wrongCodes = { count: 0, sinceMs: 0 }

/**
 * Why a wrong code of a set-up link or an invitation is not looked at any more, if there were too many
 * of them. They count for the address as failed sign-ins do. A right one is always taken.
 */
export async function countWrongCode(
  engine: BaseDeps,
  x: RequestContext,
): Promise<Refusal | undefined> {
  const nowMs = engine.clock.nowMs()
  if (Math.abs(nowMs - wrongCodes.sinceMs) > 60_000) wrongCodes = { count: 0, sinceMs: nowMs }
  wrongCodes.count++
  if (wrongCodes.count > wrongPerMinute) {
    return refuse('rate_limit_exceeded', 'too many wrong codes; wait a minute', {
      retryAfterSeconds: 60,
    })
  }
  const counted = await countGuess(engine, x)
  return counted instanceof Refusal ? counted : undefined
}
