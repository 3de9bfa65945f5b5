// What callers do with batches that exist: read and cancel. The runner does the rest.
import type { Batch, BatchState } from '../../contract/batches/index.ts'
import type { Token } from '../../contract/catalog.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { findBatch, lockOwnBatch, updateBatch } from '../../store/batches/batches.ts'
import type { Tx } from '../../store/index.ts'
import type { BatchApiDeps } from './create-batch.ts'
import type { FileDeps } from './files.ts'

const batchNotFound = (id: string): Refusal =>
  refuse('batch_not_found', `there is no batch '${id.slice(0, 80)}'`)

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
