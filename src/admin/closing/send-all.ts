// Sends the closed bills of a month to their accounts by e-mail, some of them per call, one call at a time over
// all gateways. A bill is marked as sent when a mail server has taken it: if the gateway dies between the two, it
// is sent again, as the same message.
import { readBill } from '../../billing/bills/read-bill.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { tryLock } from '../../store/index.ts'
import { countSentBills, listUnsentBills, putBillMail } from '../../store/ledger/bill-mails.ts'
import { findClosedMonth } from '../../store/ledger/closed-months.ts'
import { cursorAt, textCursor } from '../../store/sql/cursor.ts'
import { auditChange, notFound } from '../answers.ts'
import { billOf, monthIn } from '../money/bills.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { billMail } from './bill-mail.ts'
import {
  billMails,
  mailsQuery,
  sendAllRequest,
  sendRequest,
  sentBill,
  sentMonth,
} from './closing-schema.ts'
import { cannotMail } from './mail-link.ts'

const billsPerCall = 50
/** No further mail is begun after this: a mail server may take seconds for each. */
const maxCallMs = 10_000
const maxNamed = 1_000
/** Arbitrary, but no release may change it. */
const sendLock = 7_203_114_506

type SendAsk = Ask<{ body: typeof sendAllRequest }>

/** A bill and where it goes. */
interface Addressed {
  /** Of the account. */
  id: string
  name: string
  month: string
  email: string
  /** A message of its own, although it may have been sent before. */
  isAgain?: boolean
}

async function sendAll(ask: SendAsk) {
  const { engine, body, x } = ask
  const month = monthIn(engine, body.month)
  if (month instanceof Refusal) return month
  if (engine.mailer === undefined) return refuse('invalid_request', cannotMail(engine))
  const after = body.cursor === undefined ? '' : textCursor(body.cursor)
  x.connection.keepOpen()
  const done = await tryLock(engine.store, sendLock, () => sendSome(ask, month, after))
  if (done === undefined) {
    return refuse('conflict', 'bills are being sent already; GET /bills/mails shows how far it is')
  }
  return { ...(await countsOf(ask, month)), ...done }
}

async function sendSome(ask: SendAsk, month: string, after: string) {
  const { engine } = ask
  const page = await listUnsentBills(engine.store.read, month, { after, limit: billsPerCall })
  const endMs = performance.now() + maxCallMs
  const failures: { account: string; email: string; reason: string }[] = []
  let handled = 0
  for (const unsent of page) {
    if (performance.now() > endMs) break
    handled++
    if (unsent.email === null) continue
    const { accountId: id, account: name, email } = unsent
    const reason = await sendBill(ask, { id, name, month, email })
    if (reason !== undefined)
      failures.push({ account: unsent.account, email: unsent.email, reason })
  }
  const isAll = page.length < billsPerCall && handled === page.length
  const next_cursor = isAll ? null : cursorAt(page[handled - 1]!.accountId)
  return { failures, next_cursor }
}

/** Why it was not sent. */
async function sendBill(
  { engine, body, x }: Pick<SendAsk, 'engine' | 'x'> & { body: Pick<SendAsk['body'], 'lang'> },
  { id: accountId, name, month, email, isAgain = false }: Addressed,
): Promise<string | undefined> {
  const asked = billOf(engine, { id: accountId, name }, month)
  if (asked instanceof Refusal) return asked.message
  const bill = await readBill(billDeps(engine), asked)
  const atMs = engine.clock.nowMs()
  const mail = billMail(bill, body.lang ?? 'en', atMs)
  crashPoint('bill-sending')
  const sent =
    bill.differences.length > 0
      ? { problem: 'the closed bill is not what the ledger says; see the bill' }
      : await engine.mailer!.send({
          ...mail,
          ...(isAgain && { id: `${mail.id}-${atMs}` }),
          to: email,
          atMs,
        })
  const isSent = 'status' in sent && sent.status !== undefined && sent.status < 300
  const problem = isSent ? undefined : (sent.problem ?? 'the mail server did not take it')
  crashPoint('bill-sent')
  await engine.store.tx(async (tx) => {
    await putBillMail(tx, {
      accountId,
      month,
      email,
      atMs,
      ...(problem !== undefined && { problem }),
    })
    if (!isSent) return
    const after = { month, number: bill.number ?? null, email }
    await auditChange(tx, x, { action: 'bill.send', subject: accountId, after })
  })
  return problem
}

