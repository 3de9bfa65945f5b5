import { expect, test } from 'bun:test'
import { amountsOf, changesOf, raised, raisedTerms, termsOf, withAmount } from './price.ts'

test('an amount is raised to the billionth, half up', () => {
  const cases: [string, string, string | undefined][] = [
    ['1.00', '10', '1.10'],
    ['0.80', '-2.5', '0.78'],
    ['0.000000001', '50', '0.000000002'],
    ['0.000000001', '49', '0.000000001'],
    ['123456789.123456789', '0', '123456789.123456789'],
    ['3', '+0.0001', '3.000003'],
    ['1.00', '-100', '0.00'],
    ['1.00', '-100.1', undefined],
    ['1.00', '', undefined],
    ['1.00', 'x', undefined],
    ['', '5', undefined],
    ['-1.00', '5', undefined],
  ]
  for (const [amount, percent, result] of cases) {
    expect([amount, percent, raised(amount, percent)]).toEqual([amount, percent, result])
  }
})

const tiered = {
  unit: 'token',
  tiers: [
    { up_to: 128_000, per_million: { input: '1.00', output: '2.00' } },
    { per_million: { input: '3.00', output: '4.00' } },
  ],
}

test('every amount of a price is found, changed and raised where it stands', () => {
  expect(amountsOf(tiered).map(({ path }) => path.join('.'))).toEqual([
    'tiers.0.per_million.input',
    'tiers.0.per_million.output',
    'tiers.1.per_million.input',
    'tiers.1.per_million.output',
  ])
  const changed = withAmount(tiered, ['tiers', 1, 'per_million', 'input'], '9.00')
  expect(amountsOf(changed).map(({ value }) => value)).toEqual(['1.00', '2.00', '9.00', '4.00'])
  expect(tiered.tiers[1]!.per_million.input).toBe('3.00')
  const raisedAll = raisedTerms(tiered, '50')!
  expect(amountsOf(raisedAll).map(({ value }) => value)).toEqual(['1.50', '3.00', '4.50', '6.00'])
  expect(raisedTerms({ unit: 'image', per_image: 'much' }, '5')).toBeUndefined()
  expect(changesOf(tiered, raisedAll).map(({ share }) => share)).toEqual([0.5, 0.5, 0.5, 0.5])
})

test('what a draft begins with is all of the price, its usual size included', () => {
  const price = {
    model: 'imga-plus',
    account: null,
    unit: 'image' as const,
    per_image: { '1k': '0.20', '2k': '0.40' },
    default_size: '2k',
    effective_from: '2026-11-01T00:00:00.000Z',
  }
  const terms = termsOf(price)
  expect(terms).toEqual({ unit: 'image', per_image: price.per_image, default_size: '2k' })
  expect(amountsOf(terms).map(({ value }) => value)).toEqual(['0.20', '0.40'])
})

test('a draft keeps the prices per call of a tool, and a percentage changes them, too', () => {
  const price = {
    model: 'txta-plus',
    account: null,
    unit: 'token' as const,
    per_million: { input: '1.00', output: '2.00' },
    per_call: { web_search: '0.05' },
    effective_from: '2026-11-01T00:00:00.000Z',
  }
  const terms = raisedTerms(termsOf(price), '100')!
  expect(terms['per_call']).toEqual({ web_search: '0.10' })
})

test('factors and hours are no amounts: a percentage leaves them, a comparison does not count them', () => {
  const terms = {
    unit: 'token',
    per_million: { input: '1', output: '2' },
    service_tiers: { fast: { factor: '2' }, flex: { per_million: { input: '0.5', output: '1' } } },
    geo: { us: { factor: '1.1' } },
    hours: [{ from: '00:30', to: '08:30', zone: 'Asia/Shanghai', factor: '0.5' }],
  }
  expect(raisedTerms(terms, '10')).toEqual({
    ...terms,
    per_million: { input: '1.10', output: '2.20' },
    service_tiers: {
      fast: { factor: '2' },
      flex: { per_million: { input: '0.55', output: '1.10' } },
    },
  })
  expect(changesOf(terms, { ...terms, per_million: { input: '2', output: '2' } })).toEqual([
    { name: 'input', share: 1 },
  ])
})
