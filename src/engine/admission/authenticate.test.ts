// Authentication: a table of tokens and addresses, and the cache of known secrets.
import { describe, expect, test } from 'bun:test'
import { TokenTable } from '../../catalog/token-table.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { createSeal } from '../../lib/crypto/seal.ts'
import type { Engine } from '../engine.ts'
import { authenticate } from './authenticate.ts'

const secret = 'sk-0123456789abcdefghijklmn'
const nowMs = 1_800_000_000_000
const seal = createSeal(new Uint8Array(32).fill(7))

const tokenWith = (more: Partial<Token> = {}): Token => ({
  id: 'tok_1',
  accountId: 'acc_1',
  accountName: 'acme',
  name: 'ci',
  prefix: 'sk-01234',
  models: ['*'],
  limits: {},
  allowedIps: [],
  disabled: false,
  source: 'file',
  ...more,
})

type Needed = Pick<Engine, 'knownSecrets' | 'seal' | 'clock' | 'limits'> & {
  catalog: Pick<Engine['catalog'], 'tokens'>
}

interface Gate {
  engine: Engine
  /** Secrets that had to be hashed. */
  hashed: string[]
  clock: { ms: number }
}

function gateFor(tokens: Record<string, Token>, tokenCacheEntries = 100): Gate {
  const hashed: string[] = []
  const clock = { ms: nowMs }
  const needed: Needed = {
    knownSecrets: new Map(),
    seal: {
      ...seal,
      hash(text) {
        hashed.push(text)
        return seal.hash(text)
      },
    },
    clock: { nowMs: () => clock.ms },
    limits: {
      bodyBytes: 32 * 1024 * 1024,
      jsonDepth: 64,
      abandonedStreams: 1,
      abandonedMs: 1,
      tokenCacheEntries,
      queuedCalls: 1,
      queueMs: 1,
    },
    catalog: { tokens: tableOf(tokens) },
  }
  return { engine: needed as Engine, hashed, clock }
}

function tableOf(tokens: Readonly<Record<string, Token>>): TokenTable {
  const table = new TokenTable()
  for (const [text, token] of Object.entries(tokens)) table.add(seal.hash(text), token)
  return table
}

const codeOf = (result: Token | Refusal) => (result instanceof Refusal ? result.code : result.id)
const from = (ip: string | undefined) => ({ ip: () => ip })
const nowhere = {
  ip(): never {
    throw new Error('the address was asked for')
  },
}

describe('a secret', () => {
  const { engine } = gateFor({ [secret]: tokenWith() })
  test.each<[string, string, string]>([
    ['that is known', secret, 'tok_1'],
    ['that is empty', '', 'invalid_api_key'],
    ['that nobody has', 'sk-0123456789abcdefghijklmX', 'invalid_api_key'],
    ['in other letters', secret.toUpperCase(), 'invalid_api_key'],
    ['that is cut short', secret.slice(0, -1), 'invalid_api_key'],
    ['with something behind it', `${secret}x`, 'invalid_api_key'],
    ['with a line behind it', `${secret}\n`, 'invalid_api_key'],
    ['without its prefix', secret.slice(3), 'invalid_api_key'],
    ['of a name in every object', 'constructor', 'invalid_api_key'],
    ['that is endless', `sk-${'a'.repeat(100_000)}`, 'invalid_api_key'],
  ])('%s', (_, given, code) => {
    expect(codeOf(authenticate(engine, given, nowhere))).toBe(code)
  })

  test('is not in the sentence that refuses it', () => {
    const refusal = authenticate(engine, `${secret}x`, nowhere) as Refusal
    expect(refusal.message).not.toContain(secret)
    expect(refusal.status).toBe(401)
  })

  test('that makes no sense is not even hashed', () => {
    const { engine: fresh, hashed } = gateFor({})
    for (const odd of ['', 'x', 'sk-', 'sk-with space in it', 'Bearer sk-1234567890']) {
      authenticate(fresh, odd, nowhere)
    }
    expect(hashed).toEqual([])
  })
})

