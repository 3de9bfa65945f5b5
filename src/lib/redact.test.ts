import { expect, test } from 'bun:test'
import { createCleaner } from './redact.ts'

const key = 'upk_7Hs9dK2mQp4Lx8Vb1Nc6Rt3Zw5Yj0Fg'
const cleaner = createCleaner([key])

test('a configured secret goes in every form it may be echoed in', () => {
  const forms = [
    key,
    encodeURIComponent(key),
    Buffer.from(key).toString('base64'),
    Buffer.from(key).toString('hex'),
    `${key.slice(0, 12)}****${key.slice(-8)}`,
  ]
  for (const form of forms) {
    const text = cleaner.clean(`Incorrect key provided: ${form}. Check your account.`)
    expect(text).not.toContain(form)
    expect(text).not.toContain(key.slice(-8))
    expect(text).toContain('Check your account')
  }
})

test('key shapes, addresses, internal hosts and stack traces go, the sentence stays', () => {
  const text = cleaner.clean(
    [
      'model overloaded at http://10.12.0.7:8443/internal/v1/infer?token=abc123def',
      'auth Bearer abcdef1234567890 host node-7.prod.internal:9000 and 192.168.3.4:80',
      'api_key=verysecretvalue sk-live-0123456789abcdef jwt eyJhbGciOi.eyJpc3MiOi.c2ln',
      '    at handler (/srv/app/dist/server.js:10:20)',
      '  File "/opt/infer/main.py", line 42, in run',
      'please try again later',
    ].join('\n'),
  )
  for (const secret of [
    '10.12.0.7',
    'abc123def',
    'abcdef1234567890',
    'prod.internal',
    '192.168.3.4',
    'verysecretvalue',
    'sk-live',
    'eyJhbGciOi',
    'server.js',
    'main.py',
  ]) {
    expect(text).not.toContain(secret)
  }
  expect(text).toContain('model overloaded at [url]')
  expect(text).toContain('please try again later')
})

test('the address the caller sent stays readable', () => {
  const sent = '{"image_url":{"url":"https://pics.example/cat.png"}}'
  expect(cleaner.clean('Failed to download https://pics.example/cat.png.', sent)).toBe(
    'Failed to download https://pics.example/cat.png.',
  )
  expect(cleaner.clean('Failed to download https://pics.example/cat.png.')).toContain('[url]')
})

test('ordinary sentences pass unchanged', () => {
  for (const text of [
    'The model `txta-plus` does not support 5 images and/or 3.5 seconds.',
    'max_tokens must be between 1 and 8192, got 9000',
    'Request was rejected: content policy (code 1301) at 12:30:45.',
    'tokens: 4096 exceeded',
  ]) {
    expect(cleaner.clean(text)).toBe(text)
  }
})
