// Signing in under attack: who guesses is slowed down, and nobody else is locked out by it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { newPerson, personPassword, trySignIn } from '../support/sign-in.ts'

describe.each([
  ['behind a trusted proxy', '127.0.0.0/8,::1/128'],
  ['behind a proxy that is not known', ''],
])('%s', (_, proxies) => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({
      env: proxies === '' ? {} : { GATEWAY_TRUSTED_PROXIES: proxies },
    })
    for (const name of ['root0', 'root1']) await newPerson(gateway, { name, role: 'administrator' })
  }, 30_000)
  afterAll(() => gateway.stop())

  const from = (address: string) => ({ 'x-forwarded-for': address })
  const status = async (name: string, password: string, address: string) =>
    (await trySignIn(gateway.url, name, password, from(address))).status

  test('wrong sign-ins with made-up names do not lock out the administrator', async () => {
    for (let i = 0; i < 25; i++) {
      expect(await status(`nobody-${i}`, 'not the password', '203.0.113.9')).toBe(401)
    }
    expect(await status('root0', personPassword, '198.51.100.7')).toBe(200)
    expect(await status('root0', personPassword, '203.0.113.9')).toBe(200)
  }, 30_000)

  test('many at once do not, either', async () => {
    const flood = Array.from({ length: 60 }, (_, i) =>
      status(`flood-${i}`, 'not the password', '203.0.113.10'),
    )
    // As a person would: again after a moment.
    let last = 429
    for (let i = 0; i < 20 && last === 429; i++) {
      last = await status('root0', personPassword, '198.51.100.8')
      if (last === 429) await Bun.sleep(500)
    }
    expect(last).toBe(200)
    expect(new Set(await Promise.all(flood))).toEqual(new Set([401, 429]))
  }, 60_000)

  if (proxies === '') return

  test('guesses at one name from one address do not lock out its owner elsewhere', async () => {
    for (let i = 0; i < 8; i++) await status('root1', 'not the password', '203.0.113.11')
    expect(await status('root1', personPassword, '203.0.113.11')).toBe(429)
    expect(await status('root1', personPassword, '198.51.100.9')).toBe(200)
  }, 30_000)

  test('nor do guesses from everywhere', async () => {
    for (let i = 1; i <= 12; i++) await status('root1', 'not the password', `203.0.113.${20 + i}`)
    expect(await status('root1', personPassword, '198.51.100.10')).toBe(200)
  }, 30_000)
})

test('posts to the set-up are answered without work, before and after it', async () => {
  const gateway = await startGateway()
  const post = async (code: string) =>
    (
      await fetch(`${gateway.url}/admin/v1/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code, name: 'eve', password: personPassword }),
      })
    ).status
  const before = await Promise.all(Array.from({ length: 60 }, (_, i) => post(`wrong-${i}`)))
  expect([...new Set(before)].sort()).toEqual([409, 429])
  const [, code = ''] = /set-up#(\w+)/.exec(gateway.output()) ?? []
  expect(await post(code)).toBe(200)
  expect([409, 429]).toContain(await post(code))
  await gateway.stop()
}, 30_000)