describe('a token', () => {
  test.each<[string, Partial<Token>, string]>([
    ['disabled', { disabled: true }, 'invalid_api_key'],
    ['expired', { expiresAtMs: nowMs - 1 }, 'invalid_api_key'],
    ['that expires right now', { expiresAtMs: nowMs }, 'invalid_api_key'],
    ['that expires soon', { expiresAtMs: nowMs + 1 }, 'tok_1'],
    ['that expired in 1970', { expiresAtMs: 0 }, 'invalid_api_key'],
  ])('%s', (_, more, code) => {
    const { engine } = gateFor({ [secret]: tokenWith(more) })
    expect(codeOf(authenticate(engine, secret, nowhere))).toBe(code)
  })
})

describe('an address', () => {
  test.each<[allowed: string[], ip: string | undefined, letIn: boolean]>([
    [['127.0.0.1'], '127.0.0.1', true],
    [['127.0.0.1'], '127.0.0.2', false],
    [['127.0.0.1'], '::ffff:127.0.0.1', true],
    [['127.0.0.0/8'], '127.200.3.4', true],
    [['127.0.0.0/8'], '::ffff:127.0.0.1', true],
    [['127.0.0.0/8'], '128.0.0.1', false],
    [['127.0.0.0/8'], '::1', false],
    [['::1'], '::1', true],
    [['::1'], '0:0:0:0:0:0:0:1', true],
    [['::1'], '127.0.0.1', false],
    [['2001:db8::/32'], '2001:db8:1::5', true],
    [['2001:db8::/32'], '2001:db9::5', false],
    [['0.0.0.0/0'], '203.0.113.9', true],
    [['0.0.0.0/0'], '::1', false],
    [['10.0.0.0/8', '192.168.1.7'], '192.168.1.7', true],
    [['10.0.0.0/8'], undefined, false],
    [['10.0.0.0/8'], '', false],
    [['10.0.0.0/8'], 'somewhere', false],
    [['10.0.0.0/8'], '10.0.0.1, 1.2.3.4', false],
  ])('with %j allowed and %p coming', (allowedIps, ip, letIn) => {
    const { engine } = gateFor({ [secret]: tokenWith({ allowedIps }) })
    const code = codeOf(authenticate(engine, secret, from(ip)))
    expect(code).toBe(letIn ? 'tok_1' : 'ip_not_allowed')
  })

  test('does not matter to a wrong token', () => {
    const { engine } = gateFor({ [secret]: tokenWith({ allowedIps: ['::1'], disabled: true }) })
    expect(codeOf(authenticate(engine, secret, nowhere))).toBe('invalid_api_key')
  })
})

describe('a secret that was seen before', () => {
  test('is not hashed again', () => {
    const { engine, hashed } = gateFor({ [secret]: tokenWith() })
    for (let i = 0; i < 5; i++) expect(codeOf(authenticate(engine, secret, nowhere))).toBe('tok_1')
    expect(hashed).toEqual([secret])
  })

  test('is judged anew every time', () => {
    const { engine, clock } = gateFor({ [secret]: tokenWith({ expiresAtMs: nowMs + 10 }) })
    expect(codeOf(authenticate(engine, secret, nowhere))).toBe('tok_1')
    clock.ms += 10
    expect(codeOf(authenticate(engine, secret, nowhere))).toBe('invalid_api_key')
  })

  test('is remembered only within the limit, and wrong ones not at all', () => {
    const secrets = Array.from({ length: 10 }, (_, i) => `sk-secret-number-${i}-0123456789`)
    const { engine } = gateFor(Object.fromEntries(secrets.map((s) => [s, tokenWith({ id: s })])), 4)
    for (const each of [...secrets, ...secrets]) {
      expect(codeOf(authenticate(engine, each, nowhere))).toBe(each)
      authenticate(engine, `${each}-wrong`, nowhere)
      expect(engine.knownSecrets.size).toBeLessThanOrEqual(4)
    }
  })
})
