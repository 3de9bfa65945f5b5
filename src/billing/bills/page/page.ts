// A bill as a printable page: one HTML file without scripts or external resources. Does not know
// where the bill comes from.
import { createHash } from 'node:crypto'
import type { Issuer } from '../../../contract/config-schema/issuer.ts'
import type { TagKey } from '../../../contract/tags/index.ts'
import { monthBounds } from '../../../lib/text/month.ts'
import type { Bill } from '../bill.ts'
import type { ShownBill } from '../read-bill.ts'
import { createFormats, type Formats } from './formats.ts'
import { foreign, type Html, html } from './html.ts'
import { pageStyle } from './style.ts'
import { filled, type PageLanguage, type PageWords, pageLanguages } from './words.ts'

/** Nothing may be loaded, run, framed or sent from the page; its own style is allowed by hash. */
export const billPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface Print {
  words: PageWords
  say: Formats
  bill: ShownBill
}

/** Charges by the values of a tag, or by end user. */
interface GroupedCharges {
  key: TagKey
  items: readonly {
    tag?: string | null
    end_user?: string | null
    charges: number
    amount: string
  }[]
}

export function billPage(
  bill: ShownBill,
  { language, nowMs, by }: { language: PageLanguage; nowMs: number; by?: GroupedCharges },
): string {
  const words = pageLanguages[language]
  const print: Print = { words, bill, say: createFormats(language, bill.currency) }
  const { say } = print
  const page = html`${head(language, `${words.title} ${bill.account} ${bill.month}`)}
<body>
<header>
<div><h1>${words.title}</h1><p class="month">${say.month(monthBounds(bill.month)!.fromMs)}</p></div>
<div class="badge ${bill.state}">${words[bill.state]}</div>
</header>
${parties(print)}
${facts(print, nowMs)}
${notices(print)}
<h2>${words.summary}</h2>
${summary(print)}
<h2>${words.byModel}</h2>
${byModel(print)}
${bill.tokens.length === 0 ? '' : html`<h2>${words.byToken}</h2>${byToken(print)}`}
${by === undefined ? '' : byTag(print, by)}
<h2>${words.movements}</h2>
${movements(print)}
${footer(print)}
</body>
</html>
`
  return page.html
}

/** For a link that shows no bill any more. */
export function badLinkPage(language: PageLanguage): string {
  const { title, badLink } = pageLanguages[language]
  return html`${head(language, title)}
<body>
<header><h1>${title}</h1></header>
<p class="notice">${badLink}</p>
</body>
</html>
`.html
}

const head = (language: PageLanguage, title: string): Html => html`<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ html: pageStyle }}</style>
</head>`

/** Who sends it and who receives it, where that is known. */
function parties({ words, bill: { issuer, customer } }: Print): Html {
  const { name, legal_name, display_name, ...rest } = customer ?? {}
  const to = legal_name ?? display_name ?? (issuer == null ? undefined : name)
  if (issuer == null && to === undefined) return html``
  const from = issuer == null ? html`` : party(words, words.from, issuer)
  return html`<div class="parties">${from}${to === undefined ? '' : party(words, words.to, { ...rest, name: to })}</div>`
}

const party = (
  words: PageWords,
  title: string,
  { name, address = '', tax_id, email }: Issuer,
): Html =>
  html`<div><p class="aside">${title}</p><p><strong>${foreign(name)}</strong></p>
${address.split('\n').map((line) => html`<p>${foreign(line)}</p>`)}
${tax_id === undefined ? '' : html`<p>${words.taxId} ${foreign(tax_id)}</p>`}
${email === undefined ? '' : html`<p>${foreign(email)}</p>`}</div>`

