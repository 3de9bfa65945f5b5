// Links to a printable bill for people who do not sign in: a link shows one month of one account until it
// expires or is revoked, and nothing else. The link is signed; its row says what it shows.
import { timingSafeEqual } from 'node:crypto'
import { badLinkPage, billPage } from '../../billing/bills/page/page.ts'
import { readBill } from '../../billing/bills/read-bill.ts'
import { nameOnBills } from '../../contract/config-schema/profile-fields.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Viewer } from '../../contract/people.ts'
import type { Seals } from '../../engine/base-deps.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { text } from '../../http/schema.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import {
  type BillLink,
  deleteBillLink,
  findBillLink,
  forgetBillLinks,
  insertBillLink,
  listBillLinks,
} from '../../store/ledger/bill-links.ts'
import { auditChange, notFound, time } from '../answers.ts'
import { answerPage, billOf } from '../money/bills.ts'
import { forAnyone, forFinanceAndMembers, owning } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { deleted } from '../schema.ts'
import { billLinkList, linkQuery, linksQuery, newBillLink, sharedQuery } from './closing-schema.ts'
import { mailLink, mailProblem } from './mail-link.ts'

const defaultDays = 30
const dayMs = 24 * 3_600_000
/** More than one account hands out in 90 days. */
const maxLinks = 200

const signatureOf = ({ seal }: Seals, id: string): string => seal.sign(`bill link ${id}`)

async function makeLink(ask: Ask<{ query: typeof linkQuery }>) {
  const { engine, deps, query, account, x } = ask
  const asked = billOf(engine, account!, query.month)
  if (asked instanceof Refusal) return asked
  const unable = mailProblem(ask)
  if (unable !== undefined) return unable
  const link = linkFrom(ask, asked)
  const { id, accountId, month } = link
  const view = linkView(link, account!.name, ask.viewer)
  const isMade = await engine.store.tx(async (tx) => {
    await forgetBillLinks(tx, link.createdAtMs)
    const open = await listBillLinks(tx, { accountId, nowMs: link.createdAtMs })
    if (open.length >= maxLinks) return false
    await insertBillLink(tx, link)
    const { expires_at, emailed_to } = view
    const after = { id, month, expires_at, ...(emailed_to !== null && { email: emailed_to }) }
    await auditChange(tx, x, { action: 'bill.link', subject: accountId, after })
    return true
  })
  if (!isMade) {
    return refuse('conflict', `there are ${maxLinks} links to bills of this account; revoke some`)
  }
  const code = `${id}.${signatureOf(engine, id)}`
  const url = `${deps.consoleUrl ?? engine.publicUrl}/admin/v1/bills/shared?code=${code}`
  const customer = nameOnBills(account!.name, account!.profile)
  const failed = await mailLink(ask, { ...link, account: customer, url })
  if (failed === undefined) return { ...view, url }
  // The link reached its reader nowhere: it must not stay open.
  await revokeLink(ask, link)
  return failed
}

function linkFrom(
  { engine, query, viewer }: Ask<{ query: typeof linkQuery }>,
  { accountId, month }: { accountId: string; month: string },
): BillLink {
  const nowMs = engine.clock.nowMs()
  return {
    id: newShortId('link', nowMs),
    accountId,
    month,
    language: query.lang ?? 'en',
    ...(query.email !== undefined && { email: query.email }),
    createdBy: viewer?.actor ?? 'gateway',
    isByMember: viewer?.role === 'member',
    createdAtMs: nowMs,
    expiresAtMs: nowMs + (query.days ?? defaultDays) * dayMs,
  }
}

/** Members are not told which person of the operator made a link. */
const linkView = (link: BillLink, account: string, viewer: Viewer | undefined) => ({
  id: link.id,
  account,
  month: link.month,
  lang: link.language,
  emailed_to: link.email ?? null,
  created_by: viewer?.role === 'member' && !link.isByMember ? null : link.createdBy,
  created_at: time(link.createdAtMs),
  expires_at: time(link.expiresAtMs),
})

async function listLinks({ engine, query, account, viewer }: Ask<{ query: typeof linksQuery }>) {
  const { id: accountId, name } = account!
  const nowMs = engine.clock.nowMs()
  const found = await listBillLinks(engine.store.read, { accountId, month: query.month, nowMs })
  return { items: found.map((link) => linkView(link, name, viewer)), next_cursor: null }
}

const revokeLink = (
  { engine, x }: Pick<Ask, 'engine' | 'x'>,
  { id, accountId, month }: BillLink,
): Promise<boolean> =>
  engine.store.tx(async (tx) => {
    if (!(await deleteBillLink(tx, id))) return false
    const before = { id, month }
    await auditChange(tx, x, { action: 'bill.link_revoke', subject: accountId, before })
    return true
  })

async function revoke(ask: Ask<{ found: BillLink }>) {
  const { id, found } = ask
  return (await revokeLink(ask, found)) ? { id, deleted: true as const } : notFound('link', id)
}

const badLink = refuse('not_found', 'this link is not valid: it has expired or was revoked')

/** People open links in browsers. */
function answerBadLink(x: RequestContext): Refusal | Response {
  const { headers } = x.request
  if (!headers.get('accept')?.includes('text/html')) return badLink
  const language = /^zh\b/i.test(headers.get('accept-language') ?? '') ? 'zh' : 'en'
  return answerPage(x, badLinkPage(language), 404)
}

/** The id in a code; undefined for a forged one, which costs no look into the store. */
function idIn(engine: Seals, code: string): string | undefined {
  const [, id, given] = /^(link_[0-9a-f]+)\.([0-9a-f]{32})$/.exec(code) ?? []
  if (id === undefined) return undefined
  return timingSafeEqual(Buffer.from(given!), Buffer.from(signatureOf(engine, id))) ? id : undefined
}

async function showShared({ engine, query, x }: Ask<{ query: typeof sharedQuery }>) {
  const nowMs = engine.clock.nowMs()
  const { read } = engine.store
  const id = idIn(engine, query.code ?? '')
  const link = id === undefined ? undefined : await findBillLink(read, id, nowMs)
  const account = link && (await findAccount(read, link.accountId))
  if (link === undefined || account === undefined) return answerBadLink(x)
  const asked = billOf(engine, account, link.month)
  if (asked instanceof Refusal) return asked
  const bill = await readBill(billDeps(engine), asked)
  return answerPage(x, billPage(bill, { language: link.language, nowMs }))
}

const route = routesOf({
  tag: 'Bills',
  thing: 'link',
  permission: forFinanceAndMembers,
  find: ({ store, clock }, id) => findBillLink(store.read, id, clock.nowMs()),
})

export const billLinkRoutes = [
  route('POST /bills/link', {
    id: 'linkBill',
    summary: 'Make a link to a bill for people who do not sign in',
    description: 'The link shows the printable bill of that month until it expires or is revoked.',
    query: linkQuery,
    answer: newBillLink,
    status: 201,
    refusals: ['conflict'],
    handle: makeLink,
  }),
  route('GET /bills/links', {
    id: 'listBillLinks',
    summary: 'The links to bills of an account that still work',
    query: linksQuery,
    answer: billLinkList,
    returns: 'All of them, without their addresses.',
    handle: listLinks,
  }),
  route('DELETE /bills/links/:id', {
    id: 'revokeBillLink',
    permission: owning(forFinanceAndMembers, 'bill link'),
    summary: 'Revoke a link to a bill: from now on it shows nothing',
    answer: deleted,
    handle: revoke,
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
