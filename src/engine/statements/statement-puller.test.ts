// The daily job against a fake of a provider's report: the day before, the days of a pause, and a day that could
// not be read again later; each day once.
import { expect, test } from 'bun:test'
import type { createCatalog } from '../../catalog/snapshot.ts'
import { createHttpClient } from '../../lib/http/client.ts'
import { listAlerts } from '../../store/catalog/alerts.ts'
import { listStatements } from '../../store/ledger/statements.ts'
import { newPlace, storeKinds } from '../../store/test-stores.ts'
import { StatementPuller } from './statement-puller.ts'

const dayMs = 86_400_000

test.each([...storeKinds])(
  'each day is pulled once, also after a pause, on %s',
  async (dialect) => {
    let status = 200
    const asked: string[] = []
    const fake = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const date = new URL(request.url).searchParams.get('date')!
        asked.push(date)
        const data = [{ date, model: 'up', usage: 0.5 }]
        return status === 200 ? Response.json({ data }) : new Response('no', { status })
      },
    })
    const place = await newPlace(dialect)
    const store = await place.open()
    let nowMs = Date.parse('2026-11-18T01:00:00Z')
    const billing = { kind: 'openrouter', key: 'k', url: `http://127.0.0.1:${fake.port}` } as const
    const channel = { name: 'main', models: { m: 'up' }, billing }
    const log = { level: 'info', debug() {}, info() {}, warn() {}, error() {} }
    const deps = {
      ...{ store, http: createHttpClient(), clock: { nowMs: () => nowMs }, log },
      catalog: { channels: [channel] } as unknown as ReturnType<typeof createCatalog>,
      declared: { file: { currency: 'USD', exchange: {} } },
    } as unknown as ConstructorParameters<typeof StatementPuller>[0]
    // Two gateways.
    const pullers = [new StatementPuller(deps), new StatementPuller(deps)]
    const round = () => Promise.all(pullers.map((each) => each.round()))
    const names = async () => {
      const { items } = await listStatements(store.read, { limit: 100 })
      return items.map(({ name }) => name).toSorted()
    }
    try {
      // The last day has not been over for long: the one before it is due.
      await round()
      expect(await names()).toEqual(['openrouter 2026-11-16'])
      nowMs += 2 * 3_600_000
      await round()
      await round()
      expect(await names()).toEqual(['openrouter 2026-11-16', 'openrouter 2026-11-17'])
      nowMs += 3 * dayMs
      status = 401
      await round()
      expect(await names()).toHaveLength(2)
      status = 200
      nowMs += 3_600_000
      await round()
      expect(await names()).toEqual([16, 17, 18, 19, 20].map((day) => `openrouter 2026-11-${day}`))
      const { items } = await listAlerts(store.read, { limit: 10, kind: 'statement' })
      expect(items.map(({ subject }) => subject)).toContain('main 2026-11-20')
      expect(new Set(asked).size).toBe(5)
    } finally {
      await store.close()
      await place.remove()
      await fake.stop(true)
    }
  },
)
