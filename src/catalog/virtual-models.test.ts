// Names over other models: what they stand for, which of them fits a word, and what is wrong.

import { expect, test } from 'bun:test'
import type { Channel, Model, Token } from '../contract/catalog.ts'
import { channelFrom, modelFrom } from '../contract/config-schema/index.ts'
import { createCatalog } from './snapshot.ts'
import { TokenTable } from './token-table.ts'
import { namingProblem } from './virtual-models.ts'

const plain = (name: string, more: object = {}) =>
  modelFrom({ name, kind: 'text', interfaces: ['chat'], ...more }, 'file')
const virtual = (name: string, members: string[], price: 'own' | 'served' = 'served') =>
  modelFrom({ name, kind: 'text', virtual: members, price }, 'file')
const alias = (name: string, target: string) => modelFrom({ name, alias: target }, 'file')

const channel = (models: Record<string, string>): Channel =>
  channelFrom(
    { name: 'c', keys: ['k'], protocols: { chat: 'http://up.example/v1' }, models },
    { id: 'c', source: 'file', region: 'cn' },
  )

const token = (models: string[]) => ({ id: 't', accountId: 'acc', models }) as unknown as Token
const anyone = token(['*'])

const catalogOf = (
  models: Model[],
  served: Record<string, string> = { '*': '*' },
  free: string[] = [],
) =>
  createCatalog({
    region: 'cn',
    models,
    channels: [channel(served)],
    tokens: new TokenTable(),
    isPriced: (name) => !free.includes(name),
  })

const servedBy = (catalog: ReturnType<typeof catalogOf>, name: string, by = anyone) =>
  catalog.visible(by, name)?.backing?.members.map(({ model }) => model.name)

test('a channel that serves every name serves no virtual model under its own', () => {
  const catalog = catalogOf([plain('a'), virtual('v', ['a'])])
  const model = catalog.visible(anyone, 'v')!
  expect(catalog.routes(model, 'chat').map(({ upstreamModel }) => upstreamModel)).toEqual(['a'])
})

test('it can be called while one of its members can, and has the smallest limits of all', () => {
  const [a, b] = [plain('a', { context_window: 10 }), plain('b', { context_window: 20 })]
  const catalog = catalogOf([a, b, virtual('v', ['a', 'b'])], { b: '*' })
  expect(catalog.visible(anyone, 'v')).toMatchObject({ contextWindow: 10, interfaces: ['chat'] })
  expect(catalogOf([a, b, virtual('v', ['a', 'b'])], { other: '*' }).visible(anyone, 'v')).toBe(
    undefined,
  )
})

test('it needs its own price, or that of a member that is served', () => {
  const models = [plain('a'), plain('b'), virtual('v', ['a', 'b']), virtual('w', ['a'], 'own')]
  const seen = (served: Record<string, string>, unpriced: string[]) =>
    catalogOf(models, served, unpriced)
      .listVisible(anyone)
      .map(({ name }) => name)
  expect(seen({ '*': '*' }, [])).toEqual(['a', 'b', 'v', 'w'])
  expect(seen({ '*': '*' }, ['w'])).toEqual(['a', 'b', 'v'])
  expect(seen({ '*': '*' }, ['a'])).toEqual(['b', 'v', 'w'])
  expect(seen({ a: '*' }, ['a'])).toEqual(['w'])
})

test('exact names win over patterns, longer patterns over shorter ones', () => {
  const models = [plain('a'), plain('b'), plain('claude-b'), plain('claude-dead')]
  const named = [alias('claude-*', 'a'), alias('claude-opus*', 'b'), alias('claude-x', 'b')]
  const catalog = catalogOf([...models, ...named], { a: '*', b: '*', 'claude-b': '*' })
  expect(servedBy(catalog, 'claude-sonnet')).toEqual(['a'])
  expect(servedBy(catalog, 'claude-opus-4')).toEqual(['b'])
  expect(servedBy(catalog, 'claude-x')).toEqual(['b'])
  expect(catalog.visible(anyone, 'claude-b')?.backing).toBeUndefined()
  // It is known, and no channel serves it: another model must not take its place.
  expect(catalog.visible(anyone, 'claude-dead')).toBeUndefined()
  expect(catalog.listVisible(anyone).map(({ name }) => name)).toEqual([
    'a',
    'b',
    'claude-b',
    'claude-x',
  ])
})

test('an alias of a virtual model has its members and its price', () => {
  const catalog = catalogOf([
    plain('a'),
    plain('b'),
    virtual('v', ['a', 'b'], 'own'),
    alias('n-*', 'v'),
  ])
  const word = catalog.visible(anyone, 'n-1')!
  expect([word.name, word.backing?.pricedAs]).toEqual(['n-1', 'v'])
  expect(servedBy(catalog, 'n-1')).toEqual(['a', 'b'])
})

test('words of callers are bounded in form and number', () => {
  const catalog = catalogOf([plain('a'), alias('*', 'a')])
  for (const odd of ['', ' x', 'x y', 'x\u0000', 'x,y', 'x"', 'é', '=1+1', 'x'.repeat(129)]) {
    expect([odd, catalog.visible(anyone, odd)]).toEqual([odd, undefined])
  }
  for (let i = 0; i < 3_000; i++) expect(catalog.visible(anyone, `w${i}`)?.name).toBe(`w${i}`)
})

test('a token sees the name it is allowed, and nothing behind it', () => {
  const catalog = catalogOf([plain('a'), virtual('v', ['a']), alias('n', 'a')])
  const names = (models: string[]) => catalog.listVisible(token(models)).map(({ name }) => name)
  expect(names(['v'])).toEqual(['v'])
  expect(names(['n'])).toEqual(['n'])
  expect(names(['a'])).toEqual(['a'])
})

test.each([
  [virtual('v', ['x']), "has the member 'x', which is no model"],
  [virtual('v', ['w']), "has the member 'w', which is no model of its own"],
  [virtual('v', ['n']), "has the member 'n', which is no model of its own"],
  [virtual('v', ['video']), "is for text, and its member 'video' for video"],
  [alias('y', 'x'), "is an alias of 'x', which is no model"],
  [alias('y', 'n'), "is an alias of 'n', which is one, too"],
  [alias('y', 'w'), undefined],
  [virtual('v', ['a']), undefined],
])('%j is judged by what it names', (model, problem) => {
  const video = { ...plain('video'), kind: 'video' as const }
  const known = [plain('a'), video, virtual('w', ['a']), alias('n', 'a')]
  const find = (name: string) => known.find((each) => each.name === name)
  expect(namingProblem(model, find)).toBe(problem as string)
  // Where it cannot be, it is served by nothing, and nothing breaks.
  const catalog = catalogOf([...known, model])
  if (problem !== undefined) expect(catalog.visible(anyone, model.name)).toBeUndefined()
})
