// Amounts as people read them: rounded half up, never cut.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { costText, exactText, isLess, less, moneyText } from './money.ts'

test('money has two decimals and is rounded half up, not cut', () => {
  const shown = ['428.9982864', '0.005', '-0.005', '0.0049', '-0.0049', '1234567.895', '7', '0.995']
  expect(shown.map(moneyText)).toEqual([
    ...['429.00', '0.01', '-0.01', '0.00', '0.00', '1,234,567.90', '7.00', '1.00'],
  ])
})

test('the cost of one call below a cent keeps two significant digits', () => {
  expect(
    ['0.000042', '0.0000996', '0.0042', '0.01', '0.015', '0', '12.3456'].map(costText),
  ).toEqual(['0.000042', '0.000100', '0.0042', '0.01', '0.02', '0.00', '12.35'])
})

test('an exact amount has all of its decimals', () => {
  expect(['428.998286400', '1000', '0.3'].map(exactText)).toEqual([
    '428.9982864',
    '1,000.00',
    '0.30',
  ])
})

test('what is shown is never further from the amount than half a cent', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), (nanos) => {
      const digits = String(nanos).padStart(10, '0')
      const text = moneyText(`${digits.slice(0, -9)}.${digits.slice(-9)}`)
      const shown = BigInt(text.replaceAll(/[,.]/g, '')) * 10_000_000n
      const away = shown - nanos
      return away <= 5_000_000n && away > -5_000_000n
    }),
  )
})

test('amounts are compared and taken away to the billionth', () => {
  expect(less('0.30', '0.1')).toBe('0.200000000')
  expect(less('0.10', '0.30')).toBe('-0.200000000')
  expect(less('123456789012.000000001', '0')).toBe('123456789012.000000001')
  expect([isLess('0.9', '1'), isLess('1.00', '1'), isLess('10', '9')]).toEqual([true, false, false])
  expect([isLess('', '1'), isLess('1', 'x'), isLess('0', '0.0000000001')]).toEqual([
    ...[false, false, false],
  ])
})
