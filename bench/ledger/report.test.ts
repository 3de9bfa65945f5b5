import { expect, test } from 'bun:test'
import { checkLedger, formatLedger, type LedgerFigures } from './report.ts'

const row = (more: Partial<LedgerFigures>): LedgerFigures => ({
  store: 'SQLite',
  accounts: 1,
  inFlight: 64,
  perSecond: 25_000,
  p50Ms: 2,
  p99Ms: 4,
  ownMicros: 30,
  ...more,
})

test('the best of SQLite is held against the limit, for many accounts and for one', () => {
  const slow = { accounts: 1000, perSecond: 19_999 }
  const verdicts = checkLedger([
    row({ inFlight: 16, perSecond: 3_000 }),
    row({}),
    row(slow),
    row({ ...slow, store: 'PostgreSQL', perSecond: 90_000 }),
  ])
  expect(verdicts.map(({ met }) => met)).toEqual([true, false])
  expect(verdicts[0]).toMatchObject({ value: '25,000/s', limit: '>= 20000/s' })
})

test('a store without a server has no figures of one', () => {
  const text = formatLedger([row({}), row({ store: 'PostgreSQL', serverMicros: 51.2 })])
  expect(text).toContain('51.2')
  expect(text.split('\n')[2]).toEndWith('-')
})
