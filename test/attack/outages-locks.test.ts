// Somebody keeps a row or a table of the database locked: the account it belongs to is refused in
// bounded time, everybody else is served, and afterwards nothing is lost or double.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import pg from 'pg'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'

const key = 'upk-locks-0123456789abcdef'
const names = ['warm', 'cold', 'free'] as const
type Name = (typeof names)[number]
const tokenOf = (name: Name) => `sk-test-${name}-0123456789abcdefghijklmnop`

const configFor = (sandbox: Sandbox) => `
accounts: [${names.map((name) => `{ name: ${name}, balance: "1000.00" }`).join(', ')}]
tokens: [${names.map((name) => `{ account: ${name}, name: t, token: ${tokenOf(name)} }`).join(', ')}]
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}", vf: "${sandbox.protocols.vf}" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*" }
    max_concurrency: 1000
`
/** Longer than anybody may be kept waiting. */
const lockMs = 8_000

if (!storeKinds.includes('postgres')) {
  console.error('left out: locks that others hold on PostgreSQL (set TEST_POSTGRES_URL)')
} else {
  describe('while somebody else has locked', () => {
    let place: Place
    let sandbox: Sandbox
    let gateway: TestGateway
    let foreign: pg.Client

    beforeAll(async () => {
      place = await newPlace('postgres')
      sandbox = startSandbox({ key, taskSeconds: 1 })
      gateway = await startGateway({
        config: configFor(sandbox),
        env: {
          GATEWAY_DATABASE_URL: place.options.databaseUrl!,
          GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        },
      })
      foreign = new pg.Client({ connectionString: place.options.databaseUrl })
      await foreign.connect()
    })
    afterAll(async () => {
      await foreign.end()
      expect(await gateway.stop()).toBe(0)
      await sandbox.stop()
      await place.remove()
    })

    const as = (name: Name) => ({ authorization: `Bearer ${tokenOf(name)}` })
    async function chat(name: Name): Promise<number> {
      const messages = [{ role: 'user', content: 'hello [[sim:tokens=12]]' }]
      const body = { model: 'txta-plus', messages, max_tokens: 50 }
      const answer = await gateway.post('/v1/chat/completions', body, as(name))
      await answer.text()
      return answer.status
    }
    async function film(name: Name): Promise<number> {
      const body = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: '5' }
      const answer = await gateway.post('/v1/videos', body, as(name))
      await answer.text()
      return answer.status
    }
    const isReady = async () => (await fetch(`${gateway.url}/readyz`)).status

    /** Asks again and again until told to end; all that was answered. */
    function asking(ask: () => Promise<number>, lanes: number, pauseMs = 40) {
      let over = false
      const statuses: number[] = []
      const lane = async () => {
        while (!over) {
          statuses.push(await ask())
          await Bun.sleep(pauseMs)
        }
      }
      const running = Array.from({ length: lanes }, lane)
      return async () => {
        over = true
        await Promise.all(running)
        return statuses
      }
    }

    async function locked(statement: string, work: () => Promise<void>): Promise<void> {
      await foreign.query('BEGIN')
      await foreign.query(statement)
      try {
        await work()
      } finally {
        await foreign.query('ROLLBACK')
      }
    }

    const isServed = (name: Name) =>
      until(`${name} is served again`, async () => (await chat(name)) === 200 || undefined)

    /** What was answered is paid for once, what was refused is free. */
    async function expectBooks(): Promise<void> {
      await Bun.sleep(1_500)
      const { body } = await gateway.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
      const wrong = await foreign.query(`
        SELECT r.request_id, r.status, sum(e.amount_nanos) AS nanos
        FROM requests r LEFT JOIN ledger e ON e.ref = r.request_id
        WHERE r.interface = 'chat'
        GROUP BY r.request_id, r.status
        HAVING (r.status = 200) <> (coalesce(sum(e.amount_nanos), 0) < 0)`)
      expect(wrong.rows).toEqual([])
    }

    /** What the gateway says about its store: that one row is locked is no trouble of all. */
    const troubles = () =>
      gateway
        .output()
        .split('\n')
        .filter((line) => line.includes('the store cannot write'))

    const counted = (statuses: readonly number[]) => [...new Set(statuses)].toSorted()

    for (const name of ['warm', 'cold'] as const) {
      test(`the row of an account (${name}), only that account is refused`, async () => {
        if (name === 'warm') expect([await chat('warm'), await chat('free')]).toEqual([200, 200])
        const select = `SELECT 1 FROM accounts WHERE name = '${name}' FOR UPDATE`
        await locked(select, async () => {
          const ends = [
            asking(() => chat('free'), 3),
            asking(() => film('free'), 1, 300),
            asking(isReady, 1, 100),
            asking(() => chat(name), 12),
            asking(() => film(name), 12, 100),
          ]
          await Bun.sleep(lockMs)
          const running = ends.map((end) => end())
          const [chats, films, ready] = await Promise.all(running.slice(0, 3))
          expect(troubles()).toEqual([])
          expect([counted(chats!), counted(films!), counted(ready!)]).toEqual([[200], [200], [200]])
          expect(chats!.length).toBeGreaterThan(20)
          const refused = await Promise.all(running.slice(3))
          expect(refused.map(counted)).toEqual([[503], [503]])
        })
        await isServed(name)
        await expectBooks()
      })
    }

    test('what a gateway has drawn of an account, only that account is refused', async () => {
      expect(await chat('warm')).toBe(200)
      const select = `SELECT 1 FROM credit_leases JOIN accounts ON accounts.id = account_id
          WHERE name = 'warm' FOR UPDATE OF credit_leases`
      await locked(select, async () => {
        const ends = [asking(() => chat('free'), 2), asking(isReady, 1, 100)]
        const own = asking(() => chat('warm'), 4)
        await Bun.sleep(lockMs)
        const served = await Promise.all(ends.map((end) => end()))
        expect(troubles()).toEqual([])
        expect(served.map(counted)).toEqual([[200], [200]])
        expect(counted(await own())).toEqual([503])
      })
      await isServed('warm')
      await expectBooks()
    })

    test('a whole table, everybody is refused in time and served afterwards', async () => {
      for (const table of ['accounts', 'requests', 'hourly_totals']) {
        await locked(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, async () => {
          const ends = [asking(() => chat('free'), 3), asking(() => chat('warm'), 3)]
          await Bun.sleep(6_000)
          const statuses = await Promise.all(ends.map((end) => end()))
          expect([table, counted(statuses.flat())]).toEqual([table, [503]])
        })
        await isServed('free')
        await isServed('warm')
      }
      await expectBooks()
    })
  })
}
