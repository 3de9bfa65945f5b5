import { expect, test } from 'bun:test'
import type { Channel, Model, Token } from '../contract/catalog.ts'
import { createCatalog } from './snapshot.ts'

const model = (name: string, extra: Partial<Model> = {}): Model => ({
  name,
  kind: 'text',
  interfaces: ['chat', 'messages'],
  protocols: ['chat', 'messages'],
  displayName: name,
  ownedBy: 'x',
  source: 'builtin',
  ...extra,
})
const channel = (name: string, extra: Partial<Channel> = {}): Channel => ({
  id: name,
  name,
  region: 'cn',
  keys: ['k'],
  protocols: { chat: `http://${name}` },
  models: { '*': '*' },
  priority: 0,
  weight: 1,
  timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
  maxConcurrency: 1,
  disabled: false,
  source: 'file',
  ...extra,
})
const token = (models: string[]): Token => ({
  id: 't',
  accountId: 'a',
  accountName: 'a',
  name: 't',
  prefix: 'sk-',
  models,
  limits: {},
  allowedIps: [],
  disabled: false,
  source: 'api',
})
const catalog = (models: Model[], channels: Channel[], priced = (_: string) => true) =>
  createCatalog({ region: 'cn', models, channels, tokens: new Map(), isPriced: priced })

test('a token sees what its patterns allow, a channel serves and a price covers', () => {
  const models = ['txta-plus', 'txta-turbo', 'other', 'unpriced'].map((name) => model(name))
  const it = catalog(models, [channel('c')], (name) => name !== 'unpriced')
  const names = (patterns: string[]) => it.listVisible(token(patterns)).map(({ name }) => name)
  expect(names(['*'])).toEqual(['other', 'txta-plus', 'txta-turbo'])
  expect(names(['txta-*'])).toEqual(['txta-plus', 'txta-turbo'])
  expect(names(['txta-plus', 'unpriced'])).toEqual(['txta-plus'])
  expect(names([])).toEqual([])
  expect(it.visible(token(['txta-*']), 'other')).toBeUndefined()
})

test('a model without a channel that speaks one of its protocols is not there', () => {
  const speechless = channel('c', { protocols: { embeddings: 'http://c' } })
  expect(catalog([model('m')], [speechless]).offered).toEqual([])
  expect(catalog([model('m')], [channel('c', { disabled: true })]).offered).toEqual([])
  expect(catalog([model('m')], [channel('c', { region: 'eu' })]).offered).toEqual([])
})

test('an interface gets only routes of its own protocol, higher priority first', () => {
  const both = channel('both', {
    protocols: { chat: 'http://b', messages: 'http://b' },
    priority: 1,
  })
  const it = catalog([model('m')], [channel('plain'), both])
  const names = (use: 'chat' | 'messages') =>
    it.routes(it.models.get('m')!, use).map((route) => route.channel.name)
  expect(names('chat')).toEqual(['both', 'plain'])
  expect(names('messages')).toEqual(['both'])
})

test('the most exact name mapping wins and a star keeps the name', () => {
  const maps = { '*': 'any', 'vfa-*': '*', 'vfa-2*': 'two', 'vfa-2.7': 'exact' }
  const it = catalog(
    ['vfa-1', 'vfa-2.0', 'vfa-2.7', 'zzz'].map((name) => model(name)),
    [channel('c', { models: maps })],
  )
  const upstream = (name: string) => it.routes(it.models.get(name)!, 'chat')[0]?.upstreamModel
  expect(['vfa-1', 'vfa-2.0', 'vfa-2.7', 'zzz'].map(upstream)).toEqual([
    'vfa-1',
    'two',
    'exact',
    'any',
  ])
})
