import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createCleaner } from './index.ts'
import { createKept } from './keep.ts'
import { withoutAddresses, withoutHosts, withoutPaths, withoutUrls } from './places.ts'
import { takeRequestId } from './request-id.ts'
import { createEraser } from './secrets.ts'
import { withoutShapes } from './shapes.ts'
import { withoutStack } from './stack.ts'

const key = 'upk_7Hs9dK2mQp4Lx8Vb1Nc6Rt3Zw5Yj0Fg'
const wordyKey = 'gateway-sandbox-key-1234567890'
const cleaner = createCleaner([key, wordyKey], ['api.vendor.example', 'sandbox:9000', 'node-7'])

describe('a configured secret', () => {
  const bytes = Buffer.from(key)
  const forms: Record<string, string> = {
    plain: key,
    'upper case': key.toUpperCase(),
    'percent signs': [...bytes].map((code) => `%${code.toString(16)}`).join(''),
    'percent signs twice': [...bytes].map((code) => `%25${code.toString(16)}`).join(''),
    'backslash u': [...bytes].map((code) => `\\u00${code.toString(16)}`).join(''),
    entities: [...bytes].map((code) => `&#${code};`).join(''),
    base64: bytes.toString('base64'),
    'base64 of a header': Buffer.from(`Bearer ${key}`).toString('base64'),
    'base64 of a login': Buffer.from(`user:${key}`).toString('base64url'),
    hex: bytes.toString('hex').toUpperCase(),
    'a piece': key.slice(9, 17),
    'a piece of its base64': bytes.toString('base64').slice(11, 19),
    'the end of its base64': bytes.toString('base64').replace('=', '').slice(-8),
    'its ends with stars': `${key.slice(0, 12)}****${key.slice(-8)}`,
    'short ends with stars': `${key.slice(0, 4)}**${key.slice(-3)}`,
    'its ends with dots': `${key.slice(0, 6)}...${key.slice(-4)}`,
    'its ends with a label': `${key.slice(0, 6)}[REDACTED]${key.slice(-4)}`,
  }
  for (const [name, form] of Object.entries(forms)) {
    test(`goes: ${name}`, () => {
      const text = `Incorrect key provided: ${form}. Check your account.`
      const expected = 'Incorrect key provided: [secret]. Check your account.'
      expect(cleaner.clean(text)).toBe(expected)
      expect(cleaner.cleanLine(text)).toBe(expected)
    })
  }

  test('goes even where the caller sent the same', () => {
    expect(cleaner.clean(`got ${key} here`, { keep: `"${key}"` })).toBe('got [secret] here')
    const own = `https://pics.example/${key}/a.png`
    expect(cleaner.clean(`no picture at ${own}`, own)).toBe('no picture at [url]')
  })

  test('with odd characters goes in all spellings of them', () => {
    const odd = 'p@ß w/rd "q"+9<x>'
    const { cleanLine } = createCleaner([odd])
    for (const form of [
      odd,
      JSON.stringify(odd).slice(1, -1),
      encodeURIComponent(odd),
      new URLSearchParams({ p: odd }).toString().slice(2),
      odd.replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    ]) {
      expect([form, cleanLine(`a ${form} b`)]).toEqual([form, 'a [secret] b'])
    }
  })

  test('does not take ordinary words with it', () => {
    for (const text of [
      'The gateway and its sandbox: my-sandbox, sandbox-mode, Gateway... and GATEWAY.',
      'the gateway-side key-value store',
    ]) {
      expect(cleaner.clean(text)).toBe(text)
      expect(cleaner.cleanLine(text)).toBe(text)
    }
    expect(cleaner.clean('a gateway-sandbox-key here')).toBe('a [secret] here')
    expect(cleaner.clean('it ends in y-1234567')).toBe('it ends in [secret]')
  })

  test('made of words only goes as a whole, and in long parts', () => {
    const { clean } = createCleaner([
      'correct-horse-battery-staple',
      'changeme',
      'Incomprehensibilities',
    ])
    expect(clean('no: Correct-Horse-Battery-Staple')).toBe('no: [secret]')
    expect(clean('correct horse, horse-ba, battery')).toBe('correct horse, horse-ba, battery')
    expect(clean('try horse-battery-st or changeme')).toBe('try [secret] or [secret]')
    expect(clean('that is incomprehensible')).toBe('that is incomprehensible')
  })

  test('with a date in it does not take the date out of log lines', () => {
    const { cleanLine } = createCleaner(['key-2026-11-15-a8f3k2m9'])
    expect(cleanLine('{"time":"2026-11-15T07:28:44Z"}')).toBe('{"time":"2026-11-15T07:28:44Z"}')
    expect(cleanLine('y-2026-11-15-a8f')).toBe('[secret]')
  })

  test('shorter than eight characters cannot be looked for', () => {
    expect(createCleaner(['secret', '']).clean('a secret key')).toBe('a secret key')
  })
})

