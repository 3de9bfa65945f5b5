// 2,000 upstream error texts with a configured secret planted in each: what may not be in the
// cleaned text in any spelling, and how much of the rest is still there to read.
import { expect, test } from 'bun:test'
import { createCleaner } from './index.ts'

const texts = 2_000
const seed = 20_261_115

/** Keys of many shapes; the last four are two pairs, split as the engine splits them. */
const secrets = [
  'sk-7Hs9dK2mQp4Lx8Vb1Nc6Rt3Zw5Yj0FgAa2Bb',
  'upk_live_51MzQ8rTnWcE0vKd3PbXyLsU6aGhJ4iOfR',
  'AKLTNmQ4ZTc2OWYxYjNhNGQ1Yzhl',
  'LTAI5tQ9zXw3Vb7NmKpL2RsT',
  'AIzaQy7Wn3Rk9Lp2Zx5Vc8Bm1Hd4Jf6Gs0Ta',
  'gateway-sandbox-key-1234567890',
  '9f8e7d6c5b4a39281706f5e4d3c2b1a0',
  'c0ffee11-22aa-43bb-9dcc-55dd66ee77ff',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1cHN0cmVhbSJ9.Qm9ndXNTaWduYXR1cmU3NzE',
  'correct-horse-battery-staple',
  'p@ss w/rd "q"+9<x>&y',
  'Tr0ub4dor&3',
  'hunter2!hunter3?',
  'ZmFrZS1rZXktZm9yLXRlc3RzLW9ubHk+Lz8=',
  'ep_key:2f/9Kq+Wm3/Zt7',
  'QWERTYUIOPASDFGH',
  'ak_5rT9wE2yU7iO',
  'Wn8Kd3Ls0Px6',
  'sec.7Jd8Kf9Lg0-Xc1Vb2Nm3',
  'zq81mvk2',
]

const hosts = ['api.upstream.example', 'ark-gw.upstream.example:8443']

