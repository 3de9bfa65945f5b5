// Refunds: a charge, or a part of it, goes back to the account, with a link to what it was for.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { refuse } from '../../contract/errors.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { formatNanos, parseNanos } from '../../lib/text/decimal.ts'
import { findEntries } from '../../store/ledger/entries.ts'
import { findRequest } from '../../store/log/requests.ts'
import { auditChange, notFound } from '../answers.ts'
import { forFinance } from '../permission.ts'
import type { Ask } from '../route.ts'
import { money } from '../schema.ts'
import { taskRoute } from '../tasks/tasks.ts'
import { requestRoute } from './requests.ts'

const order = z
  .strictObject({
    amount: z
      .string({ error: 'must be a decimal in quotes, such as "0.50"' })
      .refine(
        (text) => (parseNanos(text) ?? 0n) > 0n,
        'must be a decimal above 0, at most 9 places',
      )
      .optional()
      .describe('Left out: all that is left of the charge.'),
    reason: z.string().trim().min(1).max(500),
  })
  .meta({ id: 'RefundOrder' })

const refund = z
  .object({
    id: z.string(),
    entry_id: z.string().describe('Of the ledger.'),
    amount: money(),
    refunded: money().describe('All that was given back of the charge.'),
  })
  .meta({ id: 'Refund' })

type Asked = Pick<Ask<{ body: typeof order }>, 'engine' | 'body' | 'header' | 'x'>

async function book(
  { engine, body, header, x }: Asked,
  of: { accountId: string; id: string; action: 'request.refund' | 'task.refund' },
) {
  const key = header('idempotency-key')
  const ref = key === undefined ? newShortId('rfd', x.atMs) : refundId(of.id, key)
  const { amount, reason } = body
  const amountNanos = amount === undefined ? undefined : parseNanos(amount)!
  const { accountId, id: refundOf } = of
  const step = engine.ledger.refund({ ref, refundOf, accountId, amountNanos, reason, atMs: x.atMs })
  const done = await step.commit(() =>
    engine.store.tx(async (tx) => {
      const written = await step.write(tx)
      if (typeof written === 'string' || written.isRepeated) return written
      const after = { refund: ref, amount: formatNanos(written.amountNanos), reason }
      await auditChange(tx, x, { action: of.action, subject: refundOf, after })
      return written
    }, accountId),
  )
  if (typeof done !== 'string') {
    engine.jobs.emptyAccounts.credited(accountId)
    return {
      id: ref,
      entry_id: String(done.entryId),
      amount: formatNanos(done.amountNanos),
      refunded: formatNanos(done.refundedNanos),
    }
  }
  if (done === 'mismatch') {
    return refuse('idempotency_mismatch', 'this Idempotency-Key was used for another refund')
  }
  return done === 'nothing_to_refund'
    ? refuse(done, `there is no charge of '${refundOf}' that could be given back`)
    : refuse(done, 'that is more than is left of the charge', { param: 'amount' })
}

/** The same for the same key. */
const refundId = (of: string, key: string): string =>
  `rfd_${createHash('sha256')
    .update(JSON.stringify([of, key]))
    .digest('hex')
    .slice(0, 32)}`

/** Its row may be gone from the log while the ledger still has its charge. */
async function refundRequest(ask: Ask<{ body: typeof order }>) {
  const { read } = ask.engine.store
  const row = (await findRequest(read, ask.id)).at(-1)
  const id = row?.requestId ?? ask.id
  const charge = (await findEntries(read, id)).find(
    ({ kind, ref }) => kind === 'charge' && ref === id,
  )
  const accountId = charge?.accountId ?? row?.accountId
  if (accountId === undefined || !id.startsWith('req_')) return notFound('request', ask.id)
  const { taskId } = row?.detail ?? {}
  if (charge === undefined && taskId !== undefined) {
    return refuse('nothing_to_refund', `the charge is of its task '${taskId}': refund that`)
  }
  return book(ask, { accountId, id, action: 'request.refund' })
}

const plan = {
  permission: forFinance,
  requestHeaders: { 'Idempotency-Key': 'Booked once for each key.' },
  body: order,
  examples: {
    all: { reason: 'the answer was cut off' },
    part: { amount: '0.50', reason: 'goodwill' },
  },
  answer: refund,
  status: 201,
  returns: 'What was given back.',
  refusals: ['nothing_to_refund', 'refund_exceeds_charge', 'idempotency_mismatch'],
} as const

export const refundRoutes = [
  requestRoute('POST /requests/:id/refunds', {
    ...plan,
    id: 'refundRequest',
    summary: 'Give back the charge of a request, or a part of it',
    handle: refundRequest,
  }),
  taskRoute('POST /tasks/:id/refunds', {
    ...plan,
    id: 'refundTask',
    summary: 'Give back the charge of a task, or a part of it',
    handle: (ask) =>
      book(ask, { accountId: ask.found.accountId, id: ask.found.id, action: 'task.refund' }),
  }),
]
