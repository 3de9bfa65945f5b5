// The end of a batch: its outcomes become files of the account. State, files and notice change in one
// transaction.
import type { Batch, ReceivedFile } from '../../contract/batches/index.ts'
import { Refusal } from '../../contract/errors.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { nextTurn } from '../../lib/turns.ts'
import { type Claim, lockBatch, updateBatch } from '../../store/batches/batches.ts'
import { keepPending } from '../../store/batches/files.ts'
import { linesAfter, sumCharges } from '../../store/batches/lines.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { notify } from '../../store/deliveries/notices.ts'
import type { Tx } from '../../store/index.ts'
import type { Jobs } from '../jobs.ts'
import type { Meters } from '../telemetry/metrics/meters.ts'
import { dropFile, type FileDeps, writeFile } from './files.ts'

export interface EndDeps extends FileDeps {
  readonly jobs: Pick<Jobs, 'notices'>
  readonly meters?: Meters
}

/** Of a file, in memory at once. */
const pageLines = 100
const pageBytes = 256 * 1024
const keptMs = 30 * 86_400_000

export async function endBatch(deps: EndDeps, claim: Claim, batch: Batch): Promise<void> {
  const output = batch.completed > 0 ? await write(deps, batch, false) : undefined
  const errors = batch.failed > 0 ? await write(deps, batch, true) : undefined
  const chargeNanos = await sumCharges(deps.store.read, batch.id)
  crashPoint('batch-files')
  const ended = await deps.store.tx(async (tx) => {
    const now = await lockBatch(tx, deps.store.dialect, claim)
    if (now === undefined) return undefined
    const atMs = deps.clock.nowMs()
    const terms = { createdAtMs: atMs, expiresAtMs: atMs + keptMs }
    for (const [file, name] of [
      [output, 'output'],
      [errors, 'errors'],
    ] as const) {
      if (file === undefined) continue
      await keepPending(tx, file.id, { ...terms, filename: `${batch.id}_${name}.jsonl` })
    }
    const { completed, failed } = batch
    const state = now.state === 'cancelling' ? 'cancelled' : (now.ending ?? 'completed')
    const ended: Batch = {
      ...now,
      ...{ completed, failed, chargeNanos, state, [`${state}AtMs`]: atMs },
      ...(output !== undefined && { outputFileId: output.id }),
      ...(errors !== undefined && { errorFileId: errors.id }),
    }
    await updateBatch(tx, ended)
    await notifyEnded(tx, ended, atMs)
    return ended
  })
  if (ended !== undefined) countEnded(deps, ended)
  else for (const file of [output, errors]) if (file !== undefined) await dropFile(deps, file.id)
}

/** In the transaction in which it ends. */
export async function notifyEnded(tx: Tx, batch: Batch, atMs: number): Promise<void> {
  const account = await findAccount(tx, batch.accountId)
  await notify(tx, { type: 'batch.completed', atMs, data: noticeOf(batch, account?.name ?? '') })
}

/** After that transaction. */
export function countEnded({ jobs, meters }: Pick<EndDeps, 'jobs' | 'meters'>, batch: Batch): void {
  jobs.notices.wake()
  meters?.batchEnded(batch.state)
}

const noticeOf = (batch: Batch, account: string) => ({
  batch: batch.id,
  account,
  status: batch.state,
  request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
  charge: formatNanos(batch.chargeNanos),
})

async function write(
  deps: FileDeps,
  { id, accountId }: Batch,
  failed: boolean,
): Promise<ReceivedFile> {
  const lines = async function* () {
    for (let after = 0; ; ) {
      const page = { after, maxLines: pageLines, maxBytes: pageBytes }
      const rows = await linesAfter(deps.store.read, id, failed, page)
      if (rows.length === 0) return
      await nextTurn()
      const texts = rows.map(({ line, answer }) => deps.seal.decrypt(answer, `${id} ${line}`))
      yield Buffer.from(`${texts.join('\n')}\n`)
      after = rows.at(-1)!.line
    }
  }
  const written = await writeFile(deps, accountId, 'batch_output', lines())
  if (written instanceof Refusal) throw new Error(written.message)
  return written
}
