import { describe, expect, test } from 'bun:test'
import type { Channel, Model, Token } from '../contract/catalog.ts'
import { createCatalog, routesThrough } from './snapshot.ts'
import { TokenTable } from './token-table.ts'

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
  messages: { headers: 'both', auth: 'both' },
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
  createCatalog({ region: 'cn', models, channels, tokens: new TokenTable(), isPriced: priced })

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
  const offers = (only: Channel) => catalog([model('m')], [only]).offers('m')
  expect(offers(speechless)).toBe(false)
  expect(offers(channel('c', { disabled: true }))).toBe(false)
  expect(offers(channel('c', { region: 'eu' }))).toBe(false)
  expect(offers(channel('c'))).toBe(true)
})

test('a model is there from the moment its price begins, without a new picture', () => {
  let begun = false
  const it = catalog([model('m')], [channel('c')], () => begun)
  const seen = () => [
    it.offers('m'),
    it.visible(token(['*']), 'm')?.name,
    it.listVisible(token(['*'])).length,
  ]
  expect(seen()).toEqual([false, undefined, 0])
  begun = true
  expect(seen()).toEqual([true, 'm', 1])
  begun = false
  expect(seen()).toEqual([false, undefined, 0])
})

test('a disabled channel can still say how it would serve a model', () => {
  const resting = channel('c', { disabled: true, models: { m: 'up' } })
  const through = (it: Model, use: 'chat' | 'images') => routesThrough(resting, it, use)
  expect(through(model('m'), 'chat')).toMatchObject([{ protocol: 'chat', upstreamModel: 'up' }])
  expect(through(model('m', { interfaces: ['messages'], translate: false }), 'chat')).toEqual([])
  expect(through(model('m'), 'images')).toEqual([])
  expect(through(model('other'), 'chat')).toEqual([])
})

test('an interface gets routes of its own protocol first, higher priority first', () => {
  const both = channel('both', {
    protocols: { chat: 'http://b', messages: 'http://b' },
    priority: 1,
  })
  const it = catalog([model('m')], [channel('plain'), both])
  const names = (use: 'chat' | 'messages') =>
    it.routes(it.models.get('m')!, use).map((route) => route.channel.name)
  expect(names('chat')).toEqual(['both', 'plain'])
  expect(names('messages')).toEqual(['both', 'plain'])
  const through = it.routes(it.models.get('m')!, 'messages')
  expect(through.map(({ protocol, translated }) => [protocol, translated])).toEqual([
    ['messages', undefined],
    ['chat', true],
  ])
})

test('a text model is served in every text style, unless it forbids translation', () => {
  const messagesOnly = channel('c', { protocols: { messages: 'http://c' } })
  const served = (changes: Partial<Model>) => {
    const it = catalog([model('m', changes)], [messagesOnly])
    return it.servedBy(it.models.get('m')!)
  }
  expect(served({ interfaces: ['chat'] })).toEqual(['chat', 'responses', 'messages', 'generate'])
  expect(served({ interfaces: ['chat', 'messages'], translate: false })).toEqual(['messages'])
})

test('a call is translated into the style that loses least', () => {
  const all = channel('c', { protocols: { chat: 'http://c', messages: 'http://c' } })
  const it = catalog([model('m', { interfaces: ['chat'] })], [all])
  const protocol = (use: string) => it.routes(it.models.get('m')!, use)[0]?.protocol
  expect(['chat', 'responses', 'messages', 'generate'].map(protocol)).toEqual([
    'chat',
    'messages',
    'messages',
    'messages',
  ])
})

test('among channels that need translation the priority decides first', () => {
  const low = channel('low', { protocols: { messages: 'http://low' }, priority: -1 })
  const high = channel('high', { protocols: { chat: 'http://high' }, priority: 1 })
  const it = catalog([model('m')], [low, high])
  const routes = it.routes(it.models.get('m')!, 'responses')
  expect(routes.map(({ channel: { name }, protocol }) => [name, protocol])).toEqual([
    ['high', 'chat'],
    ['low', 'messages'],
  ])
})