/** `{S}` is the place of a secret; between « and » stands what has to go besides. */
const templates = [
  'Incorrect API key provided: {S}. You can find your API key in the console.',
  'Authentication failed for key {S}, please check that it is active in this region',
  'HTTP 401 Unauthorized: the credential {S} was revoked on 12:34:56 and cannot be used again',
  'The security token included in the request is invalid, got {S} instead',
  'You exceeded your current quota, please check your plan and billing details. Key: {S}',
  'Rate limit reached for model txta-plus on tokens per min (TPM): Limit 90000, Used 89000. {S}',
  'The account of {S} has an overdue balance. Please recharge and try again later.',
  '{"error":{"message":"Invalid authentication for {S}","type":"auth_error","code":401}}',
  '{"code":"InvalidApiKey","message":"Invalid API-key provided: {S}","data":null}',
  '{"error":{"code":"quota","message":"no quota left for {S} in this month","param":null}}',
  'upstream said "{\\"error\\":{\\"message\\":\\"key {S} is disabled by its owner\\"}}" with status 403',
  'Failed to call «https://api.upstream.example/v1/chat/completions?key=»{S} after three attempts',
  'connect ECONNREFUSED «10.12.0.7:8443» while sending key {S} to the inference cluster',
  'getaddrinfo ENOTFOUND «ark-gw.upstream.example» with credential {S} during the second attempt',
  'TypeError: cannot read properties of undefined, key was {S}\n«    at run (/srv/app/dist/server.js:10:20)\n    at async handle (/srv/app/dist/http.js:4:2)»',
  'Error: signature does not match for {S}«\\n    at sign (/srv/app/sign.js:3:4)\\n    at send (/srv/app/send.js:8:1)»',
  '«Traceback (most recent call last):\n  File "/opt/infer/main.py", line 42, in run\n    client.call(key)\n»ValueError: the header carried {S} which is not a valid bearer credential',
  '«Traceback (most recent call last): File "/opt/infer/auth.py", line 7, in check» PermissionError: caller {S} may not use the model',
  'java.lang.IllegalStateException: no route for tenant with key {S}\n«\tat com.vendor.Router.pick(Router.java:88)\n\tat java.base/java.lang.Thread.run(Thread.java:829)\n\t... 23 more»',
  'panic: bad credential {S} in pool\n\n«goroutine 17 [running]:\nmain.handle(0xc000010000, 0x1)\n\t/go/src/gateway/main.go:120 +0x1d»',
  'System.UnauthorizedAccessException: The key {S} is not allowed to read this resource\n«   at Vendor.Auth.Check(String key) in C:\\build\\Auth.cs:line 31\n   at Vendor.Program.Main()»',
  "thread 'worker' panicked with the key {S} because the index was out of bounds\n«stack backtrace:\n   0: rust_begin_unwind\n             at /rustc/abc/library/std/src/panicking.rs:5:5\n   1: core::panicking::panic_fmt»",
  'curl -sS -X POST «https://api.upstream.example/v1/images» -H "Authorization: Bearer {S}" returned a page of status 502 instead of an answer',
  '> POST «/api/v3/contents/generations/tasks» HTTP/1.1 > Host: «ark-gw.upstream.example» > Authorization: Bearer {S} > Accept: */* < HTTP/1.1 403 Forbidden the model is not open for this caller',
  "curl: (22) The requested URL returned error: 401, header was 'X-Api-Key: {S}', please check the account settings",
  'request headers: content-type: application/json; x-api-key: {S}; accept: text/event-stream; the upstream closed the connection early',
  'Headers({"host":"«api.upstream.example»","authorization":"Bearer {S}","user-agent":"client 1.2.3"}) were refused by the edge because of a policy',
  'GET «http://10.0.3.4:9000/internal/keys» 404 the key {S} could not be found in the store of this region',
  "AuthenticationError(\"Error code: 401 - {'error': {'message': 'Wrong key {S}', 'type': 'invalid_request_error'}}\")",
  "Client(api_key='{S}', timeout=30, retries=2) raised a timeout while waiting for the first byte of the answer",
  "{'status': 'failed', 'reason': 'the worker refused the signature', 'signature': '{S}', 'retryable': False}",
  "b'HTTP/1.1 429 Too Many Requests' for credential {S}, please slow down and retry after 20 seconds",
  '<html><head><title>403 Forbidden</title></head><body><h1>Forbidden</h1><p>Access with {S} was denied by the firewall</p></body></html>',
  '<Error><Code>SignatureDoesNotMatch</Code><Message>The signature we calculated does not match</Message><Key>{S}</Key></Error>',
  '<p>Sorry, your session for {S} has ended. Please sign in again to continue working on the project.</p>',
  'The image at messages[0].content could not be fetched (16:9, 1024x1024). Debug: api_key={S}&region=north',
  'invalid parameter: size must be one of 1024x1024, 720x1280; caller token={S} was noted',
  'failed to read «/etc/vendor/keys/primary.json»: the key {S} in it has the wrong length',
  'config «C:\\Program Files\\Vendor\\keys.ini» holds {S} but the service expects another credential for this model',
  'redis «redis://:pw@cache.prod.internal:6379/0» lost the entry of {S}, so the request was not admitted',
  'endpoint «ep-20240611123456-abcde» of account «2100123456» is closed for {S}, contact your administrator',
  'organization «org-Ab12Cd34Ef56» must be verified to use the model txta-plus-2026-01-01 with {S}',
  'content policy: the prompt was rejected by the safety system (code 1301); billing key {S} was not charged',
  '请求失败，密钥 {S} 无效，请检查后重试。模型 txta-plus 未开通。',
  'La clé {S} est invalide ou a expiré, veuillez réessayer plus tard avec une autre clé',
  'upstream timed out after 60 seconds [key={S}] [attempt=2] the task was not created and nothing was billed',
]

type Encode = (secret: string, random: () => number) => string

const each = (text: string, write: (code: number) => string) =>
  [...Buffer.from(text)].map(write).join('')
