// Tokens over a clock that is passed in: one request for all calls, ahead of the end, kept while it fails.
import { expect, test } from 'bun:test'
import type { HttpAnswer, HttpPort } from '../../contract/http.ts'
import { TokenSource } from './tokens.ts'

interface Asked {
  answer(status: number, body: object): void
}

/** Each request waits until the test answers it. */
function tokenServer() {
  const asked: Asked[] = []
  const post = () => {
    const { promise, resolve } = Promise.withResolvers<HttpAnswer>()
    asked.push({
      answer: (status, body) =>
        resolve({
          status,
          header: () => undefined,
          text: async () => JSON.stringify(body),
          cancel() {},
        } as unknown as HttpAnswer),
    })
    return { answer: promise, cancel() {} }
  }
  return { asked, http: { post } as unknown as HttpPort }
}

const limits = { connectMs: 1_000 }
const startMs = Date.UTC(2026, 10, 18, 9)
const minute = 60_000
const good = (access_token: string) => ({ access_token, expires_in: 3600 })

function source() {
  const { asked, http } = tokenServer()
  const tokens = new TokenSource(() => ({ url: 'https://tokens.example', form: {} }))
  return { asked, get: (afterMs: number) => tokens.get(http, limits, startMs + afterMs), tokens }
}

/** Lets what was answered be taken. */
const taken = () => Bun.sleep(0)

test('calls that come together wait for one request, and later ones take its token', async () => {
  const { asked, get } = source()
  const waiting = Array.from({ length: 50 }, () => get(0))
  await taken()
  expect(asked).toHaveLength(1)
  asked[0]!.answer(200, good('one'))
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['one']))
  expect(await get(54 * minute)).toBe('one')
  expect(asked).toHaveLength(1)
})

test('five minutes before its end one request renews it, and no call waits for that', async () => {
  const { asked, get } = source()
  const first = get(0)
  await taken()
  asked[0]!.answer(200, good('one'))
  await first
  const during = await Promise.all(Array.from({ length: 20 }, () => get(56 * minute)))
  expect(new Set(during)).toEqual(new Set(['one']))
  expect(asked).toHaveLength(2)
  asked[1]!.answer(200, good('two'))
  await taken()
  expect(await get(57 * minute)).toBe('two')
  expect(asked).toHaveLength(2)
})

test('while renewals fail the old one is used to its end, and asked for again after a pause', async () => {
  const { asked, get } = source()
  const first = get(0)
  await taken()
  asked[0]!.answer(200, good('one'))
  await first
  expect(await get(56 * minute)).toBe('one')
  asked[1]!.answer(500, { error: 'server_error', error_description: 'of project-secret' })
  await taken()
  expect(await get(56 * minute + 5_000)).toBe('one')
  expect(asked).toHaveLength(2)
  expect(await get(57 * minute)).toBe('one')
  expect(asked).toHaveLength(3)
  asked[2]!.answer(400, { error: 'invalid_grant', error_description: 'of project-secret' })
  await taken()
  const late = get(61 * minute)
  await taken()
  asked[3]!.answer(400, { error: 'invalid_grant', error_description: 'of project-secret' })
  const message = await late.then(String, ({ message }: Error) => message)
  expect(message).toStartWith('the cloud gave no access token for this channel: 400 invalid_grant')
  expect(message).not.toContain('project-secret')
})

test('a token that was refused is not given out again', async () => {
  const { asked, get, tokens } = source()
  const first = get(0)
  await taken()
  asked[0]!.answer(200, good('one'))
  expect(await first).toBe('one')
  tokens.drop('another')
  expect(await get(minute)).toBe('one')
  tokens.drop('one')
  const second = get(minute)
  await taken()
  asked[1]!.answer(200, good('two'))
  expect(await second).toBe('two')
})
