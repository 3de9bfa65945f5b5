// Cases for every declaration: what is accepted, what is refused in which words, what it becomes.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseNanos } from '../../lib/text/decimal.ts'
import {
  accountDeclaration,
  asCidr,
  type ChannelDeclaration,
  channelDeclaration,
  channelFields,
  channelFrom,
  checkDeclaration,
  modelDeclaration,
  modelFrom,
  nearestName,
  parseDurationMs,
  priceDeclaration,
  settingName,
  termsFrom,
  tokenDeclaration,
} from './index.ts'

/** 'setting message' of every problem, or [] when the value is fine. */
function problemsOf(schema: Parameters<typeof checkDeclaration>[0], value: unknown): string[] {
  const result = checkDeclaration(schema, value)
  if ('value' in result) return []
  return result.problems.map((problem) => `${settingName(problem.path)} ${problem.message}`)
}

const channel: ChannelDeclaration = {
  name: 'cloud-a',
  keys: ['k1'],
  protocols: { chat: 'https://up.example/v1/' },
  models: { 'txta-*': '*' },
}
const rates = { input: '1.00', output: '2' }

describe('accounts and tokens', () => {
  test('an account takes a name and a quoted balance', () => {
    expect(problemsOf(accountDeclaration, { name: 'acme', balance: '100.00' })).toEqual([])
    expect(problemsOf(accountDeclaration, { name: 'a b' })).toHaveLength(1)
    expect(problemsOf(accountDeclaration, { name: 'x'.repeat(65) })).toHaveLength(1)
    expect(problemsOf(accountDeclaration, { name: 'a', balance: '-1' })).toHaveLength(1)
    expect(problemsOf(accountDeclaration, { name: 'a', balance: 100 })).toEqual([
      'balance must be a quoted decimal: write "100" instead of 100',
    ])
  })

  test('an unknown key is refused with the nearest known one', () => {
    expect(problemsOf(accountDeclaration, { name: 'a', balanec: '1' })).toEqual([
      'balanec is not a known key; did you mean "balance"?',
    ])
  })

  test('a token secret needs sk- and 24 more characters, and is never repeated', () => {
    const token = (secret: string) => ({ account: 'a', name: 'b', token: secret })
    expect(problemsOf(tokenDeclaration, token(`sk-${'a'.repeat(24)}`))).toEqual([])
    for (const secret of [`sk-${'a'.repeat(23)}`, 'a'.repeat(40), `sk-${'a'.repeat(24)} b`]) {
      const [problem] = problemsOf(tokenDeclaration, token(secret))
      expect(problem).toStartWith('token must be')
      expect(problem).not.toContain(secret)
    }
  })

  test('token models are names or prefixes that end in one star', () => {
    const models = (pattern: string) => ({ account: 'a', name: 'b', models: [pattern] })
    for (const fine of ['*', 'txta-plus', 'vfb-1.1-t2v', 'vfa-*']) {
      expect(problemsOf(tokenDeclaration, models(fine))).toEqual([])
    }
    for (const bad of ['', '**', 'a*b', '*a', 'Txta', 'a**', '-a']) {
      expect(problemsOf(tokenDeclaration, models(bad))).toHaveLength(1)
    }
  })

  test('allowed addresses are IPs or CIDRs in their usual form', () => {
    const ips = (ip: string) => ({ account: 'a', name: 'b', allowed_ips: [ip] })
    for (const fine of ['127.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32']) {
      expect(problemsOf(tokenDeclaration, ips(fine))).toEqual([])
    }
    for (const bad of ['127.1', '010.0.0.1', '10.0.0.0/33', 'fe80::1%eth0', 'host', '']) {
      expect(problemsOf(tokenDeclaration, ips(bad))).toEqual([
        'allowed_ips[0] must be an IP address or a CIDR',
      ])
    }
  })

  test('expiry is an RFC 3339 time and limits are whole numbers of at least 1', () => {
    const base = { account: 'a', name: 'b' }
    expect(
      problemsOf(tokenDeclaration, { ...base, expires_at: '2027-01-01T00:00:00+08:00' }),
    ).toEqual([])
    expect(problemsOf(tokenDeclaration, { ...base, expires_at: '2027-01-01' })).toHaveLength(1)
    expect(problemsOf(tokenDeclaration, { ...base, limits: { rpm: 0 } })).toEqual([
      'limits.rpm must be at least 1',
    ])
    expect(problemsOf(tokenDeclaration, { ...base, limits: { tpm: 1.5 } })).toEqual([
      'limits.tpm must be a whole number',
    ])
  })
})

