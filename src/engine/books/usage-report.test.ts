// Reports are bounded: a maximum at once for each account, independent of other accounts.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { UsageAsk } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { insertAccount } from '../../store/catalog/accounts.ts'
import { newTestEngine, type TestEngine } from '../test-engine.ts'
import { begunMonth, reportUsage, showOwnBill } from './usage-report.ts'

let made: TestEngine
beforeAll(async () => {
  made = await newTestEngine('sqlite')
  await made.engine.store.tx(async (tx) => {
    for (const id of ['acc_1', 'acc_2']) {
      await insertAccount(tx, { id, name: id, source: 'api', createdAtMs: 1 })
    }
  })
})
afterAll(() => made.close())

const tokenOf = (accountId: string): Token => ({
  id: `tok_${accountId}`,
  accountId,
  accountName: accountId,
  name: 'ci',
  prefix: 'sk-',
  models: ['*'],
  limits: {},
  allowedIps: [],
  disabled: false,
  source: 'api',
})

const hour = 3_600_000
const ask = (more: Partial<UsageAsk> = {}): UsageAsk => ({
  fromMs: 0,
  untilMs: 24 * hour,
  by: ['model'],
  ownOnly: false,
  limit: 10,
  cursor: undefined,
  ...more,
})

test('a fifth report at once is refused, another account is not, and later there is room', async () => {
  const { engine } = made
  const report = (account: string) => reportUsage(engine, tokenOf(account), ask())
  const answers = await Promise.all([
    ...Array.from({ length: 5 }, () => report('acc_1')),
    report('acc_2'),
  ])
  const refused = answers.map((answer) => answer instanceof Refusal && answer.code)
  expect(refused).toEqual([false, false, false, false, 'rate_limit_exceeded', false])
  expect(await report('acc_1')).toMatchObject({ account: 'acc_1', items: [] })
  const bill = await showOwnBill(engine, tokenOf('acc_1'), '2026-10')
  expect(bill).toMatchObject({ account: 'acc_1', charges: '0.00' })
})

test('a report that fails gives its place back', async () => {
  const bad = () => reportUsage(made.engine, tokenOf('acc_1'), ask({ cursor: 'x' }))
  for (let n = 0; n < 10; n++) expect(await bad()).toMatchObject({ code: 'invalid_request' })
  expect(await reportUsage(made.engine, tokenOf('acc_1'), ask())).toMatchObject({ items: [] })
})

test('a stretch has its longest, and a month must have begun', async () => {
  const days = (n: number) => ask({ untilMs: n * 24 * hour })
  const report = (asked: UsageAsk) => reportUsage(made.engine, tokenOf('acc_1'), asked)
  expect(await report(days(400))).toMatchObject({ items: [] })
  expect(await report(days(401))).toMatchObject({ code: 'invalid_request' })
  expect(await report({ ...days(31), by: ['hour'] })).toMatchObject({ items: [] })
  expect(await report({ ...days(32), by: ['hour'] })).toMatchObject({ code: 'invalid_request' })
  made.clock.ms = Date.UTC(2026, 10, 30, 23, 59, 59)
  expect(begunMonth(made.engine, '2026-11')).toBe('2026-11')
  expect(begunMonth(made.engine, '2026-12')).toMatchObject({ code: 'invalid_request' })
})
