// A database that goes away, hangs or throws its connections out under load: billable work is refused
// meanwhile, nothing more goes upstream, it goes on by itself, and every answer is paid for once.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { loggedCalls } from '../../sandbox/testing.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  findWrongCalls,
  findWrongTasks,
  type OutageLoad,
  startLoad,
} from '../support/load/outage-load.ts'
import { hasPostgresPrograms, type OwnPostgres, startPostgres } from '../support/own-postgres.ts'
import { errorOf, until } from '../support/read.ts'
import { seeded, testSeed } from '../support/seeded.ts'

const key = 'upk-outages-0123456789abcdef'
/** Long enough for batches to give up: those calls are answered with an error. */
const longAwayMs = 6_500
/** Long enough to be noticed, and far from any limit. */
const stillMs = 900
/** Longer than this, which only a busy machine makes of it, and callers may be refused. */
const longStillMs = 1_500

const configFor = (sandbox: Sandbox) => `
accounts: [{ name: acme, balance: "100000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
tasks: { unknown_for: 4s, lost_after: 4s }
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}", vf: "${sandbox.protocols.vf}" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*" }
    max_concurrency: 1000
`

if (!hasPostgresPrograms) {
  console.error('left out: PostgreSQL that goes away (install PostgreSQL: initdb and pg_ctl)')
} else {
  describe.each([1, 3])('with %d gateway(s) on a PostgreSQL that', (count) => {
    let postgres: OwnPostgres
    let sandbox: Sandbox
    let gateways: TestGateway[]
    const loads: OutageLoad[] = []
    const random = seeded(testSeed())

    beforeAll(async () => {
      postgres = await startPostgres()
      sandbox = startSandbox({ key, taskSeconds: 1 })
      const start = () =>
        startGateway({
          config: configFor(sandbox),
          env: {
            GATEWAY_DATABASE_URL: postgres.url,
            GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
            GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
            GATEWAY_LOG: 'error',
          },
        })
      gateways = await Promise.all(Array.from({ length: count }, start))
    })
    afterEach(() => Promise.all(loads.map((load) => load.stop())))
    afterAll(async () => {
      for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
      await sandbox.stop()
      await postgres.remove()
    })

    const everywhere = (holds: (gateway: TestGateway) => Promise<boolean>) => async () =>
      (await Promise.all(gateways.map(holds))).every(Boolean) || undefined
    const isReady = async ({ url }: TestGateway) => (await fetch(`${url}/readyz`)).status === 200
    const upstreamCalls = async () =>
      (await loggedCalls(sandbox)).filter(({ protocol }) => protocol !== null).length

    /** Work of every kind is refused with the right words, and nothing of it goes upstream. */
    async function expectRefusals(): Promise<void> {
      await until(
        'refusals',
        everywhere(async (gateway) => !(await isReady(gateway))),
      )
      for (const gateway of gateways) {
        const video = { model: 'vfa-2.7-t2v', prompt: 'not now' }
        const refused = [gateway.chat('not now'), gateway.post('/v1/videos', video)]
        for (const answer of await Promise.all(refused)) {
          expect(answer.status).toBe(503)
          expect((await errorOf(answer)).code).toBe('overloaded')
        }
      }
    }

    const expectBack = () =>
      until(
        'gateways that serve again',
        everywhere(async (gateway) => {
          const answer = await gateway.chat('back?', { user: 'back' })
          await answer.text()
          return answer.status === 200
        }),
      )

    async function underLoad(work: () => Promise<void>): Promise<void> {
      const load = startLoad(gateways.map(({ url }) => url))
      loads.push(load)
      await work()
      await load.stop()
      expect(await findWrongCalls(load, gateways[0]!)).toEqual([])
      expect([...load.statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
      expect(load.calls.some(({ ended }) => ended)).toBe(true)
    }

    /** Callers come all the time, and while it is away none of them gets through. */
    async function away(leave: () => Promise<void> | void, come: () => unknown, forMs: number) {
      await Bun.sleep(200 + random() * 700)
      await leave()
      await expectRefusals()
      const before = await upstreamCalls()
      await Bun.sleep(forMs)
      expect(await upstreamCalls()).toBe(before)
      await come()
      await expectBack()
    }

    test('stands still for less time than callers wait: they wait', async () => {
      const load = startLoad(gateways.map(({ url }) => url))
      loads.push(load)
      let longestMs = 0
      for (let round = 0; round < 3; round++) {
        await Bun.sleep(300)
        const fromMs = performance.now()
        await postgres.freeze()
        await Bun.sleep(stillMs)
        await postgres.thaw()
        await expectBack()
        longestMs = Math.max(longestMs, performance.now() - fromMs)
      }
      await Bun.sleep(300)
      await load.stop()
      const allowed = longestMs > longStillMs ? [200, 503] : [200]
      expect(allowed).toEqual(expect.arrayContaining([...load.statuses]))
      expect(await findWrongCalls(load, gateways[0]!)).toEqual([])
    })

    test('is killed and started again and again', () =>
      underLoad(async () => {
        for (const forMs of [300, 1_000, 200, longAwayMs, 600, 100]) {
          await away(postgres.crash, postgres.start, forMs)
        }
      }))

    test('hangs and wakes up again', () =>
      underLoad(async () => {
        for (const forMs of [200, longAwayMs, 1_000, 2_500]) {
          await away(postgres.freeze, postgres.thaw, forMs)
        }
      }))

    const those = (which: string) =>
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'model-gateway' AND pid <> pg_backend_pid() AND (${which})`

    test('throws connections out, all of them or those in a transaction', () =>
      underLoad(async () => {
        for (let round = 0; round < 6; round++) {
          await postgres.ask(those('true'))
          await Bun.sleep(random() * 400)
          for (let turn = 0; turn < 20; turn++) {
            await postgres.ask(those(`state LIKE 'idle in transaction%' OR random() < 0.1`))
          }
          await expectBack()
        }
      }))

    test('did all this: every promised video has ended and is paid for once, and the books are right', async () => {
      expect(await findWrongTasks(loads, gateways[0]!)).toEqual([])
      const { body } = await gateways[0]!.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
    })
  })
}
