// Where the charge of a JSON answer is put into it: that of a long one by the thread, so that no other caller waits.
import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'
import { WorkerThread } from '../../lib/worker-thread.ts'
import { withCharge } from './charge-in-answer.ts'

const threads = spyOn(WorkerThread.prototype, 'run')
beforeEach(() => threads.mockClear())
afterAll(() => threads.mockRestore())

const place = { body: ['usage'], event: ['usage'], isFinal: () => false }
const record = { requestId: 'req_1', atMs: 1, model: 'm', chargeNanos: 5n, charge: {} }
const charged = { record, currency: 'CNY' }
const note = { request_id: 'req_1', charge: '0.000000005', currency: 'CNY' }
const answer = (bytes: number) => JSON.stringify({ data: 'é'.repeat(bytes / 2), usage: { a: 1 } })

test('a short answer gets it at once', () => {
  const body = withCharge(answer(60_000), place, charged)
  expect(JSON.parse(body as string).usage).toEqual({ gateway: note, a: 1 })
  expect(threads).not.toHaveBeenCalled()
})

test.each([
  ['a text', (text: string) => text],
  ['bytes', (text: string) => new Uint8Array(Buffer.from(text))],
])('a long answer, given as %s, gets it in the thread of its account', async (_, as) => {
  const body = await withCharge(as(answer(5_000_000)), place, charged, 'acc_1')
  expect(threads.mock.calls.map(([key]) => key)).toEqual(['acc_1'])
  const { data, usage } = JSON.parse(Buffer.from(body as Uint8Array).toString())
  expect(data.length).toBe(2_500_000)
  expect(usage).toEqual({ gateway: note, a: 1 })
})

test('an answer that is paid for goes out without it if the thread fails', async () => {
  threads.mockRejectedValueOnce(new Error('gone'))
  const bytes = new Uint8Array(Buffer.from(answer(100_000)))
  expect(await withCharge(bytes, place, charged)).toBe(bytes)
})

test('an answer that is not charged is not read', () => {
  const { charge: _, ...unpaid } = record
  const free = { ...charged, record: unpaid }
  const bytes = new Uint8Array(Buffer.from(answer(100_000)))
  expect(withCharge(bytes, place, free)).toBe(bytes)
  expect(threads).not.toHaveBeenCalled()
})
