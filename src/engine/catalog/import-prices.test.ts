// Price list imports: new versions are added, existing ones stay, all or nothing.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readYamlPrices, writeYamlPrices } from '../../billing/prices/price-list.ts'
import type { Price } from '../../contract/price.ts'
import { listAlerts } from '../../store/catalog/alerts.ts'
import { loadPrices } from '../../store/catalog/prices.ts'
import { storeKinds } from '../../store/test-stores.ts'
import { fileWith, newTestEngine, type TestEngine } from '../test-engine.ts'
import { applyDeclarations } from './apply-declarations.ts'
import { type Imported, importPrices } from './import-prices.ts'
import { missingPrices } from './missing-prices.ts'
import { refresh } from './refresh.ts'

const dayMs = 86_400_000

describe.each([...storeKinds])('prices on %s', (on) => {
  let it: TestEngine
  const noted: Price[] = []

  const apply = async (declared: object) => {
    const file = fileWith({ accounts: [{ name: 'acme' }], ...declared })
    await applyDeclarations(it.engine, file)
    it.engine.declared = { ...it.engine.declared, file }
    await refresh(it.engine)
  }
  beforeEach(async () => {
    it = await newTestEngine(on)
    noted.length = 0
    await apply({})
  })
  afterEach(() => it.close())

  const bring = async (text: string, dryRun = false): Promise<Imported> => {
    const list = readYamlPrices(text)
    if ('problems' in list) throw new Error(JSON.stringify(list.problems))
    const how = { atMs: it.clock.ms, dryRun }
    const done = await importPrices(it.engine, list, how, {
      model: async () => {},
      price: async (_, price) => {
        noted.push(price)
      },
    })
    await refresh(it.engine)
    return done
  }
  const outcomes = (done: Imported): unknown[] =>
    'problems' in done ? done.problems : done.prices.map(({ outcome }) => outcome)
  const problems = (done: Imported) =>
    'problems' in done
      ? done.problems.map(({ line, field, message }) => `${line}: ${field} ${message}`)
      : []
  const count = async () => (await loadPrices(it.engine.store.read)).length
  const image = (amount: string, more = '') =>
    `- { model: imga-plus, unit: image, per_image: "${amount}"${more} }\n`
  const from = (ms: number) => `, effective_from: ${new Date(ms).toISOString()}`

  test('that are exported and taken in again change nothing', async () => {
    await apply({ prices: [{ model: 'imga-edit', unit: 'image', per_image: '9' }] })
    await bring(image('1') + image('2', from(it.clock.ms + dayMs)) + image('3', ', account: acme'))
    it.clock.ms += 1000
    const before = await count()
    const done = await bring(writeYamlPrices(it.engine.prices.active()))
    expect(new Set(outcomes(done))).toEqual(new Set(['unchanged']))
    expect(await count()).toBe(before)
  })

  test('are added where they differ, and noted', async () => {
    const before = await count()
    expect(outcomes(await bring(image('0.20')))).toEqual(['unchanged'])
    const start = it.clock.ms + dayMs
    const done = await bring(image('0.30') + image('0.40', from(start)))
    expect(outcomes(done)).toEqual(['added', 'added'])
    expect(noted.map(({ effectiveFromMs }) => effectiveFromMs)).toEqual([it.clock.ms, start])
    expect(await count()).toBe(before + 2)
    expect(it.engine.prices.current('imga-plus')?.terms).toEqual(noted[0]!.terms)
    // A correction replaces a version that has not begun.
    it.clock.ms += 1000
    expect(outcomes(await bring(image('0.50', from(start))))).toEqual(['added'])
    it.clock.ms = start
    expect(it.engine.prices.current('imga-plus')?.terms).toEqual(noted[2]!.terms)
  })

  test('that begin in the past begin now, unless they are there and taken over', async () => {
    const start = it.clock.ms + 1000
    await bring(image('1', from(start)))
    it.clock.ms += 2000
    await bring(image('2'))
    it.clock.ms += 1000
    expect(outcomes(await bring(image('1', from(start))))).toEqual(['superseded'])
    expect(outcomes(await bring(image('2', from(start))))).toEqual(['unchanged'])
    expect(outcomes(await bring(image('3', from(start))))).toEqual(['added'])
    expect(noted.at(-1)!.effectiveFromMs).toBe(it.clock.ms)
  })

  test('of an account are its own list: equal to that of everybody is still new', async () => {
    const own = image('0.20', ', account: acme')
    expect(outcomes(await bring(own))).toEqual(['added'])
    expect(outcomes(await bring(own))).toEqual(['unchanged'])
    const end = '- { model: imga-plus, account: acme, unit: default }'
    it.clock.ms += 1000
    expect(outcomes(await bring(end))).toEqual(['added'])
    expect(outcomes(await bring(end))).toEqual(['unchanged'])
  })

  test('are tried without adding anything', async () => {
    const before = await count()
    expect(outcomes(await bring(image('7'), true))).toEqual(['added'])
    expect([await count(), noted]).toEqual([before, []])
  })

  test('are all refused for one that is wrong, with every line that is', async () => {
    await apply({ prices: [{ model: 'imga-edit', unit: 'image', per_image: '9' }] })
    const before = await count()
    const list = [
      image('5'),
      '- { model: nope, unit: image, per_image: "1" }\n',
      image('1', ', account: nobody'),
      '- { model: imga-edit, unit: image, per_image: "1" }\n',
      image('6'),
    ]
    expect(problems(await bring(list.join('')))).toEqual([
      "2: model 'nope' does not exist",
      "3: account 'nobody' does not exist",
      "4: model 'imga-edit' is priced in the configuration file, which wins",
      '5: model is that of line 1 too, and both would begin at the same time',
    ])
    expect(await count()).toBe(before)
    const own = '- { model: imga-edit, account: acme, unit: image, per_image: "1" }'
    expect(outcomes(await bring(own))).toEqual(['added'])
  })

  describe('that are missing', () => {
    const alerts = async () => {
      const { items } = await listAlerts(it.engine.store.read, { limit: 9, all: true })
      return items
        .filter(({ kind }) => kind === 'missing_price')
        .map(({ subject, times, resolvedAtMs }) => [subject, times, resolvedAtMs !== undefined])
        .toSorted()
    }
    const channels = [
      { name: 'c', keys: ['k'], protocols: { chat: 'http://127.0.0.1:1' }, models: { '*': '*' } },
    ]
    const model = (name: string) => ({ name, kind: 'text', interfaces: ['chat'] })
    const price = (name: string, more: object = {}) => ({
      model: name,
      unit: 'token',
      per_million: { input: '1', output: '1' },
      ...more,
    })

    test('raise an alert that ends with the price', async () => {
      await apply({ channels, models: [model('house'), model('second')] })
      expect(await alerts()).toEqual([
        ['house', 1, false],
        ['second', 1, false],
      ])
      await apply({ channels, models: [model('house'), model('second')], prices: [price('house')] })
      expect(await alerts()).toEqual([
        ['house', 1, true],
        ['second', 1, false],
      ])
      await apply({ models: [model('second')] })
      expect((await alerts()).at(-1)).toEqual(['second', 1, true])
    })

    test('are looked for again when a price begins', async () => {
      const startMs = it.clock.ms + dayMs
      const later = price('house', { effective_from: new Date(startMs).toISOString() })
      await apply({ channels, models: [model('house')], prices: [later] })
      expect(missingPrices(it.engine)).toEqual(['house'])
      it.clock.ms = startMs
      await it.engine.jobs.priceWatch.check()
      expect(await alerts()).toEqual([['house', 1, true]])
    })

    test('are not missed where an account has its own, or no channel serves', async () => {
      const own = price('house', { account: 'acme' })
      await apply({ channels, models: [model('house')], prices: [own] })
      expect(await alerts()).toEqual([])
      const { id } = it.engine.prices.listed('house', await accountId())!.account!
      const token = { id: 't', accountId: id, models: ['*'] } as never
      const stranger = { id: 't', accountId: 'acc_other', models: ['*'] } as never
      expect(it.engine.catalog.visible(token, 'house')?.name).toBe('house')
      expect(it.engine.catalog.visible(stranger, 'house')).toBeUndefined()
      expect(it.engine.catalog.listVisible(stranger).map(({ name }) => name)).not.toContain('house')
      await apply({ models: [model('idle')] })
      expect(await alerts()).toEqual([])
    })

    const accountId = async () =>
      (await loadPrices(it.engine.store.read)).find(({ account }) => account !== undefined)!
        .account!.id
  })
})
