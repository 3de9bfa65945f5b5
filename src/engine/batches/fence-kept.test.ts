// Of a gateway that lost its batch between an answer and its charge, and the one that goes on with the batch,
// one charges the line: whichever writes first.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Batch } from '../../contract/batches/index.ts'
import { claimBatch, insertBatch } from '../../store/batches/batches.ts'
import { putLines, takeDone } from '../../store/batches/lines.ts'
import { findAccount, insertAccount } from '../../store/catalog/accounts.ts'
import type { Store } from '../../store/index.ts'
import { evictGateway, moveCredit } from '../../store/ledger/credit-leases.ts'
import { aRequest, charged, newPlace, type Place, storeKinds } from '../../store/test-stores.ts'
import { fenceKept } from './fence-kept.ts'

const batch: Batch = {
  ...{ id: 'batch_1', accountId: 'acc_1', tokenId: 'tok_1', inputFileId: 'file-1' },
  ...{ endpoint: '/v1/chat/completions', state: 'in_progress', total: 2, completed: 0, failed: 0 },
  ...{ chargeNanos: 0n, createdAtMs: 1, expiresAtMs: 2 },
}

if (!storeKinds.includes('postgres')) {
  console.error('left out: late charges of a lost batch (set TEST_POSTGRES_URL)')
} else {
  describe('a gateway that lost its batch', () => {
    let place: Place
    let lost: Store
    let next: Store

    beforeAll(async () => {
      place = await newPlace('postgres')
      lost = await place.open({ join: true })
      next = await place.open({ join: true })
      await lost.tx(async (tx) => {
        await insertAccount(tx, { id: 'acc_1', name: 'acme', source: 'api', createdAtMs: 1 })
        await insertBatch(tx, batch)
      })
      await lease(lost)
    })
    afterAll(async () => {
      await lost.close()
      await next.close()
      await place.remove()
    })

    const lease = (store: Store) =>
      store.tx((tx) =>
        moveCredit(tx, { accountId: 'acc_1', gatewayId: store.cluster!.gatewayId }, () => ({
          ...{ nanos: 40n, isShort: false },
        })),
      )

    test('charges nothing once the next one goes on, also when it is back at once', async () => {
      const [before, after] = [aRequest(), aRequest()]
      await lost.tx((tx) => claimBatch(tx, 'postgres', batch.id, lost.cluster!.gatewayId))
      const kept = (line: number, { requestId }: typeof before) => ({
        ...{ batchId: batch.id, line, requestId, failed: false, answer: '' },
      })
      await lost.tx((tx) => putLines(tx, [kept(1, before), kept(2, after)]))
      await lost.record(charged(before, 7n))
      await next.tx((tx) => evictGateway(tx, lost.cluster!.gatewayId))
      expect(
        await next.tx((tx) => claimBatch(tx, 'postgres', batch.id, next.cluster!.gatewayId)),
      ).toBeDefined()
      await fenceKept(next, batch)
      await lost.tx(async (tx) => {
        const row = { id: lost.cluster!.gatewayId, lock_key: 77, started_at_ms: 1 }
        await tx.insertInto('gateways').values(row).execute()
      })
      await lease(lost)
      await lost.record(charged(after, 7n))
      const page = { done: [{ line: 1, failed: 0 }], last: 2 }
      expect(await next.tx((tx) => takeDone(tx, batch.id, 0, 10))).toEqual(page)
      expect(await next.tx((tx) => takeDone(tx, batch.id, 1, 10))).toBeUndefined()
      expect((await findAccount(next.read, 'acc_1'))?.balanceNanos).toBe(-7n)
    })
  })
}
