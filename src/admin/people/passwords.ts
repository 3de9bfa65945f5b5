// Passwords: hashed and checked with argon2id, few at a time. The work runs on the threads that name
// look-ups use as well, so most of them stay free, and those who wait take turns by where they come from.
import { availableParallelism } from 'node:os'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { newSecret } from '../../lib/crypto/ids.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'

const hashing = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** At least one thread stays free for name look-ups, also on the smallest machine. */
const concurrency = Math.max(1, Math.min(2, availableParallelism() - 1))
const semaphore = new FairSemaphore({ concurrency, queue: 32, queuePerKey: 8 })

/** Of people who are signed in, or who have a set-up code: not held up by those who guess. */
const staffKey = 'staff'

const passwordsBusy: Refusal = refuse(
  'rate_limit_exceeded',
  'many passwords are being checked; try again in a moment',
  { retryAfterSeconds: 1 },
)

export const hashPassword = async (password: string): Promise<string | Refusal> =>
  (await semaphore.run(staffKey, () => Bun.password.hash(password, hashing))) ?? passwordsBusy

let unusable: Promise<string> | undefined

/** `stored` undefined: there is no such person, which takes as long to find out. */
export async function checkPassword(
  key: string,
  password: string,
  stored: string | undefined,
): Promise<boolean | Refusal> {
  const right = await semaphore.run(key, async () => {
    unusable ??= Bun.password.hash(newSecret(''), hashing)
    return Bun.password.verify(password, stored ?? (await unusable))
  })
  return right === undefined ? passwordsBusy : right && stored !== undefined
}
