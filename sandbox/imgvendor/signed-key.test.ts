import { afterAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type Sandbox, startSandbox } from '../server.ts'

const clock = { time: 1_800_000_000_000 }
const now = () => clock.time
const open = startSandbox({ now })
const plain = startSandbox({ now, key: 'upk-0123456789' })
const signing = startSandbox({ now, key: 'ak-access|sk-secret' })
afterAll(() => Promise.all([open.stop(), plain.stop(), signing.stop()]))

const seconds = () => clock.time / 1000

function sign(claims: object = {}, secret = 'sk-secret', alg = 'HS256'): string {
  const usual = { iss: 'ak-access', exp: seconds() + 1800, nbf: seconds() - 5 }
  const text = [
    { alg, typ: 'JWT' },
    { ...usual, ...claims },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

async function ask(sandbox: Sandbox, authorization: string, path = '', init: RequestInit = {}) {
  const headers: Record<string, string> = authorization === '' ? {} : { authorization }
  const url = `${sandbox.protocols.imgvendor}/v1/images/generations${path}`
  const response = await fetch(url, { ...init, headers })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: response.status, body: (await response.json()) as any }
}

const codeOf = async (sandbox: Sandbox, authorization: string) => {
  const { status, body } = await ask(sandbox, authorization)
  expect(status).toBe(body.code === 0 ? 200 : 401)
  return body.code
}

test('a key that is a pair wants tokens signed with it', async () => {
  expect(await codeOf(signing, `Bearer ${sign()}`)).toBe(0)
  expect(await codeOf(signing, '')).toBe(1001)
  expect(await codeOf(signing, 'Basic abc')).toBe(1002)
  expect(await codeOf(signing, 'Bearer ak-access|sk-secret')).toBe(1002)
  expect(await codeOf(signing, `Bearer ${sign({}, 'sk-secret', 'none')}`)).toBe(1002)
  expect(await codeOf(signing, `Bearer ${sign({}, 'sk-another')}`)).toBe(1000)
  expect(await codeOf(signing, `Bearer ${sign({ iss: 'ak-another' })}`)).toBe(1000)
  expect(await codeOf(signing, `Bearer ${sign().replace(/\.[^.]+$/, '.')}`)).toBe(1002)
  expect(await codeOf(signing, `Bearer ${sign().slice(0, -8)}`)).toBe(1000)
})

test('a token holds from its beginning to its end', async () => {
  expect(await codeOf(signing, `Bearer ${sign({ nbf: seconds() + 1 })}`)).toBe(1003)
  expect(await codeOf(signing, `Bearer ${sign({ nbf: seconds() })}`)).toBe(0)
  expect(await codeOf(signing, `Bearer ${sign({ exp: seconds() })}`)).toBe(1004)
  expect(await codeOf(signing, `Bearer ${sign({ exp: 'never' })}`)).toBe(1002)
})

test('a single key goes as it is', async () => {
  expect(await codeOf(plain, 'Bearer upk-0123456789')).toBe(0)
  expect(await codeOf(plain, 'Bearer another')).toBe(1000)
  expect(await codeOf(plain, '')).toBe(1001)
})

test('without a key anything goes but a token that has ended', async () => {
  expect(await codeOf(open, '')).toBe(0)
  expect(await codeOf(open, 'Bearer a.b.c')).toBe(0)
  expect(await codeOf(open, `Bearer ${sign({}, 'whatever')}`)).toBe(0)
  expect(await codeOf(open, `Bearer ${sign({ exp: seconds() - 1 })}`)).toBe(1004)
})

test('a task belongs to the pair, whichever token asks', async () => {
  const init = { method: 'POST', body: JSON.stringify({ prompt: 'a cat' }) }
  const { body } = await ask(signing, `Bearer ${sign()}`, '', init)
  clock.time += 1_000
  const later = await ask(signing, `Bearer ${sign()}`, `/${body.data.task_id}`)
  expect(later.body.data.task_id).toBe(body.data.task_id)
})