describe('channels', () => {
  test('defaults are filled in and the base address loses its last slash', () => {
    const made = channelFrom(channel, { id: 'ch_1', source: 'file', region: 'cn' })
    expect(made).toEqual({
      id: 'ch_1',
      name: 'cloud-a',
      region: 'cn',
      keys: ['k1'],
      protocols: { chat: 'https://up.example/v1' },
      models: { 'txta-*': '*' },
      priority: 0,
      weight: 1,
      timeouts: { connectMs: 10_000, firstByteMs: 120_000, idleMs: 60_000, totalMs: 600_000 },
      maxConcurrency: 200,
      messages: { headers: 'both', auth: 'both' },
      disabled: false,
      source: 'file',
    })
  })

  test('declared values win over defaults, also zero', () => {
    const declared = { ...channel, weight: 0, priority: -1, timeouts: { connect: '500ms' } }
    const made = channelFrom(declared, { id: 'ch_1', source: 'api', region: 'cn' })
    expect(made.weight).toBe(0)
    expect(made.priority).toBe(-1)
    expect(made.timeouts.connectMs).toBe(500)
    expect(made.timeouts.totalMs).toBe(600_000)
  })

  test('base addresses are http(s) without credentials, query or fragment', () => {
    const at = (chat: string) => ({ ...channel, protocols: { chat } })
    expect(problemsOf(channelDeclaration, at('http://127.0.0.1:9000'))).toEqual([])
    const bad = [
      'ftp://x',
      'https://u:p@x',
      'https://x?a=1',
      'https://x#a',
      'x',
      'https://',
      'http:/x',
    ]
    for (const address of bad) {
      expect(problemsOf(channelDeclaration, at(address))).toHaveLength(1)
    }
  })

  test('a channel needs a key, a protocol and a model', () => {
    expect(problemsOf(channelDeclaration, { ...channel, keys: [] })).toEqual([
      'keys must not be empty',
    ])
    expect(problemsOf(channelDeclaration, { ...channel, protocols: {} })).toHaveLength(1)
    expect(problemsOf(channelDeclaration, { ...channel, models: {} })).toHaveLength(1)
    expect(problemsOf(channelDeclaration, { ...channel, keys: ['a\r\nb'] })).toHaveLength(1)
    expect(problemsOf(channelDeclaration, { ...channel, keys: ['access|secret'] })).toEqual([])
  })

  test('a protocol nobody speaks is refused with the nearest one', () => {
    const declared = { ...channel, protocols: { chta: 'https://x.example' } }
    expect(problemsOf(channelDeclaration, declared)).toContain(
      'protocols.chta is not a known key; did you mean "chat"?',
    )
  })

  test('single fields can be checked on their own', () => {
    expect(problemsOf(channelFields.partial(), { weight: 2 })).toEqual([])
    expect(problemsOf(channelFields.partial(), { weight: -1 })).toHaveLength(1)
    expect(problemsOf(channelFields.partial(), { max_concurrency: 0 })).toHaveLength(1)
  })

  test('durations have a unit', () => {
    expect(parseDurationMs('500ms')).toBe(500)
    expect(parseDurationMs('10s')).toBe(10_000)
    expect(parseDurationMs('2m')).toBe(120_000)
    expect(parseDurationMs('1.5s')).toBe(1500)
    for (const bad of ['10', 's', '-1s', '1 s', '1d', '1e3s']) {
      expect(parseDurationMs(bad)).toBeUndefined()
    }
    const timeouts = (connect: unknown) => ({ ...channel, timeouts: { connect } })
    expect(problemsOf(channelDeclaration, timeouts(10))).toHaveLength(1)
    expect(problemsOf(channelDeclaration, timeouts('0s'))).toHaveLength(1)
    expect(problemsOf(channelDeclaration, timeouts('25h'))).toHaveLength(1)
  })
})

describe('models', () => {
  test('protocols follow from the interfaces of the same name', () => {
    const made = modelFrom(
      { name: 'txta-new', kind: 'text', interfaces: ['messages', 'chat'] },
      'file',
    )
    expect(made.protocols).toEqual(['chat', 'messages'])
    expect(made.displayName).toBe('txta-new')
    expect(made.ownedBy).toBe('txta')
    expect('maxOutputTokens' in made).toBe(false)
  })

  test('an interface without a protocol of its own needs one named', () => {
    const declared = { name: 'a', kind: 'video', interfaces: ['videos'] }
    expect(problemsOf(modelDeclaration, declared)).toEqual([
      'protocols must be given, because videos is no upstream protocol',
    ])
    expect(problemsOf(modelDeclaration, { ...declared, protocols: ['vf'] })).toEqual([])
  })

  test('names are small letters, digits, dots and dashes', () => {
    const named = (name: string) => ({ name, kind: 'text', interfaces: ['chat'] })
    expect(problemsOf(modelDeclaration, named('vfb-1.1-t2v'))).toEqual([])
    for (const bad of ['', '-a', 'A', 'a_b', 'a/b', 'a*']) {
      expect(problemsOf(modelDeclaration, named(bad))).toHaveLength(1)
    }
  })
})

