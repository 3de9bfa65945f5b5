// The link with which the first administrator is made: printed at every start while there is nobody,
// by each of several gateways its own. Good for a day; when one is used, all of them are.
import type { Engine } from '../engine/engine.ts'
import { newSecret } from '../lib/ids.ts'
import type { Seal } from '../lib/seal.ts'
import type { Tx } from '../store/index.ts'
import { getMeta, setMeta, touchMeta } from '../store/meta.ts'
import { listPeople } from '../store/people.ts'

const key = 'setup_code'
const goodForMs = 24 * 3_600_000

/** More starts than this in a day leave the oldest links behind. */
const mostCodes = 32

interface Code {
  untilMs: number
  hash: string
}

const readCodes = async (tx: Tx, nowMs: number): Promise<Code[]> =>
  (JSON.parse((await getMeta(tx, key)) || '[]') as Code[]).filter(({ untilMs }) => untilMs > nowMs)

/** Undefined when somebody is there already. */
export async function newSetupCode({ store, seal, clock }: Engine): Promise<string | undefined> {
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
    await setMeta(tx, key, JSON.stringify(codes.slice(-mostCodes)))
    return code
  })
}

/** True once, for a right code, while there is nobody. */
export async function useSetupCode(
  tx: Tx,
  seal: Seal,
  code: string,
  nowMs: number,
): Promise<boolean> {
  await touchMeta(tx, key, '[]')
  const hash = seal.hash(code)
  if (!(await readCodes(tx, nowMs)).some((each) => each.hash === hash)) return false
  if ((await listPeople(tx)).length > 0) return false
  await setMeta(tx, key, '[]')
  return true
}
