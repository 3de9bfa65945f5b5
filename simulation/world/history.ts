// The month before a world begins: calls that were charged in it, so that it has a bill and something to refund.
import { newId } from '../../src/lib/crypto/ids.ts'
import { cellsOf } from '../../src/store/dialects/group-commit-rows.ts'
import { cellsOfCall } from '../../src/store/rows/call-row.ts'
import type { CallerRecords } from '../callers/records.ts'
import { tokenOf } from '../callers/send-call.ts'
import { writerOf } from '../gateway/write-batch.ts'
import type { SimContext } from './context.ts'
import { textCosts } from './prices.ts'
import { models } from './settings.ts'

const callsOfAccount = 2
const fromMs = Date.UTC(2027, 0, 10)
const usage = { inputTokens: 100, outputTokens: 200, cacheReadTokens: 0, cacheWriteTokens: 0 }

export function writeHistory({ db }: SimContext, records: CallerRecords): void {
  const price = records.prices.get(`price_${models.text}`)!
  const cost = records.costs.find(({ channel }) => channel === 'talk-a')!
  const nanosOf = (of: typeof price) => textCosts(of, usage.inputTokens, usage.outputTokens)!
  const cells = records.accounts.flatMap(({ id: accountId }, at) =>
    Array.from({ length: callsOfAccount }, (_, number) => {
      const atMs = fromMs + (at * callsOfAccount + number) * 3_600_000
      return cellsOfCall({
        ...{ atMs, accountId, tokenId: tokenOf(accountId).id, totalMs: 0 },
        requestId: newId('req', atMs),
        ...{ interface: 'chat', model: models.text, channel: 'talk-a', status: 200 },
        ...{ priceId: price.id, usage, chargeNanos: nanosOf(price), costNanos: nanosOf(cost) },
        charge: { unit: 'token', quantity: 300 },
        detail: { stream: false, ending: 'complete', attempts: [] },
      })
    }),
  )
  const requests = cells.flatMap((each) => cellsOf(each))
  writerOf(db).records.write([{ requests, losses: [] }])
}
