// Links to a printable bill for people who do not sign in: a link shows one month of one account until it
// expires, and nothing else. Nothing is stored; the link carries what it shows, signed.
import { timingSafeEqual } from 'node:crypto'
import { billPage } from '../../billing/bills/page/page.ts'
import { readBill } from '../../billing/bills/read-bill.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import type { Seals } from '../../engine/base-deps.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import { text } from '../../http/schema.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { auditChange, notPermitted, time } from '../answers.ts'
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

async function makeLink(ask: Ask<{ query: typeof linkQuery }>) {
  const { engine, deps, query, account, x } = ask
  const asked = billOf(engine, account!, query.month)
  if (asked instanceof Refusal) return asked
  const unable = mailProblem(ask)
  if (unable !== undefined) return unable
  const expiresAtMs = engine.clock.nowMs() + (query.days ?? defaultDays) * dayMs
  const until = Math.floor(expiresAtMs / 1_000)
  const { accountId, month } = asked
  const language = query.lang ?? 'en'
  const code = codeOf(engine, { accountId, month, language, until })
  const expires_at = time(until * 1_000)
  const url = `${deps.consoleUrl ?? engine.publicUrl}/admin/v1/bills/shared?code=${code}`
  const after = { month, expires_at, ...(query.email !== undefined && { email: query.email }) }
  await engine.store.tx((tx) =>
    auditChange(tx, x, { action: 'bill.link', subject: accountId, after }),
  )
  if (query.email !== undefined) {
    const mail = mailText(language, { account: asked.account, month, url, expires_at })
    const failed = await sendMail(ask, query.email, mail)
    if (failed !== undefined) return failed
  }
  return { url, expires_at, emailed_to: query.email ?? null }
}

/** Members send no mail: the gateway would be a way to reach any address in its name. */
function mailProblem({ engine, query, viewer }: Ask<{ query: typeof linkQuery }>) {
  if (query.email === undefined) return undefined
  if (viewer?.role === 'member') return notPermitted(viewer)
  if (engine.mailer !== undefined) return undefined
  const missing = engine.missingForMail.join(' and ')
  const message = `e-mail cannot be sent: ${missing} must be set where the gateway starts`
  return refuse('invalid_request', message, { param: 'email' })
}

async function sendMail(
  { engine, x }: Ask<{ query: typeof linkQuery }>,
  to: string,
  mail: { subject: string; text: string },
): Promise<Refusal | undefined> {
  const sent = await engine.mailer!.send({ id: newId('mail', x.atMs), to, ...mail, atMs: x.atMs })
  if (sent.status !== undefined && sent.status < 300) return undefined
  const why = sent.problem ?? 'the mail server did not take it'
  return refuse('conflict', `the e-mail was not sent: ${why}`, { param: 'email' })
}

interface MailFacts {
  account: string
  month: string
  url: string
  expires_at: string
}

const mailText = (language: 'en' | 'zh', { account, month, url, expires_at }: MailFacts) =>
  language === 'zh'
    ? {
        subject: `${account} ${month} 账单`,
        text: `${account} 的 ${month} 账单：\n\n${url}\n\n链接有效期至 ${expires_at}。\n`,
      }
    : {
        subject: `Bill of ${account} for ${month}`,
        text: `The bill of ${account} for ${month}:\n\n${url}\n\nThe link works until ${expires_at}.\n`,
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
    refusals: ['conflict'],
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
