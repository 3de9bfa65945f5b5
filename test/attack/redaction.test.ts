// Secrets that an upstream writes into an error in ways nobody would expect, and places that must not be
// told. What is left of the secret is counted; the sentence around it must stay.
import { describe, expect, spyOn, test } from 'bun:test'
import { guardAddress } from '../../src/lib/net/address-guard.ts'
import { createCleaner } from '../../src/lib/redact/index.ts'

const secrets = [
  'sk-live-TOPSECRET-PROVIDERKEY-77aa88bb',
  'upk_7Hs9dK2mQp4Lx8Vb1Nc6Rt3Zw5Yj0Fg',
  'AKLTNmQ4ZTc2OWYxYjNhNGQ1Yzhl',
  '9f8e7d6c5b4a39281706f5e4d3c2b1a0',
  'c0ffee11-22aa-43bb-9dcc-55dd66ee77ff',
  'Wn8Kd3Ls0Px6',
  'ak_5rT9wE2yU7iO',
  'gateway-sandbox-key-1234567890',
]
const cleaner = createCleaner(secrets, ['api.upstream.example'])

const bytesOf = (text: string) => [...Buffer.from(text)]
const hexes = (text: string) => bytesOf(text).map((code) => code.toString(16).padStart(2, '0'))
const lines = (text: string, length: number, end: string) =>
  (text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? []).join(end)
