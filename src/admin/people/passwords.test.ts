// How many passwords are hashed, and how many at once: counted at the runtime's own function.
import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { admin } from '../test-admin.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import { newSetupCode } from './set-up.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const password = 'a long enough password'

let [running, peak, calls] = [0, 0, 0]
const counted =
  <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
  async (...given: A): Promise<T> => {
    calls++
    peak = Math.max(peak, ++running)
    try {
      return await work(...given)
    } finally {
      running--
    }
  }
const { hash, verify } = Bun.password
const spies = [
  spyOn(Bun.password, 'hash').mockImplementation(counted(hash)),
  spyOn(Bun.password, 'verify').mockImplementation(counted(verify)),
]
afterEach(() => {
  ;[running, peak, calls] = [0, 0, 0]
})
afterAll(() => {
  for (const spy of spies) spy.mockRestore()
})

test('few are hashed at once, whoever asks; one place with too many waiting is turned away', async () => {
  const stored = await hash(password)
  const flood = Array.from({ length: 24 }, () => checkPassword('10.0.0.1', 'no', stored))
  const other = checkPassword('10.0.0.2', password, stored)
  const staff = hashPassword(password)
  expect(await other).toBe(true)
  expect(await staff).toStartWith('$argon2id$')
  const answers = await Promise.all(flood)
  expect(answers.filter((answer) => answer === false).length).toBeGreaterThan(6)
  expect(answers.filter((answer) => answer !== false).length).toBeGreaterThan(6)
  // The first check also makes what unknown names are checked against.
  expect(peak).toBeLessThanOrEqual(3)
})

test('nothing is hashed for a wrong set-up code, nor after the set-up', async () => {
  const it = await newTestEngine('sqlite')
  const app = admin({ engine: it.engine, limits, isAdmin: () => false })
  await refresh(it.engine)
  const setUp = async (code: string) => {
    const request = new Request('http://localhost/setup', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, name: 'ada', password }),
    })
    const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
    return (await app.fetch(request, { context })).status
  }
  const code = (await newSetupCode(it.engine))!
  const statuses = await Promise.all(Array.from({ length: 50 }, (_, i) => setUp(`wrong-${i}`)))
  expect([...new Set(statuses)].sort()).toEqual([409, 429])
  expect(calls).toBe(0)
  // The right code is not held up by those that were wrong.
  expect(await setUp(code)).toBe(200)
  expect(calls).toBe(1)
  for (let i = 0; i < 3; i++) expect([409, 429]).toContain(await setUp(code))
  expect(calls).toBe(1)
  await it.close()
})