describe('shapes of credentials and ids', () => {
  const cases: [text: string, expected: string][] = [
    ['auth Bearer abcdef1234567890 used', 'auth Bearer [secret] used'],
    ['Basic dXNlcjpwYXNz== used', 'Basic [secret] used'],
    ['Basic authentication or a Bearer token', 'Basic authentication or a Bearer token'],
    ['your sk-live0123456789abcdef failed', 'your [secret] failed'],
    ['keys pk_live12345 AKLTabcdefgh12 LTAIabcdefgh34', 'keys [secret] [secret] [secret]'],
    ['jwt eyJhbGciOi.eyJpc3MiOi.c2ln.', 'jwt [secret].'],
    ['Wrong key sk-abcd****wxyz.', 'Wrong key [secret].'],
    ['api_key=verysecretvalue&n=1', 'api_key=[secret]&n=1'],
    [
      '{"apiKey":"abcd","password": "so many words"}',
      '{"apiKey":"[secret]","password": "[secret]"}',
    ],
    ["x-api-key: 'abcd12', Signature=Zm9v", "x-api-key: '[secret]', Signature=[secret]"],
    ['Authorization: Bearer tokenvalue', 'Authorization: Bearer [secret]'],
    ['password: hunter22.', 'password: [secret].'],
    ['login root:hunter2@db failed', 'login [secret]@db failed'],
    [`hash ${'0123456789abcdef'.repeat(2)}!`, 'hash [secret]!'],
    [`blob ${'aB3dE5gH7jK9'.repeat(4)}!`, 'blob [secret]!'],
    ['a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b', 'a [secret] b'],
    ['a -----BEGIN PRIVATE KEY-----\nMIIcut', 'a [secret]'],
    ['endpoint ep-20240611123456-abcde closed', 'endpoint [id] closed'],
    ['account 2100123456 and "account_id":"2100123457"', 'account [id] and "account_id":"[id]"'],
    ['in organization org-Ab12Cd34Ef56 on', 'in organization [id] on'],
  ]
  for (const [text, expected] of cases) {
    test(`are labelled: ${text.slice(0, 40)}`, () => {
      expect(createCleaner([]).clean(text)).toBe(expected)
    })
  }

  test('leave request ids of the gateway alone', () => {
    const text = 'see req_0123456789abcdef0123456789abcdef.'
    expect(createCleaner([]).clean(text)).toBe(text)
  })

  test('leave a long value the caller sent alone, but no token', () => {
    const hash = 'deadbeef'.repeat(4)
    const { clean } = createCleaner([])
    expect(clean(`no file ${hash}`, `{"file":"${hash}"}`)).toBe(`no file ${hash}`)
    expect(clean(`no file ${hash}`, `{"file":"${hash}00"}`)).toBe('no file [secret]')
    const blob = 'aB3dE5gH7jK9'.repeat(4)
    expect(clean(`no file ${blob}`, `{"file":"${blob}"}`)).toBe(`no file ${blob}`)
    expect(clean('bad sk-abcdef123456', '"sk-abcdef123456"')).toBe('bad [secret]')
  })
})

