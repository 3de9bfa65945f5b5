// gateway bill close-all, send-all, archive, totals and links to bills: a month of all accounts, a bill for people who
// do not sign in, who sends it, and the export for other programs.
import {
  archiveQuery,
  type BillMails,
  billLink,
  type ClosedMonths,
  failedMail,
  focusQuery,
  linkQuery,
  linksQuery,
  mailsQuery,
  refusedClosing,
  type SentBill,
  type SentMonth,
  totalsQuery,
} from '../../admin/closing/closing-schema.ts'
import { issuerDeclaration } from '../../contract/config-schema/issuer.ts'
import { askCommand } from '../terminal/ask.ts'
import { columnsOf, filtersOf, flagsOf } from '../terminal/columns.ts'
import type { Command, Context, Outcome } from '../terminal/command.ts'
import { saveFile } from '../terminal/save-file.ts'
import { cell, record, rowOf, rowsOf, table } from '../terminal/show.ts'

/** Page by page; what was closed before an error stays closed, and the same command goes on. */
async function closeAll({ line, admin }: Context): Promise<Outcome> {
  const note = line.text('note')
  const month = line.arg(0)
  const sum: ClosedMonths = { month, closed: 0, already_closed: 0, refused: [], next_cursor: null }
  do {
    const cursor = sum.next_cursor ?? undefined
    const answer = await admin.ask('POST', '/bills/close-all', { body: { month, note, cursor } })
    const page = answer as ClosedMonths
    sum.closed += page.closed
    sum.already_closed += page.already_closed
    sum.refused.push(...page.refused)
    sum.next_cursor = page.next_cursor
  } while (sum.next_cursor !== null)
  const counts = `${month}  ${sum.closed} closed, ${sum.already_closed} closed before, ${sum.refused.length} refused`
  const refused = sum.refused.length === 0 ? [] : [table(sum.refused, columnsOf(refusedClosing))]
  return { answer: sum, text: [counts, ...refused].join('\n\n'), ok: sum.refused.length === 0 }
}

/** Page by page; what was sent before an error stays sent, and the same command goes on. */
async function sendAll({ line, admin }: Context): Promise<Outcome> {
  const [month, lang] = [line.arg(0), line.text('lang')]
  let cursor: string | undefined
  do {
    const answer = await admin.ask('POST', '/bills/send-all', { body: { month, lang, cursor } })
    cursor = (answer as SentMonth).next_cursor ?? undefined
  } while (cursor !== undefined)
  return mailsOutcome(await admin.ask('GET', '/bills/mails', { query: { month } }))
}

async function sendOne({ line, admin }: Context): Promise<Outcome> {
  const body = { account: line.arg(0), month: line.arg(1), lang: line.text('lang') }
  const answer = (await admin.ask('POST', '/bills/send', { body })) as SentBill
  const { account, month, email, sent, reason } = answer
  const what = sent ? `sent to ${cell(email)}` : `not sent to ${cell(email)}: ${cell(reason)}`
  return { answer, text: `${cell(account)}  ${month}  ${what}`, ok: sent }
}

function mailsOutcome(answer: unknown): Outcome {
  const sent = answer as BillMails
  const counts =
    `${sent.month}  ${sent.sent} of ${sent.closed} closed bills sent, ${sent.left} left, ` +
    `${sent.failed} failed, ${sent.without_address} without an address`
  const failed = sent.failures.length === 0 ? [] : [table(sent.failures, columnsOf(failedMail))]
  const names = sent.accounts_without_address.map(cell).join(', ')
  const text = [counts, ...failed, ...(names === '' ? [] : [`no address: ${names}`])].join('\n\n')
  return { answer, text, ok: sent.sent === sent.closed }
}

async function saveArchive({ line, admin }: Context): Promise<Outcome> {
  const month = line.arg(0)
  const file = line.text('out') ?? `bills-${month}.zip`
  const query = { month, lang: line.text('lang') }
  return saveFile(await admin.open('GET', '/bills/archive', { query }), file, 'the archive')
}

