// The packed table finds what a map of objects would find.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Token } from '../contract/catalog.ts'
import { TokenTable } from './token-table.ts'

function tokenOf(i: number, rest: Partial<Token> = {}): Token {
  return {
    id: `tok_${i}`,
    accountId: 'acc_1',
    accountName: 'acme',
    name: `name ${i}`,
    prefix: 'sk-abc',
    models: ['*'],
    limits: {},
    allowedIps: [],
    disabled: false,
    source: 'api',
    ...rest,
  }
}

test('every token is found by its hash as it was added, and no other hash finds one', () => {
  const table = new TokenTable()
  const tokens = Array.from({ length: 30_000 }, (_, i) =>
    // More different shared parts than are kept once.
    tokenOf(i, { ...(i % 2 === 0 && { expiresAtMs: i }), name: `${'ü'.repeat(i % 7)}"\\\n${i}` }),
  )
  for (const [i, token] of tokens.entries()) table.add(`hash-${i}`, token)
  expect(table.size).toBe(tokens.length)
  for (const [i, token] of tokens.entries()) expect(table.get(`hash-${i}`)).toEqual(token)
  for (const wrong of ['hash-30000', 'hash-', 'hash-1"', '', 'HASH-1']) {
    expect(table.get(wrong)).toBeUndefined()
  }
})

test('all fields come back', () => {
  const token = tokenOf(1, {
    models: ['a', 'b-*'],
    limits: { requestsPerMinute: 3 } as Token['limits'],
    allowedIps: ['192.0.2.0/24'],
    translation: 'strict',
    tags: { team: 'x' },
    tagDefaults: 'team=x',
    tagNames: ['team'],
    endUsers: 'plain',
    fallback: 'never',
    expiresAtMs: 5,
    disabled: true,
    lineage: 'tok_0',
  })
  expect(new TokenTable().add('h', token).get('h')).toEqual(token)
  expect(new TokenTable().get('h')).toBeUndefined()
})

test('a row that is longer than a chunk, and those after it', () => {
  const long = tokenOf(1, { name: 'x'.repeat(5 << 20) })
  const table = new TokenTable().add('a', tokenOf(0)).add('b', long).add('c', tokenOf(2))
  expect(table.get('a')).toEqual(tokenOf(0))
  expect(table.get('b')?.name).toBe(long.name)
  expect(table.get('c')).toEqual(tokenOf(2))
})

test('tells whether there are several accounts', () => {
  const table = new TokenTable().add('a', tokenOf(0)).add('b', tokenOf(1))
  expect(table.hasManyAccounts).toBe(false)
  expect(table.add('c', tokenOf(2, { accountId: 'acc_2' })).hasManyAccounts).toBe(true)
})

test('with tokens that leave, change and come again it is what a map would be', () => {
  const step = fc.record({ id: fc.nat(12), hash: fc.nat(12), adds: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const table = new TokenTable()
      const byId = new Map<string, { hash: string; token: Token }>()
      for (const { id, hash, adds } of steps) {
        const [token, text] = [tokenOf(id, { name: `at ${hash}` }), `hash-${hash}`]
        table.remove(token.id)
        byId.delete(token.id)
        const isTaken = [...byId.values()].some((other) => other.hash === text)
        if (!adds || isTaken) continue
        table.add(text, token)
        byId.set(token.id, { hash: text, token })
      }
      expect(table.size).toBe(byId.size)
      const byHash = new Map([...byId.values()].map(({ hash, token }) => [hash, token]))
      for (let i = 0; i <= 12; i++) {
        expect(table.get(`hash-${i}`)).toEqual(byHash.get(`hash-${i}`) as Token)
      }
    }),
  )
})

test('rows that were removed are counted', () => {
  const table = new TokenTable().add('a', tokenOf(0)).add('b', tokenOf(1))
  table.remove('tok_0')
  table.remove('tok_0')
  table.remove('tok_9')
  expect([table.size, table.removed]).toEqual([1, 1])
})
