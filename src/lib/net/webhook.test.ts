// Signatures as an independent verifier sees them.
import { expect, test } from 'bun:test'
import { Webhook } from 'standardwebhooks'
import { newWebhookSecret, signedHeaders } from './webhook.ts'

const notice = { id: 'msg_1', atMs: Date.now(), body: '{"task":"Größe ✓"}' }

test('the verifier of the standard accepts a signed notice, and no other', () => {
  const secret = newWebhookSecret()
  const headers = signedHeaders(secret, notice)
  const verify = (by: string, body = notice.body, more = {}) =>
    new Webhook(by).verify(body, { ...headers, ...more })
  expect(verify(secret)).toEqual({ task: 'Größe ✓' })
  const forged: (() => unknown)[] = [
    () => verify(newWebhookSecret()),
    () => verify(secret, '{}'),
    () => verify(secret, notice.body, { 'webhook-id': 'msg_2' }),
    () => verify(secret, notice.body, { 'webhook-timestamp': String(Date.now() / 1_000 - 30) }),
  ]
  for (const accept of forged) expect(accept).toThrow()
})

test('the signature is that of the example in the standard', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const atMs = 1_614_265_330_000
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
  expect(signedHeaders(secret, { id, atMs, body: '{"test": 2432232314}' })).toEqual({
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('nothing is signed with what is no secret', () => {
  const short = `whsec_${Buffer.alloc(23).toString('base64')}`
  for (const bad of ['', 'whsec_', short, newWebhookSecret().slice(6)]) {
    expect(() => signedHeaders(bad, notice)).toThrow('no secret')
  }
})

test('a new secret is another one each time, and long enough', () => {
  const made = Array.from({ length: 20 }, newWebhookSecret)
  expect(new Set(made).size).toBe(20)
  for (const secret of made) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
})
