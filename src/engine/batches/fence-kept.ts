// A gateway that lost a batch may still be about to charge lines whose answers it has kept. Before their lines
// run again, the id of each such call gets a row without a charge: ids are unique, so that exactly one of the
// two rows exists, and a charge that comes later changes nothing.
import type { Batch, batchEndpoints } from '../../contract/batches/index.ts'
import type { Interface } from '../../contract/catalog.ts'
import type { RequestRecord } from '../../contract/requests.ts'
import { unchargedIds } from '../../store/batches/lines.ts'
import type { Store } from '../../store/index.ts'

const interfaceOf: Readonly<Record<(typeof batchEndpoints)[number], Interface>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
  '/v1/embeddings': 'embeddings',
}

/** Where no other process can have the database open, none is left that could charge. */
export async function fenceKept(store: Store, batch: Batch): Promise<void> {
  if (store.cluster === undefined) return
  const ids = await unchargedIds(store.read, batch.id)
  await Promise.all(ids.map((id) => store.record(unchargedRow(batch, id, store.clock.nowMs()))))
}

const unchargedRow = (
  { accountId, tokenId, endpoint }: Batch,
  requestId: string,
  atMs: number,
): RequestRecord => ({
  ...{ requestId, atMs, accountId, tokenId, model: '' },
  interface: interfaceOf[endpoint as keyof typeof interfaceOf],
  ...{ status: 503, errorCode: 'overloaded', chargeNanos: 0n, totalMs: 0 },
  detail: {
    ...{ stream: false, ending: 'failed', attempts: [] },
    error: 'its gateway lost the batch before the charge was written; the line was run again',
  },
})
