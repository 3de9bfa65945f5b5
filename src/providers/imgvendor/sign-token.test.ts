import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { tokenFor } from './sign-token.ts'

const nowMs = 1_760_000_000_400
const minuteMs = 60_000

const read = (token: string) => {
  const [head = '', claims = '', signature = ''] = token.split('.')
  const parse = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  return { head: parse(head), claims: parse(claims), text: `${head}.${claims}`, signature }
}

test('a pair of keys signs a token that lives for half an hour', () => {
  const { head, claims, text, signature } = read(tokenFor('my-ak|my-sk', nowMs))
  expect(head).toEqual({ alg: 'HS256', typ: 'JWT' })
  expect(claims).toEqual({ iss: 'my-ak', exp: 1_760_001_800, nbf: 1_759_999_995 })
  expect(signature).toBe(createHmac('sha256', 'my-sk').update(text).digest('base64url'))
})

test('a secret may hold a bar', () => {
  const { claims, text, signature } = read(tokenFor('a|b|c', nowMs))
  expect(claims.iss).toBe('a')
  expect(signature).toBe(createHmac('sha256', 'b|c').update(text).digest('base64url'))
})

test('it serves for 25 minutes, then another is signed', () => {
  const first = tokenFor('again|sk', nowMs)
  expect(tokenFor('again|sk', nowMs + 25 * minuteMs - 1)).toBe(first)
  const second = tokenFor('again|sk', nowMs + 25 * minuteMs)
  expect(read(second).claims.exp).toBe(1_760_001_800 + 25 * 60)
  expect(tokenFor('again|sk', nowMs + 49 * minuteMs)).toBe(second)
})

test('a clock that is set back does not keep it for longer', () => {
  tokenFor('back|sk', nowMs)
  const earlier = read(tokenFor('back|sk', nowMs - 60 * minuteMs))
  expect(earlier.claims.nbf).toBe(1_759_999_995 - 3_600)
})

test('every pair has its own, however many there are', () => {
  const pairs = Array.from({ length: 600 }, (_, at) => `ak-${at}|sk-${at}`)
  const issuers = () => pairs.map((pair) => read(tokenFor(pair, nowMs)).claims.iss)
  const expected = pairs.map((pair) => pair.split('|')[0])
  expect(issuers()).toEqual(expected)
  expect(issuers()).toEqual(expected)
})

test.each(['single-key', '|sk', 'ak|', ''])('%p goes as it is', (key) => {
  expect(tokenFor(key, nowMs)).toBe(key)
})
