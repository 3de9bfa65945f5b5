// A tenant who knows how notices to it are signed cannot sign notices to another.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { newPerson, type SignedIn } from '../support/sign-in.ts'

const tokens = {
  acme: 'sk-own-0123456789abcdefghijklmnop',
  rival: 'sk-rival-0123456789abcdefghijklm',
}

let gateway: TestGateway
let receiver: ReturnType<typeof Bun.serve>
let member: SignedIn
let operator: SignedIn
const arrived: { path: string; text: string; headers: Record<string, string> }[] = []

beforeAll(async () => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname: path } = new URL(request.url)
      const headers = Object.fromEntries(request.headers)
      arrived.push({ path, text: await request.text(), headers })
      return new Response('ok')
    },
  })
  gateway = await startGateway({
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8', GATEWAY_SANDBOX_TASK_SECONDS: '0.2' },
    config: `
accounts: [{ name: acme, balance: "100.00" }, { name: rival, balance: "100.00" }]
tokens:
  - { account: acme, name: own, token: ${tokens.acme} }
  - { account: rival, name: other, token: ${tokens.rival} }
`,
  })
  member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
  operator = await newPerson(gateway, { name: 'olga', role: 'operator' })
})
afterAll(async () => {
  await gateway.stop()
  await receiver.stop(true)
})

const pathOf = (account: string) => `/accounts/${account}/callback-secret`

let told = 0
/** Has a task made, and gives the notice of its end. */
async function noticeOf(account: keyof typeof tokens) {
  const path = `/${account}-${++told}`
  const answer = await fetch(`${gateway.url}/imgvendor/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens[account]}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model_name: 'imgvendor-v2-1',
      prompt: 'a cat',
      callback_url: `http://127.0.0.1:${receiver.port}${path}`,
    }),
  })
  expect(answer.status).toBe(200)
  return until('the notice', async () => arrived.find((each) => each.path === path))
}
const isSigned = (secret: string, { text, headers }: (typeof arrived)[number]): boolean => {
  try {
    new Webhook(secret).verify(text, headers)
    return true
  } catch {
    return false
  }
}

test('each account has a secret of its own, shown to its people only', async () => {
  const own = (await member.ask('GET', pathOf('acme'))).body
  const other = (await operator.ask('GET', pathOf('rival'))).body
  expect(own).toMatchObject({ account: 'acme', source: 'account', previous_valid_until: null })
  expect(own.secret).toMatch(/^whsec_/)
  expect(other.secret).not.toBe(own.secret)
  expect((await member.ask('GET', pathOf('rival'))).status).toBe(404)
  expect((await member.ask('POST', `${pathOf('rival')}/rotate`, {})).status).toBe(404)
  const finance = await newPerson(gateway, { name: 'fay', role: 'finance' })
  expect((await finance.ask('GET', pathOf('acme'))).status).toBe(403)
  expect((await gateway.admin('GET', '/callback-secret')).body.error.param).toBe('account')
  const asked = await gateway.admin('GET', '/callback-secret?account=acme')
  expect(asked.body).toEqual(own)
  const [mine, theirs] = [await noticeOf('acme'), await noticeOf('rival')]
  expect([isSigned(own.secret, mine), isSigned(other.secret, theirs)]).toEqual([true, true])
  expect([isSigned(own.secret, theirs), isSigned(other.secret, mine)]).toEqual([false, false])
})

test('after a rotation both secrets are good for a while, and another account notices nothing', async () => {
  const before = (await member.ask('GET', pathOf('acme'))).body.secret
  const other = (await operator.ask('GET', pathOf('rival'))).body.secret
  const { status, body } = await member.ask('POST', `${pathOf('acme')}/rotate`, {})
  expect(status).toBe(200)
  expect(body.secret).not.toBe(before)
  expect(Date.parse(body.previous_valid_until)).toBeGreaterThan(Date.now())
  const notice = await noticeOf('acme')
  expect([isSigned(body.secret, notice), isSigned(before, notice)]).toEqual([true, true])
  expect((await operator.ask('GET', pathOf('rival'))).body.secret).toBe(other)
  const noted = (await gateway.admin('GET', '/audit-log?action=account.callback_secret')).body.items
  expect(noted[0]).toMatchObject({ actor: 'mia' })
  expect(JSON.stringify(noted)).not.toContain('whsec_')
})