const hexOf = (code: number, width: number) => code.toString(16).padStart(width, '0')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const piece = (text: string, random: () => number) => {
  const length = 8 + Math.floor(random() * (text.length - 8))
  const start = Math.floor(random() * (text.length - length + 1))
  return text.slice(start, start + length)
}
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const encodings: Record<string, Encode> = {
  raw: (s) => s,
  upper: (s) => s.toUpperCase(),
  lower: (s) => s.toLowerCase(),
  percent: (s) => encodeURIComponent(s),
  percentAll: (s) => each(s, (code) => `%${hexOf(code, 2)}`),
  percentTwice: (s) => encodeURIComponent(encodeURIComponent(s)),
  percentAllTwice: (s) => each(s, (code) => `%25${hexOf(code, 2).toUpperCase()}`),
  json: (s) => JSON.stringify(s).slice(1, -1),
  jsonTwice: (s) => JSON.stringify(JSON.stringify(s)).slice(3, -3),
  unicode: (s) => each(s, (code) => `\\u${hexOf(code, 4)}`),
  backslashX: (s) => each(s, (code) => `\\x${hexOf(code, 2)}`),
  html: (s) => s.replace(/[&<>"]/g, (mark) => entities[mark]!),
  htmlDecimal: (s) => each(s, (code) => `&#${code};`),
  htmlHex: (s) => each(s, (code) => `&#x${hexOf(code, 2)};`),
  base64,
  base64url: (s) => Buffer.from(s).toString('base64url'),
  base64Bearer: (s) => base64(`Bearer ${s}`),
  base64User: (s) => base64(`user:${s}`),
  base64Within: (s) => base64(`{"k":"${s}","n":1}`),
  base64Percent: (s) => encodeURIComponent(base64(s)),
  hex: (s) => Buffer.from(s).toString('hex'),
  hexUpper: (s) => Buffer.from(s).toString('hex').toUpperCase(),
  piece,
  pieceOfBase64: (s, random) => piece(base64(s).replace(/=+$/, ''), random),
  pieceOfHex: (s, random) => piece(Buffer.from(s).toString('hex'), random),
  stars: (s) => `${s.slice(0, 4)}****${s.slice(-4)}`,
  manyShown: (s) => `${s.slice(0, 7)}**********${s.slice(-4)}`,
  dots: (s) => `${s.slice(0, 5)}...${s.slice(-4)}`,
}

/** Small and repeatable; the quality of the numbers is of no importance. */
function seeded(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Planted {
  text: string
  encoding: string
  secret: string
  planted: string
  words: string[]
}

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}_]{2,}/gu) ?? []

/** In its place, in front, behind, or between two words. */
function plant(template: string, planted: string, random: () => number): string {
  const bare = () => template.replace('{S}', '')
  const position = Math.floor(random() * 5)
  let text = template.replace('{S}', () => planted)
  if (position === 1) text = `${planted} ${bare()}`
  if (position === 2) text = `${bare()} ${planted}`
  if (position === 3) {
    const gaps = [...bare().matchAll(/ (?=[^»]*(?:«|$))/g)].map(({ index }) => index)
    const at = gaps[Math.floor(random() * gaps.length)] ?? 0
    text = `${bare().slice(0, at)} ${planted}${bare().slice(at)}`
  }
  return text.replace(/[«»]/g, '')
}

function corpus(): Planted[] {
  const random = seeded(seed)
  const names = Object.keys(encodings)
  return Array.from({ length: texts }, (_, i) => {
    const template = templates[i % templates.length]!
    const secret = secrets[Math.floor(random() * secrets.length)]!
    const encoding = names[Math.floor(random() * names.length)]!
    const planted = encodings[encoding]!(secret, random)
    const words = wordsOf(template.replace(/«[^»]*»|\{S\}/g, ' '))
    return { text: plant(template, planted, random), encoding, secret, planted, words }
  })
}