/** One bill, whether or not it was sent before. */
async function sendOne({ engine, body, x }: Ask<{ body: typeof sendRequest }>) {
  const month = monthIn(engine, body.month)
  if (month instanceof Refusal) return month
  if (engine.mailer === undefined) return refuse('invalid_request', cannotMail(engine))
  const found = await findAccount(engine.store.read, body.account)
  if (found === undefined) return notFound('account', body.account)
  const { id, name } = found
  const email = found.profile?.email
  if (email === undefined) {
    return refuse('invalid_request', `account '${name}' has no email`, { param: 'account' })
  }
  if ((await findClosedMonth(engine.store.read, id, month)) === undefined) {
    return refuse('conflict', `${month} of ${name} is open; only closed bills are sent`)
  }
  x.connection.keepOpen()
  const addressed = { id, name, month, email, isAgain: true }
  const done = await tryLock(engine.store, sendLock, async () => ({
    reason: (await sendBill({ engine, body, x }, addressed)) ?? null,
  }))
  if (done === undefined) return refuse('conflict', 'bills are being sent already; try again later')
  return { account: name, month, email, sent: done.reason === null, ...done }
}

async function countsOf({ engine }: Pick<Ask, 'engine'>, month: string) {
  const { withoutAddress, ...counts } = await countSentBills(engine.store.read, month)
  const left = counts.closed - counts.sent - counts.failed - withoutAddress
  return { month, ...counts, left, without_address: withoutAddress }
}

async function show(ask: Ask<{ query: typeof mailsQuery }>) {
  const { engine, query } = ask
  const month = monthIn(engine, query.month)
  if (month instanceof Refusal) return month
  const failures: { account: string; email: string; reason: string }[] = []
  const withoutAddress: string[] = []
  for (let after = ''; ; ) {
    const page = await listUnsentBills(engine.store.read, month, { after, limit: maxNamed })
    for (const { account, email, failed } of page) {
      if (email === null) withoutAddress.push(account)
      else if (failed !== null)
        failures.push({ account, email: failed.email, reason: failed.problem })
    }
    if (page.length < maxNamed) break
    after = page.at(-1)!.accountId
  }
  return {
    ...(await countsOf(ask, month)),
    failures: failures.slice(0, maxNamed),
    accounts_without_address: withoutAddress.slice(0, maxNamed),
  }
}

const route = routesOf({ tag: 'Bills', thing: 'month', permission: forFinance })

export const sendAllRoutes = [
  route('POST /bills/send-all', {
    id: 'sendMonth',
    summary: 'Send the closed bills of a month to their accounts by e-mail',
    description:
      'Sends up to 50 bills per call, each once. Ask again with `next_cursor` until it is null. Without a cursor it ' +
      'begins anew: bills that were sent are left out, and failed ones are tried again.',
    body: sendAllRequest,
    examples: { month: { month: '2026-10' } },
    answer: sentMonth,
    returns: 'How far the month is, and what failed.',
    refusals: ['conflict'],
    handle: sendAll,
  }),
  route('POST /bills/send', {
    id: 'sendBill',
    summary: 'Send one closed bill by e-mail, also one that was sent before',
    body: sendRequest,
    examples: { one: { account: 'acme', month: '2026-10' } },
    answer: sentBill,
    returns: 'Where it went, or why not.',
    refusals: ['not_found', 'conflict'],
    handle: sendOne,
  }),
  route('GET /bills/mails', {
    id: 'showSentMonth',
    summary: 'How many bills of a month were sent by e-mail, and which were not',
    query: mailsQuery,
    answer: billMails,
    returns: 'The counts, and the accounts that got none.',
    handle: show,
  }),
]