function facts({ words, say, bill }: Print, nowMs: number): Html {
  const { fromMs, untilMs } = monthBounds(bill.month)!
  const state =
    bill.closed_at === null
      ? words[bill.state]
      : filled(words.closedAt, { date: say.moment(bill.closed_at) })
  const printed = say.moment(new Date(nowMs).toISOString())
  const rows: [string, Html | string][] = [
    ...(bill.number == null ? [] : [[words.number, bill.number] as [string, string]]),
    [words.account, html`${foreign(bill.account)} <span class="aside">${bill.account_id}</span>`],
    [words.period, `${say.day(fromMs)} – ${say.day(untilMs - 1)}`],
    [words.currency, bill.currency],
    [words.status, state],
    ...(bill.note === null ? [] : [[words.note, foreign(bill.note)] as [string, Html]]),
    [words.issued, filled(words.issuedAt, { date: printed })],
  ]
  const shown = rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)
  return html`<dl class="facts">${shown}</dl>`
}

function notices({ words, bill }: Print): Html {
  if (bill.differences.length > 0) {
    const parts = bill.differences.map(({ what }) => what).join(', ')
    return html`<p class="notice wrong">${words.differs} (${parts})</p>`
  }
  return bill.state === 'open' ? html`<p class="notice">${words.provisional}</p>` : html``
}

function money({ say }: Print, amount: string): Html {
  const exact = say.exact(amount)
  return exact === undefined
    ? html`${say.short(amount)}`
    : html`${say.short(amount)}<span class="exact">${exact}</span>`
}

function summary(print: Print): Html {
  const { words, bill } = print
  const rows: [string, string][] = [
    [words.openingBalance, bill.opening_balance],
    [words.credits, bill.credits],
    [words.adjustments, bill.adjustments],
    // All amounts are signed from the account's point of view, so that the column adds up.
    [words.charges, /[1-9]/.test(bill.charges) ? `-${bill.charges}` : bill.charges],
    ...(bill.refunds === undefined ? [] : [[words.refunds, bill.refunds] as [string, string]]),
  ]
  const shown = rows.map(
    ([name, amount]) =>
      html`<tr><td>${name}</td><td class="number">${money(print, amount)}</td></tr>\n`,
  )
  const end = money(print, bill.closing_balance)
  return html`<table class="summary"><tbody>
${shown}<tr class="total"><td>${words.closingBalance}</td><td class="number">${end}</td></tr>
</tbody></table>`
}

function byModel(print: Print): Html {
  const { words, say, bill } = print
  if (bill.totals.length === 0) return html`<p class="nothing">${words.noCharges}</p>`
  const rows = bill.totals.map(
    (total) => html`<tr><td>${foreign(total.model ?? words.noName)}</td>
<td class="short">${unitName(words, total.unit)}</td>
<td class="number">${say.number(total.charges)}${estimates(print, total.estimated)}</td>
<td class="number">${say.number(total.quantity)}${tokenCounts(print, total)}</td>
<td class="number">${money(print, total.amount)}</td></tr>
`,
  )
  return html`<table>
<thead><tr><th>${words.model}</th><th>${words.unit}</th><th class="number">${words.count}</th>
<th class="number">${words.quantity}</th><th class="number">${words.amount}</th></tr></thead>
<tbody>${rows}${total(print, 2)}</tbody></table>`
}

const total = (print: Print, before: 1 | 2): Html => html`<tr class="total">
<td>${print.words.total}</td>${before === 2 ? html`<td></td>` : ''}
<td class="number">${print.say.number(print.bill.charge_count)}</td>
${before === 2 ? html`<td></td>` : ''}<td class="number">${money(print, print.bill.charges)}</td></tr>
`

const units: Readonly<Record<string, keyof PageWords>> = {
  token: 'unitToken',
  image: 'unitImage',
  video_second: 'unitVideoSecond',
  video_token: 'unitVideoToken',
  search: 'unitSearch',
  character: 'unitCharacter',
  audio_second: 'unitAudioSecond',
  free: 'unitFree',
}

const unitName = (words: PageWords, unit: string | null): string => {
  const known = unit === null || !Object.hasOwn(units, unit) ? undefined : units[unit]
  return known === undefined ? (unit ?? '') : words[known]
}