describe('places', () => {
  const cases: [text: string, expected: string][] = [
    ['at http://10.12.0.7:8443/v1/infer?token=abc (twice).', 'at [url] (twice).'],
    ['{"u":"https:\\/\\/a.example\\/b","n":1}', '{"u":"[url]","n":1}'],
    ['u=https%3A%2F%2Fa.example%2Fb failed', 'u=[url] failed'],
    ['访问https://a.example/b失败', '访问[url]失败'],
    ['redis://:pw@cache:6379/0 is down', '[url] is down'],
    ['host n7.prod.internal:9000, localhost:80', 'host [host], [host]'],
    ['api.vendor.example, eu.API.vendor.example:443.', '[host], [host].'],
    ['sandbox:9000 is the sandbox; node-7', '[host] is the sandbox; [host]'],
    ['dial tcp: lookup db-2 on 10.0.0.2:53: no', 'dial tcp: lookup [host] on [address]: no'],
    ['from 192.168.3.4:80, 10.0.0.0/8', 'from [address], [address]'],
    ['[fe80::1%eth0]:443 ::1 2001:db8::8a2e:370:7334.', '[address] [address] [address].'],
    ['open /srv/app/x.log: no, /etc/passwd', 'open [path]: no, [path]'],
    ['in ~/.ssh/id and path:/opt/a/b.', 'in [path] and path:[path].'],
    ['C:\\Program Files\\App\\x.log, D:/a/b', '[path], [path]'],
    ['on \\\\files01\\share\\x.txt', 'on [path]'],
    ['failed in dist/server.js:10:20', 'failed in [path]'],
  ]
  for (const [text, expected] of cases) {
    test(`are labelled: ${text.slice(0, 40)}`, () => {
      expect(cleaner.clean(text)).toBe(expected)
    })
  }

  test('of the caller stay readable, if they are its own and not a part of another', () => {
    const url = 'https://pics.example/cat.png'
    const failed = `Failed to download ${url}.`
    const sent = (value: string) => JSON.stringify({ image_url: { url: value } })
    expect(cleaner.clean(failed, sent(url))).toBe(failed)
    expect(cleaner.clean(failed, { keep: `see ${url}, please` })).toBe(failed)
    expect(cleaner.clean(failed, sent(url).replaceAll('/', '\\/'))).toBe(failed)
    const labelled = 'Failed to download [url].'
    for (const keep of ['', sent(`${url}.bak`), sent(`${url}?a=1`), sent(`http://a/?u=${url}`)]) {
      expect([keep, cleaner.clean(failed, keep)]).toEqual([keep, labelled])
    }
    expect(cleaner.clean('no host files.corp.internal', sent('http://files.corp.internal/a'))).toBe(
      'no host files.corp.internal',
    )
    expect(cleaner.clean('no host corp.internal', sent('http://files.corp.internal/a'))).toBe(
      'no host [host]',
    )
    expect(cleaner.clean('not api.vendor.example', 'is api.vendor.example up?')).toBe(
      'not api.vendor.example',
    )
  })

  test('of the caller lose their signature, as errors are logged', () => {
    const url = 'https://pics.example/cat.png?X-Signature=0a1b2c3d4e5f'
    const once = cleaner.clean(`no ${url} there`, `"${url}"`)
    expect(once).toBe('no https://pics.example/cat.png?[secret] there')
    expect(cleaner.clean(once, `"${url}"`)).toBe(once)
    const login = 'https://me:pass@pics.example/cat.png'
    expect(cleaner.clean(`no ${login}`, `"${login}"`)).toBe('no [url]')
  })
})

