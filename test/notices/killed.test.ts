// Notices of charges when gateways die, and when several of them work: none is lost, and one that comes
// twice has the same id.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { newPlace, storeKinds } from '../../src/store/test-stores.ts'
import { defaultConfig, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { type MailServerForTests, startMailServer } from '../support/mail-server.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'
import { untilTrue } from '../support/read.ts'

const open: Record<string, string> = { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' }

let receiver: NoticeReceiver
let mailServer: MailServerForTests
beforeAll(async () => {
  receiver = startReceiver()
  mailServer = await startMailServer({ hideSTARTTLS: true })
  open['GATEWAY_SMTP_URL'] = `smtp://127.0.0.1:${mailServer.port}`
  open['GATEWAY_SMTP_FROM'] = 'gateway@mail.example'
})
afterAll(async () => {
  receiver.stop()
  await mailServer.stop()
})
beforeEach(() => {
  receiver.arrivals.splice(0)
  mailServer.mails.splice(0)
})

async function subscribe(gateway: TestGateway): Promise<void> {
  const asked = { url: receiver.url('/killed'), events: ['charge.settled'] }
  const { status, body } = await gateway.admin('POST', '/webhooks', asked)
  expect(status).toBe(201)
  receiver.knows('/killed', body.secret)
  const byMail = { email: 'ops@mail.example', events: ['charge.settled'] }
  expect((await gateway.admin('POST', '/webhooks', byMail)).status).toBe(201)
}

const charge = (gateway: TestGateway, calls: number) =>
  Promise.all(Array.from({ length: calls }, (_, n) => gateway.chat(`call ${n}`)))

interface Settled {
  id: string
  data: { entries: { id: string }[] }
}

const posted = (): Settled[] => receiver.ofType('charge.settled')
const mailed = (): Settled[] =>
  mailServer.mails.map(({ text, headers }) => {
    const notice = JSON.parse(text.slice(text.indexOf('{'))) as Settled
    expect(headers.get('message-id')).toBe(`<${notice.id}@mail.example>`)
    return notice
  })

/** By the id of a ledger entry: the ids of the notices that had it. */
function noticesByEntry(arrived: readonly Settled[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const { id, data } of arrived) {
    for (const entry of data.entries) {
      found.set(entry.id, (found.get(entry.id) ?? new Set()).add(id))
    }
  }
  return found
}

async function expectAllTold(gateway: TestGateway, calls: number): Promise<void> {
  for (const arrived of [posted, mailed]) {
    await untilTrue(
      async () => noticesByEntry(arrived()).size,
      (size) => size >= calls,
    )
  }
  const { items } = (await gateway.admin('GET', '/accounts/acme/ledger?limit=100')).body
  const charges = items.filter(({ kind }: { kind: string }) => kind === 'charge')
  const ids = charges.map(({ id }: { id: string }) => id).toSorted()
  // Both ways together: the notice of an entry has one id.
  const told = noticesByEntry([...posted(), ...mailed()])
  expect([...told.keys()].toSorted()).toEqual(ids)
  expect([...told.values()].filter(({ size }) => size !== 1)).toEqual([])
  expect(receiver.forged).toEqual([])
}

describe.each(['notice-written', 'notice-due', 'notice-sent'])('after a kill at %s', (point) => {
  test('every charge is told with the next start, by one notice each', async () => {
    const dataDir = tempDir()
    const doomed = await startGateway({ env: { ...open, GATEWAY_CRASH_AT: point }, dataDir })
    await subscribe(doomed)
    await charge(doomed, 3)
    await doomed.exited
    const gateway = await startGateway({ env: open, dataDir })
    await charge(gateway, 2)
    await expectAllTold(gateway, 5)
    expect(await gateway.stop()).toBe(0)
  })
})

test('a step of a budget is told once, whenever gateways are killed, and anew after its amount is raised', async () => {
  const dataDir = tempDir()
  const first = await startGateway({ env: open, dataDir })
  const asked = { url: receiver.url('/budgets'), events: ['budget.reached'] }
  receiver.knows('/budgets', (await first.admin('POST', '/webhooks', asked)).body.secret)
  await charge(first, 1)
  const ledger = '/accounts/acme/ledger?limit=1'
  const { amount } = (await first.admin('GET', ledger)).body.items[0]
  await first.stop('SIGKILL')
  const spent = Number(amount) * -1e9
  const withBudget = (nanos: number) => {
    const budget = `{ amount: "${(nanos / 1e9).toFixed(9)}", per: total }`
    return defaultConfig.replace('name: acme,', `name: acme, budget: ${budget},`)
  }
  // Nine tenths of the first amount are spent: the notice is lost before its commit, then sent without
  // that being written down.
  const [small, large] = [withBudget((spent * 10) / 9), withBudget(spent * 2)]
  for (const point of ['notice-written', 'notice-sent']) {
    const env = { ...open, GATEWAY_CRASH_AT: point }
    // It may be gone before it is ready.
    await startGateway({ env, dataDir, config: small }).then(
      ({ exited }) => exited,
      (error: Error) => expect(error.message).toContain('did not start'),
    )
  }
  const gateway = await startGateway({ env: open, dataDir, config: large })
  const told = () => receiver.ofType('budget.reached')
  const percents = () => new Set(told().map(({ data }) => data.percent))
  await receiver.first(() => percents().has(50) && told().length >= 3)
  expect([...percents()].toSorted()).toEqual([50, 80])
  expect(new Set(told().map(({ id }) => id)).size).toBe(2)
  expect(receiver.forged).toEqual([])
  expect(await gateway.stop()).toBe(0)
})

if (!storeKinds.includes('postgres')) {
  console.error('left out: notices of several gateways (set TEST_POSTGRES_URL)')
} else {
  test('several gateways on one database tell every charge by one notice, also when one of them dies', async () => {
    const place = await newPlace('postgres')
    const env = {
      ...open,
      GATEWAY_DATABASE_URL: place.options.databaseUrl!,
      GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const first = await startGateway({ env })
    await subscribe(first)
    const doomed = await startGateway({ env: { ...env, GATEWAY_CRASH_AT: 'notice-sent' } })
    const third = await startGateway({ env })
    await Promise.all([first, doomed, third].map((gateway) => charge(gateway, 4)))
    await expectAllTold(first, 12)
    await doomed.stop('SIGKILL')
    await charge(third, 3)
    await expectAllTold(third, 15)
    await Promise.all([first, third].map((gateway) => gateway.stop()))
    await place.remove()
  })
}