const estimates = ({ words, say }: Print, count: number): Html =>
  count === 0
    ? html``
    : html`<span class="aside">${filled(words.estimated, { count: say.number(count) })}</span>`

function tokenCounts({ words, say }: Print, total: Bill['totals'][number]): Html {
  const { input_tokens, output_tokens, cache_read_tokens = 0, cache_write_tokens = 0 } = total
  if (input_tokens === undefined || output_tokens === undefined) return html``
  const both = { input: say.number(input_tokens), output: say.number(output_tokens) }
  const cached = { read: say.number(cache_read_tokens), write: say.number(cache_write_tokens) }
  const hasCached = cache_read_tokens + cache_write_tokens > 0
  return html`<span class="aside">${filled(words.tokensInOut, both)}</span>${
    hasCached ? html`<span class="aside">${filled(words.cached, cached)}</span>` : ''
  }`
}

function byToken(print: Print): Html {
  const { words, say, bill } = print
  const rows = bill.tokens.map(
    (token) => html`<tr><td>${foreign(token.name ?? token.token_id ?? words.noName)}</td>
<td class="number">${say.number(token.charges)}</td>
<td class="number">${money(print, token.amount)}</td></tr>
`,
  )
  return html`<table>
<thead><tr><th>${words.token}</th><th class="number">${words.count}</th>
<th class="number">${words.amount}</th></tr></thead>
<tbody>${rows}${total(print, 1)}</tbody></table>`
}

function byTag(print: Print, { key, items }: GroupedCharges): Html {
  const { words, say } = print
  const name = key === 'end_user' ? words.endUser : key.slice('tag:'.length)
  const rows = items.map(
    ({ tag, end_user, charges, amount }) => html`<tr>
<td>${foreign(tag ?? end_user ?? words.untagged)}</td>
<td class="number">${say.number(charges)}</td>
<td class="number">${money(print, amount)}</td></tr>
`,
  )
  return html`<h2>${filled(words.byTag, { name })}</h2><table>
<thead><tr><th>${foreign(name)}</th><th class="number">${words.count}</th>
<th class="number">${words.amount}</th></tr></thead>
<tbody>${rows}${total(print, 1)}</tbody></table>`
}

const kindOf = (words: PageWords, kind: Bill['movements'][number]['kind']): string =>
  ({ credit: words.kindCredit, adjust: words.kindAdjust, refund: words.kindRefund })[kind]

function movements(print: Print): Html {
  const { words, say, bill } = print
  if (bill.movements.length === 0) return html`<p class="nothing">${words.noMovements}</p>`
  const rows = bill.movements.map(
    ({ at, kind, note, amount, refund_of }) => html`<tr><td class="short">${say.moment(at)}</td>
<td class="short">${kindOf(words, kind)}</td>
<td>${foreign(note ?? '')}${refund_of === undefined ? '' : html` <span class="exact">${refund_of}</span>`}</td><td class="number">${money(print, amount)}</td></tr>
`,
  )
  const count = say.number(bill.movements.length)
  return html`<table>
<thead><tr><th>${words.date}</th><th>${words.kind}</th><th>${words.note}</th>
<th class="number">${words.amount}</th></tr></thead>
<tbody>${rows}</tbody></table>
${bill.has_more_movements ? html`<p class="nothing">${filled(words.moreMovements, { count })}</p>` : ''}`
}

function footer({ words, say, bill }: Print): Html {
  const hasEstimates = bill.totals.some(({ estimated }) => estimated > 0)
  const proof =
    bill.state === 'open'
      ? html``
      : html`<p>${filled(words.proofText, { number: say.number(bill.last_number) })}</p>
<dl class="facts"><dt>${words.key}</dt><dd><code>${bill.proof.key}</code></dd>
<dt>${words.signature}</dt><dd><code>${bill.proof.signature}</code></dd></dl>`
  return html`<footer><p>${words.rounding} ${words.times}</p>
${hasEstimates ? html`<p>${words.estimates}</p>` : ''}
${proof}</footer>`
}