describe('a stack trace goes and its sentence stays', () => {
  const traces: Record<string, string> = {
    JS: '\n    at run (/srv/a.js:1:2)\n    at async Promise.all (index 0)\n    at /srv/b.js:3:4',
    Java: '\n\tat com.a.B.c(B.java:12)\n\tat java.base/java.lang.Thread.run(Thread.java:829)\n\t... 3 more\nCaused by: java.io.IOException: x',
    Go: '\n\ngoroutine 1 [running]:\nmain.run(0xc000010000, 0x1)\n\t/srv/main.go:12 +0x1d\ncreated by main.start in goroutine 1',
    '.NET':
      '\n   at A.B.C(String a, Int32 b) in C:\\x\\y.cs:line 12\n   at A.Main()\n--- End of stack trace from previous location ---',
    Rust: '\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/a/std/src/panicking.rs:5:5\n   1: core::panicking::panic_fmt\nnote: run with `RUST_BACKTRACE=full` for more',
  }
  for (const [language, trace] of Object.entries(traces)) {
    test(language, () => {
      const flat = trace.replaceAll('\n', '\\n').replaceAll('\t', '\\t')
      expect(cleaner.clean(`the worker broke${trace}`)).toBe('the worker broke')
      expect(cleaner.clean(`the worker broke${flat}`)).toBe('the worker broke')
    })
  }

  test('Python, where the sentence comes last', () => {
    const trace = [
      'Traceback (most recent call last):',
      '  File "/opt/a.py", line 3, in f',
      '    raise ValueError(secret)',
      '    ^^^^^^^^^^^^^^^^',
      'ValueError: the value is bad',
    ]
    expect(cleaner.clean(trace.join('\n'))).toBe('ValueError: the value is bad')
    expect(cleaner.clean(`job failed\\n${trace.join('\\n')}`)).toBe(
      'job failed ValueError: the value is bad',
    )
  })

  test('also on one line without any break', () => {
    expect(cleaner.clean('boom at f (/srv/b.js:1:2) at g (/srv/c.js:3:4) end')).toBe('boom end')
    expect(cleaner.clean('boom at a.b.C.d(C.java:1) at a.B.e(Native Method)')).toBe('boom')
  })

  test('and a text that was nothing else is not left empty', () => {
    expect(cleaner.clean('    at run (/srv/a.js:1:2)')).toBe('no readable message')
    expect(cleaner.clean(' ')).toBe('')
  })
})

test('ordinary sentences pass unchanged', () => {
  for (const text of [
    'The model `txta-plus` does not support 5 images and/or 3.5 seconds.',
    'max_tokens must be between 1 and 8192, got 9000',
    'Request was rejected: content policy (code 1301) at 12:30:45.',
    'tokens: 4096 exceeded',
    'txta-plus-2026-01-01 wants 16:9 at 1024x1024 in messages[0].content, version 1.2.3',
    'at most 5 images (got 6)',
    'POST /v1/chat/completions: type text/plain, std::vector<int>, a::b, 5/6/7, 50%, a&b, \\n',
    'Invalid token: expired. Password: required. Unknown key: temperature. Secret: must be set.',
    'task_019a0b1c2d3e4f5061728394a5b6c7d8 and 6f1c2d3e-4b5a-6978-8a9b-0c1d2e3f4a5b not found',
    'unexpected token < in position 0; ***Note*** wait... done',
  ]) {
    expect(cleaner.clean(text)).toBe(text)
  }
})

test('words are renamed where they stand alone', () => {
  const rename = [
    ['txta-plus-2026-01-01', 'txta-plus'],
    ['ep-20240611123456-abcde', 'txta-turbo'],
  ] as const
  expect(
    cleaner.clean(
      '`txta-plus-2026-01-01` is not xtxta-plus-2026-01-01-b. ep-20240611123456-abcde.',
      {
        rename,
      },
    ),
  ).toBe('`txta-plus` is not xtxta-plus-2026-01-01-b. txta-turbo.')
})

test('a private-use character cannot pass for a part that stays', () => {
  const sent = 'https://pics.example/cat.png'
  expect(cleaner.clean(`\ue000 at ${sent}`, sent)).toBe(`\ufffd at ${sent}`)
})

