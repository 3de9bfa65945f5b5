// A caller that was told 503 because its charge could not be written is not charged: not when the
// gateway dies or is stopped before the database comes back, and not by what is still on its way there.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { hasPostgresPrograms, type OwnPostgres, startPostgres } from '../support/own-postgres.ts'
import { requestIdOf, until } from '../support/read.ts'

const key = 'upk-voided-0123456789abcdef'
const callers = 30

const configFor = (sandbox: Sandbox) => `
accounts: [{ name: acme, balance: "1000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}" }
    models: { txta-plus: "*" }
    max_concurrency: 1000
`

if (!hasPostgresPrograms) {
  console.error('left out: voided charges on PostgreSQL (install PostgreSQL: initdb and pg_ctl)')
} else {
  describe('calls that were told 503 while the database hung are free', () => {
    let postgres: OwnPostgres
    let sandbox: Sandbox
    const gateways: TestGateway[] = []

    beforeAll(async () => {
      postgres = await startPostgres()
      sandbox = startSandbox({ key, taskSeconds: 1 })
    })
    afterEach(async () => {
      postgres.thaw()
      for (const gateway of gateways.splice(0)) await gateway.stop()
    })
    afterAll(async () => {
      await sandbox.stop()
      await postgres.remove()
    })

    async function start(dataDir: string, env: Record<string, string> = {}): Promise<TestGateway> {
      const gateway = await startGateway({
        config: configFor(sandbox),
        dataDir,
        env: {
          GATEWAY_DATABASE_URL: postgres.url,
          GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
          GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
          ...env,
        },
      })
      gateways.push(gateway)
      return gateway
    }

    /** Answers that come while the database hangs, spread over several batches. */
    async function callWhileItHangs(gateway: TestGateway): Promise<string[]> {
      expect((await gateway.chat('warm [[sim:tokens=5]]', { max_tokens: 50 })).status).toBe(200)
      const calls = Array.from({ length: callers }, async (_, n) => {
        const content = `hello [[sim:delay=${300 + n * 20}ms]][[sim:tokens=12]]`
        const answer = await gateway.chat(content, { max_tokens: 50 })
        await answer.text()
        return answer
      })
      await Bun.sleep(250)
      postgres.freeze()
      const answers = await Promise.all(calls)
      expect(answers.map(({ status }) => status)).toEqual(Array(callers).fill(503))
      return answers.map(requestIdOf)
    }

    const journalsIn = (dir: string) =>
      readdirSync(dir).filter((name) => name.startsWith('void-journal-'))

    /** Each is written as failed and free, what it may have cost came back, and the books are right. */
    async function expectFree(gateway: TestGateway, ids: readonly string[]): Promise<void> {
      const quoted = ids.map((id) => `'${id}'`).join(', ')
      await until('every call is in the log', async () => {
        const rows = await postgres.ask(
          `SELECT request_id FROM requests WHERE request_id IN (${quoted})`,
        )
        return rows.length === ids.length || undefined
      })
      await until('journals are settled', async () =>
        journalsIn(gateway.dataDir).length === 0 ? true : undefined,
      )
      const charged = await postgres.ask(`
        SELECT ref FROM ledger WHERE ref IN (${quoted})
        GROUP BY ref HAVING sum(amount_nanos) <> 0`)
      expect(charged).toEqual([])
      const rows = await postgres.ask<{ status: string; charge_nanos: string }>(
        `SELECT DISTINCT status, charge_nanos FROM requests WHERE request_id IN (${quoted})`,
      )
      expect(rows).toEqual([{ status: '503', charge_nanos: '0' }])
      const { body } = await gateway.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
    }

    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      test(`when the gateway ends by ${signal} and starts again`, async () => {
        const dataDir = tempDir()
        const gateway = await start(dataDir)
        const ids = await callWhileItHangs(gateway)
        expect(journalsIn(dataDir)).toHaveLength(1)
        await gateway.stop(signal)
        expect(journalsIn(dataDir)).toHaveLength(1)
        // What is still in the sockets is run now, with nobody there.
        postgres.thaw()
        await Bun.sleep(500)
        await expectFree(await start(dataDir), ids)
      })
    }

    test('when nothing else happens', async () => {
      const gateway = await start(tempDir())
      const ids = await callWhileItHangs(gateway)
      postgres.thaw()
      await expectFree(gateway, ids)
    })

    test('when the worker that told them dies and another takes its place', async () => {
      const dataDir = tempDir()
      const gateway = await start(dataDir, { GATEWAY_WORKERS: '2' })
      const ids = await callWhileItHangs(gateway)
      expect(journalsIn(dataDir).length).toBeGreaterThan(0)
      await gateway.stop('SIGKILL')
      postgres.thaw()
      await expectFree(await start(dataDir, { GATEWAY_WORKERS: '2' }), ids)
    })

    test('when the data directory cannot be written, and an alert says so', async () => {
      const dataDir = tempDir()
      const gateway = await start(dataDir)
      const [row] = await postgres.ask<{ id: string }>(
        'SELECT id FROM gateways ORDER BY started_at_ms DESC LIMIT 1',
      )
      // Root may write anywhere, but not to a directory.
      const inTheWay = `${dataDir}/void-journal-${row!.id}.jsonl`
      mkdirSync(inTheWay)
      const ids = await callWhileItHangs(gateway)
      rmdirSync(inTheWay)
      postgres.thaw()
      await expectFree(gateway, ids)
      const { body } = await gateway.admin('GET', '/alerts?kind=void_journal')
      expect(body.items).toHaveLength(1)
      expect(gateway.output()).toContain('void journal not written')
    })
  })
}
