// Printed bills: nothing anybody can write into a name or a note becomes part of the page, and
// every amount is there to the last digit.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { ShownBill } from '../read-bill.ts'
import { createFormats } from './formats.ts'
import { escapeHtml } from './html.ts'
import { billPage, billPagePolicy } from './page.ts'
import { pageLanguages } from './words.ts'

const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>\`&lt;b&gt; \u202e\u0000</style></title>`

const bill = (more: Partial<ShownBill> = {}): ShownBill =>
  ({
    account: hostile,
    account_id: 'acc_1',
    month: '2026-10',
    currency: 'CNY',
    opening_balance: '12345678901.000000001',
    credits: '10.00',
    adjustments: '-0.50',
    charges: '0.0000344',
    closing_balance: '12345678910.499965601',
    charge_count: 3,
    totals: [
      { model: hostile, unit: hostile, charges: 1, quantity: 1.5, amount: '0.00', estimated: 1 },
      {
        model: 'words',
        unit: 'token',
        charges: 2,
        quantity: 25,
        amount: '0.0000344',
        estimated: 0,
        input_tokens: 13,
        output_tokens: 12,
        cache_read_tokens: 4,
        cache_write_tokens: 0,
      },
    ],
    tokens: [
      { token_id: 'tok_1', name: hostile, charges: 3, amount: '0.0000344' },
      { token_id: null, name: null, charges: 0, amount: '0.00' },
    ],
    movements: [
      { id: '1', at: '2026-10-02T08:00:00.000Z', kind: 'adjust', amount: '-0.50', note: hostile },
      { id: '2', at: '2026-10-03T08:00:00.000Z', kind: 'credit', amount: '10.00', note: null },
    ],
    has_more_movements: true,
    state: 'closed',
    closed_at: '2026-11-02T08:00:00.000Z',
    note: hostile,
    last_number: 7,
    number: '2026-10-0007',
    customer: { name: 'a', legal_name: hostile, address: `${hostile}\nB`, tax_id: hostile },
    issuer: { name: hostile, address: hostile, tax_id: hostile, email: hostile },
    refunds: '0.25',
    differences: [],
    proof: { key: 'the-key', signature: 'the-signature' },
    ...more,
  }) as ShownBill

const languages = Object.keys(pageLanguages) as (keyof typeof pageLanguages)[]
const print = (shown: ShownBill, language: (typeof languages)[number] = 'en') =>
  billPage(shown, { language, nowMs: Date.UTC(2026, 10, 15) })

/** Names of all elements, and of all attributes, as a parser of HTML finds them. */
async function partsOf(page: string) {
  const [elements, attributes] = [new Set<string>(), new Set<string>()]
  const rewriter = new HTMLRewriter().on('*', {
    element(element) {
      elements.add(element.tagName)
      for (const [name] of element.attributes) attributes.add(name)
    },
  })
  await rewriter.transform(new Response(page)).text()
  return { elements: [...elements].toSorted(), attributes: [...attributes].toSorted() }
}

describe.each(languages)('a printed bill in %s', (language) => {
  test('has the same elements whatever names and notes say', async () => {
    const tame = JSON.parse(
      JSON.stringify(bill()).replaceAll(JSON.stringify(hostile), '"a name"'),
    ) as ShownBill
    const parts = await partsOf(print(bill(), language))
    expect(parts).toEqual(await partsOf(print(tame, language)))
    for (const never of ['script', 'img', 'link', 'iframe', 'form', 'a', 'object', 'base']) {
      expect(parts.elements).not.toContain(never)
    }
    expect(parts.attributes).toEqual(['charset', 'class', 'content', 'lang', 'name'])
  })

  test('shows what was written, as text', () => {
    const page = print(bill(), language)
    expect(page.split(escapeHtml(hostile))).toHaveLength(15)
    expect(page).not.toContain('<script')
    expect(page).not.toContain("onerror='")
  })

  test('says everything in its own words', () => {
    const words = pageLanguages[language]
    const page = print(bill(), language)
    for (const word of ['title', 'summary', 'byModel', 'byToken', 'movements'] as const) {
      expect(page).toContain(escapeHtml(words[word]))
    }
    expect(Object.values(words).filter((text) => text.trim() === '')).toEqual([])
    const gaps = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()
    for (const [word, text] of Object.entries(words)) {
      expect([word, gaps(text)]).toEqual([word, gaps(pageLanguages.en[word as 'title'])])
    }
    expect(page).not.toMatch(/\{\w+\}(?![^<]*<\/style>)/)
  })

  test('has every amount to the last digit', () => {
    const page = print(bill(), language)
    for (const exact of ['12,345,678,901.000000001', '12,345,678,910.499965601', '0.0000344']) {
      expect(page).toContain(exact)
    }
  })
})

test('only the style of the page itself is let in by its policy, and nothing is loaded', () => {
  const [, style] = /<style>([\s\S]*?)<\/style>/.exec(print(bill()))!
  const hash = createHash('sha256').update(style!).digest('base64')
  expect(billPagePolicy).toContain(`style-src 'sha256-${hash}'`)
  expect(billPagePolicy).toStartWith("default-src 'none'")
  expect(print(bill())).not.toMatch(/url\(|@import|https?:/)
})

test('a month that is open says so, and is not signed', () => {
  const open = { state: 'open', closed_at: null, note: null, last_number: null } as const
  const page = print(bill({ ...open, differences: [] }))
  expect(page).toContain(pageLanguages.en.provisional)
  expect(page).not.toContain('the-signature')
  expect(print(bill())).toContain('the-signature')
  expect(print(bill())).not.toContain(pageLanguages.en.provisional)
})

test('a closed month that the ledger does not agree with says so before anything else', () => {
  const page = print(bill({ differences: [{ what: 'charges', closed: '1.00', ledger: '2.00' }] }))
  expect(page.indexOf(pageLanguages.en.differs)).toBeLessThan(page.indexOf('Summary'))
  expect(page).toContain('(charges)')
})

test('amounts are rounded away from zero at half, and exact ones are told apart', () => {
  const say = createFormats('en', 'USD')
  expect([say.short('0.005'), say.short('-0.005'), say.short('1234.5')]).toEqual([
    'US$0.01',
    '-US$0.01',
    'US$1,234.50',
  ])
  expect([say.exact('1234.50'), say.exact('0.000000001')]).toEqual([undefined, 'US$0.000000001'])
  expect(createFormats('zh', 'JPY').short('1234.4')).toBe('JP¥1,234')
})