test('a long text is cut after it was cleaned, and no secret hides at the cut', () => {
  const frames = '\n    at run (/srv/app/dist/server.js:10:20)'.repeat(100)
  expect(cleaner.clean(`it broke${frames}\nplease retry`)).toBe('it broke please retry')
  for (let before = 1_950; before <= 2_000; before++) {
    const out = cleaner.clean(`${'so '.repeat(700).slice(0, before)} ${key} ${'on '.repeat(2_000)}`)
    expect(out.length).toBeLessThanOrEqual(2_000)
    expect(out).not.toContain(key.slice(0, 4))
  }
})

test('log lines keep everything but configured secrets', () => {
  const line = '{"url":"http://10.0.0.1/a",  "path":"/srv/app/x", "k":"sk-abcdef123456"}\n'
  expect(cleaner.cleanLine(line)).toBe(line)
})

describe('the request id of an upstream', () => {
  const cases: [text: string, rest: string, requestId: string | undefined][] = [
    ['It failed. Request id: 0217abcdef', 'It failed.', '0217abcdef'],
    ['Bad input (request id: 2024abc-1).', 'Bad input.', '2024abc-1'],
    ['no quota, request_id=abc1234, code=4', 'no quota, code=4', 'abc1234'],
    ['{"message":"no","request_id":"abc-1234"}', '{"message":"no"}', 'abc-1234'],
    ['[trace_id: 12ab34cd] failed', 'failed', '12ab34cd'],
    ['Failed [trace_id: 12ab34cd] twice', 'Failed twice', '12ab34cd'],
    ['RequestId: 4F2A-11. Please retry', 'Please retry', '4F2A-11'],
    ['Try again; X-Request-ID 4f2a11b2', 'Try again', '4f2a11b2'],
    ['参数错误，请求ID：abc123456', '参数错误', 'abc123456'],
    ['the request id is required', 'the request id is required', undefined],
    ['request id: short', 'request id: short', undefined],
  ]
  for (const [text, rest, requestId] of cases) {
    test(`is taken out of: ${text}`, () => {
      const taken = takeRequestId(text)
      expect(taken).toEqual(requestId === undefined ? { text: rest } : { text: rest, requestId })
    })
  }

  test('is not one of the gateway, and not longer than an id', () => {
    const own = 'failed (request id: req_0123456789abcdef0123456789abcdef)'
    expect(takeRequestId(own)).toEqual({ text: own })
    expect(takeRequestId(`${own} request id: 77abcd`).requestId).toBe('77abcd')
    const long = `request id: ${'1'.repeat(129)}`
    expect(takeRequestId(long)).toEqual({ text: long })
  })
})

