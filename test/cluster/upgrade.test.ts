// Upgrades from every schema that was in use, on databases that gateways of those versions made and
// were killed on: nothing is lost, the books stand, work goes on, and no moment is a bad one to die.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { auditBooks } from '../../src/billing/proof/audit.ts'
import { formatNanos, parseNanos } from '../../src/lib/text/decimal.ts'
import { newestKnown } from '../../src/store/migrations/index.ts'
import { failureOf, storeKinds } from '../../src/store/test-stores.ts'
import { chargesOf, readAccount, readLedger } from '../support/books.ts'
import {
  loadOld,
  loadYoung,
  type OldDatabase,
  oldVersions,
  type Tables,
} from '../support/data/old-database.ts'
import { oldConfig, oldCreateKey, oldMasterKey, oldToken } from '../support/data/old-gateway.ts'
import { type OldUpstream, startOldUpstream } from '../support/data/old-upstream.ts'
import { root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'

if (!storeKinds.includes('postgres')) {
  console.error('left out: upgrades on PostgreSQL (set TEST_POSTGRES_URL)')
}

/** Made anew by an upgrade from what is in the log. */
const remade = ['upstream_ids', 'log_segments', 'log_values', 'log_figures', 'meta']

let upstream: OldUpstream
beforeAll(() => {
  upstream = startOldUpstream()
  upstream.finish()
})
afterAll(() => upstream.stop())

/** Entries that had no receipt yet have theirs afterwards: the audit compares these with the entries. */
const grown = ['receipts', 'money_hours', 'hourly_totals', 'daily_totals', 'tag_totals']

const kept = (tables: Tables): Tables =>
  new Map([...tables].filter(([name]) => !remade.includes(name) && !grown.includes(name)))

async function schemaOf({ ask }: OldDatabase): Promise<number> {
  const [row] = await ask(`SELECT value FROM meta WHERE key = 'schema_version'`)
  return Number(row!['value'])
}

const envOf = ({ place }: OldDatabase): Record<string, string> => ({
  GATEWAY_MASTER_KEY: oldMasterKey,
  ...(place.options.databaseUrl && { GATEWAY_DATABASE_URL: place.options.databaseUrl }),
})

const start = (old: OldDatabase): Promise<TestGateway> =>
  startGateway({
    config: oldConfig(upstream, 'both'),
    dataDir: old.place.options.dataDir,
    env: envOf(old),
  })

const asOldCaller = (gateway: TestGateway, path: string, body: unknown, key?: string) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${oldToken}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  })

const order = (prompt: string) => ({ model: 'vfa-2.7-t2v', prompt, seconds: 5 })

/** The case's own limit ends the waiting. */
async function allEnded(gateway: TestGateway): Promise<void> {
  while ((await readAccount(gateway)).held !== '0.00') await Bun.sleep(20)
}

describe.each(storeKinds.flatMap((engine) => oldVersions.map((version) => ({ engine, version }))))(
  'on $engine, from $version,',
  ({ engine, version }) => {
    test('an upgrade keeps every row as it was, and the books add up', async () => {
      const old = await loadOld(engine, version)
      const before = await old.tables()
      expect(await schemaOf(old)).toBeLessThan(newestKnown)
      const store = await old.place.open()
      const audit = await auditBooks(store)
      await store.close()
      expect(audit).toMatchObject({
        ok: true,
        problems: [],
        accounts: before.get('accounts')!.length,
      })
      expect(audit.entries).toBe(before.get('entries')!.length)
      expect(await schemaOf(old)).toBe(newestKnown)
      const after = await old.tables(before)
      expect(kept(after)).toEqual(kept(before))
      const receipts = before.get('receipts') ?? []
      expect(after.get('receipts') ?? []).toEqual(expect.arrayContaining(receipts))
      await old.place.remove()
    })

    test('callers go on, tasks under way end and are charged once, and old answers are repeated', async () => {
      const old = await loadYoung(engine, version)
      const before = await old.tables()
      const tasks = before.get('tasks') ?? []
      const open = tasks.filter(({ state }) => ['queued', 'running'].includes(state!))
      expect(open).toHaveLength(version === '0.1.0' ? 0 : 2)
      const balance = before.get('accounts')!.find(({ name }) => name === 'acme')!['balance_nanos']
      const gateway = await start(old)
      const asked = upstream.ordered.length
      expect((await asOldCaller(gateway, '/v1/chat/completions', chat)).status).toBe(200)
      await allEnded(gateway)
      if (open.length > 0) {
        const again = await asOldCaller(gateway, '/v1/videos', order('slow cats'), oldCreateKey)
        const { id } = (await again.json()) as { id: string }
        expect([again.status, open.map((task) => task['id'])]).toEqual([
          200,
          expect.arrayContaining([id]),
        ])
      }
      expect(upstream.ordered).toHaveLength(asked)
      const charges = chargesOf(await readLedger(gateway))
      const fresh = charges.filter(({ id }) => Number(id) > Number(newestEntry(before)))
      expect(fresh).toHaveLength(1 + open.length)
      const spent = fresh.reduce((sum, { amount }) => sum + parseNanos(amount)!, 0n)
      const { balance: now } = await readAccount(gateway)
      expect(now).toBe(formatNanos(BigInt(balance!) + spent))
      const [request] = before.get('requests')!
      const explained = await gateway.admin('GET', `/explain/${request!['request_id']}`)
      expect(explained.status).toBe(200)
      const { body } = await gateway.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
      expect(await gateway.stop()).toBe(0)
      await old.place.remove()
    })
  },
)

