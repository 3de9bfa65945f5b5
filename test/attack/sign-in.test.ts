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
  })
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
  })

  test('one address fails thirty times, over all names, and is told to wait', async () => {
    const flood = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        status(`flood-${i}`, 'not the password', '203.0.113.10'),
      ),
    )
    expect(new Set(flood)).toEqual(new Set([401, 429]))
    const at = from('203.0.113.10')
    // Some of the flood were not checked because many were: those did not count.
    for (let i = 0, last = 401; i < 60 && last === 401; i++) {
      last = (await trySignIn(gateway.url, `more-${i}`, 'not the password', at)).status
    }
    const right = await trySignIn(gateway.url, 'root0', personPassword, at)
    const seconds = Number(right.headers.get('retry-after'))
    expect([right.status, seconds > 0 && seconds <= 660]).toEqual([429, true])
    // Where proxies are known, other addresses are not held up.
    const other = proxies === '' ? 429 : 200
    expect(await status('root0', personPassword, '198.51.100.8')).toBe(other)
  })

  if (proxies === '') return

  test('guesses at the same time count before they are checked: five are', async () => {
    const guesses = await Promise.all(
      Array.from({ length: 60 }, () => status('root1', 'not the password', '203.0.113.12')),
    )
    expect(guesses.filter((each) => each === 401).length).toBeLessThanOrEqual(5)
    expect(guesses.filter((each) => each !== 401 && each !== 429)).toEqual([])
  })

  test('guesses at one name from one address do not lock out its owner elsewhere', async () => {
    for (let i = 0; i < 8; i++) await status('root1', 'not the password', '203.0.113.11')
    expect(await status('root1', personPassword, '203.0.113.11')).toBe(429)
    expect(await status('root1', personPassword, '198.51.100.9')).toBe(200)
  })

  test('nor do guesses from everywhere', async () => {
    for (let i = 1; i <= 12; i++) await status('root1', 'not the password', `203.0.113.${20 + i}`)
    expect(await status('root1', personPassword, '198.51.100.10')).toBe(200)
  })
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
})