/** Everything a patient reader could decode from the text. */
function readings(text: string): string {
  const undo = (from: string) =>
    from
      .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/\\[ux]([0-9a-f]{4}|[0-9a-f]{2})/gi, (_, code) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
      .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
      .replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(
        /&(amp|lt|gt|quot);/g,
        (entity) => Object.keys(entities).find((mark) => entities[mark] === entity) ?? entity,
      )
      .replace(/\\(["\\/])/g, '$1')
  const plain = [text]
  for (let i = 0; i < 3; i++) plain.push(undo(plain.at(-1)!))
  const decoded = plain.flatMap((reading) =>
    (reading.match(/[A-Za-z0-9+/_=-]{8,}/g) ?? []).flatMap((run) => [
      ...[0, 1, 2, 3].map((skip) => Buffer.from(run.slice(skip), 'base64').toString('latin1')),
      ...[0, 1].map((skip) => Buffer.from(run.slice(skip), 'hex').toString('latin1')),
    ]),
  )
  return [...plain, ...decoded].join('\n').toLowerCase()
}

/** Plain words are part of some keys and of most sentences: of those only long runs count. */
function tellingPieces(secret: string): string[] {
  const pieces: string[] = []
  for (let i = 0; i + 8 <= secret.length; i++) {
    const part = secret.slice(i, i + 8)
    if (/^(?:[a-z-]+|[A-Z-]+)$/.test(part)) {
      if (i + 16 <= secret.length) pieces.push(secret.slice(i, i + 16))
    } else pieces.push(part)
  }
  return [secret, ...pieces].map((part) => part.toLowerCase())
}

const isPlainWords = (text: string) => /^(?:[a-z-]{0,15}|[A-Z]{0,15})$/.test(text)

const cleaner = createCleaner(secrets, hosts)
const cleaned = corpus().map((planted) => ({ ...planted, out: cleaner.clean(planted.text) }))

test('there are enough different texts', () => {
  expect(templates.length).toBeGreaterThanOrEqual(40)
  expect(secrets.length).toBe(20)
  expect(new Set(cleaned.map(({ text }) => text)).size).toBeGreaterThan(texts * 0.95)
  for (const { text, planted } of cleaned) expect(text).toContain(planted)
})

test('no planted secret survives in any encoding, nor a telling piece of any', () => {
  const pieces = secrets.flatMap(tellingPieces)
  const leaks = cleaned.flatMap(({ out, text, encoding, planted }) => {
    const read = readings(out)
    const piece = pieces.find((part) => read.includes(part))
    const stays = !isPlainWords(planted) && out.includes(planted) ? planted : undefined
    return piece || stays ? [{ encoding, piece, stays, text, out }] : []
  })
  expect(leaks).toEqual([])
})

test('log lines lose the same secrets', () => {
  const pieces = secrets.flatMap(tellingPieces)
  const leaks = cleaned.flatMap(({ text, encoding }) => {
    const out = cleaner.cleanLine(text)
    const read = readings(out)
    const piece = pieces.find((part) => read.includes(part))
    return piece ? [{ encoding, piece, text, out }] : []
  })
  expect(leaks).toEqual([])
})

test('what has to go besides is gone, and what was cleaned stays as it is', () => {
  const places =
    /10\.12\.0\.7|10\.0\.3\.4|upstream\.example|prod\.internal|\/srv\/|\/opt\/|C:\\|:pw@|20240611|2100123456|Ab12Cd34|\.java|\.py\b|goroutine|\/rustc/
  expect(cleaned.filter(({ out }) => places.test(out))).toEqual([])
  expect(cleaned.filter(({ out }) => cleaner.clean(out) !== out)).toEqual([])
})

test('the sentences stay readable: nearly all words overall, six in ten in each text', () => {
  let all = 0
  let alive = 0
  const poor: unknown[] = []
  for (const { words, out, text } of cleaned) {
    const left = new Map<string, number>()
    for (const word of wordsOf(out)) left.set(word, (left.get(word) ?? 0) + 1)
    let here = 0
    for (const word of words) {
      const count = left.get(word) ?? 0
      if (count > 0) here++
      left.set(word, count - 1)
    }
    all += words.length
    alive += here
    if (here < words.length * 0.6 || out.trim() === '')
      poor.push({ here, of: words.length, text, out })
  }
  expect(poor).toEqual([])
  expect(alive / all).toBeGreaterThan(0.98)
})