function base32(text: string): string {
  const bits = bytesOf(text)
    .map((code) => code.toString(2).padStart(8, '0'))
    .join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  return groups.map((group) => letters[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}
const base64 = (text: string) => Buffer.from(text).toString('base64')

const encodings: Readonly<Record<string, (secret: string) => string>> = {
  'hex with spaces': (s) => hexes(s).join(' '),
  'hex with colons': (s) => hexes(s).join(':'),
  'hex with dashes, upper case': (s) => hexes(s).join('-').toUpperCase(),
  'hex with commas and prefixes': (s) =>
    hexes(s)
      .map((hex) => `0x${hex}`)
      .join(', '),
  'hex in words of four': (s) => lines(hexes(s).join(''), 4, ' '),
  'hex in lines of 16 bytes': (s) => lines(hexes(s).join(' '), 48, '\n'),
  'a Buffer of Node': (s) => `<Buffer ${hexes(s).join(' ')}>`,
  'a Buffer in JSON': (s) => JSON.stringify(Buffer.from(s)),
  'a Uint8Array': (s) => `Uint8Array(${s.length}) [ ${bytesOf(s).join(', ')} ]`,
  'decimal codes': (s) => bytesOf(s).join(','),
  'calls of chr': (s) =>
    bytesOf(s)
      .map((code) => `chr(${code})`)
      .join('+'),
  'octal escapes': (s) =>
    bytesOf(s)
      .map((code) => `\\${code.toString(8).padStart(3, '0')}`)
      .join(''),
  'octal codes': (s) =>
    bytesOf(s)
      .map((code) => code.toString(8).padStart(3, '0'))
      .join(' '),
  'binary codes': (s) =>
    bytesOf(s)
      .map((code) => code.toString(2).padStart(8, '0'))
      .join(' '),
  'quoted printable': (s) =>
    hexes(s)
      .map((hex) => `=${hex.toUpperCase()}`)
      .join(''),
  'code points': (s) =>
    hexes(s)
      .map((hex) => `U+00${hex}`)
      .join(' '),
  'lines of 7': (s) => lines(s, 7, '\n'),
  'lines of 5 with indents': (s) => lines(s, 5, '\r\n    '),
  'lines of 3 in JSON': (s) => JSON.stringify(lines(s, 3, '\n')),
  'parts that are added': (s) => `"${lines(s, 6, '" + "')}"`,
  'letters with spaces': (s) => [...s].join(' '),
  'letters with dots': (s) => [...s].join('.'),
  'zero-width spaces': (s) => [...s].join('\u200b'),
  'zero-width joiners, escaped': (s) => [...s].join('\\u200d'),
  'soft hyphens': (s) => lines(s, 4, '\u00ad'),
  'soft hyphens of HTML': (s) => lines(s, 4, '&#173;'),
  'marks on top': (s) => [...s].map((letter) => `${letter}\u0301`).join(''),
  'a byte order mark inside': (s) => lines(s, 6, '\ufeff'),
  'wide letters': (s) => [...s].map((c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)).join(''),
  base32,
  'base32, lower case': (s) => base32(s).toLowerCase(),
  'base32 of a header': (s) => base32(`Bearer ${s}`),
  'base32 in groups': (s) => lines(base32(s), 4, ' '),
  'base64 in short lines': (s) => lines(base64(s), 7, '\n'),
  'base64 of a header in lines': (s) => lines(base64(`Bearer ${s}`), 10, '\n'),
  'every escape in turn': (s) =>
    bytesOf(s)
      .map((code, i) => {
        const hex = code.toString(16).padStart(2, '0')
        return [`%${hex}`, `\\x${hex}`, `&#${code};`, `\\u00${hex}`, `&#x${hex};`][i % 5]
      })
      .join(''),
  'escapes with spaces': (s) =>
    hexes(s)
      .map((hex) => `%${hex}`)
      .join(' '),
  backwards: (s) => [...s].reverse().join(''),
}

/** Characters of words and codes that are left where the secret was. */
const leftOf = (out: string, before: string, after: string) =>
  out
    .slice(before.length, out.length - after.length)
    .replaceAll('[secret]', '')
    .replace(/Buffer|Uint8Array|type|data|chr|U\+00|0x|QmVhcmVy/g, '')
    .replace(/[^\p{L}\p{N}]/gu, '').length

const before = 'Incorrect key provided:'
const after = '. Check the account, line 12 of 240.'

describe.each(Object.entries(encodings))('a secret as %s', (_, encode) => {
  test.each(secrets)('goes: %s', (secret) => {
    const text = `${before} ${encode(secret)}${after}`
    for (const out of [cleaner.clean(text), cleaner.cleanLine(text)]) {
      expect(out).toContain('[secret]')
      expect([out, out.startsWith(before), out.endsWith(after)]).toEqual([out, true, true])
      // One character may be shared with what stood beside it.
      expect([out, leftOf(out, before, after) <= 6]).toEqual([out, true])
    }
  })
})

test('ordinary texts with numbers, codes and words stay as they are', () => {
  for (const text of [
    'size must be one of 1024x1024, 720x1280, 16:9 or 4:3; got 12, 34, 56, 78, 90, 11, 22, 33, 44',
    'Limit 90000, Used 89000, Requested 1500. Please try again in 333ms.',
    'the picture has 3 x 8 bit, gamma 0.45, and 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26 tags',
    'the sandbox key of the gateway: use a sandbox, a key or a gateway with 12 34 56 78 of them',
    'a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9',
    'Ünïcödé wörds and combining e\u0301 a\u0300 stay, and so does a soft\u00adhyphen',
    'the internal server could not serve the model, an internal-error occurred',
    'parameter internal.timeout must be below 30',
  ]) {
    expect(cleaner.clean(text)).toBe(text)
    expect(cleaner.cleanLine(text)).toBe(text)
  }
})

test.each([
  'oss-cn-beijing-internal.aliyuncs.com',
  'vpc100-oss-cn-hangzhou.aliyuncs.com',
  'my-bucket.oss-cn-shanghai-internal.aliyuncs.com:443',
  'infer-gw-internal.vendor.example',
  'internal.api-vendor.com',
  'redis-0.redis.prod.svc.cluster.local',
  'cos-internal.ap-beijing.tencentcos.cn',
  'private-link.eu-west-1.vpce.amazonaws.com',
])('a bare internal host is not told: %s', (host) => {
  expect(cleaner.clean(`the object store ${host} did not answer`)).toBe(
    'the object store [host] did not answer',
  )
})

test.each([
  'at Module._compile (node:internal)',
  'at Module._compile (node:internal/modules/cjs/loader)',
  'at async handler (file:///srv/app/server.js)',
  'at Object.<anonymous> (bun:main)',
  'at new Client (internal/client.js)',
])('a frame of a stack is not told: %s', (frame) => {
  for (const text of [`TypeError: it broke ${frame}`, `TypeError: it broke\n    ${frame}\n`]) {
    expect(cleaner.clean(text)).toBe('TypeError: it broke')
  }
})

test('a name of a private network and one that does not exist are refused in the same words', async () => {
  const rules = { allow: [], httpsOnly: false }
  const nothing = async () => []
  const failing = async () => {
    throw new Error('ENOTFOUND')
  }
  const missing = await guardAddress('http://db.corp.example/', rules, nothing)
  expect(missing).toHaveProperty('problem')
  expect(await guardAddress('http://db.corp.example/', rules, failing)).toEqual(missing)
  for (const address of [
    '10.0.0.7',
    '127.0.0.1',
    '169.254.169.254',
    'fd00::1',
    '::1',
    'fe80::1%1',
  ]) {
    for (const url of ['http://db.corp.example/', 'https://db.corp.example:8443/x']) {
      expect(await guardAddress(url, rules, async () => [address])).toEqual(missing)
      expect(await guardAddress(url, rules, async () => ['93.184.216.34', address])).toHaveProperty(
        'problem',
      )
    }
  }
})

test('an error full of hosts is held against a long request a few times at most', () => {
  const hosts = Array.from({ length: 3_000 }, (_, i) => `h${i}.svc.internal:80`).join(' ')
  const request = 'x '.repeat(2 * 1024 * 1024)
  let read = 0
  const find = String.prototype.indexOf
  const spy = spyOn(String.prototype, 'indexOf').mockImplementation(function (
    this: string,
    ...given: Parameters<typeof find>
  ) {
    if (this.length > 1_000_000) read += this.length - (given[1] ?? 0)
    return find.apply(this, given)
  })
  const out = cleaner.clean(hosts, request)
  spy.mockRestore()
  expect(out).toContain('[host] [host]')
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThanOrEqual(16 * 1024 * 1024)
})