describe('for any text', () => {
  const fragment = fc.constantFrom(
    ...[key, wordyKey, key.slice(0, 9), 'https://a.b/c?d=e', '[secret]', '[url]', '10.0.0.1:80'],
    ...['at f (/a/b/c.js:1:2)', '\n', '\\n', '%', '%25', '&amp;', '\\u0041', '***', '...', 'sk-'],
    ...[
      'Bearer ',
      'token=',
      'password: "',
      '/',
      '\\',
      ':',
      '@',
      '::1',
      'a',
      ' ',
      '"',
      '.',
      '?',
      ']',
    ],
    ...['localhost', 'x.internal', 'C:\\', 'account ', '1234567890', 'abcdef', 'request id: ', '['],
    ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----', 'File "/a", line 1', 'eyJ'],
  )
  const text = fc.oneof(
    fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join('')),
    fc.array(fc.oneof(fragment, fc.string()), { maxLength: 12 }).map((parts) => parts.join(' ')),
    fc.string({ unit: 'binary', maxLength: 200 }),
  )

  test('cleaning twice is cleaning once', () => {
    const keep = 'see https://a.b/c?d=e on x.internal'
    fc.assert(
      fc.property(text, (dirty) => {
        const once = cleaner.clean(dirty, keep)
        expect(cleaner.clean(once, keep)).toBe(once)
      }),
      { numRuns: 5_000 },
    )
  })

  test('no secret is left wherever it is put', () => {
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: key.length - 8 }), (a, b, start) => {
        const piece = key.slice(start, start + 8)
        expect(cleaner.clean(`${a}${piece}${b}`)).not.toContain(piece)
        expect(cleaner.cleanLine(`${a}${piece}${b}`)).not.toContain(piece)
      }),
      { numRuns: 2_000 },
    )
  })

  test('nothing readable becomes nothing, and nothing grows without end', () => {
    fc.assert(
      fc.property(text, (dirty) => {
        const { length } = cleaner.clean(dirty)
        expect(length > 0).toBe(dirty.trim() !== '')
        expect(length).toBeLessThanOrEqual(2_000)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('long hostile texts take no longer than their length', () => {
  const size = 64 * 1024
  const repeated = (part: string) => part.repeat(Math.ceil(size / part.length))
  const parts = [
    ...['a', 'a.', '1.', ':', '1:', '/', '/a', '\\', '\\\\a', '*', 'a*', '.', 'x', '%', '%25', '&'],
    ...[
      '&#',
      '\\u',
      '\\n',
      '\n',
      ' ',
      'at ',
      'at a(',
      'at a.',
      '\n at a',
      '\\n at ',
      'File "',
      '"',
    ],
    ...['sk-', 'sk-.', 'eyJ', 'eyJa.', 'Bearer ', 'token', 'token=', 'api_', 'x x ', 'key: "', '@'],
    ...['a:aaa', '-----BEGIN PRIVATE KEY', '://', 'a://', 'http://[', ']', '[secret]', '?', 'ep-1'],
    ...[
      'C:\\a ',
      'account ',
      'org-',
      'request id ',
      '(request id: ',
      '请求id',
      'goroutine 1 [',
      '::',
    ],
    ...['upk_7Hs', 'gateway-', '0123456789abcdef', 'aB3', '-', '_', '=', '+', 'ab12...', '\ue000'],
  ]
  const erase = createEraser([key, wordyKey, 'changeme', '-----BEGIN PRIVATE KEY-----'])
  const kept = () => createKept('https://a.b/c')
  const rules: Record<string, (text: string) => unknown> = {
    secrets: erase,
    stack: withoutStack,
    shapes: (text) => withoutShapes(text, () => false),
    urls: (text) => withoutUrls(text, kept()),
    hosts: (text) => withoutHosts(text, new Set(['api.vendor.example']), kept()),
    addresses: (text) => withoutAddresses(text, kept()),
    paths: (text) => withoutPaths(text, kept()),
    requestId: takeRequestId,
    everything: (text) => cleaner.clean(text),
  }
  for (const [name, rule] of Object.entries(rules)) {
    test(name, () => {
      for (const part of parts) {
        const run = repeated(part)
        for (const text of [
          run,
          `/${run}a`,
          `token=${run}a`,
          `1.1.1.1/${run}a`,
          `${run} ${key}!`,
        ]) {
          const out = rule(text)
          if (rule === erase && text.endsWith('!')) expect(out).toEndWith('[secret]!')
        }
      }
    })
  }
})

test('each cleaner knows its own secrets, whatever was made before or after it', () => {
  const [one, other] = ['sk-Zq81xTfW0p', 'sk-Yr92vUgX1q']
  const text = `keys ${one} and ${other}`
  const lines = [[one], [other], [one], [one, other], [other]].map((secrets) =>
    createCleaner(secrets).cleanLine(text),
  )
  const [first, second] = ['keys [secret] and sk-Yr92vUgX1q', 'keys sk-Zq81xTfW0p and [secret]']
  expect(lines).toEqual([first, second, first, 'keys [secret] and [secret]', second])
})