async function saveFocus({ line, admin }: Context): Promise<Outcome> {
  const query = filtersOf(focusQuery, line)
  const file = line.text('out') ?? `focus-${query['from']}-${query['to']}.csv`
  return saveFile(await admin.open('GET', '/exports/focus', { query }), file, 'the table')
}

const { lang } = flagsOf(archiveQuery)

const linkFlags = linkQuery.omit({ account: true })
const linksFlags = linksQuery.omit({ account: true })

export const monthCommands: readonly Command[] = [
  {
    path: ['bill', 'close-all'],
    args: ['MONTH'],
    summary: 'close a month for all accounts, and tell which cannot be closed',
    flags: { note: { value: 'TEXT', summary: 'goes onto the bills' } },
    run: closeAll,
  },
  {
    path: ['bill', 'send-all'],
    args: ['MONTH'],
    summary: 'send the closed bills of a month to their accounts by e-mail, each once',
    flags: { lang: lang! },
    run: sendAll,
  },
  {
    path: ['bill', 'send'],
    args: ['ACCOUNT', 'MONTH'],
    summary: 'send one closed bill by e-mail, also one that was sent before',
    flags: { lang: lang! },
    run: sendOne,
  },
  {
    path: ['bill', 'mails'],
    args: [],
    summary: 'how many bills of a month were sent by e-mail, and which were not',
    flags: flagsOf(mailsQuery),
    run: async ({ line, admin }) =>
      mailsOutcome(await admin.ask('GET', '/bills/mails', { query: filtersOf(mailsQuery, line) })),
  },
  {
    path: ['bill', 'archive'],
    args: ['MONTH'],
    summary: 'save all bills of a month as one ZIP: a page to print for each, and a table',
    flags: { lang: lang!, out: { value: 'FILE', summary: 'where (bills-MONTH.zip)' } },
    run: saveArchive,
  },
  {
    path: ['bill', 'focus'],
    args: [],
    summary: 'save charges and refunds of some days as a table of FOCUS 1.2',
    flags: {
      ...flagsOf(focusQuery),
      out: { value: 'FILE', summary: 'where (focus-FROM-TO.csv)' },
    },
    run: saveFocus,
  },
  askCommand({
    path: ['issuer', 'show'],
    summary: 'who sends the bills',
    call: 'GET /issuer',
    text: ({ issuer }) => record(rowOf(issuer)),
  }),
  askCommand({
    path: ['issuer', 'set'],
    summary: 'say who sends the bills that are closed from now on',
    call: 'PUT /issuer',
    input: { schema: issuerDeclaration },
    text: ({ issuer }) => record(rowOf(issuer)),
  }),
  askCommand({
    path: ['bill', 'totals'],
    summary: 'a month of all accounts, added up',
    flags: flagsOf(totalsQuery),
    call: 'GET /bills/totals',
    query: ({ line }) => filtersOf(totalsQuery, line),
  }),
  askCommand({
    path: ['bill', 'link'],
    args: ['ACCOUNT'],
    summary: 'a link to a printable bill that needs no sign-in, until it expires or is revoked',
    flags: flagsOf(linkFlags),
    call: 'POST /bills/link',
    query: ({ line }) => ({ account: line.arg(0), ...filtersOf(linkFlags, line) }),
  }),
  askCommand({
    path: ['bill', 'links'],
    args: ['ACCOUNT'],
    summary: 'the links to bills of an account that still work',
    flags: flagsOf(linksFlags),
    call: 'GET /bills/links',
    query: ({ line }) => ({ account: line.arg(0), ...filtersOf(linksFlags, line) }),
    text(answer) {
      const rows = rowsOf(answer)
      return rows.length === 0 ? 'no links' : table(rows, columnsOf(billLink))
    },
  }),
  askCommand({
    path: ['bill', 'revoke-link'],
    args: ['ID'],
    summary: 'revoke a link to a bill: from now on it shows nothing',
    call: 'DELETE /bills/links/:id',
    text: (_, { line }) => `revoked ${cell(line.arg(0))}`,
  }),
]
