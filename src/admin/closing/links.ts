// Links to a printable bill for people who do not sign in: a link shows one month of one account until it
// expires, and nothing else. Nothing is stored; the link carries what it shows, signed.
import { timingSafeEqual } from 'node:crypto'
import { billPage } from '../../billing/bills/page/page.ts'
import { readBill } from '../../billing/bills/read-bill.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Seals } from '../../engine/base-deps.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import { text } from '../../http/schema.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { auditChange, time } from '../answers.ts'
import { answerPage, billOf } from '../money/bills.ts'
import { forAnyone, forFinanceAndMembers } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { billLink, linkQuery, sharedQuery } from './closing-schema.ts'

const defaultDays = 30
const dayMs = 24 * 3_600_000

interface Shared {
  accountId: string
  month: string
  language: 'en' | 'zh'
  /** In seconds. */
  until: number
}

const signatureOf = ({ seal }: Seals, { accountId, month, language, until }: Shared): string =>
  seal.sign(`bill ${accountId} ${month} ${language} ${until}`)

const codeOf = (engine: Seals, shared: Shared): string =>
  [shared.accountId, shared.month, shared.language, shared.until, signatureOf(engine, shared)].join(
    '.',
  )

async function makeLink({ engine, deps, query, account, x }: Ask<{ query: typeof linkQuery }>) {
  const asked = billOf(engine, account!, query.month)
  if (asked instanceof Refusal) return asked
  const expiresAtMs = engine.clock.nowMs() + (query.days ?? defaultDays) * dayMs
  const until = Math.floor(expiresAtMs / 1_000)
  const { accountId, month } = asked
  const code = codeOf(engine, { accountId, month, language: query.lang ?? 'en', until })
  const expires_at = time(until * 1_000)
  await engine.store.tx((tx) =>
    auditChange(tx, x, { action: 'bill.link', subject: accountId, after: { month, expires_at } }),
  )
  const base = deps.consoleUrl ?? engine.publicUrl
  return { url: `${base}/admin/v1/bills/shared?code=${code}`, expires_at }
}

const badLink = refuse('not_found', 'this link is not valid, or it has expired')

/** What a code names; undefined for a forged or expired one. */
function sharedIn(engine: Seals, code: string, nowMs: number): Shared | undefined {
  const [, accountId, month, language, until, given] =
    /^([\w-]+)\.(\d{4}-\d{2})\.(en|zh)\.(\d{10,12})\.([0-9a-f]{32})$/.exec(code) ?? []
  if (accountId === undefined) return undefined
  const shared = {
    accountId,
    month: month!,
    language: language as 'en' | 'zh',
    until: Number(until),
  }
  const isSigned = timingSafeEqual(Buffer.from(given!), Buffer.from(signatureOf(engine, shared)))
  return isSigned && shared.until * 1_000 > nowMs ? shared : undefined
}

async function showShared({ engine, query, x }: Ask<{ query: typeof sharedQuery }>) {
  const nowMs = engine.clock.nowMs()
  const shared = sharedIn(engine, query.code ?? '', nowMs)
  const account = shared && (await findAccount(engine.store.read, shared.accountId))
  if (shared === undefined || account === undefined) return badLink
  const asked = billOf(engine, account, shared.month)
  if (asked instanceof Refusal) return asked
  const bill = await readBill(billDeps(engine), asked)
  return answerPage(x, billPage(bill, { language: shared.language, nowMs }))
}

const route = routesOf({ tag: 'Bills', thing: 'link', permission: forFinanceAndMembers })

export const billLinkRoutes = [
  route('POST /bills/link', {
    id: 'linkBill',
    summary: 'Make a link to a bill for people who do not sign in',
    description: 'The link shows the printable bill of that month until it expires.',
    query: linkQuery,
    answer: billLink,
    status: 201,
    handle: makeLink,
  }),
  route('GET /bills/shared', {
    id: 'showSharedBill',
    permission: forAnyone,
    summary: 'The printable bill of a link',
    query: sharedQuery,
    files: { 'text/html': text() },
    returns: 'A page.',
    refusals: ['not_found'],
    handle: showShared,
  }),
]
