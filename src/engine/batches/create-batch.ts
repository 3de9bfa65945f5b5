// Creates batches, once per idempotency key: key and batch share a transaction.
import type { Batch, BatchCreate, CreatedBatch } from '../../contract/batches/index.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { sureNowMs } from '../../lib/clock.ts'
import { fingerprintOf } from '../../lib/crypto/fingerprint.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { countLiveOf, findBatch, hasMadeSince, insertBatch } from '../../store/batches/batches.ts'
import { keepUntil } from '../../store/batches/files.ts'
import type { Tx } from '../../store/index.ts'
import { type CreateName, findCreate, insertCreate } from '../../store/tasks/create-keys.ts'
import type { Jobs } from '../jobs.ts'
import { keysSinceMs, mismatch } from '../tasks/create/idempotency.ts'
import { type FileDeps, fileNotFound, readFile } from './files.ts'

export interface BatchApiDeps extends FileDeps {
  readonly jobs: Pick<Jobs, 'batches'>
}

const windowMs = 86_400_000
const keptAfterMs = 3_600_000
/** Of one account. */
const maxLive = 100
const maxPerHour = 2_000
const hourMs = 3_600_000

interface Keyed extends CreateName {
  fingerprint: string
}

export async function createBatch(
  deps: BatchApiDeps,
  token: Token,
  create: BatchCreate,
): Promise<CreatedBatch | Refusal> {
  const keyed = await keyedCreate(token, create)
  // Its input may be gone by now.
  const first = await findFirst(deps, keyed)
  if (first !== undefined) return first
  const file = await readFile(deps, token, create.inputFileId)
  if (file instanceof Refusal) {
    return withParam(file)
  }
  if (file.purpose !== 'batch') {
    const message = "the input of a batch must be a file with purpose 'batch'"
    return refuse('invalid_request', message, { param: 'input_file_id' })
  }
  const batch = newBatch(token, create, deps.clock.nowMs())
  const made = await deps.store.tx((tx) => insert(deps, tx, batch, keyed))
  // Deleted meanwhile.
  if (made === 'no file') return withParam(fileNotFound(batch.inputFileId))
  if (made === 'too many') {
    const message = `an account may have at most ${maxLive} batches that have not ended`
    return refuse('rate_limit_exceeded', message, { retryAfterSeconds: 60 })
  }
  if (made === 'too often') {
    const message = `an account may create at most ${maxPerHour} batches in an hour`
    return refuse('rate_limit_exceeded', message, { retryAfterSeconds: 60 })
  }
  if (made === 'taken') return (await findFirst(deps, keyed)) ?? mismatch
  deps.jobs.batches.wake()
  return { batch, replayed: false }
}

const withParam = ({ code, message }: Refusal): Refusal =>
  refuse(code, message, { param: 'input_file_id' })

async function keyedCreate(
  { accountId }: Token,
  { key, ...wanted }: BatchCreate,
): Promise<Keyed | undefined> {
  if (key === undefined) return undefined
  return { accountId, path: '/v1/batches', key, fingerprint: await fingerprintOf(wanted) }
}

async function findFirst(
  { store, clock }: BatchApiDeps,
  keyed: Keyed | undefined,
): Promise<CreatedBatch | Refusal | undefined> {
  if (keyed === undefined) return undefined
  const first = await findCreate(store.read, keyed, keysSinceMs(clock))
  if (first === undefined) return undefined
  if (first.fingerprint !== keyed.fingerprint) return mismatch
  const batch = await findBatch(store.read, keyed.accountId, first.taskId)
  return batch && { batch: asCreated(batch), replayed: true }
}

async function insert(
  { clock }: BatchApiDeps,
  tx: Tx,
  batch: Batch,
  keyed: Keyed | undefined,
): Promise<'made' | 'taken' | 'too many' | 'too often' | 'no file'> {
  const { accountId, createdAtMs } = batch
  if ((await countLiveOf(tx, accountId)) >= maxLive) return 'too many'
  if (await hasMadeSince(tx, accountId, maxPerHour, createdAtMs - hourMs)) return 'too often'
  // It lives as long as it may be read.
  const untilMs = batch.expiresAtMs + keptAfterMs
  if (!(await keepUntil(tx, batch.inputFileId, untilMs))) return 'no file'
  if (keyed !== undefined) {
    const row = { ...keyed, taskId: batch.id, createdAtMs: sureNowMs(clock) }
    if (!(await insertCreate(tx, row, keysSinceMs(clock)))) return 'taken'
  }
  await insertBatch(tx, batch)
  return 'made'
}

const unrun = { state: 'validating', total: 0, completed: 0, failed: 0, chargeNanos: 0n } as const

const newBatch = (
  token: Token,
  { inputFileId, endpoint, metadata, tags }: BatchCreate,
  nowMs: number,
): Batch => ({
  id: newId('batch', nowMs),
  accountId: token.accountId,
  tokenId: token.id,
  ...{ endpoint, inputFileId, ...unrun },
  createdAtMs: nowMs,
  expiresAtMs: nowMs + windowMs,
  ...(tags !== undefined && { tags }),
  ...(metadata !== undefined && { metadata }),
})

/** As first answered, before any progress. */
const asCreated = (batch: Batch): Batch => ({
  id: batch.id,
  accountId: batch.accountId,
  tokenId: batch.tokenId,
  ...{ endpoint: batch.endpoint, inputFileId: batch.inputFileId, ...unrun },
  createdAtMs: batch.createdAtMs,
  expiresAtMs: batch.expiresAtMs,
  ...(batch.metadata !== undefined && { metadata: batch.metadata }),
})
