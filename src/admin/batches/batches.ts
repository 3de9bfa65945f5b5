// Batches: listing, looking at one, and cancelling. How a batch moves is the engine's business.
import { estimateOf } from '../../billing/charge.ts'
import type { Batch } from '../../contract/batches/index.ts'
import { Refusal } from '../../contract/errors.ts'
import type { BaseDeps } from '../../engine/base-deps.ts'
import { cancelBatch } from '../../engine/batches/batches.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { findAnyBatch, listAllBatches } from '../../store/batches/batches.ts'
import { namesOfTokens, type TokenNames } from '../../store/catalog/tokens.ts'
import type { Page } from '../../store/index.ts'
import { auditChange, listOf, time, timeOrNull } from '../answers.ts'
import { forAll, forOperators, owning } from '../permission.ts'
import { type Ask, routesOf, type View } from '../route.ts'
import { batchList, batchQuery, type listedBatch, shownBatch } from './batch-schema.ts'

async function viewPage({ store }: BaseDeps, page: Page<Batch>): Promise<View<typeof batchList>> {
  const ids = [...new Set(page.items.map(({ tokenId }) => tokenId))]
  const names = await namesOfTokens(store.read, ids)
  return listOf(page, (batch) => viewOf(batch, names.get(batch.tokenId)))
}

const viewBatch = async (engine: BaseDeps, batch: Batch): Promise<View<typeof shownBatch>> => ({
  ...(await viewPage(engine, { items: [batch] })).items[0]!,
  errors: [...(batch.errors ?? [])],
})

const viewOf = (batch: Batch, names: TokenNames | undefined): View<typeof listedBatch> => {
  const { total, completed, failed } = batch
  return {
    created_at: time(batch.createdAtMs),
    id: batch.id,
    account_id: batch.accountId,
    account: names?.account ?? null,
    token_id: batch.tokenId,
    token: names?.token ?? null,
    endpoint: batch.endpoint,
    state: batch.state,
    progress: total === 0 ? 0 : Math.floor((100 * (completed + failed)) / total),
    request_counts: { total, completed, failed },
    charge: formatNanos(batch.chargeNanos),
    estimate: estimateIn(batch),
    metadata: { ...batch.metadata },
    input_file_id: batch.inputFileId,
    output_file_id: batch.outputFileId ?? null,
    error_file_id: batch.errorFileId ?? null,
    in_progress_at: timeOrNull(batch.in_progressAtMs),
    finalizing_at: timeOrNull(batch.finalizingAtMs),
    cancelling_at: timeOrNull(batch.cancellingAtMs),
    finished_at: timeOrNull(finishedAtMs(batch)),
    expires_at: time(batch.expiresAtMs),
  }
}

function estimateIn(batch: Batch): string | null {
  const ended = batch.completed + batch.failed
  if (ended === 0 || finishedAtMs(batch) !== undefined) return null
  return formatNanos(estimateOf(batch.chargeNanos, ended, batch.total))
}

const finishedAtMs = (batch: Batch): number | undefined =>
  batch.completedAtMs ?? batch.failedAtMs ?? batch.expiredAtMs ?? batch.cancelledAtMs

async function cancel({ engine, found, x }: Ask<{ found: Batch }>) {
  const cancelled = await cancelBatch(engine, found, found.id, (tx, was, now) => {
    const change = { before: { state: was }, after: { state: now } }
    return auditChange(tx, x, { action: 'batch.cancel', subject: found.id, ...change })
  })
  return cancelled instanceof Refusal ? cancelled : viewBatch(engine, cancelled)
}

const batchRoute = routesOf({
  tag: 'Tasks',
  thing: 'batch',
  param: 'Id of a batch.',
  permission: owning(forAll, 'batch'),
  find: ({ store }, id) => findAnyBatch(store.read, id),
})

export const batchRoutes = [
  batchRoute('GET /batches', {
    id: 'listAllBatches',
    permission: forAll,
    summary: 'List batches of all accounts, newest first',
    query: batchQuery,
    answer: batchList,
    async handle({ engine, query: { state }, account, page }) {
      const filter = { ...page, accountId: account?.id, state }
      return viewPage(engine, await listAllBatches(engine.store.read, filter))
    },
  }),
  batchRoute('GET /batches/:id', {
    id: 'showBatch',
    summary: 'Get a batch: progress, charge so far and times',
    answer: shownBatch,
    handle: ({ engine, found }) => viewBatch(engine, found),
  }),
  batchRoute('POST /batches/:id/cancel', {
    id: 'cancelAnyBatch',
    permission: forOperators,
    summary: 'Cancel a batch; lines under way still end',
    answer: shownBatch,
    refusals: ['conflict', 'batch_not_found'],
    handle: cancel,
  }),
]
