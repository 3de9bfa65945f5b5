// One open alert for each account and reason of loss; many losses take few writes.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { listAlerts, resolveAlert } from '../../store/catalog/alerts.ts'
import { storeKinds, until } from '../../store/test-stores.ts'
import { newTestEngine, type TestEngine } from '../test-engine.ts'
import { LossAlerts } from './loss-alerts.ts'

let it: TestEngine
let losses: LossAlerts
const startAlerts = () => {
  losses = new LossAlerts(it.engine)
  losses.start()
}
beforeEach(async () => {
  it = await newTestEngine(storeKinds[0]!)
  startAlerts()
})
afterEach(async () => {
  await losses.stop()
  await it.close()
})

const alerts = async () =>
  (await listAlerts(it.engine.store.read, { limit: 100, kind: 'loss' })).items
    .map(({ subject, message, times }) => ({ subject, message, times }))
    .sort((a, b) => (a.subject < b.subject ? -1 : 1))

const short = { accountId: 'acc_1', reason: 'balance_short', ref: 'req_1' } as const

test('a thousand losses at once are one alert with their sum', async () => {
  for (let i = 0; i < 1000; i++) losses.add({ ...short, amountNanos: 1_000_000n })
  losses.add({ ...short, accountId: 'acc_2', amountNanos: 5n })
  losses.add({ ...short, reason: 'late_success', amountNanos: 7n })
  await until(async () => (await alerts()).length === 3)
  const [balance, late, other] = await alerts()
  expect(balance).toMatchObject({ subject: 'acc_1 balance_short', times: 1 })
  expect(balance!.message).toContain('1000 losses of 1.00 in all')
  expect([late?.subject, other?.subject]).toEqual(['acc_1 late_success', 'acc_2 balance_short'])
  // Further ones are not written at once, but at the latest when the gateway stops.
  losses.add({ ...short, ref: 'req_2', amountNanos: 1n })
  await Bun.sleep(150)
  expect((await alerts())[0]).toEqual(balance!)
  await losses.stop()
  const [again] = await alerts()
  expect(again?.times).toBe(2)
  expect(again?.message).toContain('1001 losses of 1.000000001 in all')
  expect(again?.message).toContain('req_2')
})

test('an account that has been told of delays the alert of no other', async () => {
  losses.add({ ...short, amountNanos: 1n })
  await until(async () => (await alerts()).length === 1)
  // This one waits for the interval of its account to pass.
  losses.add({ ...short, ref: 'req_2', amountNanos: 1n })
  losses.add({ ...short, accountId: 'acc_2', amountNanos: 1n })
  await until(async () => (await alerts()).length === 2)
  expect((await alerts()).map(({ subject, times }) => [subject, times])).toEqual([
    ['acc_1 balance_short', 1],
    ['acc_2 balance_short', 1],
  ])
  // Less than the interval of the first.
})

test('what was resolved is raised again by the next loss', async () => {
  losses.add({ ...short, amountNanos: 1n })
  await losses.stop()
  const { items } = await listAlerts(it.engine.store.read, { limit: 2, kind: 'loss' })
  await it.engine.store.tx((tx) => resolveAlert(tx, items[0]!.id, { atMs: 1 }))
  expect(await alerts()).toEqual([])
  startAlerts()
  losses.add({ ...short, amountNanos: 1n })
  await until(async () => (await alerts()).length === 1)
})

test('every part of a call that the operator bears is told, and nothing of others', async () => {
  const row = { accountId: 'acc_1', requestId: 'req_9', detail: {} }
  losses.addOfCall(row as never)
  const loss = [
    { reason: 'balance_short', channel: 'a', nanos: '3' },
    { reason: 'failed_after_cost', channel: 'b', nanos: '0' },
    { reason: 'caller_left', channel: 'b', nanos: '4' },
  ]
  losses.addOfCall({ ...row, detail: { loss } } as never)
  await losses.stop()
  expect((await alerts()).map(({ subject }) => subject)).toEqual([
    'acc_1 balance_short',
    'acc_1 caller_left',
  ])
})
