// What callers do with batches: create, read, list, cancel. The runner does the rest.
import type { Batch, BatchCreate, BatchState } from '../../contract/batches/index.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { newId } from '../../lib/crypto/ids.ts'
import {
  countLiveOf,
  findBatch,
  insertBatch,
  lockOwnBatch,
  updateBatch,
} from '../../store/batches/batches.ts'
import { keepUntil } from '../../store/batches/files.ts'
import type { Tx } from '../../store/index.ts'
import type { Jobs } from '../jobs.ts'
import { type FileDeps, readFile } from './files.ts'

interface BatchApiDeps extends FileDeps {
  readonly jobs: Pick<Jobs, 'batches'>
}

const windowMs = 86_400_000
const keptAfterMs = 3_600_000
/** Of one account. */
const maxLive = 100

const batchNotFound = (id: string): Refusal =>
  refuse('batch_not_found', `there is no batch '${id.slice(0, 80)}'`)

export async function createBatch(
  deps: BatchApiDeps,
  token: Token,
  { inputFileId, endpoint, metadata, tags }: BatchCreate,
): Promise<Batch | Refusal> {
  const { store, clock, jobs } = deps
  const file = await readFile(deps, token, inputFileId)
  if (file instanceof Refusal) {
    return refuse(file.code, file.message, { param: 'input_file_id' })
  }
  if (file.purpose !== 'batch') {
    const message = "the input of a batch must be a file with purpose 'batch'"
    return refuse('invalid_request', message, { param: 'input_file_id' })
  }
  const nowMs = clock.nowMs()
  const batch: Batch = {
    id: newId('batch', nowMs),
    accountId: token.accountId,
    tokenId: token.id,
    ...{ endpoint, inputFileId, state: 'validating' },
    ...{ total: 0, completed: 0, failed: 0, chargeNanos: 0n },
    createdAtMs: nowMs,
    expiresAtMs: nowMs + windowMs,
    ...(tags !== undefined && { tags }),
    ...(metadata !== undefined && { metadata }),
  }
  const isMade = await store.tx(async (tx) => {
    if ((await countLiveOf(tx, token.accountId)) >= maxLive) return false
    await insertBatch(tx, batch)
    // It lives as long as it may be read.
    await keepUntil(tx, inputFileId, batch.expiresAtMs + keptAfterMs)
    return true
  })
  if (!isMade) {
    const message = `an account may have at most ${maxLive} batches that have not ended`
    return refuse('rate_limit_exceeded', message, { retryAfterSeconds: 60 })
  }
  jobs.batches.wake()
  return batch
}

export async function readBatch(
  { store }: Pick<FileDeps, 'store'>,
  { accountId }: Pick<Token, 'accountId'>,
  id: string,
): Promise<Batch | Refusal> {
  return (await findBatch(store.read, accountId, id)) ?? batchNotFound(id)
}

/**
 * Lines under way end; no other begins. One that has ended stays as it is. `changed` is called in the
 * transaction of the change.
 */
export async function cancelBatch(
  { store, clock, jobs }: BatchApiDeps,
  { accountId }: Pick<Token, 'accountId'>,
  id: string,
  changed?: (tx: Tx, was: BatchState, now: BatchState) => Promise<void>,
): Promise<Batch | Refusal> {
  const cancelled = await store.tx(async (tx) => {
    const now = await lockOwnBatch(tx, store.dialect, accountId, id)
    if (now === undefined || (now.state !== 'validating' && now.state !== 'in_progress')) return now
    const batch: Batch = { ...now, state: 'cancelling', cancellingAtMs: clock.nowMs() }
    await updateBatch(tx, batch)
    await changed?.(tx, now.state, batch.state)
    return batch
  })
  jobs.batches.wake()
  if (cancelled === undefined) return batchNotFound(id)
  const isPossible = cancelled.state === 'cancelling' || cancelled.state === 'cancelled'
  if (isPossible) return cancelled
  return refuse('conflict', `the batch '${id}' is ${cancelled.state} and cannot be cancelled`)
}
