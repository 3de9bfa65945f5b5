import { describe, expect, test } from 'bun:test'
import type { Source } from '../../contract/catalog.ts'
import type { Price, PriceTerms } from '../../contract/price.ts'
import { tierLabel } from '../charge-label.ts'
import { createPriceBook } from './price-book.ts'

let clock = 1000
const flat: PriceTerms = { unit: 'image', perImageNanos: 1n }
const version = (
  id: string,
  effectiveFromMs: number,
  more: Partial<Price> & { source?: Source } = {},
): Price => ({ id, model: 'm', terms: flat, effectiveFromMs, source: 'api', ...more })
const of = (id: string) => ({ account: { id: `acc_${id}`, name: id } })
const bookOf = (...versions: Price[]) =>
  createPriceBook(versions, new Set(['m', 'filed']), () => clock)

describe("an account's own price", () => {
  const book = bookOf(
    version('everybody', 0, { source: 'file' }),
    version('own', 500, of('acme')),
    version('later', 2000, of('acme')),
    version('ended', 3000, { ...of('acme'), terms: { unit: 'default' } }),
    version('only', 0, { model: 'private', ...of('acme') }),
  )
  const inForce = (ms: number, account?: string) => {
    clock = ms
    return book.current('m', account)?.id
  }

  test('wins over that of everybody from its start on, whatever their sources', () => {
    expect(inForce(400, 'acc_acme')).toBe('everybody')
    expect(inForce(500, 'acc_acme')).toBe('own')
    expect(inForce(2000, 'acc_acme')).toBe('later')
  })

  test('is felt by nobody else', () => {
    for (const ms of [400, 600, 2500, 3500]) {
      expect([inForce(ms, 'acc_other'), inForce(ms)]).toEqual(['everybody', 'everybody'])
    }
  })

  test('ends by a version that says so', () => {
    expect(inForce(3000, 'acc_acme')).toBe('everybody')
    expect(book.listed('m', 'acc_acme')?.id).toBe('ended')
    expect(book.listed('m')?.id).toBe('everybody')
    expect(book.listed('m', 'acc_other')).toBeUndefined()
  })

  test('makes a model callable that has no other', () => {
    clock = 1000
    expect(book.current('private', 'acc_acme')?.id).toBe('only')
    expect(book.current('private')).toBeUndefined()
    expect([book.ownersOf('private'), book.ownersOf('m'), book.ownersOf('x')]).toEqual([
      ['acme'],
      ['acme'],
      [],
    ])
    clock = 3000
    expect(book.ownersOf('m')).toEqual([])
  })
})

test('a book tells what is in force and what will be, of every list, and when the next begins', () => {
  clock = 1000
  const book = bookOf(
    version('shipped', 0, { source: 'builtin' }),
    version('old', 100),
    version('now', 200),
    version('soon', 5000),
    version('soon-corrected', 5000),
    version('acme-soon', 4000, of('acme')),
    version('filed', 10, { model: 'filed', source: 'file' }),
    version('outranked', 6000, { model: 'filed' }),
  )
  expect(book.active().map(({ id }) => id)).toEqual(['filed', 'now', 'soon-corrected', 'acme-soon'])
  expect(book.nextStartMs()).toBe(4000)
  clock = 7000
  expect(book.nextStartMs()).toBeUndefined()
})

test('a charge names its tier only where there are several', () => {
  const rates = { inputNanos: 1n, outputNanos: 1n }
  const one: PriceTerms = { unit: 'token', tiers: [{ ...rates, upTo: 5 }] }
  const three: PriceTerms = {
    unit: 'token',
    tiers: [
      { ...rates, upTo: 32_000 },
      { ...rates, upTo: 128_000 },
      { ...rates, upTo: 256_000 },
    ],
  }
  const of = (inputTokens: number) => ({ inputTokens })
  expect([tierLabel(one, of(3)), tierLabel(flat, of(3))]).toEqual([undefined, undefined])
  const named = [0, 32_000, 32_001, 128_000, 128_001, 999_999].map((n) => tierLabel(three, of(n)))
  expect(named).toEqual([
    'up to 32000',
    'up to 32000',
    'up to 128000',
    'up to 128000',
    'above 128000',
    'above 128000',
  ])
})

test('a version made to begin at once is in force, although the clock was set back since', () => {
  const book = bookOf(
    version('old', 0),
    version('made', 5_000, { atOnce: true }),
    version('planned', 2_000),
  )
  clock = 1_000
  expect(book.current('m')?.id).toBe('made')
  expect(book.nextStartMs()).toBe(2_000)
  expect(book.active().map(({ id }) => id)).toEqual(['planned', 'made'])
})