describe('prices', () => {
  const price = (rest: object) => ({ model: 'm', ...rest })

  test('each unit becomes its terms in nano-units', () => {
    const terms = (rest: object) => termsFrom(priceDeclaration.parse(price(rest)))
    expect(terms({ unit: 'token', per_million: { ...rates, cache_read: '0.08' } })).toEqual({
      unit: 'token',
      tiers: [
        { inputNanos: 1_000_000_000n, outputNanos: 2_000_000_000n, cacheReadNanos: 80_000_000n },
      ],
    })
    const tiers = [{ up_to: 10, per_million: rates }, { per_million: { input: '2', output: '3' } }]
    expect(terms({ unit: 'token', tiers })).toEqual({
      unit: 'token',
      tiers: [
        { upTo: 10, inputNanos: 1_000_000_000n, outputNanos: 2_000_000_000n },
        { inputNanos: 2_000_000_000n, outputNanos: 3_000_000_000n },
      ],
    })
    expect(terms({ unit: 'image', per_image: '0.20' })).toEqual({
      unit: 'image',
      perImageNanos: 200_000_000n,
    })
    expect(terms({ unit: 'video_second', per_second: { '720p': '0.90' } })).toEqual({
      unit: 'video_second',
      perSecondNanos: { '720p': 900_000_000n },
    })
    expect(terms({ unit: 'video_token', per_million: '15.00' })).toEqual({
      unit: 'video_token',
      perMillionNanos: 15_000_000_000n,
    })
  })

  test('a token price has either one rate or tiers', () => {
    const tiers = [{ per_million: rates }]
    expect(problemsOf(priceDeclaration, price({ unit: 'token' }))).toHaveLength(1)
    expect(
      problemsOf(priceDeclaration, price({ unit: 'token', per_million: rates, tiers })),
    ).toHaveLength(1)
  })

  test('tiers ascend strictly and only the last may be open', () => {
    const tiered = (...ends: (number | undefined)[]) =>
      price({
        unit: 'token',
        tiers: ends.map((up_to) =>
          up_to ? { up_to, per_million: rates } : { per_million: rates },
        ),
      })
    expect(problemsOf(priceDeclaration, tiered(1, 2, undefined))).toEqual([])
    expect(problemsOf(priceDeclaration, tiered(2, 2))).toEqual([
      'tiers[1].up_to must be above 2, the tier before it',
    ])
    expect(problemsOf(priceDeclaration, tiered(undefined, 2))).toEqual([
      'tiers[0].up_to must be given in every tier but the last',
    ])
  })

  test('numbers, negatives and fields of another unit are refused', () => {
    expect(problemsOf(priceDeclaration, price({ unit: 'image', per_image: 0.2 }))).toEqual([
      'per_image must be a quoted decimal: write "0.2" instead of 0.2',
    ])
    expect(problemsOf(priceDeclaration, price({ unit: 'image', per_image: '-1' }))).toHaveLength(1)
    expect(
      problemsOf(priceDeclaration, price({ unit: 'image', per_image: '1', tiers: [] })),
    ).toHaveLength(1)
    expect(problemsOf(priceDeclaration, price({ unit: 'hour' }))).toEqual([
      'unit must be one of token, image, video_second, video_token, search, character, audio_second, free, default',
    ])
  })

  test('any amount that is accepted is what the decimal parser reads, and not negative', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^-?\d{0,11}\.?\d{0,11}$/))
    fc.assert(
      fc.property(texts, (per_image) => {
        const nanos = parseNanos(per_image)
        const fine = problemsOf(priceDeclaration, price({ unit: 'image', per_image })).length === 0
        expect(fine).toBe(nanos !== undefined && nanos >= 0n)
      }),
    )
  })
})

describe('small words', () => {
  test('the nearest name counts swapped letters as one slip', () => {
    expect(nearestName('prioirty', ['weight', 'priority', 'protocols'])).toBe('priority')
    expect(nearestName('a', [])).toBeUndefined()
  })

  test('an address becomes a CIDR', () => {
    expect(asCidr('10.1.2.3')).toBe('10.1.2.3/32')
    expect(asCidr('::1')).toBe('::1/128')
    expect(asCidr('10.0.0.0/8')).toBe('10.0.0.0/8')
    expect(asCidr('nowhere')).toBeUndefined()
  })

  test('a path reads like code', () => {
    expect(settingName(['channels', 0, 'models', 'vfa-*'])).toBe('channels[0].models["vfa-*"]')
  })
})