const chat = { model: 'txta-plus', messages: [{ role: 'user', content: 'still there?' }] }

const newestEntry = (tables: Tables): number =>
  Math.max(...tables.get('entries')!.map(({ id }) => Number(id)))

describe.each([...storeKinds])('on %s', (engine) => {
  /** As a person starts it; gives the signal that ended it. */
  async function dieAt(old: OldDatabase, step: number): Promise<string | null> {
    const child = Bun.spawn([join(root, 'bin/gateway'), 'start'], {
      cwd: tempDir(),
      stdout: 'ignore',
      stderr: 'inherit',
      env: {
        ...ownEnv,
        ...envOf(old),
        GATEWAY_PORT: '0',
        GATEWAY_DATA_DIR: old.place.options.dataDir,
        GATEWAY_CRASH_AT: `schema-step:${step}`,
      },
    })
    await child.exited
    return child.signalCode === null ? null : String(child.signalCode)
  }

  test('a gateway that dies in the middle of an upgrade leaves whole steps, and the next one goes on', async () => {
    const old = await loadOld(engine, '0.1.0')
    const before = await old.tables()
    const schemas: number[] = []
    for (const step of [2, 9, 12]) {
      expect(await dieAt(old, step)).toBe('SIGKILL')
      schemas.push(await schemaOf(old))
    }
    // In the first step, in a later one, and in one after that.
    expect(schemas[0]).toBe(1)
    expect(schemas[1]).toBeGreaterThan(1)
    expect(schemas[2]).toBeGreaterThan(schemas[1]!)
    expect(schemas[2]).toBeLessThan(newestKnown)
    const store = await old.place.open()
    expect((await auditBooks(store)).problems).toEqual([])
    await store.close()
    expect(await schemaOf(old)).toBe(newestKnown)
    expect(kept(await old.tables(before))).toEqual(kept(before))
    await old.place.remove()
  })

  test('a database of a newer gateway is refused, in a sentence, and left as it is', async () => {
    const old = await loadOld(engine, oldVersions.at(-1)!)
    await old.ask(`UPDATE meta SET value = '999' WHERE key = 'schema_version'`)
    const before = await old.tables()
    expect(await failureOf(old.place.open())).toContain(
      `was written by a newer gateway (schema 999, this one knows ${newestKnown}); start that ` +
        'version, or restore a backup made before the upgrade.',
    )
    expect(await old.tables()).toEqual(before)
    await old.place.remove()
  })
})

if (storeKinds.includes('postgres')) {
  test('gateways that start at once on an old database bring it up to date together', async () => {
    const old = await loadOld('postgres', '0.1.0')
    const before = await old.tables()
    const stores = await Promise.all([1, 2, 3].map(() => old.place.open({ join: true })))
    await Promise.all(stores.map((store) => store.close()))
    expect(await schemaOf(old)).toBe(newestKnown)
    expect(kept(await old.tables(before))).toEqual(kept(before))
    await old.place.remove()
  })
}
