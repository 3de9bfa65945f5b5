// A database of 0.2 under a later gateway: what 0.2 answered about its tasks, callbacks and bills is still
// true, under the names of today; the ledger adds up and is proven.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeKinds } from '../../src/store/test-stores.ts'
import { loadOld, type OldDatabase } from '../support/data/old-database.ts'
import { oldConfig, oldMasterKey } from '../support/data/old-gateway.ts'
import { type OldUpstream, startOldUpstream } from '../support/data/old-upstream.ts'
import { root, startGateway, type TestGateway } from '../support/gateway.ts'

const version = '0.2.0'

interface Step {
  kind: string
}

interface OldTask {
  id: string
  usage: { pictures?: number } | null
  callback: { state: string; attempts: unknown[] } | null
  timeline: Step[]
}

interface Answers {
  bills: { account: string; month: string }[]
  tasks: OldTask[]
}

/** As the upgrade notes have them. */
const newKinds: Readonly<Record<string, string>> = {
  look: 'polled',
  look_failed: 'poll_failed',
  empty: 'no_output',
  missing: 'not_found',
  cancel_asked: 'cancel_requested',
}

function asToday({ usage, callback, timeline, ...task }: OldTask): object {
  const { pictures, ...units } = usage ?? {}
  return {
    ...task,
    usage: usage && { ...units, ...(pictures !== undefined && { images: pictures }) },
    callback: callback && {
      ...callback,
      state: callback.state === 'given_up' ? 'exhausted' : callback.state,
    },
    timeline: timeline.map((step) => ({ ...step, kind: newKinds[step.kind] ?? step.kind })),
  }
}

describe.each([...storeKinds])('after an upgrade from 0.2 on %s,', (engine) => {
  const text = readFileSync(join(root, `test/fixtures/${version}/${engine}.json`), 'utf8')
  const { bills, tasks } = JSON.parse(text) as Answers
  let upstream: OldUpstream
  let old: OldDatabase
  let gateway: TestGateway

  beforeAll(async () => {
    upstream = startOldUpstream()
    old = await loadOld(engine, version)
    const { dataDir, databaseUrl } = old.place.options
    gateway = await startGateway({
      config: oldConfig(upstream, 'both'),
      dataDir,
      env: {
        GATEWAY_MASTER_KEY: oldMasterKey,
        ...(databaseUrl && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
  })

  afterAll(async () => {
    await gateway.stop()
    await old.place.remove()
    await upstream.stop()
  })

  test('tasks that were over, their timelines and their callbacks are as they were', async () => {
    const states = new Set(tasks.map(({ callback }) => callback?.state))
    expect(states).toEqual(new Set([undefined, 'delivered', 'given_up', 'waiting']))
    for (const task of tasks) {
      const { body } = await gateway.admin('GET', `/tasks/${task.id}`)
      // One that waits may have been tried again by now.
      const { callback, ...rest } = asToday(task) as { callback: { state: string } | null }
      expect(body).toMatchObject(rest)
      if (callback?.state !== 'waiting') expect(body.callback).toEqual(callback)
    }
  })

  test('steps of running tasks have the kinds of today', async () => {
    const rows = await old.ask('SELECT id, timeline FROM tasks')
    const polled = rows.filter((row) => / (?:look|polled) /.test(row['timeline'] ?? ''))
    expect(polled.length).toBeGreaterThan(0)
    for (const { id } of polled) {
      const { body } = await gateway.admin('GET', `/tasks/${id}`)
      expect(body.timeline.map(({ kind }: Step) => kind)).toContain('polled')
    }
  })

  test('bills are equal, and the closed one keeps its signature', async () => {
    expect(bills.map(({ account }) => account)).toEqual(['acme', 'beta', 'gamma'])
    for (const bill of bills) {
      const path = `/bills?account=${bill.account}&month=${bill.month}`
      const { body: whole } = await gateway.admin('GET', path)
      // Staff see since then what it cost upstream, beside the bill.
      const { cost: _, margin: __, cost_unknown: ___, ...body } = whole
      // Open bills have since then told who it is for and from, and what was refunded.
      const news = { customer: { name: bill.account }, issuer: null, number: null, refunds: '0.00' }
      expect(body).toEqual('state' in bill && bill.state === 'open' ? { ...bill, ...news } : bill)
    }
  })

  test('the ledger adds up, every proof holds, and losses of calls are shown', async () => {
    const { body } = await gateway.admin('POST', '/audit')
    expect(body).toMatchObject({ ok: true, problems: [] })
    const [row] = await old.ask(`SELECT request_id FROM requests WHERE detail LIKE '%absorbed%'`)
    const request = await gateway.admin('GET', `/requests/${row!['request_id']}`)
    expect(request.body).toMatchObject({ charge: '0.00', loss: '0.0000156' })
  })

  test('a rerun is in the audit log under its name of today', async () => {
    const { body } = await gateway.admin('GET', '/audit-log?action=task.rerun')
    expect(body.items).toHaveLength(1)
  })
})