test('a channel is asked by the first of the model’s protocols that it speaks', () => {
  const image = model('draw', {
    kind: 'image',
    interfaces: ['images'],
    protocols: ['images', 'vf'],
  })
  const models = { draw: '*' }
  const both = channel('a', { protocols: { vf: 'http://a/vf', images: 'http://a/images' }, models })
  const second = channel('b', { protocols: { vf: 'http://b' }, models })
  const found = catalog([image], [both, second]).routes(image, 'images')
  expect(found.map(({ channel: { name }, protocol }) => [name, protocol])).toEqual([
    ['a', 'images'],
    ['b', 'vf'],
  ])
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

describe('a video model with a date', () => {
  const video = model('film', { kind: 'video', interfaces: ['videos'], protocols: ['vf'] })
  const books = (models: Record<string, string>) =>
    createCatalog({
      region: 'cn',
      models: [video, model('words')],
      channels: [channel('a', { protocols: { vf: 'http://a', chat: 'http://a' }, models })],
      tokens: new TokenTable(),
      isPriced: (name) => name === 'film' || name === 'words',
    })

  test('is its own version upstream, costs as the undated one and is not listed', () => {
    const catalog = books({ '*': '*' })
    const found = catalog.visible(token(['film']), 'film-2026-04-25')
    expect(found).toMatchObject({ name: 'film-2026-04-25', pricedAs: 'film' })
    expect(catalog.routes(found!, 'videos').map((route) => route.upstreamModel)).toEqual([
      'film-2026-04-25',
    ])
    expect(catalog.listVisible(token(['*'])).map(({ name }) => name)).toEqual(['film', 'words'])
  })

  test('is unknown where no channel takes the name, or it is no date, or it makes no videos', () => {
    expect(books({ words: '*' }).visible(token(['*']), 'film-2026-04-25')).toBeUndefined()
    const catalog = books({ '*': '*' })
    for (const name of ['film-2026-13-01', 'film-2026-4-25', 'film-720p', 'words-2026-04-25']) {
      expect(catalog.visible(token(['*']), name)).toBeUndefined()
    }
    expect(catalog.visible(token(['words']), 'film-2026-04-25')).toBeUndefined()
  })
})

describe('a dated snapshot', () => {
  const video = (name: string) =>
    model(name, { kind: 'video', interfaces: ['videos'], protocols: ['vf'] })
  const dated = 'vfa-2.7-t2v-2026-04-25'
  const from = (models: Channel['models']) =>
    catalog(
      [video('vfa-2.7-t2v'), video('vfa-2.7-i2v')],
      [channel('c', { protocols: { vf: 'http://c' }, models })],
      (name) => name === 'vfa-2.7-t2v',
    )

  test.each<[Channel['models'], string | undefined]>([
    [{ [dated]: '*' }, dated],
    [{ [dated]: 'up-7' }, 'up-7'],
    [{ 'vfa-2.7-t2v-*': '*' }, dated],
    [{ 'vfa-2.7-t2v': '*' }, dated],
    [{ 'vfa-2.7-t2v': 'up' }, 'up-2026-04-25'],
    [{ 'vfa-*': '*' }, dated],
    [{ 'vfa-2.7-t2v-2026-06-12': '*' }, undefined],
    [{ 'vfa-2.7-i2v': '*' }, undefined],
  ])('is served by a channel that offers %j as %p', (models, upstream) => {
    const it = from(models)
    const seen = it.visible(token(['*']), dated)
    expect(seen?.pricedAs).toBe(upstream === undefined ? undefined : 'vfa-2.7-t2v')
    expect(seen && it.routes(seen, 'videos')[0]?.upstreamModel).toBe(upstream)
  })

  test('is listed where a channel or the token names it and the token may call it', () => {
    const names = (models: Channel['models'], patterns: string[]) =>
      from(models)
        .listVisible(token(patterns))
        .map(({ name }) => name)
    expect(names({ [dated]: '*' }, ['*'])).toEqual([dated])
    expect(names({ [dated]: '*', 'vfa-2.7-t2v': '*' }, ['vfa-2.7-t2v'])).toEqual([
      'vfa-2.7-t2v',
      dated,
    ])
    expect(names({ 'vfa-*': '*' }, [dated])).toEqual([dated])
    expect(names({ 'vfa-*': '*' }, ['*'])).toEqual(['vfa-2.7-t2v'])
    expect(names({ [dated]: '*' }, ['txta-*'])).toEqual([])
  })
})
