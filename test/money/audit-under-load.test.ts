// An auditor that never rests beside three gateways that share a database, draw credit, run calls and
// tasks, take and give money, and are killed: books that are right are never taken for wrong ones.
import { expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { auditBooks, type Problem } from '../../src/billing/proof/audit.ts'
import { auditRecent, noMarks } from '../../src/billing/proof/audit-recent.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { isOver, readTasks } from '../support/task-books.ts'

const key = 'upk-audited-0123456789abcdef'
const rounds = 40
const width = 6
const kills = 3
const film = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: '5', size: '1280x720' }

const configFor = ({ protocols }: Sandbox) => `
accounts: [{ name: acme, balance: "60.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
tasks: { unknown_for: 4s, lost_after: 4s }
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${protocols.chat}", vf: "${protocols.vf}" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*" }
    max_concurrency: 1000
`

if (!storeKinds.includes('postgres')) {
  console.error('left out: an auditor beside three gateways (set TEST_POSTGRES_URL)')
} else {
  test('an auditor beside three gateways, of which some are killed, never cries wolf', async () => {
    const place = await newPlace('postgres')
    const sandbox = startSandbox({ key, taskSeconds: 1 })
    const start = () =>
      startGateway({
        config: configFor(sandbox),
        env: {
          GATEWAY_DATABASE_URL: place.options.databaseUrl!,
          GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
          GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
        },
      })
    const gateways = await Promise.all([start(), start(), start()])
    const watching = watch(place)
    try {
      await Promise.all([
        ...Array.from({ length: width }, (_, i) => work(gateways, i)),
        killSome(gateways, start),
      ])
      const ended = async () => (await readTasks(gateways[0]!)).every(isOver) || undefined
      // Those of a gateway that died wait for another one to find that out.
      await until('every task has ended', ended)
      const { polls, problems } = await watching.end()
      expect(problems).toEqual([])
      // How many there is time for is the machine's business.
      expect(polls).toBeGreaterThan(1)
      const { body } = await gateways[0]!.admin('POST', '/audit')
      expect(body).toMatchObject({ ok: true, problems: [] })
      expect((await gateways[0]!.admin('GET', '/alerts?kind=books')).body.items).toEqual([])
    } finally {
      await watching.end()
      for (const gateway of gateways) await gateway.stop()
      await sandbox.stop()
      await place.remove()
    }
  })
}

/** Looks at everything and at what is new, one after the other, until it is told to end. */
function watch(place: Place) {
  let isOver = false
  const watched = (async () => {
    const store = await place.open()
    const problems: Problem[] = []
    let polls = 0
    let marks = noMarks
    while (!isOver) {
      const recent = await auditRecent(store, marks)
      const all = await auditBooks(store)
      problems.push(...recent.problems, ...all.problems)
      marks = recent.marks
      polls++
    }
    await store.close()
    return { polls, problems }
  })()
  return {
    end() {
      isOver = true
      return watched
    },
  }
}

/** Calls of all sizes, some abandoned; films; money in and out. Gateways may be away. */
async function work(gateways: readonly TestGateway[], worker: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const gateway = gateways[(round + worker) % gateways.length]!
    const kind = (round * 7 + worker * 3) % 10
    try {
      if (kind < 6) {
        const content = `hello [[sim:tokens=${50 * (kind + 1)}]]`
        await (await gateway.chat(content, { stream: kind % 2 === 0 })).text()
      } else if (kind < 9) await gateway.post('/v1/videos', film)
      else {
        const amount = round % 2 === 0 ? '3.00' : '-1.00'
        await gateway.admin('POST', '/accounts/acme/credits', { amount, note: 'test' })
      }
    } catch {
      // It was killed meanwhile; that is what this is about.
      await Bun.sleep(20)
    }
  }
}

async function killSome(gateways: TestGateway[], start: () => Promise<TestGateway>): Promise<void> {
  for (let i = 0; i < kills; i++) {
    await Bun.sleep(400)
    await gateways[i % gateways.length]!.stop('SIGKILL')
    gateways[i % gateways.length] = await start()
  }
}
