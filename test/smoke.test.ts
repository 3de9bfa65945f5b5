import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from './support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

test('a chat call is answered and charged once', async () => {
  const answer = await gateway.chat('hello [[sim:tokens=10]]')
  expect(answer.status).toBe(200)
  const id = answer.headers.get('x-gateway-request-id')
  const ledger = await gateway.admin('GET', '/accounts/acme/ledger')
  const charges = ledger.body.items.filter((entry: any) => entry.kind === 'charge')
  expect(charges.map((entry: any) => entry.request_id)).toEqual([id])
})
