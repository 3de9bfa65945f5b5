// Compares entries with their subjects, both ways: charges with requests and tasks, holds with
// tasks.

import { loadPrices } from '../../store/catalog/prices.ts'
import { logHorizonMs } from '../../store/log/watermark.ts'
import { type AuditScope, uncharged } from '../../store/proof/audit.ts'
import { type Books, chargePages, shortNanos } from '../../store/proof/audit-chain.ts'
import {
  mischargedTasks,
  misheldParts,
  misheldTasks,
  paidTwice,
  unmatchedHolds,
} from '../../store/proof/audit-tasks.ts'
import { type ChargeDeps, problemOfCharge } from './audit-charges.ts'
import { type Findings, maxOfEach } from './audit-findings.ts'

export async function matchEntries(
  books: Books,
  scope: AuditScope,
  findings: Findings,
  pause: () => Promise<void> = async () => {},
): Promise<void> {
  const { db } = books
  const prices = new Map((await loadPrices(db)).map((price) => [price.id, price]))
  const deps: ChargeDeps = {
    priceOf: (id) => prices.get(id),
    lossOf: (ref) => shortNanos(db, ref),
    logHorizonMs: await logHorizonMs(db),
  }
  for await (const page of chargePages(books, scope)) {
    for (const row of page) {
      const wrong = await problemOfCharge(row, deps)
      if (wrong === undefined) continue
      const { account_id: accountId, id: entryId, ref } = row
      findings.add(wrong.check, { accountId, entryId, ref, problem: wrong.problem })
    }
    await pause()
  }
  findings.addAll('charges_and_requests', await uncharged(db, scope, maxOfEach))
  findings.addAll('charges_and_tasks', await mischargedTasks(db, scope, maxOfEach))
  findings.addAll('charged_once', await paidTwice(db, scope, maxOfEach))
  findings.addAll('holds', await misheldTasks(db, scope, maxOfEach))
  findings.addAll('holds', await misheldParts(db, scope, maxOfEach))
  findings.addAll('holds', await unmatchedHolds(db, scope, maxOfEach))
}
