// The link with which the first administrator is made: printed at every start while there is no user,
// by each of several gateways its own. Good for a day; when one is used, all of them are.
import { timingSafeEqual } from 'node:crypto'
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { BaseDeps, Seals } from '../../engine/base-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { newSecret } from '../../lib/crypto/ids.ts'
import type { Seal } from '../../lib/crypto/seal.ts'
import { listPeople } from '../../store/catalog/people.ts'
import type { Tx } from '../../store/index.ts'
import { getMeta, setMeta, touchMeta } from '../../store/sql/meta.ts'
import { countWrongCode } from './guess-limits.ts'

const key = 'setup_code'
const goodForMs = 24 * 3_600_000

/** More starts than this in a day leave the oldest links behind. */
const maxCodes = 32

interface Code {
  untilMs: number
  hash: string
}

const readCodes = async (tx: Tx, nowMs: number): Promise<Code[]> =>
  (JSON.parse((await getMeta(tx, key)) || '[]') as Code[]).filter(({ untilMs }) => untilMs > nowMs)

const hasCode = (codes: readonly Code[], hash: string): boolean =>
  codes.some((each) => timingSafeEqual(Buffer.from(each.hash), Buffer.from(hash)))

/** Undefined when there is a user already. */
export async function newSetupCode({
  store,
  seal,
  clock,
}: BaseDeps & Seals): Promise<string | undefined> {
  const code = newSecret('')
  const nowMs = clock.nowMs()
  return store.tx(async (tx) => {
    if ((await listPeople(tx)).length > 0) return undefined
    // Writing is the lock both engines know: of two that start at once, both links are good.
    await touchMeta(tx, key, '[]')
    const codes = [
      ...(await readCodes(tx, nowMs)),
      { untilMs: nowMs + goodForMs, hash: seal.hash(code) },
    ]
    await setMeta(tx, key, JSON.stringify(codes.slice(-maxCodes)))
    return code
  })
}

export const codeUsed = refuse(
  'conflict',
  'this link has been used or has expired; restart for one',
)

/** Why this code does not make an administrator; found out at little cost. A right one always counts. */
export async function wrongCode(
  engine: BaseDeps & Seals,
  x: RequestContext,
  code: string,
): Promise<Refusal | undefined> {
  const { store, seal, clock } = engine
  const codes = await readCodes(store.read, clock.nowMs())
  const isRight = hasCode(codes, seal.hash(code))
  if (isRight && (await listPeople(store.read)).length === 0) return undefined
  return (await countWrongCode(engine, x)) ?? codeUsed
}

/** True once, for a right code, while there is no user. */
export async function useSetupCode(
  tx: Tx,
  seal: Seal,
  code: string,
  nowMs: number,
): Promise<boolean> {
  await touchMeta(tx, key, '[]')
  if (!hasCode(await readCodes(tx, nowMs), seal.hash(code))) return false
  if ((await listPeople(tx)).length > 0) return false
  await setMeta(tx, key, '[]')
  return true
}
